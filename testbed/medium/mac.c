// SPDX-License-Identifier: GPL-2.0-only
/*
 * DCF of IEEE Std 802.11-2012, 9.3: see mac.h for the principle.
 *
 * Counting rule (9.3.4.3): a count goes down by one for each slot in which the
 * medium stays idle after the station's own DIFS or EIFS. The slot in which
 * another station begins is not idle, so it is not counted, and a frozen count
 * is at least 1. Only a station that drew anew can thus send right at the end
 * of the next DIFS.
 */
#include <string.h>

#include "mac.h"

/* What the digest records; its values are part of the digest's meaning. */
enum mac_outcome {
	OUTCOME_DRAW,
	OUTCOME_ACKED,
	OUTCOME_COLLIDED,
	OUTCOME_UNANSWERED,
	OUTCOME_BROADCAST,
};

static ns_t later(ns_t a, ns_t b)
{
	return a > b ? a : b;
}

/*
 * The digest holds decisions (who, what, how it ended), not times: two runs
 * that decide the same compare equal though a guest's clock differs by a tick.
 */
static void record(struct mac *mac, const struct mac_station *s,
		   enum mac_outcome what, uint64_t detail)
{
	uint64_t state = mac->digest ^ s->id ^ ((uint64_t)what << 56);

	state = splitmix64(&state) ^ detail;
	mac->digest = splitmix64(&state);
}

unsigned int mac_rate(const struct mac *mac, const struct mac_frame *frame)
{
	return frame->basic_rate ? mac->config.phy->lowest_rate
				 : mac->config.phy->data_rate;
}

ns_t mac_airtime(const struct mac *mac, const struct mac_frame *frame)
{
	return phy_airtime(mac->config.phy, mac_rate(mac, frame), frame->bytes);
}

/* Airtime of a control frame that goes with @frame. */
static ns_t control_airtime(const struct mac *mac,
			    const struct mac_frame *frame, unsigned int bytes)
{
	const struct phy_profile *phy = mac->config.phy;

	return phy_airtime(phy, phy_control_rate(phy, mac_rate(mac, frame)),
			   bytes);
}

/*
 * How long an attempt holds the medium before its ACK. With RTS (9.3.5) a
 * collision, or nobody to answer, costs the RTS alone.
 */
static ns_t occupancy(const struct mac *mac, const struct mac_frame *frame,
		      bool alone)
{
	ns_t rts;

	if (!frame->wants_ack || frame->bytes <= mac->config.rts_threshold)
		return phy_protection(mac->config.phy, mac_rate(mac, frame)) +
		       mac_airtime(mac, frame);
	rts = control_airtime(mac, frame, PHY_RTS_BYTES);
	if (!alone || frame->to == MAC_NOBODY)
		return rts;
	return rts + mac->sifs + control_airtime(mac, frame, PHY_CTS_BYTES) +
	       mac->sifs + mac_airtime(mac, frame);
}

/* When @s would send, if the medium stayed idle; NS_NEVER without a frame. */
static ns_t access_time(const struct mac *mac, const struct mac_station *s)
{
	if (!s->head)
		return NS_NEVER;
	return later(s->resume + s->backoff * mac->slot, s->head_since);
}

static ns_t first_access(const struct mac *mac)
{
	ns_t first = NS_NEVER;

	for (int i = 0; i < mac->n_stations; i++) {
		ns_t t = access_time(mac, &mac->stations[i]);

		if (t < first)
			first = t;
	}
	return first;
}

/* 9.3.3: uniform over the contention window. */
static void draw_backoff(struct mac *mac, struct mac_station *s)
{
	s->backoff = rng_below(&s->rng, s->cw);
	s->backing_off = true;
	record(mac, s, OUTCOME_DRAW, s->backoff);
}

/* The medium becomes busy at @t: keep what is left of the count. */
static void freeze(const struct mac *mac, struct mac_station *s, ns_t t)
{
	uint64_t counted = t > s->resume ? (t - s->resume) / mac->slot : 0;

	if (counted < s->backoff) {
		s->backoff -= counted;
	} else if (!s->head) {
		/* A post-transmission backoff ended with nothing to send. */
		s->backoff = 0;
		s->backing_off = false;
	}
}

