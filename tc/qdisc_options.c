// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options that take a value in a unit, or a word, described by a table.
 *
 * Principle: an operator's mistake costs one line that names the option and
 * says what it takes; nothing is sent to the kernel then.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "qdisc_options.h"

#define OPTIONS_MAX	16
#define PRECISION	1e-6	/* of a unit: 2.3 times 1000 is not 2300 exactly */

struct unit_suffix {
	const char *suffix;	/* NULL ends the list */
	double factor;
};

static const struct unit_suffix byte_suffixes[] = {
	{ "", 1 }, { "b", 1 }, { "k", 0x1p10 }, { "kb", 0x1p10 },
	{ "m", 0x1p20 }, { "mb", 0x1p20 }, { "g", 0x1p30 }, { "gb", 0x1p30 },
	{ NULL, 0 },
};

static const struct unit_suffix time_suffixes[] = {
	{ "", 1e-3 }, { "us", 1e-3 }, { "ms", 1 }, { "s", 1000 }, { NULL, 0 },
};

/* Room for a formatted value: "4294967295 packets" is not longer. */
#define VALUE_SIZE	24

static const char *format_bytes(char *text, __u32 bytes)
{
	if (bytes && bytes % (1 << 20) == 0)
		snprintf(text, VALUE_SIZE, "%uMb", bytes >> 20);
	else if (bytes && bytes % (1 << 10) == 0)
		snprintf(text, VALUE_SIZE, "%uKb", bytes >> 10);
	else
		snprintf(text, VALUE_SIZE, "%ub", bytes);
	return text;
}

static const char *format_time(char *text, __u32 ms)
{
	if (ms % 1000 == 0)
		snprintf(text, VALUE_SIZE, "%us", ms / 1000);
	else
		snprintf(text, VALUE_SIZE, "%ums", ms);
	return text;
}

/* "1 to 65535 packets, auto or off" */
static void print_expectation(const struct qdisc_option *option)
{
	const struct option_word *word = option->words;
	char min[VALUE_SIZE], max[VALUE_SIZE];

	if (option->unit == UNIT_WORD)
		fputs((word++)->word, stderr);
	else if (option->unit == UNIT_TIME)
		fprintf(stderr, "%s to %s in whole ms", format_time(min, option->min),
			format_time(max, option->max));
	else
		fprintf(stderr, "%u to %u", option->min, option->max);
	if (option->unit == UNIT_PACKETS)
		fputs(" packets", stderr);
	if (option->unit == UNIT_PERCENT)
		fputs(" percent", stderr);
	if (option->unit == UNIT_BYTES)
		fputs(" bytes", stderr);
	for (; word && word->word; word++)
		fprintf(stderr, "%s%s", word[1].word ? ", " : " or ", word->word);
	fputc('\n', stderr);
}

static int refuse(const char *qdisc, const struct qdisc_option *option,
		  const char *what)
{
	fprintf(stderr, "%s: %s %s: give ", qdisc, option->name, what);
	print_expectation(option);
	return -1;
}

static const struct qdisc_option *
find_option(const struct qdisc_option *options, const char *name)
{
	for (; options->name; options++) {
		if (strcmp(options->name, name) == 0)
			return options;
	}
	return NULL;
}

static int refuse_unknown(const char *qdisc, const char *name,
			  const struct qdisc_option *options)
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

static const struct unit_suffix *unit_suffixes(enum option_unit unit)
{
	if (unit == UNIT_BYTES)
		return byte_suffixes;
	if (unit == UNIT_TIME)
		return time_suffixes;
	return NULL;
}

/*
 * A decimal number, with a fraction if a suffix may follow: strtod() alone
 * takes signs, spaces, hex and "nan".
 */
static int parse_number(const struct qdisc_option *option, const char *arg,
			double *number)
{
	const struct unit_suffix *suffix = unit_suffixes(option->unit);
	size_t length = strspn(arg, suffix ? "0123456789." : "0123456789");
	char *end;

	if (!length)
		return -1;
	*number = strtod(arg, &end);
	if (end != arg + length)
		return -1;
	if (!suffix)
		return *end ? -1 : 0;
	for (; suffix->suffix; suffix++) {
		if (strcasecmp(suffix->suffix, end) == 0) {
			*number *= suffix->factor;
			return 0;
		}
	}
	return -1;
}

