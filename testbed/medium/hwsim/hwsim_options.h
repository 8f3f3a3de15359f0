/* SPDX-License-Identifier: GPL-2.0-only */
/* The options of `dcfmedium hwsim`. */
#ifndef DCFMEDIUM_HWSIM_OPTIONS_H
#define DCFMEDIUM_HWSIM_OPTIONS_H

#include <stdio.h>

#include "core/mac.h"
#include "edca.h"
#include "trace/recording.h"
#include "trace/trace_writer.h"

/* Radios at most when each is four stations. */
#define HWSIM_EDCA_RADIOS	(MAC_MAX_STATIONS / EDCA_CATEGORIES)

struct hwsim_options {
	struct mac_config config;
	struct mac_station_config defaults;	/* of radios not named */
	struct mac_station_config stations[MAC_MAX_STATIONS];
	int n_stations;
	bool edca;	/* each radio has the four access categories */
	/* Of stations[i]; the last are those of radios not declared. */
	struct edca_parameters categories[MAC_MAX_STATIONS + 1][EDCA_CATEGORIES];
	bool losses_from_mark;	/* before it the channel is ideal */
	FILE *stats;	/* NULL: not wanted */
	struct trace_writer trace;
	struct recording recording;
};

/* Fill *@options from the command line, files open; a wrong one ends here. */
void hwsim_parse_options(struct hwsim_options *options, int argc, char **argv);

#endif
