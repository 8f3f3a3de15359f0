// SPDX-License-Identifier: GPL-2.0-only
/*
 * dcfmedium explain: prints a trace (trace_writer.h) as text that a person can
 * follow. There is one line for each transmission and for each idle time, and a
 * summary. All this is taken from the trace alone.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "explain_summary.h"
#include "explain_text.h"
#include "options.h"
#include "trace_reader.h"

static const char explain_help[] =
"usage: dcfmedium explain PCAP [options]\n"
"\n"
"Prints what happened, from a trace that `hwsim --pcap` or `saturate --pcap`\n"
"wrote: when, for how many microseconds, who sent what to whom, what collided or\n"
"was lost, and how long the medium was idle in between. A summary follows. Times\n"
"are the medium's, in seconds. TCP's sequence numbers are as in the header.\n"
"\n"
"  --from S          begin there (default: with the first frame)\n"
"  --seconds S       how long (default 1)\n"
"  --station NAME    only what this station sends or receives; name or address\n"
"  --summary         the summary alone\n"
"\n"
"example:\n"
"  dcfmedium saturate --stations 3 --phy ofdm-54 --payload 1500 --pcap air.pcapng\n"
"  dcfmedium explain air.pcapng --from 0.5 --seconds 0.01\n";

struct options {
	const char *path;
	const char *station;
	ns_t from;	/* NS_NEVER: the first frame */
	ns_t span;
	bool summary;
};

static void parse_options(struct options *options, int argc, char **argv)
{
	static const struct option known[] = {
		{ "from", required_argument, NULL, 'f' },
		{ "seconds", required_argument, NULL, 's' },
		{ "station", required_argument, NULL, 'a' },
		{ "summary", no_argument, NULL, 'y' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int option;

	*options = (struct options){ .from = NS_NEVER, .span = NS_PER_S };
	while ((option = getopt_long(argc, argv, ":", known, NULL)) != -1) {
		switch (option) {
		case 'f':
			options->from = parse_seconds("--from", optarg);
			break;
		case 's':
			options->span = parse_seconds("--seconds", optarg);
			break;
		case 'a':
			options->station = optarg;
			break;
		case 'y':
			options->summary = true;
			break;
		case 'h':
			fputs(explain_help, stdout);
			exit(EXIT_SUCCESS);
		default:
			unknown_option("explain", argv[optind - 1]);
		}
	}
	if (optind + 1 != argc)
		usage_error("explain needs one PCAP, which `--pcap` wrote");
	options->path = argv[optind];
}

static int by_beginning(const void *a, const void *b)
{
	const struct trace_packet *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	/* As in the file: qsort() keeps no order by itself. */
	return x->number < y->number ? -1 : 1;
}

/* The packets that begin in the span wanted, by when they began. */
static void read_span(struct trace_reader *reader, struct options *options,
		      struct span *span)
{
	struct trace_packet packet = { .number = 0 };
	size_t room = 0;

	while (trace_reader_next(reader, &packet)) {
		packet.number++;
		if (options->from == NS_NEVER)
			options->from = packet.at;
		if (packet.at < options->from) {
			if (packet.end > span->busy_until)
				span->busy_until = packet.end;
			continue;
		}
		if (packet.at - options->from >= options->span)
			continue;
		if (span->n == room) {
			room = room ? 2 * room : 1024;
			span->packets = realloc(span->packets,
						room * sizeof(packet));
			if (!span->packets)
				fatal("out of memory");
		}
		span->packets[span->n++] = packet;
	}
	if (reader->cut_short)
		fprintf(stderr, "dcfmedium: %s is cut short after frame %u; what is there follows\n",
			reader->path, packet.number);
	if (!packet.number)
		fatal("%s contains no frame", reader->path);
	qsort(span->packets, span->n, sizeof(packet), by_beginning);
}

/* Whether @packet is of @station or for it. */
static bool takes_part(const struct trace_reader *reader, const char *station,
		       const struct trace_packet *packet)
{
	char text[MAC_NAME_LEN];

	if (!station ||
	    !strcmp(station, trace_reader_name(reader, packet->mpdu + MPDU_ADDR1, text)))
		return true;
	return packet->captured >= MPDU_ADDR3 &&
	       !strcmp(station, trace_reader_name(reader, packet->mpdu + MPDU_ADDR2, text));
}

/* A name or address that is not in the trace is a slip of the keyboard. */
static void check_station(const struct trace_reader *reader, const struct span *span,
			  const char *station)
{
	for (int i = 0; i < reader->n_names; i++)
		if (!station || !strcmp(reader->names[i].name, station))
			return;
	for (size_t i = 0; i < span->n; i++)
		if (takes_part(reader, station, &span->packets[i]))
			return;
	usage_error("--station: no '%s' in %s", station, reader->path);
}

/* Packets from @first on that were in the air together, or are one A-MPDU. */
static size_t together(const struct span *span, size_t first)
{
	ns_t end = span->packets[first].end;
	size_t i = first + 1;

	for (; i < span->n && span->packets[i].at < end; i++)
		if (span->packets[i].end > end)
			end = span->packets[i].end;
	return i - first;
}

int explain_command(int argc, char **argv)
{
	struct options options;
	struct trace_reader reader;
	struct span span = { .n = 0 };
	ns_t free_since;

	parse_options(&options, argc, argv);
	trace_reader_open(&reader, options.path);
	read_span(&reader, &options, &span);
	check_station(&reader, &span, options.station);
	free_since = span.busy_until ? span.busy_until : options.from;
	explain_begin(&reader);
	for (size_t i = 0, n; i < span.n; i += n) {
		const struct trace_packet *packets = &span.packets[i];
		bool shown = false;

		n = together(&span, i);
		for (size_t j = 0; j < n; j++)
			shown |= takes_part(&reader, options.station, &packets[j]);
		if (shown && !options.summary) {
			if (!options.station)
				explain_idle(&reader, free_since, packets->at);
			explain_together(&reader, packets, n);
		}
		for (size_t j = 0; j < n; j++)
			if (packets[j].end > free_since)
				free_since = packets[j].end;
	}
	explain_summary(&reader, &span, options.from, options.span);
	free(span.packets);
	trace_reader_close(&reader);
	if (fflush(stdout) || ferror(stdout))
		fatal("cannot write");
	return EXIT_SUCCESS;
}
