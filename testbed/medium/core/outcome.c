// SPDX-License-Identifier: GPL-2.0-only
/* The end of an attempt: see outcome.h. */
#include "access.h"
#include "outcome.h"
#include "phy/phy_rate.h"
#include "queue.h"
#include "reorder.h"

/* Its sender is done with @frame. */
static void give_back(struct mac *mac, struct mac_station *s,
		      struct mac_frame *frame, bool acked)
{
	if (frame->is_bar)
		return;
	if (!frame->wants_ack)
		s->counters.broadcasts++;
	else if (acked)
		s->counters.delivered++;
	else
		s->counters.drops++;
	if (mac->ops->status)
		mac->ops->status(mac->ctx, s - mac->stations, frame, acked);
	frame->settled = true;
	if (!frame->held && mac->ops->done)
		mac->ops->done(mac->ctx, s - mac->stations, frame);
}

/* The attempt of @frame has failed: after RTS/CTS, or else. */
static void count_failure(const struct mac_station *s, struct mac_frame *frame)
{
	if (s->times.cts_end && s->times.data_start)
		frame->lrc++;
	else
		frame->src++;
}

/* Whether @frame may be sent again after its failures so far. */
static bool may_go_again(const struct mac_station *s,
			 const struct mac_frame *frame)
{
	unsigned int limit = rate_chain_attempts(&frame->chain);

	if (limit)
		return frame->attempts < limit;
	if (s->config.retries.short_limit)
		return frame->src < s->config.retries.short_limit &&
		       frame->lrc < s->config.retries.long_limit;
	return frame->attempts < s->config.retry_limit;
}

/* The same, and at which rate. */
static bool goes_again(const struct mac_station *s, struct mac_frame *frame)
{
	if (!may_go_again(s, frame))
		return false;
	if (rate_chain_attempts(&frame->chain))
		frame->rate = rate_chain_next(&frame->chain, frame->attempts);
	return true;
}

/*
 * A BlockAckReq has shown that frames of @s have arrived that were thought lost;
 * they leave the queue. Returns how many are in @done.
 */
static unsigned int recover(struct mac_station *s,
			    struct mac_frame *done[MAC_MAX_AMPDU])
{
	struct mac_frame *frame = s->head, *next;
	unsigned int n = 0;

	for (; frame && n < MAC_MAX_AMPDU; frame = next) {
		next = frame->next;
		if (!frame->ordered || frame->to != s->bar.to || !frame->arrived)
			continue;
		queue_remove(s, frame);
		done[n++] = frame;
	}
	s->counters.recovered += n;
	return n;
}

void outcome_settle(struct mac *mac, struct mac_station *s, uint64_t acked)
{
	struct mac_frame *done[MAC_MAX_AMPDU];
	uint64_t done_acked = 0;
	unsigned int n = 0;
	bool anew = acked, bar = s->sent[0]->is_bar;
	/* No block ack, or a frame that will not come: ask (9.21.7.7). */
	bool ask = s->n_sent > 1 && !acked;

	for (unsigned int i = 0; i < s->n_sent; i++) {
		struct mac_frame *frame = s->sent[i];
		bool ok = acked >> i & 1;

		if (!ok)
			count_failure(s, frame);
		if (!ok && frame->wants_ack && goes_again(s, frame))
			continue;
		anew |= !i;
		ask |= !ok && frame->ordered && !frame->arrived;
		queue_remove(s, frame);
		done_acked |= (uint64_t)ok << n;
		done[n++] = frame;
	}
	if (bar && acked) {
		n = recover(s, done);
		done_acked = ~0ULL;
	}
	if (ask)
		reorder_ask(mac, s, s->sent[0]->to);
	if (anew)
		s->cw = s->config.cw_min;
	else if (2 * s->cw < s->config.cw_max)
		s->cw *= 2;
	else
		s->cw = s->config.cw_max;
	/* In a TXOP it follows after the last exchange. */
	if (acked && s->config.txop)
		s->backing_off = true;
	else
		access_draw_backoff(mac, s);
	for (unsigned int i = 0; i < n; i++)
		give_back(mac, s, done[i], done_acked >> i & 1);
}

