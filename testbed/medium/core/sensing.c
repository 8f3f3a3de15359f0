// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sensing, counting and collisions of IEEE Std 802.11-2012, 9.3: see sensing.h.
 *
 * Counting rule (9.3.4.3): a count goes down by one for each slot in which the
 * medium stays idle after the station's own DIFS or EIFS. The slot in which
 * another station begins is not idle, so it is not counted. So a frozen count
 * is at least 1, and only a station that has drawn a new backoff can send right
 * at the end of the next DIFS.
 *
 * EDCA counts differently (9.19.2.3): a count goes down at each slot boundary
 * from the end of AIFS on, also at the boundary where another station begins. So
 * a frozen count may be 0, and any station can send right at the end of the next
 * AIFS.
 */
#include <string.h>

#include "access.h"
#include "air.h"
#include "exchange.h"
#include "idle_sense.h"
#include "sensing.h"

/* Its medium becomes busy at @t: keep what is left of the count. */
static void freeze(const struct mac *mac, struct mac_station *s, ns_t t)
{
	uint64_t counted = t > s->resume ? (t - s->resume) / mac->slot : 0;

	if (s->aifsn && t >= s->resume && counted < s->backoff)
		counted++;
	if (counted < s->backoff || (s->head && s->aifsn)) {
		s->backoff -= counted;
	} else if (!s->head) {
		/* A post-transmission backoff ended with nothing to send. */
		s->backoff = 0;
		s->backing_off = false;
	}
}

/*
 * Those that steer their window by what they hear count the idle slots. All
 * count from when observers may go on, so that who just collided, and goes on
 * earlier, hears no more idle slots than the others.
 */
static void hear(const struct mac *mac, struct mac_station *s, ns_t t)
{
	uint64_t idle_slots;

	if (!s->steers)
		return;
	idle_slots = t > s->released ? (t - s->released) / mac->slot : 0;
	s->counters.heard++;
	s->counters.idle_slots += idle_slots;
	idle_sense_hear(&s->idle_sense, idle_slots);
}

/* Some stations that begin within the same slot. */
struct senders {
	int station[MAC_MAX_STATIONS];
	int n;
};

/* Whether another category of @s's radio is about to send, of higher priority. */
static bool outranked(const struct mac *mac, const struct senders *senders,
		      const struct mac_station *s)
{
	for (int i = 0; i < senders->n; i++) {
		const struct mac_station *other =
			&mac->stations[senders->station[i]];

		if (other->config.radio == s->config.radio &&
		    other->config.priority > s->config.priority)
			return true;
	}
	return false;
}

/* 9.19.2.3: within a radio one category sends; the others back off anew. */
static void resolve_internal_collisions(struct mac *mac, struct senders *senders)
{
	int yielding[MAC_MAX_STATIONS], n_yielding = 0, n = 0;

	for (int i = 0; i < senders->n; i++) {
		const struct mac_station *s = &mac->stations[senders->station[i]];

		if (s->config.radio && outranked(mac, senders, s))
			yielding[n_yielding++] = senders->station[i];
	}
	for (int i = 0, j = 0; n_yielding && i < senders->n; i++) {
		if (j < n_yielding && senders->station[i] == yielding[j])
			j++;
		else
			senders->station[n++] = senders->station[i];
	}
	if (n_yielding)
		senders->n = n;
	for (int i = 0; i < n_yielding; i++)
		exchange_yield(mac, &mac->stations[yielding[i]]);
}

/*
 * The medium of station @i becomes busy at @t. Its own count may be over before
 * it can have sensed that; then it is one more of @senders. A PPDU that answers
 * another one is no news to who has kept clear for it.
 */
static void sense(struct mac *mac, int i, ns_t t, bool answers,
		  struct senders *senders)
{
	struct mac_station *s = &mac->stations[i];

	if (!answers || s->reserved < t) {
		ns_t access = access_time(mac, s);

		hear(mac, s, t);
		if (access == NS_NEVER || access - t >= mac->slot) {
			freeze(mac, s, t);
		} else {
			s->busy_since = t;
			s->start = access;
			s->backoff = 0;
			s->backing_off = false;
			senders->station[senders->n++] = i;
		}
	}
	s->resume = NS_NEVER;
	set_add(&mac->held, i);
}

/* Those who hear @from, and it itself, sense at @t that it begins. */
static void sense_all(struct mac *mac, int from, ns_t t, bool answers)
{
	const struct mac_set *hears = &mac->stations[from].hears;
	struct senders senders;

	senders.n = 0;
	for (int word = 0; word < MAC_SET_WORDS; word++) {
		uint64_t bits = hears->bits[word] & ~mac->held.bits[word];

		for (; bits; bits &= bits - 1)
			sense(mac, 64 * word + __builtin_ctzll(bits), t, answers,
			      &senders);
	}
	resolve_internal_collisions(mac, &senders);
	for (int i = 0; i < senders.n; i++)
		exchange_begin(mac, &mac->stations[senders.station[i]]);
}

void sensing_begin_ppdu(struct mac *mac, int i)
{
	const struct mac_ppdu *ppdu = &mac->stations[i].ppdu;

	air_begin(mac, i);
	sense_all(mac, i, ppdu->start, ppdu->answers);
}

void sensing_begin_access(struct mac *mac)
{
	int lead = mac->lead;

	mac->lead = MAC_NOBODY;
	sense_all(mac, lead, mac->not_before, false);
	if (!memcmp(&mac->held, &mac->all, sizeof(mac->held)))
		mac->not_before = NS_NEVER;
}
