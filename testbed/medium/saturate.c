// SPDX-License-Identifier: GPL-2.0-only
/*
 * dcfmedium saturate: the MAC core alone, with N stations that always have a
 * frame to send. This is the setting of G. Bianchi, "Performance Analysis of the IEEE 802.11
 * Distributed Coordination Function", IEEE JSAC 18(3), 2000.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mac.h"
#include "edca.h"
#include "link_option.h"
#include "mac_options.h"
#include "options.h"
#include "saturate.h"
#include "station_option.h"
#include "stats_json.h"
#include "trace/recording.h"
#include "trace/trace_writer.h"

/* MAC header 24, LLC/SNAP 8, FCS 4 (8.2.3, 802.2): what goes around an MSDU. */
#define FRAME_OVERHEAD	(24 + 8 + 4)
/* QoS Control: A-MPDUs hold QoS Data frames only. */
#define QOS_BYTES	2
/* The span over which fairness is judged. */
#define FAIRNESS_NS	NS_PER_S
/* The largest MSDU is 2304 bytes (8.2.3), LLC/SNAP included. */
#define PAYLOAD_MAX	(2304 - 8)

struct saturation {
	unsigned int stations;
	bool sink;		/* all send to one more, which never sends */
	unsigned int payload;
	struct mac_station_config station;	/* what all have in common */
	enum mac_access access;
	const char *edca;	/* access categories, lowest priority first */
	struct edca_parameters categories[EDCA_CATEGORIES];
	unsigned int n_categories;
	const char *fields[MAC_MAX_STATIONS];	/* of --station, by number */
	ns_t duration;
	bool json;
	const char *record;
	const char *pcap;
	struct mac_words words;
	struct mac_config config;

	struct mac mac;
	struct mac_frame frames[MAC_MAX_STATIONS][2 * MAC_MAX_AMPDU];
	ns_t now;
	uint64_t delivered[MAC_MAX_STATIONS];	/* by the end of the last second */
	struct saturation_result result;
	struct recording recording;
	struct trace_writer trace;
};

static const char saturate_help[] =
"usage: dcfmedium saturate --stations N --phy PROFILE --payload BYTES [options]\n"
"\n"
"Runs N stations that always have a frame to send, without a kernel.\n"
"\n"
"  --stations N      1 to 128\n"
"  --sink            all stations send to one more, named `sink`, which never sends\n"
"                    (default: sta1 sends to sta2, sta2 to sta3, and so on)\n"
"  --payload BYTES   length of the IP packet in each frame, header included. The\n"
"                    MPDU has 24 + 8 + BYTES + 4 bytes, with A-MPDU 2 more\n"
"  --access METHOD   dcf (default), idle-sense, or aap: the first station is the\n"
"                    access point, the others have Idle Sense\n"
"  --edca LIST       access categories of each station, all with frames to send:\n"
"                    up to four AIFSN:CWMIN:CWMAX[:TXOP_US], separated by commas,\n"
"                    highest priority last; or `default`, the standard's four\n"
"  --retry M         attempts per frame (default 7), or S/L: the standard's short\n"
"                    limit (RTS, frames sent without RTS) and long limit (frames\n"
"                    sent after RTS/CTS)\n"
"  --station I,FIELD=VALUE,...\n"
"                    settings of station I, from 1: rate in Mb/s, snr and signal\n"
"                    in dB, freq in MHz, txop in us, retry, cwmin, cwmax, aifsn,\n"
"                    access, name. May be repeated\n"
"  --seconds S       simulated time (default 10)\n"
MAC_OPTIONS_HELP
"  --record FILE     write everything the core is told, for `dcfmedium replay`\n"
"  --pcap FILE       write every attempt as pcapng with radiotap headers;\n"
"                    those that collided are on the second interface\n"
"  --json            one JSON object instead of text\n"
"\n"
"example:\n"
"  dcfmedium saturate --stations 5 --phy hrdsss-11 --payload 1500 --seconds 100 --json\n";

/* "I,FIELD=VALUE,...": the fields wait until the profile is known. */
static void take_station(struct saturation *run, const char *text)
{
	unsigned int number;
	int length = 0;

	if (sscanf(text, "%u,%n", &number, &length) != 1 || !length || !number ||
	    number > MAC_MAX_STATIONS)
		usage_error("--station: '%s' is not NUMBER,FIELD=VALUE with the first station 1",
			    text);
	run->fields[number - 1] = text + length;
}

