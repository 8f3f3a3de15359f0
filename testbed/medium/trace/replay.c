// SPDX-License-Identifier: GPL-2.0-only
/*
 * dcfmedium replay: the MAC core on a recording (recording.h), without a
 * kernel. What decided the recorded run is all there, so the decisions must
 * be the same, which the digest shows.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mac.h"
#include "core/phy/phy_rate.h"
#include "mac_options.h"
#include "options.h"
#include "recording.h"
#include "replay.h"
#include "station_option.h"
#include "stats_json.h"

#define BYTES_MAX	65535

enum event_kind {
	EVENT_STATION,
	EVENT_FRAME,
	EVENT_CHANNEL,
	EVENT_MARK,
	EVENT_END,
};

/* One line of the trace that has a time. */
struct event {
	enum event_kind kind;
	char how;
	ns_t at;
	struct mac_station_config station;
	int from;
	unsigned int freq;	/* of a channel that @from goes to */
	struct mac_frame frame;
	uint64_t events;	/* of the last line: how many came before it */
	uint64_t digest;
};

struct replay {
	const char *path;
	bool json;
	struct mac_config config;
	struct mac_words overrides;	/* options given instead of recorded ones */

	FILE *file;
	char *line;
	size_t line_size;
	unsigned long line_number;

	struct mac mac;
	struct event next;
	uint64_t events;
	uint64_t in_hand;	/* frames without their status */
	uint64_t frames;
	ns_t now;
};

static const char replay_help[] =
"usage: dcfmedium replay FILE [options]\n"
"\n"
"Runs the MAC core on a recording of `hwsim --record` or `saturate --record`.\n"
"It must decide as it did then: exit code 1 means that the digest differs.\n"
"Files that recorded options name are read again.\n"
"\n"
"  --json            the statistics as one JSON object instead of text\n"
"\n"
"For recordings of hwsim, other options replace the recorded ones. The frames\n"
"arrive as they did, and the digest is another:\n"
"\n"
MAC_OPTIONS_HELP
"\n"
"examples:\n"
"  dcfmedium saturate --stations 5 --phy hrdsss-11 --payload 1500 --record five\n"
"  dcfmedium replay five --json\n"
"  dcfmedium replay out/demo/runs/ID/arrivals.txt --seed 2\n";

