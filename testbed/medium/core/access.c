// SPDX-License-Identifier: GPL-2.0-only
/* When a station may begin to send: see access.h. */
#include "access.h"
#include "digest.h"
#include "idle_sense.h"
#include "rng.h"

int access_first(const struct mac *mac, ns_t *when)
{
	int first = MAC_NOBODY;

	*when = NS_NEVER;
	for (int i = 0; i < mac->n_stations; i++) {
		ns_t t = access_time(mac, &mac->stations[i]);

		if (t < *when) {
			*when = t;
			first = i;
		}
	}
	return first;
}

void access_draw_backoff(struct mac *mac, struct mac_station *s)
{
	s->backoff = s->config.access == MAC_DCF ?
		     rng_below(&s->rng, s->cw) :
		     idle_sense_draw(&s->idle_sense, &s->rng);
	s->backing_off = true;
	digest_add(mac, s, OUTCOME_DRAW, s->backoff);
}

void access_start_window(const struct mac *mac, struct mac_station *s)
{
	double target = mac->config.idle_target;
	ns_t observers = mac->config.eifs ? mac->eifs : mac->difs;
	double head_start = ((double)observers -
			     mac_later(mac->ack_timeout, mac->difs)) / mac->slot;

	s->cw = s->config.cw_min;
	if (s->config.access == MAC_IDLE_SENSE)
		idle_sense_start(&s->idle_sense, s->config.cw_min, target);
	else if (s->config.access == MAC_AAP)
		idle_sense_start(&s->idle_sense, aap_window(target, head_start),
				 target);
}
