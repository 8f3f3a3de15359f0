// SPDX-License-Identifier: GPL-2.0-only
/* The options of `dcfmedium hwsim`: see hwsim_options.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/phy/phy_profile.h"
#include "hwsim_options.h"
#include "mac_options.h"
#include "options.h"
#include "station_option.h"
#include "trace/recording.h"
#include "wmediumd/wmediumd.h"

static const char hwsim_help[] =
"usage: dcfmedium hwsim --phy PROFILE [options]\n"
"\n"
"Serves as the medium of all mac80211_hwsim radios of this network namespace.\n"
"It prints `ready` when it has them. SIGUSR1 (the mark) starts statistics and\n"
"random numbers anew. SIGTERM writes the statistics and ends.\n"
"\n"
"  --retry M         attempts per frame (default 7), or S/L: the standard's short\n"
"                    limit (RTS, frames sent without RTS) and long limit (frames\n"
"                    sent after RTS/CTS)\n"
MAC_OPTIONS_HELP
"  --rates WHOSE     fixed (default): the profile's rate, or a station's own;\n"
"                    kernel: the rates and attempts that the kernel's rate\n"
"                    control chose for each frame\n"
"  --losses-from WHEN\n"
"                    start (default): the channel loses frames at any time; mark:\n"
"                    only after SIGUSR1, so that stations can associate before\n"
"  --station ADDR[,name=NAME][,retry=M][,cwmin=N][,cwmax=N][,aifsn=K][,txop=US]\n"
"            [,rate=R][,snr=DB][,signal=DB][,freq=MHZ][,access=A]\n"
"            [,status-delay=US]\n"
"                    settings of one radio, named by its interface's address.\n"
"                    N is how many values a backoff can have (802.11b: 32 and\n"
"                    1024). K is an AIFSN; with it the radio contends as one EDCA\n"
"                    access category. R is the rate of its data in Mb/s. For a\n"
"                    link, the lower SNR of its two ends counts. A is dcf,\n"
"                    idle-sense, or aap (the access point of idle-sense stations).\n"
"                    The radio's TX statuses are late by status-delay.\n"
"                    May be repeated; other radios get the defaults\n"
"  --wmediumd FILE   radios and links of a configuration file of wmediumd, as\n"
"                    `dcfmedium wmediumd FILE` prints them\n"
"  --edca [NAME=]PARAMETERS\n"
"                    access categories of all radios, by the frames' TID:\n"
"                    `default`, the standard's four; or\n"
"                    AIFSN:CWMIN:CWMAX[:TXOP_US] for background, best effort,\n"
"                    video and voice, separated by commas. `off`: none, as\n"
"                    without this option. May be repeated: with NAME= for the\n"
"                    --station of that name alone\n"
"  --stats FILE      where SIGTERM writes the statistics (JSON)\n"
"  --pcap FILE       write every attempt as pcapng with radiotap headers;\n"
"                    those that collided are on the second interface\n"
"  --record FILE     write everything the core is told, for `dcfmedium replay`\n"
"\n"
"example:\n"
"  dcfmedium hwsim --phy hrdsss-11 --seed 1 --stats medium.json \\\n"
"          --station 02:00:00:00:00:00,name=ap,retry=7 &\n";

/* Values that can be parsed, or files opened, only when all options are known. */
struct words {
	const char *stations[MAC_MAX_STATIONS];
	int n_stations;
	const char *wmediumd;
	const char *edca;	/* of all radios */
	const char *edca_of[MAC_MAX_STATIONS];	/* NAME=PARAMETERS */
	int n_edca_of;
	const char *stats;
	const char *pcap;
	const char *record;
	struct mac_words mac;
};

static void take_station(struct words *words, const char *text)
{
	if (words->n_stations == MAC_MAX_STATIONS)
		usage_error("more than %d --station", MAC_MAX_STATIONS);
	words->stations[words->n_stations++] = text;
}

static void take_edca(struct words *words, const char *text)
{
	if (!strchr(text, '='))
		words->edca = text;
	else if (words->n_edca_of == MAC_MAX_STATIONS)
		usage_error("more than %d --edca", MAC_MAX_STATIONS);
	else
		words->edca_of[words->n_edca_of++] = text;
}

/* Whether the kernel's rate control has the say. */
static bool parse_rates(const char *text)
{
	if (strcmp(text, "kernel") && strcmp(text, "fixed"))
		usage_error("--rates: '%s' is neither 'fixed' nor 'kernel'", text);
	return !strcmp(text, "kernel");
}

/* Whether the channel is ideal before the mark. */
static bool parse_losses_from(const char *text)
{
	if (strcmp(text, "start") && strcmp(text, "mark"))
		usage_error("--losses-from: '%s' is neither 'start' nor 'mark'", text);
	return !strcmp(text, "mark");
}

static void take_option(struct hwsim_options *options, struct words *words,
			int option, const char *word)
{
	switch (option) {
	case 'm':
		parse_retry("--retry", optarg, &options->defaults);
		break;
	case 'a':
		take_station(words, optarg);
		break;
	case 'g':
		options->config.kernel_rates = parse_rates(optarg);
		break;
	case 'L':
		options->losses_from_mark = parse_losses_from(optarg);
		break;
	case 'W':
		words->wmediumd = optarg;
		break;
	case 'q':
		take_edca(words, optarg);
		break;
	case 'o':
		words->stats = optarg;
		break;
	case 'c':
		words->pcap = optarg;
		break;
	case 'w':
		words->record = optarg;
		break;
	case 'h':
		fputs(hwsim_help, stdout);
		exit(EXIT_SUCCESS);
	default:
		if (!take_mac_option(&options->config, option))
			unknown_option("hwsim", word);
		keep_mac_option(&words->mac, option);
	}
}

