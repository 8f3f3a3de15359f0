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
 * - An ACK moves its flow's position. The flow is charged when the position moves ahead, and
 *   gets the charge back when it moves back, but for what its ACKs cost that were sent. So the
 *   next real ACK undoes what forged ones did.
 *   An ACK that is a little ahead is believed. One that is ahead by a window at most is believed
 *   when another follows near it. One that is behind is believed if the flow was charged for
 *   what lies between. All others are strange: they change nothing. If several are near each
 *   other, counting begins anew there.
 * - Waiting ACKs that acknowledge more than ordinary ones put their flow back by LASACK_PENDING
 *   bytes at most. The rest is charged when they are sent: forged ones wait behind real ones.
 * - A SYN begins a new life of a connection only if the connection has ended, or has had no
 *   packet here for a second.
 *
 * With stations all this holds twice: for the stations, and for the flows of each station
 * among each other.
 */
#include <linux/bits.h>
#include <linux/minmax.h>
#include <linux/netdevice.h>
#include "lasack/lasack_charge.h"
#include "lasack/lasack_newcomer.h"

/* What may be given back is counted in units of so many bytes. */
#define LASACK_REFUND_UNIT	256U
/* Ordinary ACKs add no more to it once it is so many units: 1 MiB. */
#define LASACK_REFUND_ORDINARY	(LASACK_LAG / LASACK_REFUND_UNIT)
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
	flow->pending = 0;
	flow->ack_seen = 0;
	flow->doubted = 0;
	flow->starved = 0;
	flow->served = 0;
	flow->opening = 0;
	flow->opened = 0;
	flow->aborted = 0;
	flow->entry.finished = 0;
	if (flow->head)
		lasack_account_begin(q, lasack_flow_level(q, flow), &flow->account);
	else
		flow->is_new = 1;
}

/* The flow's position is that of the ACK. Return: bytes ahead, modulo 2^32. */
static u32 lasack_flow_move(struct lasack_flow *flow, const struct tcp_segment *seg)
{
	u32 advance = seg->ack_seq - flow->last_ack[seg->reversed];

	flow->last_ack[seg->reversed] = seg->ack_seq;
	flow->doubted = 0;
	return advance;
}

