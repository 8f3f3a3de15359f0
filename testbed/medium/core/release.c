// SPDX-License-Identifier: GPL-2.0-only
/* Which stations may count down again when a PPDU ends: see release.h. */
#include "access.h"
#include "air.h"
#include "outcome.h"
#include "phy/phy.h"
#include "psdu.h"
#include "release.h"

/*
 * A PPDU of @from is over; @i, which has heard or sent it, keeps its NAV
 * (9.3.2.4) and counts again if it hears nothing else. Who could not decode it
 * waits EIFS (9.3.2.3.7), but for those who sent meanwhile: they cannot have
 * observed it, and go on when no answer has begun in time. Whoever would hear
 * the exchange go on, but does not, has its NAV reset at @silence.
 */
static void leave(struct mac *mac, int i, int from, const struct mac_ppdu *ppdu,
		  ns_t silence, enum mac_outcome what)
{
	struct mac_station *s = &mac->stations[i];
	bool owner = i == ppdu->exchange;
	bool no_ack = owner && what == OUTCOME_ACK_LOST;
	bool spoilt = !set_empty(&ppdu->with) && air_spoilt(mac, i, from);
	ns_t reserved = air_hears(mac, i, ppdu->exchange) ? silence
							  : ppdu->reserved;
	ns_t clear, after_error, resume;

	if (!spoilt && !ppdu->shared_loss && !owner)
		s->reserved = mac_later(s->reserved, reserved);
	if (air_busy(mac, i))
		return;
	clear = mac_later(ppdu->end, s->reserved) + mac->difs;
	after_error = mac_later(clear, ppdu->end +
				(mac->config.eifs ? mac->eifs : mac->difs));
	resume = clear;
	if (no_ack || (ppdu->shared_loss && (!owner || what == OUTCOME_ACK_LOST)) ||
	    (spoilt && i != from && !set_has(&ppdu->with, i)))
		resume = after_error;
	s->released = spoilt || ppdu->shared_loss ? after_error :
		      mac_later(clear, reserved + mac->difs);
	access_resume(mac, i, resume - mac->difs + access_interframe(mac, s));
}

/* The attempts of @n senders in @failed have shown as such at @now. */
static void settle_failed(struct mac *mac, const int *failed, int n, ns_t now)
{
	ns_t since = NS_NEVER;

	for (int i = 0; i < n; i++) {
		struct mac_station *s = &mac->stations[failed[i]];

		s->failed = false;
		mac->n_failed--;
		if (s->sent[0]->wants_ack && s->outcome != OUTCOME_ACK_LOST &&
		    s->outcome != OUTCOME_ACK_COLLIDED)
			access_resume(mac, failed[i],
				      mac_later(s->resume, s->start + s->occupied +
							   mac->ack_timeout));
		if (s->outcome == OUTCOME_COLLIDED && s->busy_since < since)
			since = s->busy_since;
	}
	if (since != NS_NEVER)
		mac->airtime.collision += outcome_measured(mac, since, now);
	for (int i = 0; i < n; i++) {
		struct mac_station *s = &mac->stations[failed[i]];

		outcome_count(mac, s, s->outcome, s->ended);
		outcome_settle(mac, s, 0);
	}
}

void release_hearers(struct mac *mac, int from, const struct mac_ppdu *ppdu,
		     int follower, enum mac_outcome what)
{
	struct mac_set set = mac->stations[from].hears;
	int failed[MAC_MAX_STATIONS], n = 0;
	ns_t silence = ppdu->reserved;

	if (follower == MAC_NOBODY && ppdu->kind < MAC_PPDU_DATA)
		silence = ppdu->end + mac->sifs +
			psdu_control_airtime(mac, &mac->stations[ppdu->exchange],
					     PHY_CTS_BYTES);
	for (int word = 0; word < MAC_SET_WORDS; word++) {
		uint64_t bits = set.bits[word];

		/* SIFS is shorter than any wait, so those stay held. */
		if (follower != MAC_NOBODY)
			bits &= ~mac->stations[follower].hears.bits[word];
		for (; bits; bits &= bits - 1) {
			int i = 64 * word + __builtin_ctzll(bits);
			struct mac_station *s = &mac->stations[i];

			leave(mac, i, from, ppdu, silence, what);
			if (s->failed && s->resume != NS_NEVER)
				failed[n++] = i;
		}
	}
	settle_failed(mac, failed, n, ppdu->end);
}