struct taking {
	struct hwsim_options *options;
	struct words *words;
};

/* As if it stood at the end of the command line. */
static void take_wmediumd(void *ctx, const char *name, const char *value)
{
	struct taking *taking = ctx;
	int option = mac_option_named(name);

	optarg = (char *)value;
	take_option(taking->options, taking->words, option ? option : 'a', name);
}

/* What a --station does not say is the default, wherever that was given. */
static void parse_stations(struct hwsim_options *options,
			   const struct words *words)
{
	options->defaults.cw_min = options->config.phy->cw_min;
	options->defaults.cw_max = options->config.phy->cw_max;
	for (int i = 0; i < words->n_stations; i++) {
		struct mac_station_config *station = &options->stations[i];

		*station = options->defaults;
		parse_station(words->stations[i], options->config.phy, station);
		for (int j = 0; j < i; j++)
			if (!memcmp(station->addr, options->stations[j].addr,
				    MAC_ADDR_LEN))
				usage_error("--station: %s and %s have the same address",
					    options->stations[j].name,
					    station->name);
	}
	options->n_stations = words->n_stations;
	for (int i = 0; i < options->n_stations; i++)
		check_station(&options->config, &options->stations[i]);
}

static void parse_categories(const char *text, const struct phy_profile *phy,
			     struct edca_parameters categories[EDCA_CATEGORIES])
{
	if (edca_parse(text, phy, categories) != EDCA_CATEGORIES)
		usage_error("--edca: '%s' has not all of background, best effort, video and voice",
			    text);
}

/* NAME=PARAMETERS: of the station of that name. */
static void parse_edca_of(struct hwsim_options *options, const char *text)
{
	size_t length = strcspn(text, "=");

	for (int i = 0; i < options->n_stations; i++) {
		const char *name = options->stations[i].name;

		if (strlen(name) == length && !strncmp(name, text, length)) {
			parse_categories(text + length + 1, options->config.phy,
					 options->categories[i]);
			return;
		}
	}
	usage_error("--edca: %s: there is no such --station", text);
}

/* Each radio becomes a station for each category, all four of them. */
static void parse_edca(struct hwsim_options *options, const struct words *words)
{
	const struct mac_station_config *plain = &options->defaults;

	options->edca = words->edca && strcmp(words->edca, "off");
	if (!options->edca && words->n_edca_of)
		usage_error("--edca: %s: needs an --edca for all others, too",
			    words->edca_of[0]);
	if (!options->edca)
		return;
	if (options->n_stations > HWSIM_EDCA_RADIOS)
		usage_error("--edca: more than %d --station", HWSIM_EDCA_RADIOS);
	for (int i = 0; i <= MAC_MAX_STATIONS; i++)
		parse_categories(words->edca, options->config.phy,
				 options->categories[i]);
	for (int i = 0; i < words->n_edca_of; i++)
		parse_edca_of(options, words->edca_of[i]);
	for (int i = 0; i < options->n_stations; i++) {
		const struct mac_station_config *s = &options->stations[i];

		if (s->aifsn || s->radio || s->access != MAC_DCF ||
		    s->cw_min != plain->cw_min || s->cw_max != plain->cw_max)
			usage_error("--station: %s: --edca sets its windows, aifsn and access",
				    s->name);
	}
}

static FILE *open_stats(const char *path)
{
	FILE *stats = fopen(path, "w");

	if (!stats)
		fatal("--stats: cannot write %s: %s", path, strerror(errno));
	return stats;
}

void hwsim_parse_options(struct hwsim_options *options, int argc, char **argv)
{
	static const struct option known[] = {
		MAC_OPTIONS,
		{ "retry", required_argument, NULL, 'm' },
		{ "station", required_argument, NULL, 'a' },
		{ "rates", required_argument, NULL, 'g' },
		{ "losses-from", required_argument, NULL, 'L' },
		{ "wmediumd", required_argument, NULL, 'W' },
		{ "edca", required_argument, NULL, 'q' },
		{ "stats", required_argument, NULL, 'o' },
		{ "pcap", required_argument, NULL, 'c' },
		{ "record", required_argument, NULL, 'w' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	struct words words = { 0 };
	int option;

	*options = (struct hwsim_options){
		.config = mac_defaults(NULL),
		.defaults = { .retry_limit = RETRY_DEFAULT },
	};
	while ((option = getopt_long(argc, argv, ":", known, NULL)) != -1)
		take_option(options, &words, option, argv[optind - 1]);
	if (optind < argc)
		usage_error("hwsim takes no argument '%s'", argv[optind]);
	if (words.wmediumd)
		wmediumd_options(words.wmediumd, take_wmediumd,
				 &(struct taking){ options, &words });
	if (!options->config.phy)
		usage_error("hwsim needs --phy; there are %s", phy_names());
	check_mac_options(&options->config);
	parse_stations(options, &words);
	parse_edca(options, &words);
	if (words.stats)
		options->stats = open_stats(words.stats);
	trace_writer_begin(&options->trace, words.pcap, &words.mac);
	recording_begin(&options->recording, words.record, &words.mac);
}
