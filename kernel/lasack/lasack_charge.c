// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many bytes a packet is charged, and to which flow and station.
 *
 * Source: M. Heusse, G. Urvoy-Keller, A. Duda, "Layer 2 vs. Layer 3 Mechanisms
 * for Improving TCP Performance in 802.11 Wireless LANs", section III: two
 * counters per connection, the last ACK number observed and the total volume of
 * data transferred in both directions. Data is charged when it is sent. The data that an ACK
 * acknowledges has crossed the radio already. So it is charged when the ACK arrives,
 * whether or not that ACK is sent later.
 *
 * The paper's rules trust every packet. So there are more rules, which "mode paper" switches
 * off:
 *
 * - A packet is charged at least "overhead" bytes. Otherwise a sender of packets without
 *   payload would always be served first. What an ACK acknowledges counts towards this
 *   minimum. If it acknowledges more, the excess pays the minimum of later packets.
 * - The sum of a new flow does not begin at 0, and that of one that paused is raised:
 *   lasack_newcomer.c.
 * - What an ACK acknowledges is charged only if the ACK is believed, and given back if it turns
 *   out to be forged: lasack_ack.c.
 * - Waiting ACKs that acknowledge more than the flow's ordinary ones put it back by
 *   LASACK_PENDING bytes at most. The rest is charged when they are sent: forged ones wait behind
 *   real ones.
 * - A SYN begins a new life of a connection only if the connection has ended, or has had no
 *   packet here for a second.
 *
 * With stations all this holds twice: for the stations, and for the flows of each station
 * among each other.
 */
#include <linux/bits.h>
#include <linux/minmax.h>
#include <linux/netdevice.h>
#include <linux/time64.h>
#include "lasack/lasack_aqm.h"
#include "lasack/lasack_charge.h"
#include "lasack/lasack_newcomer.h"

/* Ordinary ACKs add no more to what may be given back once it is so much: 1 MiB. */
#define LASACK_REFUND_ORDINARY	(LASACK_LAG / LASACK_REFUND_UNIT)
/* How large a flow's ordinary ACKs are is learned: see lasack_flow_learn(). */
#define LASACK_SCORE_START	8U
#define LASACK_SCORE_UP		3U
#define LASACK_SCORE_MAX	31U
#define LASACK_SCALE_MAX	4
/* What a station's ACKs cost is forgotten in so much of the queue's time, or such bytes. */
#define LASACK_ACKED_AGE	((u32)(4ULL * NSEC_PER_SEC >> FLOW_TIME_SHIFT))
#define LASACK_ACKED_MOST	(8 * LASACK_LAG)
/* Bytes of the longest usual headers. What a packet has beyond them is not overhead. */
#define LASACK_HEADERS	128

static noinline void lasack_flow_recount(struct lasack_queue *q, u64 was, u64 is)
{
	q->by_bits[fls64(was)]--;
	q->by_bits[fls64(is)]++;
}

/* The flow had been charged with @was bytes. Is that of as many bits as what it has now? */
static inline void lasack_flow_count(struct lasack_queue *q, const struct lasack_flow *flow,
				     u64 was)
{
	u64 is = lasack_flow_bytes(flow);

	if (unlikely((was ^ is) > (was & is)) && !flow->shared)
		lasack_flow_recount(q, was, is);
}

/* Forgets everything about the flow but its packets, if it has any. */
void lasack_flow_new_life(struct lasack_queue *q, struct lasack_flow *flow)
{
	if (!flow->shared) {
		q->by_bits[fls64(lasack_flow_bytes(flow))]--;
		q->by_bits[0]++;
	}
	flow->account.sum = 0;
	flow->account.credit = 0;
	flow->account.surplus = 0;
	flow->sent = 0;
	flow->received = 0;
	flow->refundable = 0;
	flow->returned = 0;
	flow->prepaid = 0;
	flow->pending = 0;
	flow->ack_scale = 0;
	flow->ack_score = LASACK_SCORE_START;
	flow->ack_seen = 0;
	flow->starved = 0;
	flow->served = 0;
	flow->opening = 0;
	flow->aborted = 0;
	flow->entry.finished = 0;
	if (unlikely(q->aqm))
		lasack_aqm_forget(q, flow);
	if (flow->head)
		lasack_flow_begin_anew(q, flow);
	else
		flow->is_new = 1;
}

