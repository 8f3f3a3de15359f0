/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options that take a value in a unit, or a word, described by a table.
 */
#ifndef LASACK_QDISC_OPTIONS_H
#define LASACK_QDISC_OPTIONS_H

#include "../kernel/uapi/pkt_sch_inflight.h"
#include "tc_plugin.h"

/* Written as in tc(8), "PARAMETERS"; what goes to the kernel is a u32. */
enum option_unit {
	UNIT_NONE,	/* a plain number */
	UNIT_WORD,	/* no number, one of the words */
	UNIT_PACKETS,
	UNIT_PERCENT,
	UNIT_BYTES,	/* 10, 10b, 10k, 10kb, 1.5m, 1g: k is 1024 */
	UNIT_TIME,	/* 5s, 0.5s, 200ms; in ms. A bare number is in us */
};

struct option_word {
	const char *word;	/* NULL ends the list */
	__u32 value;
};

struct qdisc_option {
	const char *name;	/* NULL ends the table */
	int attribute;		/* TCA_*, a u32 */
	enum option_unit unit;
	__u32 min;
	__u32 max;
	const struct option_word *words;	/* or NULL: values only */
	/* of a second value of the same kind, if there is one; words have none */
	int second;		/* TCA_*, or 0 */
	const char *second_name; /* in JSON */
};

/**
 * qdisc_options_parse() - turn a qdisc's arguments into netlink attributes
 * @qdisc: its name, for messages
 * @options: what it takes
 * @usage: printed for "help"
 * @n: the request, TC_REQUEST_MAX bytes
 *
 * Return: 0, or -1 after one line on stderr (the usage for "help").
 */
int qdisc_options_parse(const char *qdisc, const struct qdisc_option *options,
			 const char *usage, int argc, char **argv,
			 struct nlmsghdr *n);

/**
 * qdisc_options_print() - print all options of TCA_OPTIONS
 * @qdisc: its name, for a line on stderr if the module is newer than this file
 * @options: what the qdisc has
 * @opt: TCA_OPTIONS, or NULL
 */
void qdisc_options_print(const char *qdisc, const struct qdisc_option *options,
			 struct rtattr *opt);

/**
 * xstats_read() - xstats_copy() of a qdisc's statistics
 * @qdisc: its name, for a line on stderr if the module is older or newer
 */
void xstats_read(const char *qdisc, void *to, size_t size, const struct rtattr *xstats);

/**
 * xstats_copy() - statistics of a kernel module older or newer than this file
 * @to: zeroed, then filled with what there is
 * @size: of @to
 * @xstats: the attribute
 */
void xstats_copy(void *to, size_t size, const struct rtattr *xstats);

/* A number, printed by @format (one PRIu64), in JSON as @key. */
void print_count(const char *key, const char *format, __u64 value);

/**
 * print_below() - what a qdisc with a bound says of the packets below it
 * @st: its statistics; a backpressure this file does not know is left out
 */
void print_below(const struct tc_inflight_xstats *st);

#endif
