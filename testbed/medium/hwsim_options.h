/* SPDX-License-Identifier: GPL-2.0-only */
/* The options of `dcfmedium hwsim`. */
#ifndef DCFMEDIUM_HWSIM_OPTIONS_H
#define DCFMEDIUM_HWSIM_OPTIONS_H

#include <stdio.h>

#include "air_trace.h"
#include "mac.h"
#include "record.h"

struct hwsim_options {
	struct mac_config config;
	struct mac_station_config defaults;	/* of radios not named */
	struct mac_station_config stations[MAC_MAX_STATIONS];
	int n_stations;
	FILE *stats;	/* NULL: not wanted */
	struct air_trace trace;
	struct recording recording;
};

/* Fill *@options from the command line, files open; a wrong one ends here. */
void hwsim_parse_options(struct hwsim_options *options, int argc, char **argv);

#endif
