/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether a PPDU arrives at its receiver. Internal to the MAC core.
 */
#ifndef DCFMEDIUM_RECEPTION_H
#define DCFMEDIUM_RECEPTION_H

#include <stdbool.h>

#include "digest.h"
#include "state.h"

/* The channel between stations @a and @b, which differ. */
static inline struct channel_link *reception_link(struct mac *mac, int a, int b)
{
	int low = a < b ? a : b, high = a < b ? b : a;

	return &mac->links[high * (high - 1) / 2 + low];
}

/* Start the channels between station @station and those before it at the mark. */
void reception_start_links(struct mac *mac, int station);

/* Which of the configuration's links are those of station @station, which is new. */
void reception_own_links(struct mac *mac, int station);

/* Whether @bytes at @rate that @s sends in @start .. @end cross to @to. */
bool reception_crosses(struct mac *mac, const struct mac_station *s, int to,
		       ns_t start, ns_t end, unsigned int bytes,
		       unsigned int rate);

/* Whether what @s has in the air is lost already for what overlaps it. */
bool reception_collided(const struct mac *mac, const struct mac_station *s);

/*
 * What becomes of an RTS or a data frame of @s that is over: the outcome if it
 * remains without answer, else OUTCOME_ACKED.
 */
enum mac_outcome reception_of_frame(struct mac *mac, struct mac_station *s,
				    const struct mac_ppdu *ppdu);

/* The same for the CTS or response to @s, from station @from. */
enum mac_outcome reception_of_answer(struct mac *mac, struct mac_station *s,
				     int from, const struct mac_ppdu *ppdu);

#endif