static void begin(struct mac *mac, ns_t first)
{
	mac->state = MAC_DATA;
	mac->busy_since = first;
	mac->busy_until = first;
	mac->n_senders = 0;

	for (int i = 0; i < mac->n_stations; i++) {
		struct mac_station *s = &mac->stations[i];
		ns_t t = access_time(mac, s);

		if (t == NS_NEVER || t - first >= mac->slot) {
			freeze(mac, s, first);
			continue;
		}
		s->start = t;
		s->backoff = 0;
		s->backing_off = false;
		s->head->attempts++;
		mac->senders[mac->n_senders++] = i;
	}

	for (int i = 0; i < mac->n_senders; i++) {
		struct mac_station *s = &mac->stations[mac->senders[i]];

		s->occupied = occupancy(mac, s->head, mac->n_senders == 1);
		mac->busy_until = later(mac->busy_until, s->start + s->occupied);
	}
}

/* The medium is free; each station may count from @resume on. */
static void release(struct mac *mac, ns_t resume)
{
	mac->state = MAC_IDLE;
	for (int i = 0; i < mac->n_stations; i++)
		mac->stations[i].resume = resume;
}

/* Time since @start, without what lies before the mark. */
static ns_t measured(const struct mac *mac, ns_t start, ns_t end)
{
	start = later(start, mac->mark);
	return end > start ? end - start : 0;
}

/*
 * Done with the head frame: the window shrinks back, a post-transmission
 * backoff is drawn (9.3.4.2), and only then the owner hears of it.
 */
static void complete(struct mac *mac, struct mac_station *s, bool acked)
{
	struct mac_frame *frame = s->head;

	s->head = frame->next;
	if (!s->head)
		s->tail = &s->head;
	frame->next = NULL;
	s->backlog--;
	s->cw = s->config.cw_min;
	draw_backoff(mac, s);

	if (!frame->wants_ack)
		s->counters.broadcasts++;
	else if (acked)
		s->counters.delivered++;
	else
		s->counters.drops++;
	if (mac->ops->status)
		mac->ops->status(mac->ctx, s - mac->stations, frame, acked);
}

/* Count an attempt that ended as @what, and tell who traces attempts. */
static void end_attempt(struct mac *mac, struct mac_station *s,
			enum mac_outcome what)
{
	const struct mac_frame *frame = s->head;

	record(mac, s, what, ((uint64_t)frame->bytes << 16) | frame->attempts);
	if (frame->wants_ack) {
		s->counters.tx++;
		s->counters.retries += frame->attempts > 1;
		s->counters.collisions += what == OUTCOME_COLLIDED;
		s->counters.unanswered += what == OUTCOME_UNANSWERED;
	} else {
		s->counters.broadcast_collisions += what == OUTCOME_COLLIDED;
	}
	s->counters.airtime += measured(mac, s->start, s->start + s->occupied);
	if (mac->ops->attempt)
		mac->ops->attempt(mac->ctx, s - mac->stations, frame, s->start,
				  what == OUTCOME_COLLIDED);
}

/* An attempt failed: try again with a window twice as wide, or give up. */
static void fail(struct mac *mac, struct mac_station *s)
{
	if (!s->head->wants_ack ||
	    s->head->attempts >= s->config.retry_limit) {
		complete(mac, s, false);
		return;
	}
	s->cw = 2 * s->cw < s->config.cw_max ? 2 * s->cw : s->config.cw_max;
	draw_backoff(mac, s);
}

/*
 * Those who observed a frame they could not decode wait EIFS (9.3.2.3.7);
 * those who sent it cannot have, and go on when no ACK has begun in time.
 */
static void end_collision(struct mac *mac)
{
	ns_t end = mac->busy_until;

	mac->airtime.collision += measured(mac, mac->busy_since, end);
	release(mac, end + (mac->config.eifs ? mac->eifs : mac->difs));
	for (int i = 0; i < mac->n_senders; i++) {
		struct mac_station *s = &mac->stations[mac->senders[i]];

		s->resume = end + mac->difs;
		if (s->head->wants_ack)
			s->resume = later(s->resume, s->start + s->occupied +
						     mac->ack_timeout);
	}
	for (int i = 0; i < mac->n_senders; i++) {
		struct mac_station *s = &mac->stations[mac->senders[i]];

		end_attempt(mac, s, OUTCOME_COLLIDED);
		fail(mac, s);
	}
}

