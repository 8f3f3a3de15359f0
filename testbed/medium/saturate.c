// SPDX-License-Identifier: GPL-2.0-only
/*
 * dcfmedium saturate: the MAC core alone with N stations that always have a
 * frame, the setting of G. Bianchi, "Performance Analysis of the IEEE 802.11
 * Distributed Coordination Function", IEEE JSAC 18(3), 2000.
 */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "mac.h"
#include "options.h"
#include "stats_json.h"

/* MAC header 24, LLC/SNAP 8, FCS 4 (8.2.3, 802.2): what goes around an MSDU. */
#define FRAME_OVERHEAD	(24 + 8 + 4)
/* The largest MSDU is 2304 bytes (8.2.3), LLC/SNAP included. */
#define PAYLOAD_MAX	(2304 - 8)

struct saturation {
	unsigned int stations;
	unsigned int payload;
	unsigned int retry_limit;
	ns_t duration;
	bool json;
	struct mac_config config;

	struct mac mac;
	struct mac_frame frames[MAC_MAX_STATIONS];
	ns_t now;
};

static const char saturate_help[] =
"usage: dcfmedium saturate --stations N --phy PROFILE --payload BYTES [options]\n"
"\n"
"N stations that always have a frame to send to each other, for a time.\n"
"\n"
"  --stations N      1 to 128\n"
"  --phy PROFILE     see `dcfmedium --help`\n"
"  --payload BYTES   what LLC/SNAP carries (an IP packet with its header);\n"
"                    the MPDU is 24 + 8 + BYTES + 4\n"
"  --rts BYTES       RTS/CTS before MPDUs longer than BYTES (default: never)\n"
"  --eifs on|off     observers of a collision wait EIFS (on) or DIFS (default on)\n"
"  --retry M         attempts in all for a frame (default 7)\n"
"  --seconds S       simulated time (default 10)\n"
"  --seed K          random streams (default 1)\n"
"  --json            one JSON object instead of text\n"
"\n"
"example:\n"
"  dcfmedium saturate --stations 5 --phy hrdsss-11 --payload 1500 --seconds 100 --json\n";

static void take_option(struct saturation *run, int option, const char *word)
{
	switch (option) {
	case 'n':
		run->stations = parse_number("--stations", optarg, 1,
					     MAC_MAX_STATIONS);
		break;
	case 'p':
		run->config.phy = parse_phy(optarg);
		break;
	case 'b':
		run->payload = parse_number("--payload", optarg, 1, PAYLOAD_MAX);
		break;
	case 'r':
		run->config.rts_threshold = parse_number("--rts", optarg, 0,
							 UINT_MAX);
		break;
	case 'e':
		run->config.eifs = parse_switch("--eifs", optarg);
		break;
	case 'm':
		run->retry_limit = parse_number("--retry", optarg, 1, RETRY_MAX);
		break;
	case 's':
		run->duration = parse_seconds("--seconds", optarg);
		break;
	case 'k':
		run->config.seed = parse_number("--seed", optarg, 0, UINT64_MAX);
		break;
	case 'j':
		run->json = true;
		break;
	case 'h':
		fputs(saturate_help, stdout);
		exit(EXIT_SUCCESS);
	default:
		unknown_option("saturate", word);
	}
}

static void parse_options(struct saturation *run, int argc, char **argv)
{
	static const struct option known[] = {
		{ "stations", required_argument, NULL, 'n' },
		{ "phy", required_argument, NULL, 'p' },
		{ "payload", required_argument, NULL, 'b' },
		{ "rts", required_argument, NULL, 'r' },
		{ "eifs", required_argument, NULL, 'e' },
		{ "retry", required_argument, NULL, 'm' },
		{ "seconds", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'k' },
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
}

/* A station whose frame is done has the next one already. */
static void send_again(void *ctx, int from, struct mac_frame *frame, bool acked)
{
	struct saturation *run = ctx;

	(void)acked;
	mac_enqueue(&run->mac, from, frame, run->now);
}

static const struct mac_ops saturate_ops = { .status = send_again };

/* Addresses as hwsim's, so that the streams are those of a lab run. */
static void add_stations(struct saturation *run)
{
	for (unsigned int i = 0; i < run->stations; i++) {
		struct mac_station_config station = {
			.addr = { 0x02, 0, 0, 0, i, 0 },
			.retry_limit = run->retry_limit,
			.cw_min = run->config.phy->cw_min,
			.cw_max = run->config.phy->cw_max,
		};

		snprintf(station.name, sizeof(station.name), "sta%u", i + 1);
		mac_add_station(&run->mac, &station);
		run->frames[i] = (struct mac_frame){
			.to = (i + 1) % run->stations,
			.bytes = run->payload + FRAME_OVERHEAD,
			.wants_ack = true,
			.carries_data = true,
		};
	}
}

static void play(struct saturation *run)
{
	mac_init(&run->mac, &run->config, &saturate_ops, run);
	add_stations(run);
	for (unsigned int i = 0; i < run->stations; i++)
		mac_enqueue(&run->mac, i, &run->frames[i], 0);
	while (run->now < run->duration) {
		ns_t next = mac_next(&run->mac);

		run->now = next < run->duration ? next : run->duration;
		mac_advance(&run->mac, run->now);
	}
}

static void print_text(const struct saturation *run,
		       const struct mac_counters *total, double mbps)
{
	printf("%u stations, %s, %u bytes, EIFS %s, %.3f s\n", run->stations,
	       run->config.phy->name, run->payload,
	       run->config.eifs ? "on" : "off",
	       (double)run->duration / NS_PER_S);
	printf("throughput            %.4f Mb/s\n", mbps);
	printf("attempts              %llu\n", (unsigned long long)total->tx);
	printf("collision probability %.4f\n",
	       stats_collision_probability(total));
	printf("dropped frames        %llu\n", (unsigned long long)total->drops);
}

int saturate_command(int argc, char **argv)
{
	static struct saturation run = {
		.retry_limit = RETRY_DEFAULT,
		.duration = 10 * NS_PER_S,
		.config = { .eifs = true, .rts_threshold = UINT_MAX, .seed = 1 },
	};
	const struct integrity integrity = { 0 };
	struct mac_counters total;
	double mbps;

	parse_options(&run, argc, argv);
	play(&run);
	total = stats_total(&run.mac);
	/* Bits over nanoseconds, in bits per microsecond. */
	mbps = 8e3 * total.delivered * run.payload / run.duration;
	if (run.json)
		stats_write(stdout, &run.mac, run.duration, &integrity, mbps);
	else
		print_text(&run, &total, mbps);
	return EXIT_SUCCESS;
}