static void parse_options(struct replay *replay, int argc, char **argv)
{
	static const struct option known[] = {
		MAC_OPTIONS,
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int option;

	while ((option = getopt_long(argc, argv, ":", known, NULL)) != -1) {
		const char *word = argv[optind - 1];

		if (option == 'h') {
			fputs(replay_help, stdout);
			exit(EXIT_SUCCESS);
		} else if (option == 'j') {
			replay->json = true;
		} else if (take_mac_option(&replay->config, option)) {
			keep_mac_option(&replay->overrides, option);
		} else {
			unknown_option("replay", word);
		}
	}
	if (optind + 1 != argc)
		usage_error("replay needs one FILE, which `--record` wrote");
	replay->path = argv[optind];
}

static void bad_line(const struct replay *replay, const char *why)
	__attribute__((noreturn));

static void bad_line(const struct replay *replay, const char *why)
{
	fatal("%s:%lu: %s", replay->path, replay->line_number, why);
}

/* The next line without its end; a file that ends here was cut short. */
static char *read_line(struct replay *replay)
{
	ssize_t length = getline(&replay->line, &replay->line_size, replay->file);

	if (length <= 0 || replay->line[length - 1] != '\n')
		fatal("%s: the recording is cut short after line %lu; its last line says `end`",
		      replay->path, replay->line_number);
	replay->line_number++;
	replay->line[length - 1] = '\0';
	if (strlen(replay->line) != (size_t)length - 1)
		bad_line(replay, "has an octet 0 in it");
	return replay->line;
}

static void open_trace(struct replay *replay)
{
	int schema, length = 0;
	char *line = NULL;
	size_t size = 0;

	replay->file = fopen(replay->path, "r");
	if (!replay->file)
		fatal("cannot read %s: %s", replay->path, strerror(errno));
	errno = 0;
	if (getline(&line, &size, replay->file) < 0 && errno)
		fatal("cannot read %s: %s", replay->path, strerror(errno));
	if (!line || sscanf(line, RECORDING_FORMAT " %d\n%n", &schema, &length) != 1 ||
	    !length)
		fatal("%s is no recording; `hwsim --record` and `saturate --record` write one",
		      replay->path);
	if (schema != RECORDING_SCHEMA)
		fatal("%s has schema %d; this program reads %d", replay->path,
		      schema, RECORDING_SCHEMA);
	replay->line_number = 1;
	free(line);
}

/* "option NAME VALUE", unless the command line has another value. */
static void take_recorded_option(struct replay *replay, char *words)
{
	char *value = strchr(words, ' ');
	int option;

	if (!value)
		bad_line(replay, "is not `option NAME VALUE`");
	*value++ = '\0';
	option = mac_option_named(words);
	if (!option)
		bad_line(replay, "has an option this program does not know");
	for (int i = 0; i < replay->overrides.n; i++)
		if (replay->overrides.option[i] == option)
			return;
	optarg = value;
	take_mac_option(&replay->config, option);
}

static bool known_rate(const struct replay *replay, unsigned int rate)
{
	return phy_rate_of(replay->config.phy, rate);
}

/* "0", "110", or a retry chain "110x2+55x4". */
static void read_rate(struct replay *replay, const char *word,
		      struct mac_frame *frame)
{
	struct rate_chain *chain = &frame->chain;
	int end = 0;

	if (sscanf(word, "%u%n", &frame->rate, &end) == 1 && !word[end]) {
		if (frame->rate && !known_rate(replay, frame->rate))
			bad_line(replay, "has a rate that the profile has not");
		return;
	}
	frame->rate = 0;
	for (int i = 0; i < RATE_CHAIN_MAX; i++) {
		if (sscanf(word, "%ux%u%n", &chain->rate[i], &chain->count[i],
			   &end) != 2 || !chain->count[i] ||
		    chain->count[i] > RETRY_MAX ||
		    !known_rate(replay, chain->rate[i]))
			break;
		word += end;
		if (!*word) {
			replay->mac.config.kernel_rates = true;
			return;
		}
		if (*word++ != '+')
			break;
	}
	bad_line(replay, "has rates that are not RATE or RATExCOUNT+...");
}

static void read_frame(struct replay *replay, const char *words,
		       struct event *event)
{
	struct mac_frame *frame = &event->frame;
	char flags[8];
	int rate = 0;

	*frame = (struct mac_frame){ 0 };
	if (sscanf(words, "%d %d %u %7s %n", &event->from, &frame->to,
		   &frame->bytes, flags, &rate) != 4 || !rate || !words[rate])
		bad_line(replay, "is not `frame FROM TO BYTES FLAGS RATE`");
	if (event->from < 0 || event->from >= replay->mac.n_stations ||
	    frame->to < MAC_EVERYBODY || frame->to >= replay->mac.n_stations)
		bad_line(replay, "names a station there is none of yet");
	if (!frame->bytes || frame->bytes > BYTES_MAX)
		bad_line(replay, "has a frame of an impossible length");
	if (flags[strspn(flags, "abd-")])
		bad_line(replay, "has a flag that is none of a, b and d");
	frame->wants_ack = strchr(flags, 'a');
	frame->basic_rate = strchr(flags, 'b');
	frame->carries_data = strchr(flags, 'd');
	read_rate(replay, words + rate, frame);
}

/* What follows the time on a line. */
static void read_event(struct replay *replay, char *words)
{
	struct event *event = &replay->next;
	char *rest = strchr(words, ' ');
	int end = 0;

	if (rest)
		*rest++ = '\0';
	if (!strcmp(words, "mark") && !rest) {
		event->kind = EVENT_MARK;
	} else if (!strcmp(words, "frame") && rest) {
		event->kind = EVENT_FRAME;
		read_frame(replay, rest, event);
	} else if (!strcmp(words, "channel") && rest) {
		event->kind = EVENT_CHANNEL;
		if (sscanf(rest, "%d %u%n", &event->from, &event->freq, &end) != 2 ||
		    rest[end] || event->from < 0 ||
		    event->from >= replay->mac.n_stations)
			bad_line(replay, "is not `channel STATION MHZ` of a station that is there");
	} else if (!strcmp(words, "station") && rest) {
		event->kind = EVENT_STATION;
		event->station = (struct mac_station_config){ 0 };
		parse_station(rest, replay->config.phy, &event->station);
		if (!event->station.retry_limit || !event->station.cw_min)
			bad_line(replay, "has a station without retry or cwmin");
	} else if (!strcmp(words, "end") && rest &&
		   sscanf(rest, "%" SCNu64 " %" SCNx64 "%n", &event->events,
			  &event->digest, &end) == 2 && !rest[end]) {
		event->kind = EVENT_END;
	} else {
		bad_line(replay, "is none of station, frame, channel, mark and end");
	}
}

/* A line with a time becomes replay->next. */
static void take_event(struct replay *replay, char *line)
{
	struct event *event = &replay->next;
	ns_t before = event->at;
	int words = 0;

	if (sscanf(line, "%c %" SCNu64 " %n", &event->how, &event->at,
		   &words) != 2 || !words || !strchr("+=@", event->how))
		bad_line(replay, "does not begin with +, = or @ and a time");
	if (event->at < before)
		bad_line(replay, "goes back in time");
	read_event(replay, line + words);
	if (event->how == '@' && event->kind != EVENT_FRAME)
		bad_line(replay, "answers the end of a frame with no frame");
	if (event->how == '@' && replay->overrides.n)
		fatal("%s: `saturate` recorded it, so its frames come when others are done; run `saturate` itself with other options",
		      replay->path);
	if (event->kind == EVENT_END && event->events != replay->events)
		fatal("%s: lines are missing: %" PRIu64 " of %" PRIu64 " events are there",
		      replay->path, replay->events, event->events);
	replay->events++;
}

static void advance_trace(struct replay *replay)
{
	take_event(replay, read_line(replay));
}

static void enqueue_next(struct replay *replay)
{
	struct mac_frame *frame = malloc(sizeof(*frame));
	int from = replay->next.from;

	if (!frame)
		fatal("out of memory");
	*frame = replay->next.frame;
	replay->in_hand++;
	replay->frames++;
	mac_enqueue(&replay->mac, from, frame, replay->next.at);
	advance_trace(replay);
}

/* As the front end does: each receiver of the group has its own channel. */
static void on_deliver(void *ctx, int from, struct mac_frame *frame)
{
	struct replay *replay = ctx;

	for (int i = 0; frame->to == MAC_EVERYBODY && i < replay->mac.n_stations; i++)
		if (mac_is_peer(&replay->mac, from, i))
			mac_reaches(&replay->mac, from, i, frame);
}

static void on_status(void *ctx, int from, struct mac_frame *frame, bool acked)
{
	struct replay *replay = ctx;

	(void)from;
	(void)frame;
	(void)acked;
	replay->in_hand--;
}

/* Where `saturate` hands in the next one. */
static void on_done(void *ctx, int from, struct mac_frame *frame)
{
	struct replay *replay = ctx;

	(void)from;
	free(frame);
	if (replay->next.how == '@')
		enqueue_next(replay);
}

static const struct mac_ops replay_ops = {
	.deliver = on_deliver,
	.status = on_status,
	.done = on_done,
};

static void advance_core(struct replay *replay)
{
	replay->now = replay->next.at;
	mac_advance(&replay->mac, replay->now);
}

/* Hand the core what comes next. */
static void play_event(struct replay *replay)
{
	struct event *event = &replay->next;
	uint64_t events = replay->events;

	if (event->how != '=')
		advance_core(replay);
	if (event->how == '@') {
		if (events == replay->events)
			bad_line(replay, "answers the end of a frame that does not end");
		return;
	}
	replay->now = event->at;
	switch (event->kind) {
	case EVENT_STATION:
		if (mac_add_station(&replay->mac, &event->station) < 0)
			bad_line(replay, "has one station too many");
		break;
	case EVENT_FRAME:
		enqueue_next(replay);
		return;
	case EVENT_CHANNEL:
		mac_set_channel(&replay->mac, event->from, event->freq);
		break;
	case EVENT_MARK:
		mac_mark(&replay->mac, replay->now);
		break;
	case EVENT_END:
		return;
	}
	advance_trace(replay);
}

static void play(struct replay *replay)
{
	char *line;

	open_trace(replay);
	while (!strncmp(line = read_line(replay), "option ", 7))
		take_recorded_option(replay, line + 7);
	if (!replay->config.phy)
		bad_line(replay, "comes without `option phy PROFILE` before it");
	check_mac_options(&replay->config);
	mac_init(&replay->mac, &replay->config, &replay_ops, replay);
	take_event(replay, line);
	while (replay->next.kind != EVENT_END)
		play_event(replay);
	if (replay->next.how == '+')
		advance_core(replay);
	replay->now = replay->next.at;
}

static void print_text(const struct replay *replay)
{
	struct mac_counters total = stats_total(&replay->mac);

	printf("%d stations, %s, %" PRIu64 " frames, %.3f s since the mark\n",
	       replay->mac.n_stations, replay->config.phy->name, replay->frames,
	       (double)(replay->now - replay->mac.mark) / NS_PER_S);
	printf("attempts              %" PRIu64 "\n", total.tx);
	printf("collision probability %.4f\n", stats_collision_probability(&total));
	printf("dropped frames        %" PRIu64 "\n", total.drops);
	printf("digest                %016" PRIx64 "\n", replay->mac.digest);
}

int replay_command(int argc, char **argv)
{
	static struct replay replay;
	struct integrity integrity = { 0 };

	replay.config = mac_defaults(NULL);
	parse_options(&replay, argc, argv);
	play(&replay);
	integrity.lost = replay.in_hand;
	for (int i = 0; i < replay.mac.n_stations; i++)
		integrity.lost -= replay.mac.stations[i].backlog;
	if (replay.json)
		stats_write(stdout, &replay.mac, replay.now, &integrity, NULL);
	else
		print_text(&replay);
	fclose(replay.file);
	if (replay.overrides.n || replay.mac.digest == replay.next.digest)
		return EXIT_SUCCESS;
	fatal("%s: the core decided otherwise: digest %016" PRIx64 ", recorded %016" PRIx64,
	      replay.path, replay.mac.digest, replay.next.digest);
}