static void take_option(struct saturation *run, int option, const char *word)
{
	switch (option) {
	case 'n':
		run->stations = parse_number("--stations", optarg, 1,
					     MAC_MAX_STATIONS);
		break;
	case 'k' + 256:
		run->sink = true;
		break;
	case 'b':
		run->payload = parse_number("--payload", optarg, 1, PAYLOAD_MAX);
		break;
	case 'a':
		run->access = parse_access("--access", optarg);
		break;
	case 'x':
		take_station(run, optarg);
		break;
	case 'q':
		run->edca = optarg;
		break;
	case 'm':
		parse_retry("--retry", optarg, &run->station);
		break;
	case 's':
		run->duration = parse_seconds("--seconds", optarg);
		break;
	case 'w':
		run->record = optarg;
		break;
	case 'c':
		run->pcap = optarg;
		break;
	case 'j':
		run->json = true;
		break;
	case 'h':
		fputs(saturate_help, stdout);
		exit(EXIT_SUCCESS);
	default:
		if (!take_mac_option(&run->config, option))
			unknown_option("saturate", word);
		keep_mac_option(&run->words, option);
	}
}

static void parse_options(struct saturation *run, int argc, char **argv)
{
	static const struct option known[] = {
		{ "stations", required_argument, NULL, 'n' },
		MAC_OPTIONS,
		{ "sink", no_argument, NULL, 'k' + 256 },
		{ "payload", required_argument, NULL, 'b' },
		{ "access", required_argument, NULL, 'a' },
		{ "edca", required_argument, NULL, 'q' },
		{ "retry", required_argument, NULL, 'm' },
		{ "station", required_argument, NULL, 'x' },
		{ "seconds", required_argument, NULL, 's' },
		{ "record", required_argument, NULL, 'w' },
		{ "pcap", required_argument, NULL, 'c' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int option;

	while ((option = getopt_long(argc, argv, ":", known, NULL)) != -1)
		take_option(run, option, argv[optind - 1]);
	if (optind < argc)
		usage_error("saturate takes no argument '%s'", argv[optind]);
	if (!run->stations || !run->config.phy || !run->payload)
		usage_error("saturate needs --stations, --phy and --payload");
	if (run->edca)
		run->n_categories = edca_parse(run->edca, run->config.phy,
					       run->categories);
	if (run->n_categories * run->stations > MAC_MAX_STATIONS)
		usage_error("--edca: more than %d categories in all stations",
			    MAC_MAX_STATIONS);
	if (run->n_categories && run->access != MAC_DCF)
		usage_error("--edca and --access exclude each other");
	for (unsigned int i = 0; i < MAC_MAX_STATIONS; i++)
		if (run->fields[i] && (i >= run->stations || run->n_categories))
			usage_error(run->n_categories ?
				    "--edca and --station exclude each other" :
				    "--station: there are fewer than %u stations",
				    i + 1);
	if (run->sink && (run->n_categories || run->stations == MAC_MAX_STATIONS))
		usage_error("--sink takes no --edca and at most %d stations",
			    MAC_MAX_STATIONS - 1);
	check_mac_options(&run->config);
}

/* A station whose frame is done has the next one already. */
static void send_again(void *ctx, int from, struct mac_frame *frame)
{
	struct saturation *run = ctx;

	recording_reply(&run->recording, run->now, from, frame);
	mac_enqueue(&run->mac, from, frame, run->now);
}

/* Of the payload only the length matters. */
static void on_attempt(void *ctx, int from, const struct mac_attempt *attempt)
{
	struct saturation *run = ctx;

	trace_writer_made_up(&run->trace, &run->mac, from, attempt);
}

static const struct mac_ops saturate_ops = { .done = send_again };
static const struct mac_ops traced_ops = {
	.attempt = on_attempt,
	.done = send_again,
};

static void join(struct saturation *run, const struct mac_station_config *station)
{
	recording_station(&run->recording, 0, station);
	trace_writer_station(&run->trace, station);
	mac_add_station(&run->mac, station);
}

/* Addresses as hwsim's, so that the streams are those of a lab run. */
static void add_station(struct saturation *run, unsigned int i, const char *name)
{
	struct mac_station_config station = {
		.addr = { 0x02, 0, 0, 0, i, 0 },
		.retry_limit = run->station.retry_limit,
		.retries = run->station.retries,
		.cw_min = run->config.phy->cw_min,
		.cw_max = run->config.phy->cw_max,
		.access = run->access,
	};

	if (run->access == MAC_AAP && i > 0)
		station.access = MAC_IDLE_SENSE;
	snprintf(station.name, sizeof(station.name), "%s", name);
	if (run->fields[i])
		parse_station_fields(run->fields[i], run->config.phy, &station);
	if (station.status_delay)
		usage_error("--station: status-delay is for hwsim; here no radio waits for a status");
	check_station(&run->config, &station);
	join(run, &station);
}

/*
 * Enough frames that the longest A-MPDU can always be filled, though a receiver
 * holds some back.
 */
static void fill_queue(struct saturation *run, unsigned int i, int to)
{
	bool ampdu = run->config.phy->ampdu_bytes;
	unsigned int depth = ampdu ? 2 * run->config.max_ampdu : 1;

	for (unsigned int j = 0; j < depth; j++) {
		run->frames[i][j] = (struct mac_frame){
			.to = to,
			.bytes = run->payload + FRAME_OVERHEAD +
				 (ampdu ? QOS_BYTES : 0),
			.wants_ack = true,
			.carries_data = true,
		};
		recording_frame(&run->recording, 0, i, &run->frames[i][j]);
		mac_enqueue(&run->mac, i, &run->frames[i][j], 0);
	}
}

/* Categories contend as stations do, with one radio in common. */
static void add_edca_station(struct saturation *run, unsigned int i)
{
	for (unsigned int j = 0; j < run->n_categories; j++) {
		struct mac_station_config station = {
			.addr = { 0x02, 0, 0, 0, i, j },
			.retry_limit = run->station.retry_limit,
			.retries = run->station.retries,
			.radio = i + 1,
		};

		edca_apply(&run->categories[j], j, &station);

		snprintf(station.name, sizeof(station.name), "sta%u-ac%u",
			 i + 1, j);
		join(run, &station);
	}
}

static void add_edca_stations(struct saturation *run)
{
	for (unsigned int i = 0; i < run->stations; i++)
		add_edca_station(run, i);
	for (int i = 0; i < run->mac.n_stations; i++)
		fill_queue(run, i, (i + run->n_categories) % run->mac.n_stations);
}

/* A single station has somebody to send to who never sends. */
static void add_stations(struct saturation *run)
{
	char name[MAC_NAME_LEN];

	for (unsigned int i = 0; i < run->stations; i++) {
		snprintf(name, sizeof(name), "sta%u", i + 1);
		add_station(run, i, name);
	}
	if (run->stations == 1 || run->sink)
		add_station(run, run->stations, "sink");
	for (unsigned int i = 0; i < run->stations; i++)
		fill_queue(run, i, run->sink ? run->stations
					     : (i + 1) % run->mac.n_stations);
}

/*
 * Jain's index of the frames delivered in the span just over, among the
 * stations but for an AAP access point, which is to have more.
 */
static void judge_fairness(struct saturation *run)
{
	double sum = 0, squares = 0, jain;
	unsigned int n = 0;

	for (int i = 0; i < run->mac.n_stations; i++) {
		const struct mac_station *s = &run->mac.stations[i];
		double frames = s->counters.delivered - run->delivered[i];

		run->delivered[i] = s->counters.delivered;
		if (s->config.access == MAC_AAP || !s->backlog)
			continue;
		sum += frames;
		squares += frames * frames;
		n++;
	}
	jain = squares ? sum * sum / (n * squares) : 1;
	run->result.jain_sum += jain;
	if (!run->result.spans++ || jain < run->result.jain_min)
		run->result.jain_min = jain;
}

static void play_until(struct saturation *run, ns_t end)
{
	while (run->now < end) {
		ns_t next = mac_next(&run->mac);

		run->now = next < end ? next : end;
		mac_advance(&run->mac, run->now);
		recording_advance(&run->recording);
	}
}

static void play(struct saturation *run)
{
	recording_begin(&run->recording, run->record, &run->words);
	trace_writer_begin(&run->trace, run->pcap, &run->words);
	mac_init(&run->mac, &run->config,
		 run->pcap ? &traced_ops : &saturate_ops, run);
	if (run->n_categories)
		add_edca_stations(run);
	else
		add_stations(run);
	check_names(&run->mac);
	for (ns_t t = FAIRNESS_NS; t <= run->duration; t += FAIRNESS_NS) {
		play_until(run, t);
		judge_fairness(run);
	}
	play_until(run, run->duration);
	recording_end(&run->recording, run->now, run->mac.digest);
	trace_writer_end(&run->trace);
}

static void print_text(const struct saturation *run,
		       const struct mac_counters *total)
{
	printf("%u stations, %s, %u bytes, EIFS %s, %.3f s\n", run->stations,
	       run->config.phy->name, run->payload,
	       run->config.eifs ? "on" : "off",
	       (double)run->duration / NS_PER_S);
	printf("throughput            %.4f Mb/s\n",
	       run->result.throughput_mbps);
	printf("attempts              %llu\n", (unsigned long long)total->tx);
	printf("collision probability %.4f\n",
	       stats_collision_probability(total));
	printf("dropped frames        %llu\n", (unsigned long long)total->drops);
}

int saturate_command(int argc, char **argv)
{
	static struct saturation run = {
		.station = { .retry_limit = RETRY_DEFAULT },
		.duration = 10 * NS_PER_S,
	};
	const struct integrity integrity = { 0 };
	struct mac_counters total;

	run.config = mac_defaults(NULL);
	parse_options(&run, argc, argv);
	play(&run);
	total = stats_total(&run.mac);
	/* Bits over nanoseconds, in bits per microsecond. */
	run.result.throughput_mbps = 8e3 * total.delivered * run.payload /
				     run.duration;
	if (run.json)
		stats_write(stdout, &run.mac, run.duration, &integrity,
			    &run.result);
	else
		print_text(&run, &total);
	return EXIT_SUCCESS;
}
