/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The statistics of a medium as one JSON object, schema 1; the fields are
 * described in Documentation/reference/medium.md.
 */
#ifndef DCFMEDIUM_STATS_JSON_H
#define DCFMEDIUM_STATS_JSON_H

#include <stdio.h>

#include "core/mac.h"

/* What must be zero for a run to count; see Documentation/reference/medium.md. */
struct integrity {
	uint64_t lost;
	uint64_t overflow;
	uint64_t einval;
	uint64_t unknown_station;
	uint64_t queue_overflow;
	uint64_t malformed;
	uint64_t unknown_rate;
};

/* What `saturate` knows beyond the medium's counters. */
struct saturation_result {
	double throughput_mbps;
	unsigned int spans;	/* of a second, over which Jain's index is taken */
	double jain_sum;
	double jain_min;
};

/* Sums over the stations. */
struct mac_counters stats_total(const struct mac *mac);

/* Share of the attempts that collided; 0 when there was none. */
double stats_collision_probability(const struct mac_counters *total);

/* Write the statistics from the last mark to @now; @result may be NULL. */
void stats_write(FILE *out, const struct mac *mac, ns_t now,
		 const struct integrity *integrity,
		 const struct saturation_result *result);

#endif
