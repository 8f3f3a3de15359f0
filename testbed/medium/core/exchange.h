/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What follows once a station has the medium: RTS and CTS, the data frame or
 * A-MPDU, its acknowledgment, and who may count again after each. Internal to
 * the MAC core; mac.c decides who gets the medium and when.
 */
#ifndef DCFMEDIUM_EXCHANGE_H
#define DCFMEDIUM_EXCHANGE_H

#include "air.h"
#include "mac.h"
#include "outcome.h"
#include "psdu.h"

static inline ns_t mac_later(ns_t a, ns_t b)
{
	return a > b ? a : b;
}

/* DIFS of a DCF station, AIFS of an EDCA category. */
static inline ns_t mac_interframe(const struct mac *mac,
				  const struct mac_station *s)
{
	return s->aifsn ? mac->sifs + s->aifsn * mac->slot : mac->difs;
}

/* The channel between stations @a and @b, which differ. */
static inline struct channel_link *mac_link(struct mac *mac, int a, int b)
{
	int low = a < b ? a : b, high = a < b ? b : a;

	return &mac->links[high * (high - 1) / 2 + low];
}

/* Some access may be due at @t. */
static inline void mac_may_access(struct mac *mac, ns_t t)
{
	mac->lead = MAC_NOBODY;
	if (t < mac->not_before)
		mac->not_before = t;
}

/* Station @i may count from @resume on. */
static inline void mac_resume(struct mac *mac, int i, ns_t resume)
{
	mac->stations[i].resume = resume;
	set_remove(&mac->held, i);
	mac_may_access(mac, resume);
}

/* @s begins at s->start: announce the RTS, or the data frame. */
void exchange_begin(struct mac *mac, struct mac_station *s);

/* @s would begin but its radio sends a higher category: an internal collision. */
void exchange_yield(struct mac *mac, struct mac_station *s);

/* The PPDU that station @from has in the air is over. */
void exchange_end_ppdu(struct mac *mac, int from);

/* The least time that @s would hold the medium, were it to begin. */
ns_t exchange_shortest(const struct mac *mac, const struct mac_station *s);

/* Until when nothing happens that anybody is told, of what is in the air. */
ns_t exchange_next(const struct mac *mac);

/* Of mac.c, for the outcomes. */
void mac_draw_backoff(struct mac *mac, struct mac_station *s);
/* Time from @start to @end, without what lies before the mark. */
ns_t mac_measured(const struct mac *mac, ns_t start, ns_t end);

#endif
