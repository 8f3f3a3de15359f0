// SPDX-License-Identifier: GPL-2.0-only
/*
 * dcfmedium replay: the MAC core on a recording (recording.h), without a
 * kernel. The recording has everything that the core's decisions depend on, so
 * the decisions must be the same. The digest shows whether they are.
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
#include "recording_reader.h"
#include "replay.h"
#include "stats_json.h"

struct replay {
	const char *path;
	bool json;
	struct mac_config config;
	struct mac_words overrides;	/* options given instead of recorded ones */

	struct recording_reader reader;
	struct mac mac;
	uint64_t in_hand;	/* frames without their status */
	uint64_t frames;
	ns_t now;
};

static const char replay_help[] =
"usage: dcfmedium replay FILE [options]\n"
"\n"
"Runs the core on a recording of `hwsim --record` or `saturate --record`. The core\n"
"must decide as in the recorded run: exit code 1 means that the digests differ.\n"
"If a recorded option names a file, this file is read again.\n"
"\n"
"  --json            the statistics as one JSON object instead of text\n"
"\n"
"For recordings of hwsim, these options replace the recorded ones. The frames\n"
"arrive at the recorded times, and the digest will differ:\n"
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

/* "option NAME VALUE", unless the command line has another value. */
static void take_recorded_option(struct replay *replay, char *words)
{
	char *value = strchr(words, ' ');
	int option;

	if (!value)
		recording_bad_line(&replay->reader, "is not `option NAME VALUE`");
	*value++ = '\0';
	option = mac_option_named(words);
	if (!option)
		recording_bad_line(&replay->reader, "has an option this program does not know");
	for (int i = 0; i < replay->overrides.n; i++)
		if (replay->overrides.word[i].option == option)
			return;
	optarg = value;
	take_mac_option(&replay->config, option);
}

/* The next event, which other options allow only if its frames come by time. */
static void check_event(const struct replay *replay)
{
	if (replay->reader.next.how == '@' && replay->overrides.n)
		fatal("%s: `saturate` recorded it, so its frames come when others are done; run `saturate` itself with other options",
		      replay->path);
}

static void next_event(struct replay *replay)
{
	recording_next(&replay->reader);
	check_event(replay);
}

static void enqueue_next(struct replay *replay)
{
	struct mac_frame *frame = malloc(sizeof(*frame));
	int from = replay->reader.next.from;

	if (!frame)
		fatal("out of memory");
	*frame = replay->reader.next.frame;
	replay->in_hand++;
	replay->frames++;
	mac_enqueue(&replay->mac, from, frame, replay->reader.next.at);
	next_event(replay);
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
	if (replay->reader.next.how == '@')
		enqueue_next(replay);
}

static const struct mac_ops replay_ops = {
	.deliver = on_deliver,
	.status = on_status,
	.done = on_done,
};

static void advance_core(struct replay *replay)
{
	replay->now = replay->reader.next.at;
	mac_advance(&replay->mac, replay->now);
}

/* Hand the core what comes next. */
static void play_event(struct replay *replay)
{
	struct recording_event *event = &replay->reader.next;
	uint64_t events = replay->reader.events;

	if (event->how != '=')
		advance_core(replay);
	if (event->how == '@') {
		if (events == replay->reader.events)
			recording_bad_line(&replay->reader, "has @, but no frame ends there");
		return;
	}
	replay->now = event->at;
	switch (event->kind) {
	case RECORDING_STATION:
		if (mac_add_station(&replay->mac, &event->station) < 0)
			recording_bad_line(&replay->reader, "has one station too many");
		break;
	case RECORDING_FRAME:
		enqueue_next(replay);
		return;
	case RECORDING_CHANNEL:
		mac_set_channel(&replay->mac, event->from, event->freq);
		break;
	case RECORDING_MARK:
		mac_mark(&replay->mac, replay->now);
		break;
	case RECORDING_LOSSLESS:
		mac_spare_losses(&replay->mac);
		break;
	case RECORDING_END:
		return;
	}
	next_event(replay);
}

static void play(struct replay *replay)
{
	struct recording_reader *reader = &replay->reader;
	char *words;

	recording_open(reader, replay->path);
	while ((words = recording_option(reader)))
		take_recorded_option(replay, words);
	if (!replay->config.phy)
		recording_bad_line(reader, "comes without `option phy PROFILE` before it");
	check_mac_options(&replay->config);
	mac_init(&replay->mac, &replay->config, &replay_ops, replay);
	reader->phy = replay->config.phy;
	recording_first(reader);
	check_event(replay);
	while (reader->next.kind != RECORDING_END)
		play_event(replay);
	if (reader->next.how == '+')
		advance_core(replay);
	replay->now = reader->next.at;
	replay->mac.config.kernel_rates = reader->has_chains;
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
	recording_close(&replay.reader);
	if (replay.overrides.n || replay.mac.digest == replay.reader.next.digest)
		return EXIT_SUCCESS;
	fatal("%s: the core decided otherwise: digest %016" PRIx64 ", recorded %016" PRIx64,
	      replay.path, replay.mac.digest, replay.reader.next.digest);
}
