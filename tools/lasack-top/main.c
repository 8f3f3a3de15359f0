// SPDX-License-Identifier: GPL-2.0-only
/*
 * lasack-top: the flows of a lasack queue discipline, live. Command line, and
 * the output that is not a screen.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "die.h"
#include "json.h"
#include "screen.h"
#include "text.h"
#include "top.h"

static const char usage_text[] =
"Usage: lasack-top [--device DEV] [--interval S] [--sort KEY] [--once] [--json]\n"
"\n"
"Shows the flows of a device's lasack queue discipline: what each has attained,\n"
"its rate, its backlog and its direction. A download (down) goes out of the\n"
"device. An upload (up) comes in; its bytes are known from the ACKs that go out.\n"
"For ackwrr it shows the two classes.\n"
"\n"
"  -d, --device DEV    the device (default: the one with a lasack or an ackwrr)\n"
"  -i, --interval S    seconds between two looks, 0.1 to 3600 (default 1)\n"
"  -s, --sort KEY      attained, rate or backlog, the largest first\n"
"  -1, --once          print one table and end; rates are not known then\n"
"  -j, --json          one JSON object per line, for each look\n"
"  -h, --help\n"
"\n"
"Keys: q quit; a, r, b sort by attained service, rate, backlog. If input or\n"
"output is not a terminal, tables are printed one after another.\n"
"The kernel reports 16 flows of each lasack: those with the largest sums, or with\n"
"\"fair station\" those with the most bytes.\n"
"Exit code: 0, 1 when there is nothing to show (one line says why), 2 for bad\n"
"usage.\n"
"\n"
"Examples:\n"
"  lasack-top                           live, on the device that has a lasack\n"
"  lasack-top -d wlan0 -i 5 -s rate     every five seconds, the fastest first\n"
"  lasack-top --once                    one table, for a report\n"
"  lasack-top --json | jq '.flows[] | [.to.address, .direction, .rate_bps]'\n";

static int64_t parse_interval(const char *text)
{
	double seconds;
	char *end;

	errno = 0;
	seconds = strtod(text, &end);
	if (errno || end == text || *end || !(seconds >= 0.1 && seconds <= 3600))
		misuse("--interval %s: give 0.1 to 3600 seconds", text);
	return llround(seconds * NSEC_PER_SEC);
}

static enum sort_key parse_sort(const char *text)
{
	if (!strcmp(text, "attained"))
		return SORT_ATTAINED;
	if (!strcmp(text, "rate"))
		return SORT_RATE;
	if (!strcmp(text, "backlog"))
		return SORT_BACKLOG;
	misuse("--sort %s: give attained, rate or backlog", text);
}

static void parse_options(struct top *top, int argc, char **argv)
{
	static const struct option names[] = {
		{ "device", 1, NULL, 'd' }, { "interval", 1, NULL, 'i' },
		{ "sort", 1, NULL, 's' }, { "once", 0, NULL, '1' },
		{ "json", 0, NULL, 'j' }, { "help", 0, NULL, 'h' },
		{ },
	};
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":d:i:s:1jh", names, NULL)) != -1) {
		switch (c) {
		case 'd':
			top->device = optarg;
			break;
		case 'i':
			top->interval_ns = parse_interval(optarg);
			break;
		case 's':
			top->sort = parse_sort(optarg);
			break;
		case '1':
			top->once = true;
			break;
		case 'j':
			top->json = true;
			break;
		case 'h':
			fputs(usage_text, stdout);
			exit(0);
		case ':':
			misuse("%s needs a value", argv[optind - 1]);
		default:
			misuse("%s is not an option", argv[optind - 1]);
		}
	}
	if (optind < argc)
		misuse("unexpected argument %s", argv[optind]);
}

static int columns(void)
{
	const char *text = getenv("COLUMNS");
	struct winsize size = { };
	int width = text ? atoi(text) : 0;

	if (!width && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		width = size.ws_col;
	return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
}

static void print_pages(struct top *top)
{
	int64_t next = monotonic_ns();
	struct timespec until;

	for (;;) {
		top_look(top);
		if (top->json)
			json_page(stdout, &top->now);
		else
			text_page(stdout, &top->now, columns());
		if (!top->json && !top->once)
			putchar('\n');
		if (fflush(stdout) || ferror(stdout))
			die("cannot write: %s", strerror(errno));
		if (top->once)
			return;
		/* What was missed, as while the program was stopped, is not made up for. */
		next += top->interval_ns;
		if (next < monotonic_ns())
			next = monotonic_ns();
		until.tv_sec = next / NSEC_PER_SEC;
		until.tv_nsec = next % NSEC_PER_SEC;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
}

int main(int argc, char **argv)
{
	struct top top = { .interval_ns = NSEC_PER_SEC };
	char name[IFNAMSIZ];

	parse_options(&top, argc, argv);
	top.source = source_open();
	top.ifindex = source_find(top.source, top.device);
	if (!top.device)
		top.device = if_indextoname(top.ifindex, name) ?: "the device";
	/* What cannot be read is said before the screen is touched. */
	if (!top.once && !top.json && screen_usable()) {
		top_look(&top);
		screen_run(&top);
	} else {
		print_pages(&top);
	}
	snapshot_clear(&top.now);
	snapshot_clear(&top.before);
	source_close(top.source);
	return 0;
}