static const struct option_word *find_word(const struct qdisc_option *option,
					   const char *arg)
{
	const struct option_word *word = option->words;

	for (; word && word->word; word++) {
		if (strcmp(word->word, arg) == 0)
			return word;
	}
	return NULL;
}

static int parse_value(const struct qdisc_option *option, const char *arg,
		       __u32 *value)
{
	const struct option_word *word = find_word(option, arg);
	double number;

	if (word) {
		*value = word->value;
		return 0;
	}
	if (option->unit == UNIT_WORD || parse_number(option, arg, &number))
		return -1;
	if (number < option->min || number > option->max)
		return -1;
	*value = number + 0.5;
	/* Part of a byte does not matter, part of a ms does. */
	if (option->unit != UNIT_TIME)
		return 0;
	return number - *value > PRECISION || *value - number > PRECISION ? -1 : 0;
}

static int add_value(const char *qdisc, const struct qdisc_option *option,
		     int attribute, const char *arg, struct nlmsghdr *n)
{
	char what[64];
	__u32 value;

	if (parse_value(option, arg, &value)) {
		snprintf(what, sizeof(what), "cannot be \"%s\"", arg);
		return refuse(qdisc, option, what);
	}
	addattr32(n, TC_REQUEST_MAX, attribute, value);
	return 0;
}

/* argv[0] is the option's name. Return: the words used, or -1. */
static int add_values(const char *qdisc, const struct qdisc_option *option,
		      int argc, char **argv, struct nlmsghdr *n)
{
	if (argc < 2)
		return refuse(qdisc, option, "has no value");
	if (add_value(qdisc, option, option->attribute, argv[1], n))
		return -1;
	if (!option->second || find_word(option, argv[1]))
		return 2;
	if (argc < 3)
		return refuse(qdisc, option, "has but one value");
	return add_value(qdisc, option, option->second, argv[2], n) ? -1 : 3;
}

int qdisc_options_parse(const char *qdisc, const struct qdisc_option *options,
			 const char *usage, int argc, char **argv,
			 struct nlmsghdr *n)
{
	const struct qdisc_option *option;
	bool seen[OPTIONS_MAX] = { false };
	struct rtattr *nest;
	int used;

	nest = addattr_nest(n, TC_REQUEST_MAX, TCA_OPTIONS | NLA_F_NESTED);
	for (; argc > 0; argc -= used, argv += used) {
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
		used = add_values(qdisc, option, argc, argv, n);
		if (used < 0)
			return -1;
	}
	addattr_nest_end(n, nest);
	return 0;
}

/*
 * JSON has bytes, and times in microseconds as tc's own disciplines do. Return:
 * whether it is a word.
 */
static bool value_print(const struct qdisc_option *option, const char *key,
			const struct rtattr *rta)
{
	const struct option_word *word = option->words;
	char text[VALUE_SIZE];
	__u64 json;
	__u32 value;

	memcpy(&value, RTA_DATA(rta), sizeof(value));
	for (; word && word->word; word++) {
		if (word->value == value) {
			print_color_string(PRINT_ANY, COLOR_NONE, key, "%s ",
					   word->word);
			return true;
		}
	}
	json = value;
	if (option->unit == UNIT_BYTES) {
		format_bytes(text, value);
	} else if (option->unit == UNIT_TIME) {
		format_time(text, value);
		json *= 1000;
	} else {
		snprintf(text, sizeof(text), "%u%s", value,
			 option->unit == UNIT_PACKETS ? "p" : "");
	}
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", text);
	print_color_u64(PRINT_JSON, COLOR_NONE, key, NULL, json);
	return false;
}

static bool holds_u32(const struct rtattr *rta)
{
	return rta && RTA_PAYLOAD(rta) >= sizeof(__u32);
}

static void option_print(const struct qdisc_option *option, struct rtattr **tb)
{
	const struct rtattr *first = tb[option->attribute];
	const struct rtattr *second = option->second ? tb[option->second] : NULL;

	if (!holds_u32(first))
		return;
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", option->name);
	if (!value_print(option, option->name, first) && holds_u32(second))
		value_print(option, option->second_name, second);
}

