// SPDX-License-Identifier: GPL-2.0-only
/*
 * DCF of IEEE Std 802.11-2012, 9.3: see mac.h for the principle.
 *
 * Counting rule (9.3.4.3): a count goes down by one for each slot in which the
 * medium stays idle after the station's own DIFS or EIFS. The slot in which
 * another station begins is not idle, so it is not counted, and a frozen count
 * is at least 1. Only a station that drew anew can thus send right at the end
 * of the next DIFS.
 *
 * EDCA counts otherwise (9.19.2.3): a count goes down at each slot boundary from
 * the end of AIFS on, also at the one where another station begins, so that it
 * may be 0 then and any station can send right at the end of the next AIFS.
 */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "exchange.h"
#include "mac.h"

/* When @s would send, if its medium stayed idle; NS_NEVER without a frame. */
static ns_t access_time(const struct mac *mac, const struct mac_station *s)
{
	if (!s->head || s->resume == NS_NEVER)
		return NS_NEVER;
	return mac_later(s->resume + s->backoff * mac->slot, s->head_since);
}

/* The station that begins first of all, and when, or MAC_NOBODY. */
static int first_access(const struct mac *mac, ns_t *when)
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

/* 9.3.3: uniform over the contention window. */
void mac_draw_backoff(struct mac *mac, struct mac_station *s)
{
	s->backoff = s->config.access == MAC_DCF ?
		     rng_below(&s->rng, s->cw) :
		     idle_sense_draw(&s->idle_sense, &s->rng);
	s->backing_off = true;
	mac_record(mac, s, OUTCOME_DRAW, s->backoff);
}

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

/* What @i has announced begins; who has not sensed its radio yet does now. */
static void begin_ppdu(struct mac *mac, int i)
{
	const struct mac_ppdu *ppdu = &mac->stations[i].ppdu;

	air_begin(mac, i);
	sense_all(mac, i, ppdu->start, ppdu->answers);
}

/* The count of mac->lead is over. */
static void begin_access(struct mac *mac)
{
	int lead = mac->lead;

	mac->lead = MAC_NOBODY;
	sense_all(mac, lead, mac->not_before, false);
	if (!memcmp(&mac->held, &mac->all, sizeof(mac->held)))
		mac->not_before = NS_NEVER;
}

void mac_advance(struct mac *mac, ns_t now)
{
	for (;;) {
		ns_t t;
		int i = air_next(mac, &t);

		if (mac->rewire && !mac->n_air)
			air_rewire(mac);
		if (mac->not_before < t && mac->not_before <= now) {
			if (mac->lead == MAC_NOBODY)
				mac->lead = first_access(mac, &mac->not_before);
			if (mac->not_before < t && mac->not_before <= now) {
				begin_access(mac);
				continue;
			}
		}
		if (t > now || i == MAC_NOBODY)
			return;
		if (mac->stations[i].ppdu.begun)
			exchange_end_ppdu(mac, i);
		else
			begin_ppdu(mac, i);
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
		lead = first_access(mac, &first);
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

	frame->next = NULL;
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
			mac_draw_backoff(mac, s);
		mac_may_access(mac, now);
	}
	*s->tail = frame;
	s->tail = &frame->next;
	s->backlog++;

	s->counters.frames_in++;
	s->counters.data_frames_in += frame->carries_data;
	s->counters.bytes_in += frame->bytes;
	if (s->backlog > s->counters.queue_high_water)
		s->counters.queue_high_water = s->backlog;
}

static void start_links(struct mac *mac, int station)
{
	if (mac->config.channel.kind == CHANNEL_IDEAL)
		return;
	for (int i = 0; i < station; i++)
		channel_start(&mac->config.channel, mac_link(mac, i, station),
			      mac->config.seed, mac->stations[i].id,
			      mac->stations[station].id, mac->mark);
}

void mac_mark(struct mac *mac, ns_t now)
{
	mac->mark = now;
	mac->digest = mac->config.seed;
	memset(&mac->airtime, 0, sizeof(mac->airtime));
	for (int i = 0; i < mac->n_stations; i++) {
		struct mac_station *s = &mac->stations[i];

		rng_seed(&s->rng, mac->config.seed, s->id);
		memset(&s->counters, 0, sizeof(s->counters));
		s->counters.backlog_start = s->backlog;
		s->counters.reorder_start = s->waiting;
		s->counters.queue_high_water = s->backlog;
		start_links(mac, i);
	}
}

struct mac_config mac_defaults(const struct phy_profile *phy)
{
	return (struct mac_config){
		.phy = phy,
		.eifs = true,
		.rts_threshold = UINT_MAX,
		.max_ampdu = MAC_MAX_AMPDU,
		.max_ppdu = MAC_PPDU_MAX,
		.seed = 1,
	};
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

/* Where an access method without doubling begins. */
static void start_window(const struct mac *mac, struct mac_station *s)
{
	double target = mac->config.idle_target;
	ns_t observers = mac->config.eifs ? mac->eifs : mac->difs;
	double head_start = ((double)observers -
			     mac_later(mac->ack_timeout, mac->difs)) / mac->slot;

	s->cw = s->config.cw_min;
	if (s->config.access == MAC_IDLE_SENSE)
		idle_sense_start(&s->idle_sense, s->config.cw_min, target);
	else if (s->config.access == MAC_AAP)
		idle_sense_start(&s->idle_sense, aap_window(target, head_start), target);
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
	start_window(mac, s);
	s->tail = &s->head;
	if (mac->config.channel.kind == CHANNEL_SNR)
		channel_rate(&s->quality, config->has_snr ? config->snr_db :
					  mac->config.channel.snr_db);
	start_links(mac, mac->n_stations);
	s->aifsn = config->aifsn;
	s->level = pow(10, config->signal_db / 10);
	s->steers = config->access == MAC_IDLE_SENSE;
	set_add(&mac->all, mac->n_stations++);
	air_hide(mac, mac->n_stations - 1);
	air_wire(mac, mac->n_stations - 1);
	/* It has sensed nothing yet: what is in the air holds it off. */
	if (mac->n_air)
		s->resume = air_heard_until(mac, mac->n_stations - 1) + mac->difs;
	return mac->n_stations - 1;
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