/* Count an attempt of @frame that ended as @what. */
static void count_frame(struct mac *mac, struct mac_station *s,
			const struct mac_frame *frame, enum mac_outcome what)
{
	struct mac_counters *c = &s->counters;
	const struct phy_rate *rate = phy_rate_of(mac->config.phy,
						  frame_rate(mac->config.phy,
							     frame));

	digest_add(mac, s, what, ((uint64_t)frame->bytes << 16) | frame->attempts);
	if (frame->is_bar) {
		c->bars++;
		c->bars_failed += what != OUTCOME_ACKED;
		return;
	}
	c->attempts_at[rate - phy_rates]++;
	if (!frame->wants_ack) {
		c->broadcast_collisions += what == OUTCOME_COLLIDED;
		return;
	}
	c->tx++;
	c->retries += frame->attempts > 1;
	c->collisions += what == OUTCOME_COLLIDED || what == OUTCOME_ACK_COLLIDED;
	c->ack_collisions += what == OUTCOME_ACK_COLLIDED;
	c->unanswered += what == OUTCOME_UNANSWERED;
	c->lost += what == OUTCOME_LOST || what == OUTCOME_ACK_LOST;
	c->acks_lost += what == OUTCOME_ACK_LOST;
}

static enum mac_end trace_end(enum mac_outcome what)
{
	switch (what) {
	case OUTCOME_COLLIDED:
		return MAC_END_COLLIDED;
	case OUTCOME_LOST:
		return MAC_END_LOST;
	case OUTCOME_ACK_LOST:
	case OUTCOME_ACK_COLLIDED:
		return MAC_END_ACK_LOST;
	case OUTCOME_UNANSWERED:
		return MAC_END_UNANSWERED;
	default:
		return MAC_END_HEARD;
	}
}

static void trace_frame(struct mac *mac, struct mac_station *s, unsigned int i,
			enum mac_outcome what)
{
	struct mac_attempt attempt = s->times;
	struct mac_frame failed = *s->sent[i];

	/* It is not settled yet. */
	count_failure(s, &failed);
	attempt.given_up = failed.wants_ack && what != OUTCOME_ACKED &&
			   !may_go_again(s, &failed);
	attempt.frame = s->sent[i];
	attempt.end = trace_end(what);
	attempt.index = i;
	attempt.n = s->n_sent;
	attempt.arrived = s->arrived;
	mac->ops->attempt(mac->ctx, s - mac->stations, &attempt);
}

static ns_t *airtime_of(struct mac *mac, enum mac_outcome what)
{
	switch (what) {
	case OUTCOME_ACKED:
		return &mac->airtime.success;
	case OUTCOME_BROADCAST:
		return &mac->airtime.broadcast;
	case OUTCOME_UNANSWERED:
		return &mac->airtime.unanswered;
	case OUTCOME_LOST:
	case OUTCOME_ACK_LOST:
		return &mac->airtime.lost;
	default:
		return &mac->airtime.collision;
	}
}

ns_t outcome_measured(const struct mac *mac, ns_t start, ns_t end)
{
	start = mac_later(start, mac->mark);
	return end > start ? end - start : 0;
}

/* Of @airtime of the attempt, what falls to TCP ACKs: by their bytes in the PPDU. */
static ns_t tcp_acks_part(const struct mac_station *s, ns_t airtime)
{
	uint64_t bytes = 0, in_acks = 0;

	for (unsigned int i = 0; i < s->n_sent; i++) {
		bytes += s->sent[i]->bytes;
		if (s->sent[i]->is_tcp_ack)
			in_acks += s->sent[i]->bytes;
	}
	return in_acks ? airtime * in_acks / bytes : 0;
}

static void count_airtime(struct mac *mac, struct mac_station *s)
{
	ns_t airtime = outcome_measured(mac, s->start, s->start + s->occupied);
	int to = s->sent[0]->to;

	s->counters.airtime += airtime;
	s->counters.tcp_ack_airtime += tcp_acks_part(s, airtime);
	if (to >= 0)
		mac->stations[to].counters.airtime_to += airtime;
}

void outcome_count(struct mac *mac, struct mac_station *s, enum mac_outcome what,
		   ns_t end)
{
	bool answered = what == OUTCOME_ACKED || what == OUTCOME_ACK_LOST ||
			what == OUTCOME_ACK_COLLIDED;

	if (s->n_sent > 1) {
		s->counters.ampdus++;
		s->counters.ampdu_mpdus += s->n_sent;
	}
	if (what == OUTCOME_ACKED)
		s->occupied = end - s->start;
	/* The time of those who collided with each other counts once: release.c. */
	if (what != OUTCOME_COLLIDED)
		*airtime_of(mac, what) += outcome_measured(mac, s->start, end);
	count_airtime(mac, s);
	for (unsigned int i = 0; i < s->n_sent; i++) {
		bool lost = answered && !(s->arrived >> i & 1);

		count_frame(mac, s, s->sent[i], lost ? OUTCOME_LOST : what);
		if (mac->ops->attempt)
			trace_frame(mac, s, i, lost ? OUTCOME_LOST : what);
	}
}
