/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who hears what: PPDUs in the air, the stations that hear them, and which of
 * those decode them. Internal to the MAC core.
 */
#ifndef DCFMEDIUM_AIR_H
#define DCFMEDIUM_AIR_H

#include <stdbool.h>

#include "state.h"

/* Whether what @from sends is heard by @to; each hears itself. */
static inline bool air_hears(const struct mac *mac, int to, int from)
{
	return set_has(&mac->stations[to].hears, from);
}

/* Whether @i hears something now, or is in an exchange. */
static inline bool air_busy(const struct mac *mac, int i)
{
	return sets_meet(&mac->stations[i].hears, &mac->loud) ||
	       set_has(&mac->engaged, i);
}

/*
 * Station @from will have its PPDU in the air from its start on; it overlaps
 * what has been announced in this way and begins before it ends.
 */
void air_announce(struct mac *mac, int from, const struct mac_ppdu *ppdu);

/* It begins; it ends. */
void air_begin(struct mac *mac, int from);
void air_end(struct mac *mac, int from);

/* The station whose PPDU begins or ends next, and when, or MAC_NOBODY. */
int air_next(const struct mac *mac, ns_t *when);

/* When all that @station hears in the air, or will, is over; 0: nothing. */
ns_t air_heard_until(const struct mac *mac, int station);

/* Whether the PPDU of @from cannot be decoded by @to for what overlaps it. */
bool air_spoilt(const struct mac *mac, int to, int from);

/* The same for all that hear it, so that nobody has it. */
bool air_spoilt_for_all(const struct mac *mac, int from);

/* Whether @a and @b are one station, or categories of one radio. */
bool air_same_radio(const struct mac *mac, int a, int b);

/* Apply the hidden pairs of the configuration to station @station, which is new. */
void air_hide(struct mac *mac, int station);

/* The radios of @a and @b do not hear each other from when air_rewire() is called. */
void air_part(struct mac *mac, int a, int b);

/* Station @i, which is new, hears others and is heard. */
void air_wire(struct mac *mac, int i);

/* Recompute who hears whom; nothing is in the air. */
void air_rewire(struct mac *mac);

#endif
