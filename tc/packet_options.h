/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options that take a number of packets or a word, described by a table.
 */
#ifndef LASACK_PACKET_OPTIONS_H
#define LASACK_PACKET_OPTIONS_H

#include "tc_plugin.h"

struct packet_word {
	const char *word;	/* NULL ends the list */
	__u32 value;
};

struct packet_option {
	const char *name;	/* NULL ends the table */
	int attribute;		/* TCA_*, a u32 */
	__u32 max;		/* packets, from 1 */
	const struct packet_word *words;	/* or NULL: numbers only */
};

/**
 * packet_options_parse() - turn a qdisc's arguments into netlink attributes
 * @qdisc: its name, for messages
 * @options: what it takes
 * @usage: printed for "help"
 * @n: the request, TC_REQUEST_MAX bytes
 *
 * Return: 0, or -1 after one line on stderr (the usage for "help").
 */
int packet_options_parse(const char *qdisc, const struct packet_option *options,
			 const char *usage, int argc, char **argv,
			 struct nlmsghdr *n);

/**
 * packet_option_print() - print one option as it was given
 * @option: its description
 * @rta: its attribute, or NULL: nothing is printed
 */
void packet_option_print(const struct packet_option *option,
			 const struct rtattr *rta);

/**
 * packet_options_print() - print all options of TCA_OPTIONS
 * @options: what the qdisc has
 * @opt: TCA_OPTIONS, or NULL
 */
void packet_options_print(const struct packet_option *options,
			  struct rtattr *opt);

/**
 * xstats_copy() - statistics of a kernel module older or newer than this file
 * @to: zeroed, then filled with what there is
 * @size: of @to
 * @xstats: the attribute
 */
void xstats_copy(void *to, size_t size, const struct rtattr *xstats);

#endif
