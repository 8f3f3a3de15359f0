// SPDX-License-Identifier: GPL-2.0-only
/* The functions by which others use the core: see mac.h for the principle. */
#include <math.h>
#include <string.h>

#include "access.h"
#include "air.h"
#include "channel.h"
#include "exchange.h"
#include "idle_sense.h"
#include "mac.h"
#include "phy/phy.h"
#include "queue.h"
#include "reception.h"
#include "reorder.h"
#include "rng.h"
#include "sensing.h"

void mac_advance(struct mac *mac, ns_t now)
{
	for (;;) {
		ns_t t;
		int i = air_next(mac, &t);

		if (mac->rewire && !mac->n_air)
			air_rewire(mac);
		if (mac->not_before < t && mac->not_before <= now) {
			if (mac->lead == MAC_NOBODY)
				mac->lead = access_first(mac, &mac->not_before);
			if (mac->not_before < t && mac->not_before <= now) {
				sensing_begin_access(mac);
				continue;
			}
		}
		if (t > now || i == MAC_NOBODY)
			return;
		if (mac->stations[i].ppdu.begun)
			exchange_end_ppdu(mac, i);
		else
			sensing_begin_ppdu(mac, i);
	}
}

ns_t mac_next(const struct mac *mac)
{
	ns_t first, next = exchange_next(mac);
	int lead;

	if (mac->not_before >= next)
		return next;
	/*
	 * That a transmission begins is nobody's business outside: sleep
	 * until the first frame that would be in the air can have ended.
	 */
	lead = mac->lead;
	first = mac->not_before;
	if (lead == MAC_NOBODY)
		lead = access_first(mac, &first);
	if (lead == MAC_NOBODY)
		return next;
	for (int i = 0; i < mac->n_stations; i++) {
		const struct mac_station *s = &mac->stations[i];
		ns_t t = access_time(mac, s);

		if (t == NS_NEVER ||
		    (t - first >= mac->slot && air_hears(mac, i, lead)))
			continue;
		t += exchange_shortest(mac, s);
		if (t < next)
			next = t;
	}
	return next;
}

void mac_enqueue(struct mac *mac, int from, struct mac_frame *frame, ns_t now)
{
	struct mac_station *s = &mac->stations[from];

	frame->attempts = 0;
	frame->src = 0;
	frame->lrc = 0;
	frame->arrived = false;
	if (rate_chain_attempts(&frame->chain))
		frame->rate = rate_chain_next(&frame->chain, 0);
	else if (!frame->rate && !frame->basic_rate)
		frame->rate = s->config.rate;
	frame->ordered = mac->config.phy->ampdu_bytes && mac->config.max_ampdu > 1 &&
			 frame->carries_data && frame->wants_ack && frame->to >= 0;
	frame->is_bar = false;
	frame->held = false;
	frame->settled = false;
	if (frame->ordered)
		frame->sequence = s->next_sequence[frame->to]++;
	if (!s->head) {
		s->head_since = now;
		/*
		 * 9.3.4.2: at once if the medium has been idle for a DIFS and
		 * no backoff is pending; otherwise the backoff procedure.
		 */
		if (!s->backing_off && now < s->resume)
			access_draw_backoff(mac, s);
		access_may_begin(mac, now);
	}
	queue_append(s, frame);

	s->counters.frames_in++;
	s->counters.data_frames_in += frame->carries_data;
	s->counters.bytes_in += frame->bytes;
	if (s->backlog > s->counters.queue_high_water)
		s->counters.queue_high_water = s->backlog;
}

void mac_spare_losses(struct mac *mac)
{
	mac->lossless = true;
}

void mac_mark(struct mac *mac, ns_t now)
{
	mac->mark = now;
	mac->lossless = false;
	mac->digest = mac->config.seed;
	memset(&mac->airtime, 0, sizeof(mac->airtime));
	for (int i = 0; i < mac->n_stations; i++) {
		struct mac_station *s = &mac->stations[i];

		rng_seed(&s->rng, mac->config.seed, s->id);
		memset(&s->counters, 0, sizeof(s->counters));
		s->counters.backlog_start = s->backlog;
		s->counters.reorder_start = s->waiting;
		s->counters.queue_high_water = s->backlog;
		reception_start_links(mac, i);
	}
}

