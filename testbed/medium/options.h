/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Command line values: each is checked where it is read, and a wrong one ends
 * the program with one line that says what would be right (exit 2).
 */
#ifndef DCFMEDIUM_OPTIONS_H
#define DCFMEDIUM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/phy/phy.h"

#define EXIT_USAGE	2

/* Attempts in all (M): hwsim reports them in an octet; paper 000 has m = 7. */
#define RETRY_MAX	255
#define RETRY_DEFAULT	7

/* "dcfmedium: MESSAGE" and exit 2. */
void usage_error(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/* "dcfmedium: MESSAGE" and exit 1, for what is not the user's typing. */
void fatal(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/* getopt_long() did not know @word, or its value is missing. */
void unknown_option(const char *command, const char *word)
	__attribute__((noreturn));

/* A whole decimal number in @min .. @max; @option names it in the message. */
uint64_t parse_number(const char *option, const char *text, uint64_t min,
		      uint64_t max);

/* A positive duration in seconds, decimals allowed. */
ns_t parse_seconds(const char *option, const char *text);

/* "on" or "off". */
bool parse_switch(const char *option, const char *text);

/* A rate of @phy in Mb/s, in 100 kb/s; a wrong one's message lists them. */
unsigned int parse_rate(const char *option, const char *text,
			const struct phy_profile *phy);

/* A profile by name; the message of an unknown one lists those that are. */
const struct phy_profile *parse_phy(const char *text);

#endif
