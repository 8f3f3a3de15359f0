/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What follows once a station has the medium: RTS and CTS, the data frame or
 * A-MPDU, its acknowledgment, and what each outcome means for the next access.
 * Internal to the MAC core; mac.c decides who gets the medium and when.
 */
#ifndef DCFMEDIUM_EXCHANGE_H
#define DCFMEDIUM_EXCHANGE_H

#include "mac.h"

/* What the digest records; its values are part of the digest's meaning. */
enum mac_outcome {
	OUTCOME_DRAW,
	OUTCOME_ACKED,
	OUTCOME_COLLIDED,
	OUTCOME_UNANSWERED,
	OUTCOME_BROADCAST,
	OUTCOME_LOST,
	OUTCOME_ACK_LOST,
	OUTCOME_INTERNAL,
};

static inline ns_t mac_later(ns_t a, ns_t b)
{
	return a > b ? a : b;
}

/* DIFS of a DCF station, AIFS of an EDCA category. */
static inline ns_t mac_interframe(const struct mac *mac,
				  const struct mac_station *s)
{
	return s->config.aifsn ? mac->sifs + s->config.aifsn * mac->slot
			       : mac->difs;
}

/* The channel between stations @a and @b, which differ. */
static inline struct channel_link *mac_link(struct mac *mac, int a, int b)
{
	int low = a < b ? a : b, high = a < b ? b : a;

	return &mac->links[high * (high - 1) / 2 + low];
}

/* @s begins: which frames, and how long it holds the medium before the ACK. */
void exchange_begin(struct mac *mac, struct mac_station *s, bool alone);

/* @s would begin but its radio sends a higher category: an internal collision. */
void exchange_yield(struct mac *mac, struct mac_station *s);

/* The least time that @s would hold the medium, were it to begin. */
ns_t exchange_shortest(const struct mac *mac, const struct mac_station *s);

/* mac->busy_until is reached in MAC_DATA; in MAC_ACK. */
void exchange_end_data(struct mac *mac);
void exchange_end_ack(struct mac *mac);

/* Of mac.c, for the outcomes. */
void mac_draw_backoff(struct mac *mac, struct mac_station *s);
void mac_release(struct mac *mac, ns_t resume);
void mac_record(struct mac *mac, const struct mac_station *s,
		enum mac_outcome what, uint64_t detail);

#endif