/* Once: a machine may have many such queue disciplines. */
static void note_version(const char *qdisc, bool newer)
{
	static bool noted;

	if (noted)
		return;
	noted = true;
	fprintf(stderr, newer ?
		"%s: the module is newer than tc's plugin, which does not show all it says: install the module's lasack-tools\n" :
		"%s: the module is older than tc's plugin: what it does not count is shown as 0; unload it and load the new one\n",
		qdisc);
}

/* Whether the kernel told of an option that the table does not have. */
static bool has_unknown(const struct qdisc_option *options, const struct rtattr *opt)
{
	const struct rtattr *attribute = RTA_DATA(opt);
	int left = RTA_PAYLOAD(opt), newest = 0;

	for (; options->name; options++) {
		if (options->attribute > newest)
			newest = options->attribute;
		if (options->second > newest)
			newest = options->second;
	}
	for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
		if ((attribute->rta_type & NLA_TYPE_MASK) > newest)
			return true;
	}
	return false;
}

void qdisc_options_print(const char *qdisc, const struct qdisc_option *options,
			 struct rtattr *opt)
{
	struct rtattr *tb[OPTIONS_MAX + 1];

	if (!opt)
		return;
	if (has_unknown(options, opt))
		note_version(qdisc, true);
	parse_rtattr_flags(tb, OPTIONS_MAX, RTA_DATA(opt), RTA_PAYLOAD(opt),
			   NLA_F_NESTED);
	for (; options->name; options++)
		option_print(options, tb);
}

void xstats_copy(void *to, size_t size, const struct rtattr *xstats)
{
	size_t there = RTA_PAYLOAD(xstats);

	memset(to, 0, size);
	memcpy(to, RTA_DATA(xstats), there < size ? there : size);
}

void xstats_read(const char *qdisc, void *to, size_t size, const struct rtattr *xstats)
{
	if (RTA_PAYLOAD(xstats) != size)
		note_version(qdisc, RTA_PAYLOAD(xstats) > size);
	xstats_copy(to, size, xstats);
}

static void print_backpressure(__u32 state)
{
	static const char *const words[] = {
		[TC_INFLIGHT_UNTRIED] = "untried",
		[TC_INFLIGHT_AIR] = "air",
		[TC_INFLIGHT_BUS] = "bus",
		[TC_INFLIGHT_NONE] = "none",
	};

	if (state < sizeof(words) / sizeof(words[0]))
		print_color_string(PRINT_ANY, COLOR_NONE, "backpressure",
				   " backpressure %s", words[state]);
}

void print_count(const char *key, const char *format, __u64 value)
{
	print_color_u64(PRINT_ANY, COLOR_NONE, key, format, value);
}

void print_below(const struct tc_inflight_xstats *st)
{
	print_count("in_flight", "  in_flight %" PRIu64, st->packets);
	print_count("in_flight_bytes", " bytes %" PRIu64, st->bytes);
	print_count("counted", " counted %" PRIu64, st->counted);
	if (st->limit)
		print_count("in_flight_limit", " limit %" PRIu64 "p", st->limit);
	if (st->limit_bytes)
		print_count("in_flight_limit_bytes", " %" PRIu64 "b", st->limit_bytes);
	if (st->turn_bytes)
		print_count("turn_bytes", " turn %" PRIu64 "b", st->turn_bytes);
	if (st->completion_delay)
		print_count("completion_delay_ms", " completion_delay %" PRIu64 "ms",
			    st->completion_delay);
	print_nl();
	print_count("tracked", "  tracked %" PRIu64, st->tracked);
	print_count("untracked", " untracked %" PRIu64, st->untracked);
	print_count("lost", " lost %" PRIu64, st->lost);
	print_count("throttled", " throttled %" PRIu64, st->throttled);
	print_count("stalls", " stalls %" PRIu64, st->stalls);
	print_count("stalled", " stalled %" PRIu64, st->stalled);
	print_nl();
	print_count("early", "  early %" PRIu64, st->early);
	print_backpressure(st->backpressure);
}