/* What an ACK acknowledges beyond an ordinary one. */
static u32 lasack_flow_excess(const struct lasack_flow *flow, u32 acked)
{
	return acked - min(acked, lasack_flow_ordinary(flow));
}

/* Of what waiting ACKs acknowledge, what is charged only when they are sent. */
static u32 lasack_flow_deferred(const struct lasack_queue *q, const struct lasack_flow *flow)
{
	if (likely(flow->pending <= LASACK_PENDING) || q->shape.paper)
		return 0;
	return flow->pending - LASACK_PENDING;
}

/* The flow's sum with all that its waiting ACKs acknowledge: who has most loses packets first. */
u64 lasack_flow_sum_in_all(const struct lasack_queue *q, const struct lasack_flow *flow)
{
	return lasack_sum_plus(q, flow->account.sum, lasack_flow_deferred(q, flow));
}

static void lasack_station_charge(struct lasack_queue *q, struct lasack_station *station,
				  u64 weight)
{
	if (q->stations->rates)
		lasack_rates_use(q->stations->rates, station->number);
	station->account.sum = lasack_sum_plus(q, station->account.sum, weight);
	if (unlikely(station->returned))
		station->returned -= min_t(u64, station->returned, weight);
}

/* @bytes are acknowledged. Return: their weight in the station's sum. */
static u64 lasack_station_weigh_acked(const struct lasack_queue *q,
				      struct lasack_station *station, u32 bytes)
{
	u64 weight = lasack_station_acked(q, station, bytes), acked = station->acked;
	u32 halvings;

	if (!q->stations->rates)
		return weight;
	halvings = min((q->time - station->acked_since) / LASACK_ACKED_AGE, 63U);
	if (unlikely(halvings)) {
		station->acked_weight >>= halvings;
		acked >>= halvings;
		station->acked_since = q->time;
	}
	station->acked_weight += weight;
	for (acked += bytes; acked > LASACK_ACKED_MOST; acked /= 2)
		station->acked_weight /= 2;
	station->acked = acked;
	return weight;
}

/*
 * The weight of @bytes that forged ACKs acknowledged: at what the station's last ACKs cost on
 * average, and no more than they would now. Whoever changes his rate between a charge and its
 * return does not get back more than he paid.
 */
static u64 lasack_station_refund(const struct lasack_queue *q,
				 const struct lasack_station *station, u32 bytes)
{
	if (!q->stations->rates)
		return bytes;
	if (!station->acked)
		return 0;
	bytes = min(bytes, station->acked);
	return min(div_u64(station->acked_weight * bytes, station->acked),
		   lasack_station_acked(q, station, bytes));
}

static void lasack_flow_charge(struct lasack_queue *q, struct lasack_flow *flow,
			       u64 *bytes_charged, u32 bytes)
{
	u64 was = lasack_flow_bytes(flow);

	*bytes_charged += bytes;
	lasack_flow_count(q, flow, was);
	flow->account.sum = lasack_sum_plus(q, flow->account.sum, bytes);
	if (lasack_has_station(q, flow)) {
		struct lasack_station *station = lasack_station_at(q, flow);

		lasack_station_charge(q, station, bytes_charged == &flow->sent ?
				      lasack_station_sent(q, station, bytes) :
				      lasack_station_weigh_acked(q, station, bytes));
	}
}

/* ACKs with an excess of @bytes do not wait any more. */
static void lasack_flow_settle(struct lasack_queue *q, struct lasack_flow *flow, u32 bytes)
{
	u32 deferred = lasack_flow_deferred(q, flow);

	flow->pending -= min(flow->pending, bytes);
	if (unlikely(deferred))
		lasack_flow_charge(q, flow, &flow->received,
				   deferred - lasack_flow_deferred(q, flow));
}

/* An ACK was charged @bytes more than it costs: that much may be given back. */
static void lasack_flow_may_refund(struct lasack_flow *flow, u32 bytes)
{
	u32 most = bytes > LASACK_ORDINARY ? U16_MAX : LASACK_REFUND_ORDINARY;

	if (flow->refundable < most)
		flow->refundable = min(most, flow->refundable + bytes / LASACK_REFUND_UNIT);
}

/* Of what may be given back, @bytes may not any more: they paid for a packet. */
static void lasack_flow_keep(struct lasack_flow *flow, u32 bytes)
{
	flow->refundable -= min_t(u32, flow->refundable,
				  DIV_ROUND_UP(bytes, LASACK_REFUND_UNIT));
}