/* What an ACK acknowledges beyond an ordinary one. */
static u32 lasack_ack_excess(u32 acked)
{
	return acked - min(acked, LASACK_ORDINARY);
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

static void lasack_flow_charge(struct lasack_queue *q, struct lasack_flow *flow,
			       u64 *bytes_charged, u32 bytes)
{
	u64 was = lasack_flow_bytes(flow);

	*bytes_charged += bytes;
	lasack_flow_count(q, flow, was);
	flow->account.sum = lasack_sum_plus(q, flow->account.sum, bytes);
	if (lasack_has_station(q, flow)) {
		struct lasack_station *station = lasack_station_at(q, flow);

		station->account.sum = lasack_sum_plus(q, station->account.sum, bytes);
		if (unlikely(station->returned))
			station->returned -= min(station->returned, bytes);
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

/* Of what may be given back, @bytes may not any more. */
static void lasack_flow_keep(struct lasack_flow *flow, u32 bytes)
{
	flow->refundable -= min_t(u32, flow->refundable,
				  DIV_ROUND_UP(bytes, LASACK_REFUND_UNIT));
}

/*
 * The position moves back by @behind. What the flow was charged with for that is given back, but
 * for what its ACKs cost, which were sent. Nobody knows which of the waiting ACKs are forged, so
 * from now on nothing is left for them to be charged with.
 */
static void lasack_flow_refund(struct lasack_queue *q, struct lasack_flow *flow, u32 behind)
{
	u32 bytes = min(behind, flow->refundable * LASACK_REFUND_UNIT);
	u64 was;

	lasack_flow_settle(q, flow, flow->pending);
	flow->refunds++;
	was = lasack_flow_bytes(flow);
	flow->received -= bytes;
	lasack_flow_keep(flow, bytes);
	flow->returned = min_t(u32, U16_MAX,
			       flow->returned + DIV_ROUND_UP(behind, LASACK_REFUND_UNIT));
	flow->account.surplus = 0;
	lasack_flow_count(q, flow, was);
	flow->account.sum = lasack_sum_minus(q, flow->account.sum, bytes);
	if (lasack_has_station(q, flow)) {
		struct lasack_station *station = lasack_station_at(q, flow);

		station->account.sum = lasack_sum_minus(q, station->account.sum, bytes);
		lasack_station_returned(q, station);
	}
}

/* May the account have @bytes back, once it is charged with what is @deferred? */
static bool lasack_account_may_return(const struct lasack_queue *q,
				      const struct lasack_level *level,
				      const struct lasack_account *account,
				      u32 deferred, u32 bytes)
{
	return lasack_sum_minus(q, lasack_sum_plus(q, account->sum, deferred), bytes) >=
	       lasack_sum_minus(q, level->high, LASACK_LAG);
}

/*
 * Was the flow charged with the last @bytes, and is it, without them, not further behind others
 * than one may be that was not served? If it was, an old ACK and the next real one would charge it
 * with more than was given back.
 */
static bool lasack_flow_may_return(struct lasack_queue *q, const struct lasack_flow *flow,
				   u32 bytes)
{
	u32 deferred = lasack_flow_deferred(q, flow);

	return bytes <= flow->received + deferred &&
	       bytes <= flow->refundable * LASACK_REFUND_UNIT + LASACK_ORDINARY &&
	       lasack_account_may_return(q, lasack_flow_level(q, flow), &flow->account,
					 deferred, bytes) &&
	       (!lasack_has_station(q, flow) ||
		lasack_account_may_return(q, &q->level, &lasack_station_at(q, flow)->account,
					  deferred, bytes));
}

/* The flow's position is unknown but for the candidate. Return: bytes to charge. */
static u32 lasack_flow_count_anew(struct lasack_queue *q, struct lasack_flow *flow,
				  const struct tcp_segment *seg)
{
	u64 was = lasack_flow_bytes(flow);
	s32 advance = lasack_flow_move(flow, seg);

	flow->received = 0;
	flow->refundable = 0;
	flow->returned = 0;
	flow->pending = 0;
	flow->refunds++;
	lasack_flow_count(q, flow, was);
	q->resynchronised++;
	return clamp_t(s32, advance, 0, LASACK_BELIEVED);
}

/* The ACK @seg is not believed by itself, but maybe with those before. Return: bytes to charge. */
static u32 lasack_flow_doubt(struct lasack_queue *q, struct lasack_flow *flow,
			     const struct tcp_segment *seg)
{
	s32 advance = seg->ack_seq - flow->last_ack[seg->reversed];
	u8 bit = BIT(seg->reversed);

	if (!(flow->doubted & bit) || seg->ack_seq - flow->candidate - 1 >= LASACK_BELIEVED)
		flow->strangers = 0;
	else if (advance > 0 && advance <= LASACK_WINDOW)
		return lasack_flow_move(flow, seg);
	else if (++flow->strangers == LASACK_STRANGERS)
		return lasack_flow_count_anew(q, flow, seg);
	flow->candidate = seg->ack_seq;
	flow->doubted = bit;
	return 0;
}

/**
 * lasack_flow_acked() - what a packet acknowledges
 * @q: the queue
 * @flow: its flow
 * @seg: what the packet is
 *
 * In sequence arithmetic modulo 2^32 (RFC 9293, 3.4). The first ACK seen only says
 * where counting starts; duplicate and overtaken ACKs add nothing.
 *
 * Return: bytes that no ACK of its direction acknowledged before, if it is believed. They are
 * not charged yet.
 */
u32 lasack_flow_acked(struct lasack_queue *q, struct lasack_flow *flow,
		      const struct tcp_segment *seg)
{
	u8 dir = seg->reversed, bit = BIT(dir);
	u32 advance, behind;

	if (!seg->ack)
		return 0;
	if (unlikely(!(flow->ack_seen & bit))) {
		flow->ack_seen |= bit;
		flow->last_ack[dir] = seg->ack_seq;
		return 0;
	}
	advance = seg->ack_seq - flow->last_ack[dir];
	if (likely(advance <= LASACK_BELIEVED || advance <= flow->returned * LASACK_REFUND_UNIT))
		return lasack_flow_move(flow, seg);
	if (q->shape.paper)
		return advance <= S32_MAX ? min(lasack_flow_move(flow, seg), LASACK_MAX_ACKED) : 0;
	behind = -advance;
	if (behind > LASACK_OVERTAKEN) {
		if (!lasack_flow_may_return(q, flow, behind))
			return lasack_flow_doubt(q, flow, seg);
		lasack_flow_refund(q, flow, behind);
		lasack_flow_move(flow, seg);
	}
	flow->doubted = 0;
	return 0;
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

	flow->pending = min_t(u64, U32_MAX, (u64)flow->pending + lasack_ack_excess(bytes));
	flow->returned -= min_t(u32, flow->returned, DIV_ROUND_UP(bytes, LASACK_REFUND_UNIT));
	lasack_flow_charge(q, flow, &flow->received,
			   bytes - (lasack_flow_deferred(q, flow) - deferred));
}

/* The packet is sent. */
void lasack_flow_charge_sent(struct lasack_queue *q, struct lasack_flow *flow,
			     const struct lasack_skb_cb *cb)
{
	lasack_flow_charge(q, flow, &flow->sent, cb->cost);
	if (cb->acked && cb->refunds == flow->refunds) {
		if (unlikely(cb->acked > LASACK_ORDINARY))
			lasack_flow_settle(q, flow, lasack_ack_excess(cb->acked));
		/* Not when it arrived: who forges ACKs must not put off all who come later. */
		lasack_flow_admit(q, flow, cb->acked, false);
	}
	if (lasack_has_station(q, flow) && unlikely(flow->station == LASACK_STATION_SHARED))
		lasack_station_shared_sent(q, cb->cost);
}

/* The packet was pushed out, and no other of its flow waits. */
void lasack_flow_lost_last(struct lasack_queue *q, struct lasack_flow *flow)
{
	lasack_flow_settle(q, flow, flow->pending);
}