/* For frames of 1500 bytes around which LLC/SNAP, MAC header and FCS are. */
static double best_idle_target(const struct mac *mac)
{
	const struct phy_profile *phy = mac->config.phy;
	ns_t collision = phy_airtime(phy, phy->data_rate, 1500 + 36);

	collision += mac->config.eifs ? mac->eifs : mac->difs;
	return idle_sense_target((double)collision / mac->slot);
}

void mac_init(struct mac *mac, const struct mac_config *config,
	      const struct mac_ops *ops, void *ctx)
{
	memset(mac, 0, sizeof(*mac));
	mac->config = *config;
	mac->ops = ops;
	mac->ctx = ctx;
	mac->slot = phy_slot(config->phy);
	mac->sifs = phy_sifs(config->phy);
	mac->difs = phy_difs(config->phy);
	mac->eifs = phy_eifs(config->phy);
	mac->ack_timeout = phy_ack_timeout(config->phy);
	if (!mac->config.idle_target)
		mac->config.idle_target = best_idle_target(mac);
	mac->capture = pow(10, config->capture_db / 10);
	mac->not_before = NS_NEVER;
	mac->lead = MAC_NOBODY;
	mac_mark(mac, 0);
}

void mac_end(struct mac *mac)
{
	reorder_end(mac);
}

int mac_add_station(struct mac *mac, const struct mac_station_config *config)
{
	struct mac_station *s = &mac->stations[mac->n_stations];

	if (mac->n_stations == MAC_MAX_STATIONS)
		return -1;
	memset(s, 0, sizeof(*s));
	s->config = *config;
	for (int i = 0; i < MAC_ADDR_LEN; i++)
		s->id = s->id << 8 | config->addr[i];
	/* Categories of one radio may have one address, but not one stream. */
	for (int i = 0; i < mac->n_stations; i++)
		if (!memcmp(mac->stations[i].config.addr, config->addr, MAC_ADDR_LEN))
			s->id += CHANNEL_OTHER_CATEGORY;
	/* By address, so that the order in which stations come has no effect. */
	rng_seed(&s->rng, mac->config.seed, s->id);
	access_start_window(mac, s);
	s->tail = &s->head;
	if (mac->config.channel.kind == CHANNEL_SNR)
		channel_rate(&s->quality, config->has_snr ? config->snr_db :
					  mac->config.channel.snr_db);
	reception_start_links(mac, mac->n_stations);
	s->aifsn = config->aifsn;
	s->level = pow(10, config->signal_db / 10);
	s->steers = config->access == MAC_IDLE_SENSE;
	set_add(&mac->all, mac->n_stations++);
	air_hide(mac, mac->n_stations - 1);
	reception_own_links(mac, mac->n_stations - 1);
	air_wire(mac, mac->n_stations - 1);
	/* It has sensed nothing yet: what is in the air holds it off. */
	if (mac->n_air)
		s->resume = air_heard_until(mac, mac->n_stations - 1) + mac->difs;
	return mac->n_stations - 1;
}

void mac_set_hidden(struct mac *mac, int a, int b)
{
	air_part(mac, a, b);
}

void mac_set_channel(struct mac *mac, int station, unsigned int freq)
{
	mac->stations[station].config.freq = freq;
	mac->rewire = true;
}

int mac_find_station(const struct mac *mac, const uint8_t *addr)
{
	for (int i = 0; i < mac->n_stations; i++)
		if (!memcmp(mac->stations[i].config.addr, addr, MAC_ADDR_LEN))
			return i;
	return MAC_NOBODY;
}

bool mac_is_peer(const struct mac *mac, int from, int to)
{
	const uint8_t *addr = mac->stations[to].config.addr;

	return memcmp(addr, mac->stations[from].config.addr, MAC_ADDR_LEN) &&
	       mac_find_station(mac, addr) == to;
}

bool mac_reaches(struct mac *mac, int from, int to,
		 const struct mac_frame *frame)
{
	const struct mac_station *s = &mac->stations[from];

	return air_hears(mac, to, from) && !air_spoilt(mac, to, from) &&
	       reception_crosses(mac, s, to, s->start, s->start + s->occupied,
				 frame->bytes, frame_rate(mac->config.phy, frame));
}