/* May the account have @bytes back, once it is charged with what is @deferred? */
static bool lasack_account_may_return(const struct lasack_queue *q,
				      const struct lasack_level *level,
				      const struct lasack_account *account,
				      u64 deferred, u64 bytes)
{
	return lasack_sum_minus(q, lasack_sum_plus(q, account->sum, deferred), bytes) >=
	       lasack_sum_minus(q, level->high, LASACK_LAG);
}

/**
 * lasack_flow_may_take_back() - may what the flow was charged be so much less?
 * @q: the queue
 * @flow: the flow
 * @bytes: that much less
 *
 * Return: whether it was charged with so much, and is then no further behind others than one may
 * be that was not served. If it were, an old ACK and the next real one would charge it with more
 * than was given back.
 */
bool lasack_flow_may_take_back(struct lasack_queue *q, const struct lasack_flow *flow, u32 bytes)
{
	u32 deferred = lasack_flow_deferred(q, flow);
	const struct lasack_station *station;

	if (bytes > flow->received + deferred ||
	    !lasack_account_may_return(q, lasack_flow_level(q, flow), &flow->account, deferred,
				       bytes))
		return false;
	if (!lasack_has_station(q, flow))
		return true;
	station = lasack_station_at(q, flow);
	return lasack_account_may_return(q, &q->level, &station->account,
					 lasack_station_acked(q, station, deferred),
					 lasack_station_refund(q, station, bytes));
}

/**
 * lasack_flow_settle_all() - ACKs of the flow were forged
 * @q: the queue
 * @flow: the flow
 *
 * Nobody knows which of the waiting ACKs are forged, so from now on nothing is left for them to
 * be charged with.
 */
void lasack_flow_settle_all(struct lasack_queue *q, struct lasack_flow *flow)
{
	lasack_flow_settle(q, flow, flow->pending);
	flow->account.surplus = 0;
	flow->refunds++;
}

/**
 * lasack_flow_take_back() - the flow is charged less, because ACKs were forged
 * @q: the queue
 * @flow: the flow
 * @bytes: that much less
 */
void lasack_flow_take_back(struct lasack_queue *q, struct lasack_flow *flow, u32 bytes)
{
	u64 was;

	lasack_flow_settle_all(q, flow);
	was = lasack_flow_bytes(flow);
	flow->received -= min_t(u64, bytes, flow->received);
	lasack_flow_count(q, flow, was);
	/* Its credit was for bytes that it was charged. */
	if (unlikely(lasack_flow_bytes(flow) < LASACK_CREDIT))
		flow->account.credit = max_t(u32, flow->account.credit,
					     LASACK_CREDIT - lasack_flow_bytes(flow));
	flow->account.sum = lasack_sum_minus(q, flow->account.sum, bytes);
	if (lasack_has_station(q, flow)) {
		struct lasack_station *station = lasack_station_at(q, flow);
		u64 weight = lasack_station_refund(q, station, bytes);

		station->account.sum = lasack_sum_minus(q, station->account.sum, weight);
		station->acked -= min(station->acked, bytes);
		station->acked_weight -= min(station->acked_weight, weight);
		lasack_station_returned(q, station);
	}
}

/*
 * The bytes that are missing to @least. The packet was charged @charged already, because of what
 * it acknowledges. The surplus of ACKs before it counts too: what they were charged beyond the
 * minimum. A forged ACK acknowledges what the real ones would have, and leaves a surplus. So the
 * real ones are not charged a second time. What has paid for a packet was sent: it is not given
 * back when the ACK turns out to be forged.
 */
static u32 lasack_flow_uncovered(struct lasack_flow *flow, u32 least, u32 charged)
{
	struct lasack_account *account = &flow->account;
	u32 surplus = account->surplus * 4U, part;

	if (charged >= least) {
		account->surplus = min_t(u32, surplus + charged - least, LASACK_BELIEVED) / 4;
		lasack_flow_may_refund(flow, charged - least);
		return 0;
	}
	part = min_t(u64, min(least - charged, surplus), flow->received);
	account->surplus = (surplus - part) / 4;
	lasack_flow_keep(flow, part);
	flow->received -= part;
	flow->sent += part;
	return least - charged - part;
}

