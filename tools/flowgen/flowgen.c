// SPDX-License-Identifier: GPL-2.0-only
/*
 * flowgen: flows up and down, over TCP or over UDP as QUIC has them, and scripted
 * UDP pulses, for measuring inside a kernel whose time is virtual. The usual
 * generators poll the clock, and then virtual time never passes; this one only
 * sleeps. Its command line.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arrivals.h"
#include "die.h"
#include "dscp.h"
#include "flow.h"
#include "loop.h"
#include "pages.h"
#include "pulse.h"
#include "quic/connection.h"
#include "quic/wire.h"
#include "record.h"
#include "serve.h"
#include "tap.h"
#include "usage.h"

#define QUIC_DATAGRAM	1200	/* bytes: the least that every path carries (RFC 9000, 14) */

struct options {
	const char *id, *host, *port, *bind, *dir, *seconds, *bytes, *count;
	const char *every, *start_at, *cc, *interval, *out, *list, *dev;
	const char *datagrams, *echo, *pages, *bursts, *window, *dscp;
};

static void __attribute__((noreturn, format(printf, 1, 2)))
misuse(const char *format, ...)
{
	va_list args;

	fputs("flowgen: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputs("; see flowgen --help\n", stderr);
	exit(2);
}

/* Seconds to nanoseconds; up to 1e7 s a double keeps every nanosecond. */
static int64_t parse_seconds(const char *option, const char *text, int allow_zero)
{
	char *end;
	double value;

	errno = 0;
	value = strtod(text, &end);
	if (errno || end == text || *end || !isfinite(value) || value < 0 ||
	    value > 1e7 || (!allow_zero && value < 1e-6))
		misuse("%s %s: give %s seconds, for example 0.5", option, text,
		       allow_zero ? "zero or more" : "at least 0.000001");
	return llround(value * NSEC_PER_SEC);
}

static uint64_t parse_count(const char *option, const char *text, uint64_t min,
			    uint64_t max)
{
	unsigned long long value, unit = 1;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (*end == 'k' || *end == 'K')
		unit = 1000;
	else if (*end == 'M')
		unit = 1000000;
	else if (*end == 'G')
		unit = 1000000000;
	if (unit != 1)
		end++;
	if (errno || end == text || *end || text[0] == '-' ||
	    value > max / unit || value * unit < min)
		misuse("%s %s: give a whole number from %llu to %llu", option,
		       text, (unsigned long long)min, (unsigned long long)max);
	return value * unit;
}

static void need(const char *command, const char *option, const char *value)
{
	if (!value)
		misuse("%s needs %s", command, option);
}

static void check_port(const char *port)
{
	parse_count("--port", port, 1, 65535);
	if (port[strspn(port, "0123456789")])
		misuse("--port %s: give a number", port);
}

static void resolve(const struct options *opt, int type,
		    struct sockaddr_storage *peer, socklen_t *length)
{
	struct addrinfo hints = { .ai_socktype = type, .ai_flags = AI_NUMERICSERV };
	struct addrinfo *list;
	int error;

	check_port(opt->port);
	error = getaddrinfo(opt->host, opt->port, &hints, &list);
	if (error)
		die(0, "cannot find host %s: %s", opt->host, gai_strerror(error));
	memcpy(peer, list->ai_addr, list->ai_addrlen);
	*length = list->ai_addrlen;
	freeaddrinfo(list);
}

static void copy_id(char *to, const char *id)
{
	if (!flow_id_valid(id))
		misuse("--id %s: use 1 to %d letters, digits and - . _ :", id, ID_MAX);
	strcpy(to, id);
}

static uint8_t dscp(const struct options *opt)
{
	return opt->dscp ? parse_count("--dscp", opt->dscp, 0, DSCP_MAX) : 0;
}

static int64_t start_time(const struct options *opt)
{
	return opt->start_at ? parse_seconds("--start-at", opt->start_at, 1) : 0;
}

static void command_serve(struct loop *loop, const struct options *opt)
{
	need("serve", "--port", opt->port);
	check_port(opt->port);
	serve_open(loop, opt->bind, opt->port);
}

static enum direction direction(const struct options *opt)
{
	if (strcmp(opt->dir, "up") && strcmp(opt->dir, "down"))
		misuse("--dir %s: say up or down", opt->dir);
	return strcmp(opt->dir, "down") ? DIR_UP : DIR_DOWN;
}

static void plan_one(struct flow_plan *plan, const struct options *opt)
{
	need("run", "--id", opt->id);
	need("run", "--dir", opt->dir);
	if (!opt->seconds == !opt->bytes)
		misuse("run needs either --seconds or --bytes");
	copy_id(plan->id, opt->id);
	plan->dir = direction(opt);
	if (opt->seconds)
		plan->duration_ns = parse_seconds("--seconds", opt->seconds, 0);
	else
		plan->bytes = parse_count("--bytes", opt->bytes, 1, INT64_MAX);
}

static void command_run(struct loop *loop, const struct options *opt)
{
	struct flow_plan plan = { };

	need("run", "--host", opt->host);
	need("run", "--port", opt->port);
	if (opt->list && opt->pages)
		misuse("give --list or --pages");
	if (!opt->list && !opt->pages)
		plan_one(&plan, opt);
	else if (opt->id || opt->dir || opt->seconds || opt->bytes)
		misuse("--list and --pages say what --id, --dir, --seconds and --bytes would");
	plan.start_ns = start_time(opt);
	plan.dscp = dscp(opt);
	if (opt->cc) {
		if (!opt->cc[0] || strlen(opt->cc) >= CC_MAX)
			misuse("--cc %s: not the name of a congestion control", opt->cc);
		strcpy(plan.congestion_control, opt->cc);
	}
	resolve(opt, SOCK_STREAM, &plan.peer, &plan.peer_length);
	if (opt->list)
		arrivals_start(loop, opt->list, &plan);
	else if (opt->pages)
		pages_start(loop, opt->pages, &plan);
	else
		flow_start(loop, &plan);
}

static void command_pulse(struct loop *loop, const struct options *opt)
{
	struct pulse_plan plan = { };

	need("pulse", "--id", opt->id);
	need("pulse", "--host", opt->host);
	need("pulse", "--port", opt->port);
	if (!opt->count == !opt->bursts)
		misuse("pulse needs either --count or --bursts");
	need("pulse", "--every", opt->every);
	need("pulse", "--bytes", opt->bytes);
	copy_id(plan.id, opt->id);
	plan.datagrams = opt->datagrams ?
		parse_count("--datagrams", opt->datagrams, 1, DATAGRAMS_MAX) : 1;
	plan.echo = opt->echo;
	if (plan.echo && plan.datagrams > 1)
		misuse("--echo answers single datagrams; leave out --datagrams");
	if (opt->bursts)
		plan.bursts = pulse_bursts(opt->bursts, UINT32_MAX / plan.datagrams, &plan.count);
	else
		plan.count = parse_count("--count", opt->count, 1, UINT32_MAX / plan.datagrams);
	plan.every_ns = parse_seconds("--every", opt->every, 0);
	plan.bytes = parse_count("--bytes", opt->bytes,
				 sizeof(struct pulse_header) + strlen(plan.id),
				 PULSE_MAX);
	plan.start_ns = start_time(opt);
	plan.dscp = dscp(opt);
	resolve(opt, SOCK_DGRAM, &plan.peer, &plan.peer_length);
	pulse_start(loop, &plan);
}

static void command_quic(struct loop *loop, const struct options *opt)
{
	struct quic_plan plan = { .datagram = QUIC_DATAGRAM };

	need("quic", "--id", opt->id);
	need("quic", "--host", opt->host);
	need("quic", "--port", opt->port);
	need("quic", "--dir", opt->dir);
	need("quic", "--seconds", opt->seconds);
	copy_id(plan.id, opt->id);
	plan.dir = direction(opt);
	plan.duration_ns = parse_seconds("--seconds", opt->seconds, 0);
	plan.start_ns = start_time(opt);
	if (opt->bytes)
		plan.datagram = parse_count("--bytes", opt->bytes, QUIC_DATAGRAM_MIN,
					    QUIC_DATAGRAM_MAX);
	if (opt->window)
		plan.window = parse_count("--window", opt->window, 1, UINT32_MAX);
	resolve(opt, SOCK_DGRAM, &plan.peer, &plan.peer_length);
	quic_start(loop, &plan);
}

static void command_tap(struct loop *loop, const struct options *opt)
{
	need("tap", "--dev", opt->dev);
	tap_open(loop, opt->dev);
}

static const struct command {
	const char *name;
	void (*begin)(struct loop *loop, const struct options *opt);
	const char *options;		/* the ones it takes */
} commands[] = {
	{ "serve", command_serve, "pbIoh" },
	{ "run", command_run, "icpdtnlPTCQIoh" },
	{ "pulse", command_pulse, "icpNBEnMeTQIoh" },
	{ "quic", command_quic, "icpdtnWTIoh" },
	{ "tap", command_tap, "DIoh" },
};

static void parse_options(const struct command *command, int argc, char **argv,
			  struct options *opt)
{
	static const struct option names[] = {
		{ "id", 1, NULL, 'i' }, { "host", 1, NULL, 'c' },
		{ "port", 1, NULL, 'p' }, { "bind", 1, NULL, 'b' },
		{ "dir", 1, NULL, 'd' }, { "seconds", 1, NULL, 't' },
		{ "bytes", 1, NULL, 'n' }, { "list", 1, NULL, 'l' },
		{ "count", 1, NULL, 'N' }, { "dev", 1, NULL, 'D' },
		{ "every", 1, NULL, 'E' }, { "start-at", 1, NULL, 'T' },
		{ "cc", 1, NULL, 'C' }, { "interval", 1, NULL, 'I' },
		{ "datagrams", 1, NULL, 'M' }, { "echo", 0, NULL, 'e' },
		{ "pages", 1, NULL, 'P' }, { "bursts", 1, NULL, 'B' },
		{ "window", 1, NULL, 'W' }, { "dscp", 1, NULL, 'Q' },
		{ "out", 1, NULL, 'o' }, { "help", 0, NULL, 'h' },
		{ },
	};
	const char **values[] = {
		['i'] = &opt->id, ['c'] = &opt->host, ['p'] = &opt->port,
		['b'] = &opt->bind, ['d'] = &opt->dir, ['t'] = &opt->seconds,
		['n'] = &opt->bytes, ['N'] = &opt->count, ['E'] = &opt->every,
		['T'] = &opt->start_at, ['C'] = &opt->cc, ['l'] = &opt->list,
		['I'] = &opt->interval, ['o'] = &opt->out, ['D'] = &opt->dev,
		['M'] = &opt->datagrams, ['e'] = &opt->echo,
		['P'] = &opt->pages, ['B'] = &opt->bursts,
		['W'] = &opt->window, ['Q'] = &opt->dscp,
	};
	int c, i;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":i:c:p:b:d:t:n:l:o:h", names, NULL)) != -1) {
		if (c == ':')
			misuse("%s needs a value", argv[optind - 1]);
		if (c == '?')
			misuse("%s is not an option", argv[optind - 1]);
		if (!strchr(command->options, c)) {
			for (i = 0; names[i].val != c; i++)
				;
			misuse("%s takes no --%s", command->name, names[i].name);
		}
		if (c == 'h') {
			fputs(usage_text, stdout);
			exit(0);
		}
		*values[c] = optarg ? optarg : "";
	}
	if (optind < argc)
		misuse("%s: unexpected argument", argv[optind]);
}

int main(int argc, char **argv)
{
	struct loop loop = { .out_fd = STDOUT_FILENO, .interval_ns = NSEC_PER_SEC };
	const struct command *command = NULL;
	struct options opt = { };
	int status;
	size_t i;

	if (argc < 2)
		misuse("say serve, run, pulse, quic or tap");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		fputs(usage_text, stdout);
		return 0;
	}
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[1], commands[i].name))
			command = &commands[i];
	if (!command)
		misuse("%s is not a command: say serve, run, pulse, quic or tap", argv[1]);
	parse_options(command, argc - 1, argv + 1, &opt);

	if (opt.interval)
		loop.interval_ns = parse_seconds("--interval", opt.interval, 0);
	loop_open(&loop);
	command->begin(&loop, &opt);
	if (opt.out) {
		loop.out_fd = open(opt.out, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
		if (loop.out_fd < 0)
			die(errno, "cannot write %s", opt.out);
	}
	status = loop_run(&loop);
	if (loop.strays)
		fprintf(stderr, "flowgen: %lu datagrams of no known flow were ignored\n",
			loop.strays);
	return status;
}
