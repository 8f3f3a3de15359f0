/* SPDX-License-Identifier: GPL-2.0-only */
/* What a configuration file of wmediumd says of its radios and links. */
#ifndef DCFMEDIUM_WMEDIUMD_RADIOS_H
#define DCFMEDIUM_WMEDIUMD_RADIOS_H

#include <stdbool.h>

#include "core/mac_config.h"

#define WMEDIUMD_RADIOS_MAX	MAC_MAX_STATIONS

struct wmediumd_radios {
	char addr[WMEDIUMD_RADIOS_MAX][sizeof("02:00:00:00:00:00")];
	int n;
	bool losses;	/* values are loss probabilities, not SNRs in dB */
	double fading_db;	/* standard deviation of a frame's SNR */
	double rest;	/* the value of a link that nothing is said of */
	double value[WMEDIUMD_RADIOS_MAX][WMEDIUMD_RADIOS_MAX];	/* from, to */
	/* They use different mediums, so neither hears the other. */
	bool apart[WMEDIUMD_RADIOS_MAX][WMEDIUMD_RADIOS_MAX];
};

#endif