/**
 * lasack_flow_cost() - what sending a packet costs
 * @q: the queue
 * @flow: its flow
 * @skb: the packet, which may be GSO
 * @payload: bytes it carries
 * @acked: bytes it is charged with already
 *
 * Return: bytes.
 */
u32 lasack_flow_cost(const struct lasack_queue *q, struct lasack_flow *flow,
		     const struct sk_buff *skb, u32 payload, u32 acked)
{
	u32 segs, length, least;

	if (q->shape.paper)
		return lasack_is_control(flow) ? 0 : payload;
	segs = skb_is_gso(skb) ? max_t(u32, skb_shinfo(skb)->gso_segs, 1) : 1;
	length = qdisc_pkt_len(skb);
	least = max(segs * q->overhead,
		    length > segs * LASACK_HEADERS ? length - segs * LASACK_HEADERS : 0);
	if (payload >= least) {
		lasack_flow_may_refund(flow, acked);
		return payload;
	}
	return payload + lasack_flow_uncovered(flow, least - payload, acked);
}

/* Bytes that the flow's other end has sent. The ACK that says so waits from now on. */
void lasack_flow_charge_acked(struct lasack_queue *q, struct lasack_flow *flow, u32 bytes)
{
	u32 deferred = lasack_flow_deferred(q, flow);

	flow->pending = min_t(u64, S32_MAX, (u64)flow->pending + lasack_flow_excess(flow, bytes));
	lasack_flow_charge(q, flow, &flow->received,
			   bytes - (lasack_flow_deferred(q, flow) - deferred));
}

/*
 * A packet that acknowledges so much is sent. If more than a quarter of all packets acknowledge
 * more than an ordinary ACK, ordinary ones are twice as large from now on. So forged ACKs, which
 * are few beside a download's data, are not taken for ordinary ones, but those of a receiver that
 * merges segments are.
 */
static void lasack_flow_learn(struct lasack_queue *q, struct lasack_flow *flow, u32 acked)
{
	u32 ordinary = lasack_flow_ordinary(flow);

	if (unlikely(acked > ordinary)) {
		flow->ack_score += min(LASACK_SCORE_UP, LASACK_SCORE_MAX - flow->ack_score);
		if (flow->ack_score < LASACK_SCORE_MAX || flow->ack_scale == LASACK_SCALE_MAX)
			return;
		/* Waiting ACKs had another excess. */
		lasack_flow_settle(q, flow, flow->pending);
		flow->ack_scale++;
		flow->ack_score = LASACK_SCORE_START;
	} else if (acked <= ordinary / 2) {
		if (flow->ack_score) {
			flow->ack_score--;
		} else if (flow->ack_scale) {
			flow->ack_scale--;
			flow->ack_score = LASACK_SCORE_START;
		}
	}
}

/* The packet is sent: its station has not paid yet for an ACK that takes long. */
static void lasack_station_charge_paid(struct lasack_queue *q, struct lasack_station *station,
				       u32 cost)
{
	u64 weight = lasack_station_paid(q, station, cost);

	if (unlikely(weight))
		lasack_station_charge(q, station, weight);
}

/* The packet is sent. */
void lasack_flow_charge_sent(struct lasack_queue *q, struct lasack_flow *flow,
			     const struct lasack_skb_cb *cb)
{
	lasack_flow_charge(q, flow, &flow->sent, cb->cost);
	if (cb->acked && cb->refunds == flow->refunds) {
		if (unlikely(flow->pending))
			lasack_flow_settle(q, flow, lasack_flow_excess(flow, cb->acked));
		/* Not when it arrived: who forges ACKs must not put off all who come later. */
		lasack_flow_admit(q, flow, cb->acked, false);
	}
	/* A duplicate ACK says nothing about what is ordinary; data without an ACK does. */
	if (!q->shape.paper && (cb->acked || cb->cost > q->overhead))
		lasack_flow_learn(q, flow, cb->refunds == flow->refunds ? cb->acked : 0);
	if (!lasack_has_station(q, flow))
		return;
	lasack_station_charge_paid(q, lasack_station_at(q, flow), cb->cost);
	if (unlikely(flow->station == LASACK_STATION_SHARED))
		lasack_station_shared_sent(q, cb->cost);
}

/* The packet was pushed out, and no other of its flow waits. */
void lasack_flow_lost_last(struct lasack_queue *q, struct lasack_flow *flow)
{
	lasack_flow_settle(q, flow, flow->pending);
}