static void end_broadcast(struct mac *mac, struct mac_station *s)
{
	mac->airtime.broadcast += measured(mac, s->start, mac->busy_until);
	release(mac, mac->busy_until + mac->difs);
	end_attempt(mac, s, OUTCOME_BROADCAST);
	if (mac->ops->deliver)
		mac->ops->deliver(mac->ctx, s - mac->stations, s->head);
	complete(mac, s, false);
}

/* The others heard the frame and keep clear for an ACK that never comes. */
static void end_unanswered(struct mac *mac, struct mac_station *s)
{
	ns_t end = mac->busy_until;
	ns_t ack = mac->sifs + control_airtime(mac, s->head, PHY_ACK_BYTES);

	mac->airtime.unanswered += measured(mac, s->start, end);
	release(mac, end + ack + mac->difs);
	s->resume = end + later(mac->ack_timeout, mac->difs);
	end_attempt(mac, s, OUTCOME_UNANSWERED);
	fail(mac, s);
}

static void end_data(struct mac *mac)
{
	struct mac_station *s = &mac->stations[mac->senders[0]];

	if (mac->n_senders > 1) {
		end_collision(mac);
	} else if (!s->head->wants_ack) {
		end_broadcast(mac, s);
	} else if (s->head->to == MAC_NOBODY) {
		end_unanswered(mac, s);
	} else {
		mac->state = MAC_ACK;
		mac->busy_until += mac->sifs +
				   control_airtime(mac, s->head, PHY_ACK_BYTES);
		if (mac->ops->deliver)
			mac->ops->deliver(mac->ctx, s - mac->stations, s->head);
	}
}

static void end_ack(struct mac *mac)
{
	struct mac_station *s = &mac->stations[mac->senders[0]];

	s->occupied = mac->busy_until - s->start;
	mac->airtime.success += measured(mac, s->start, mac->busy_until);
	release(mac, mac->busy_until + mac->difs);
	end_attempt(mac, s, OUTCOME_ACKED);
	complete(mac, s, true);
}

void mac_advance(struct mac *mac, ns_t now)
{
	for (;;) {
		ns_t t = mac->state == MAC_IDLE ? first_access(mac)
						: mac->busy_until;

		if (t > now || t == NS_NEVER)
			return;
		if (mac->state == MAC_IDLE)
			begin(mac, t);
		else if (mac->state == MAC_DATA)
			end_data(mac);
		else
			end_ack(mac);
	}
}

ns_t mac_next(const struct mac *mac)
{
	ns_t first, next = NS_NEVER;

	if (mac->state != MAC_IDLE)
		return mac->busy_until;

	/*
	 * That a transmission begins is nobody's business outside: sleep
	 * until the first frame that would be in the air can have ended.
	 */
	first = first_access(mac);
	if (first == NS_NEVER)
		return NS_NEVER;
	for (int i = 0; i < mac->n_stations; i++) {
		const struct mac_station *s = &mac->stations[i];
		ns_t t = access_time(mac, s);

		if (t == NS_NEVER || t - first >= mac->slot)
			continue;
		t += occupancy(mac, s->head, false);
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
	if (!s->head) {
		s->head_since = now;
		/*
		 * 9.3.4.2: at once if the medium has been idle for a DIFS and
		 * no backoff is pending; otherwise the backoff procedure.
		 */
		if (!s->backing_off &&
		    (mac->state != MAC_IDLE || now < s->resume))
			draw_backoff(mac, s);
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
		s->counters.queue_high_water = s->backlog;
	}
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
	mac_mark(mac, 0);
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
	/* By address, so that the order in which stations come has no effect. */
	rng_seed(&s->rng, mac->config.seed, s->id);
	s->cw = config->cw_min;
	s->tail = &s->head;
	/* It has sensed nothing yet: what is in the air holds it off. */
	if (mac->state != MAC_IDLE)
		s->resume = mac->busy_until + mac->difs;
	return mac->n_stations++;
}

int mac_find_station(const struct mac *mac, const uint8_t *addr)
{
	for (int i = 0; i < mac->n_stations; i++)
		if (!memcmp(mac->stations[i].config.addr, addr, MAC_ADDR_LEN))
			return i;
	return MAC_NOBODY;
}
