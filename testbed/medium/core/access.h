/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When a station may begin to send: interframe spaces, counts and windows.
 * Internal to the MAC core.
 */
#ifndef DCFMEDIUM_ACCESS_H
#define DCFMEDIUM_ACCESS_H

#include "state.h"

/* DIFS of a DCF station, AIFS of an EDCA category. */
static inline ns_t access_interframe(const struct mac *mac,
				     const struct mac_station *s)
{
	return s->aifsn ? mac->sifs + s->aifsn * mac->slot : mac->difs;
}

/* When @s would send, if its medium stayed idle; NS_NEVER without a frame. */
static inline ns_t access_time(const struct mac *mac,
			       const struct mac_station *s)
{
	if (!s->head || s->resume == NS_NEVER)
		return NS_NEVER;
	return mac_later(s->resume + s->backoff * mac->slot, s->head_since);
}

/* Some access may be due at @t. */
static inline void access_may_begin(struct mac *mac, ns_t t)
{
	mac->lead = MAC_NOBODY;
	if (t < mac->not_before)
		mac->not_before = t;
}

/* Station @i may count from @resume on. */
static inline void access_resume(struct mac *mac, int i, ns_t resume)
{
	mac->stations[i].resume = resume;
	set_remove(&mac->held, i);
	access_may_begin(mac, resume);
}

/* The station that begins first of all, and when, or MAC_NOBODY. */
int access_first(const struct mac *mac, ns_t *when);

/* A count uniform over the contention window (9.3.3). */
void access_draw_backoff(struct mac *mac, struct mac_station *s);

/* The window @s begins with, by its access method. */
void access_start_window(const struct mac *mac, struct mac_station *s);

#endif
