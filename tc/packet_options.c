// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options that take a number of packets or a word, described by a table.
 *
 * Principle: an operator's mistake costs one line that names the option and
 * says what it takes; nothing is sent to the kernel then.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "packet_options.h"

#define OPTIONS_MAX	16

/* "1 to 65535 packets, auto or off" */
static void print_expectation(const struct packet_option *option)
{
	const struct packet_word *word = option->words;

	fprintf(stderr, "1 to %u packets", option->max);
	for (; word && word->word; word++)
		fprintf(stderr, "%s%s", word[1].word ? ", " : " or ", word->word);
	fputc('\n', stderr);
}

static int refuse(const char *qdisc, const struct packet_option *option,
		  const char *what)
{
	fprintf(stderr, "%s: %s %s: give ", qdisc, option->name, what);
	print_expectation(option);
	return -1;
}

static const struct packet_option *
find_option(const struct packet_option *options, const char *name)
{
	for (; options->name; options++) {
		if (strcmp(options->name, name) == 0)
			return options;
	}
	return NULL;
}

static int refuse_unknown(const char *qdisc, const char *name,
			  const struct packet_option *options)
{
	const char *separator = "";

	fprintf(stderr, "%s: unknown option \"%s\": known are ", qdisc, name);
	for (; options->name; options++) {
		fprintf(stderr, "%s%s", separator, options->name);
		separator = ", ";
	}
	fputc('\n', stderr);
	return -1;
}

/* Decimal digits only: strtoul() alone takes signs, spaces and hex. */
static int parse_value(const struct packet_option *option, const char *arg,
		       __u32 *value)
{
	const struct packet_word *word = option->words;
	unsigned long number;

	for (; word && word->word; word++) {
		if (strcmp(word->word, arg) == 0) {
			*value = word->value;
			return 0;
		}
	}
	if (!*arg || strspn(arg, "0123456789") != strlen(arg))
		return -1;
	errno = 0;
	number = strtoul(arg, NULL, 10);
	if (errno || number < 1 || number > option->max)
		return -1;
	*value = number;
	return 0;
}

int packet_options_parse(const char *qdisc, const struct packet_option *options,
			 const char *usage, int argc, char **argv,
			 struct nlmsghdr *n)
{
	const struct packet_option *option;
	bool seen[OPTIONS_MAX] = { false };
	struct rtattr *nest;
	char what[64];
	__u32 value;

	nest = addattr_nest(n, TC_REQUEST_MAX, TCA_OPTIONS | NLA_F_NESTED);
	for (; argc > 0; argc -= 2, argv += 2) {
		if (strcmp(*argv, "help") == 0) {
			fputs(usage, stderr);
			return -1;
		}
		option = find_option(options, *argv);
		if (!option)
			return refuse_unknown(qdisc, *argv, options);
		if (seen[option - options])
			return refuse(qdisc, option, "is given twice");
		seen[option - options] = true;
		if (argc < 2)
			return refuse(qdisc, option, "has no value");
		if (parse_value(option, argv[1], &value)) {
			snprintf(what, sizeof(what), "cannot be \"%s\"", argv[1]);
			return refuse(qdisc, option, what);
		}
		addattr32(n, TC_REQUEST_MAX, option->attribute, value);
	}
	addattr_nest_end(n, nest);
	return 0;
}

void packet_option_print(const struct packet_option *option,
			 const struct rtattr *rta)
{
	const struct packet_word *word = option->words;
	__u32 value;

	if (!rta || RTA_PAYLOAD(rta) < sizeof(value))
		return;
	memcpy(&value, RTA_DATA(rta), sizeof(value));

	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", option->name);
	for (; word && word->word; word++) {
		if (word->value == value) {
			print_color_string(PRINT_ANY, COLOR_NONE, option->name,
					   "%s ", word->word);
			return;
		}
	}
	print_color_uint(PRINT_ANY, COLOR_NONE, option->name, "%up ", value);
}

void packet_options_print(const struct packet_option *options,
			  struct rtattr *opt)
{
	struct rtattr *tb[OPTIONS_MAX + 1];

	if (!opt)
		return;
	parse_rtattr_flags(tb, OPTIONS_MAX, RTA_DATA(opt), RTA_PAYLOAD(opt),
			   NLA_F_NESTED);
	for (; options->name; options++)
		packet_option_print(options, tb[options->attribute]);
}

void xstats_copy(void *to, size_t size, const struct rtattr *xstats)
{
	size_t there = RTA_PAYLOAD(xstats);

	memset(to, 0, size);
	memcpy(to, RTA_DATA(xstats), there < size ? there : size);
}
