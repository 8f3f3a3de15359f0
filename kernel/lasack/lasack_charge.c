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
 * - The sum of a new flow does not begin at 0, but a credit below the sum that was served
 *   last. All new flows share one credit, so together they are served as one flow. So a
 *   sender gains nothing by sending each packet as a new flow.
 * - After a pause a flow's sum is raised to at most LASACK_LAG below the largest.
 * - An ACK number is believed if it is near the last one. If it is not, it becomes a
 *   candidate. If another ACK comes near the candidate, counting begins anew there, and at
 *   most LASACK_BELIEVED bytes of the jump are charged. If the new number is behind, what was
 *   charged lately is given back. So the next real ACKs undo what forged ones did.
 * - If the ACKs that wait acknowledge more than LASACK_PENDING bytes together, further ones
 *   are not believed.
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

/* Bytes of the longest usual headers. What a packet has beyond them is not overhead. */
#define LASACK_HEADERS	128

static u64 sum_add(const struct lasack_queue *q, u64 sum, u64 bytes)
{
	return lasack_sum_add(&q->decay, sum, bytes, q->age);
}

static u64 sum_sub(const struct lasack_queue *q, u64 sum, u64 bytes)
{
	return lasack_sum_sub(&q->decay, sum, bytes, q->age);
}

/* The account of a new flow or station begins. */
static void lasack_account_begin(const struct lasack_queue *q, struct lasack_level *level,
				 struct lasack_account *account)
{
	account->sum = 0;
	account->credit = 0;
	account->surplus = 0;
	if (q->shape.paper)
		return;
	level->newcomers = max3(level->newcomers, sum_sub(q, level->current_sum, LASACK_CREDIT),
				sum_sub(q, level->high, LASACK_LAG));
	account->sum = level->newcomers;
	account->credit = LASACK_CREDIT;
}

/* The account had no packets and has one now. */
static void lasack_account_resume(const struct lasack_queue *q, const struct lasack_level *level,
				  struct lasack_account *account)
{
	if (!q->shape.paper)
		account->sum = max(account->sum, sum_sub(q, level->high, LASACK_LAG));
}

/* A newcomer's packet is going to cost @bytes: they are charged to all newcomers. */
static void lasack_account_admit(const struct lasack_queue *q, struct lasack_level *level,
				 struct lasack_account *account, u32 bytes)
{
	u32 part = min_t(u32, bytes, account->credit);

	if (!part)
		return;
	account->credit -= part;
	level->newcomers = sum_add(q, level->newcomers, part);
}

/* A newcomer that was never served has lost a packet: the charge is undone. */
static void lasack_account_readmit(const struct lasack_queue *q, struct lasack_level *level,
				   struct lasack_account *account, u32 bytes)
{
	u32 part = min_t(u32, bytes, LASACK_CREDIT - account->credit);

	if (q->shape.paper)
		return;
	account->credit += part;
	level->newcomers = sum_sub(q, level->newcomers, part);
}

/**
 * lasack_flow_level() - with whom a flow competes
 * @q: the queue
 * @flow: a flow that has a station, if there are any
 */
struct lasack_level *lasack_flow_level(struct lasack_queue *q, const struct lasack_flow *flow)
{
	return lasack_has_station(q, flow) ? &lasack_station_at(q, flow)->level : &q->level;
}

/* The flow has a packet again. It may go to another station than before. */
static void lasack_flow_join_station(struct lasack_queue *q, struct lasack_flow *flow,
				     const struct sk_buff *skb)
{
	struct lasack_station *station = flow->shared ?
		&q->stations->place[LASACK_STATION_SHARED] : lasack_station_of(q->stations, skb);

	if (flow->station != station->number) {
		flow->station = station->number;
		flow->is_new |= q->shape.by_station;
	}
	if (!q->shape.by_station)
		return;
	if (station->is_new)
		lasack_account_begin(q, &q->level, &station->account);
	else if (!station->account.packets)
		lasack_account_resume(q, &q->level, &station->account);
	station->is_new = 0;
}

/**
 * lasack_flow_begin() - a flow without packets gets one
 * @q: the queue
 * @flow: the flow
 * @skb: that packet
 */
void lasack_flow_begin(struct lasack_queue *q, struct lasack_flow *flow,
		       const struct sk_buff *skb)
{
	struct lasack_level *level;

	if (lasack_is_grouped(q) && !lasack_is_control(flow))
		lasack_flow_join_station(q, flow, skb);
	level = lasack_flow_level(q, flow);
	if (flow->is_new)
		lasack_account_begin(q, level, &flow->account);
	else
		lasack_account_resume(q, level, &flow->account);
	flow->is_new = 0;
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
	flow->unproven = 0;
	flow->pending = 0;
	flow->ack_seen = 0;
	flow->doubted = 0;
	flow->starved = 0;
	flow->served = 0;
	flow->aborted = 0;
	flow->entry.finished = 0;
	if (!flow->head)
		flow->is_new = 1;
}

/* Gives back @bytes that were charged for forged ACKs. */
static void lasack_flow_refund(struct lasack_queue *q, struct lasack_flow *flow, u32 bytes)
{
	struct lasack_level *level = lasack_flow_level(q, flow);
	struct lasack_account *station;

	flow->account.sum = max(sum_sub(q, flow->account.sum, bytes),
				sum_sub(q, level->high, LASACK_LAG));
	flow->account.surplus = 0;
	flow->unproven = 0;
	flow->pending = 0;
	if (!q->shape.by_station)
		return;
	station = &lasack_station_at(q, flow)->account;
	station->sum = max(sum_sub(q, station->sum, bytes),
			   sum_sub(q, q->level.high, LASACK_LAG));
}

/* Counting begins anew at @seg. If its number is behind, too much was charged lately. */
static void lasack_flow_resynchronise(struct lasack_queue *q, struct lasack_flow *flow,
				      const struct tcp_segment *seg)
{
	s32 behind = flow->last_ack[seg->reversed] - seg->ack_seq;

	if (behind > 0)
		lasack_flow_refund(q, flow, min_t(u32, behind, flow->unproven));
	flow->last_ack[seg->reversed] = seg->ack_seq;
	flow->doubted = 0;
	q->resynchronised++;
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
	u32 believed = q->shape.paper ? S32_MAX : LASACK_BELIEVED;
	u8 dir = seg->reversed, bit = BIT(dir);
	s32 advance;

	if (!seg->ack)
		return 0;
	if (!(flow->ack_seen & bit)) {
		flow->ack_seen |= bit;
		flow->last_ack[dir] = seg->ack_seq;
		return 0;
	}
	advance = (s32)(seg->ack_seq - flow->last_ack[dir]);
	if (likely((u32)advance <= believed)) {
		if (unlikely(flow->pending > LASACK_PENDING && !q->shape.paper))
			return 0;
		flow->last_ack[dir] = seg->ack_seq;
		flow->doubted &= ~bit;
		return min_t(u32, advance, LASACK_MAX_ACKED);
	}
	if (q->shape.paper)
		return 0;
	if (advance < 0 && -(u32)advance <= LASACK_BELIEVED) {
		flow->doubted &= ~bit;
		return 0;
	}
	if ((flow->doubted & bit) && seg->ack_seq - flow->candidate - 1 < LASACK_BELIEVED) {
		lasack_flow_resynchronise(q, flow, seg);
		if (flow->pending > LASACK_PENDING)
			return 0;
		return clamp_t(s32, advance, 0, LASACK_BELIEVED);
	}
	flow->candidate = seg->ack_seq;
	flow->doubted = bit;
	return 0;
}

/*
 * The bytes that are missing to @least. The packet was charged @charged already, because of what
 * it acknowledges. The surplus of ACKs before it counts too: what they were charged beyond the
 * minimum. A forged ACK acknowledges what the real ones would have, and leaves a surplus. So the
 * real ones are not charged a second time.
 */
static u32 lasack_account_uncovered(struct lasack_account *account, u32 least, u32 charged)
{
	u32 surplus = account->surplus * 4U, part;

	if (charged >= least) {
		account->surplus = min_t(u32, surplus + charged - least, LASACK_BELIEVED) / 4;
		return 0;
	}
	part = min(least - charged, surplus);
	account->surplus = (surplus - part) / 4;
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
	if (payload >= least)
		return payload;
	return payload + lasack_account_uncovered(&flow->account, least - payload, acked);
}

/* As lasack_flow_admit(), of a flow or station that may be a newcomer. */
void lasack_flow_admit_newcomer(struct lasack_queue *q, struct lasack_flow *flow, u32 bytes)
{
	if (flow->account.credit)
		lasack_account_admit(q, lasack_flow_level(q, flow), &flow->account, bytes);
	if (lasack_has_station(q, flow) && lasack_station_at(q, flow)->account.credit)
		lasack_account_admit(q, &q->level, &lasack_station_at(q, flow)->account, bytes);
}

/* The packet was pushed out: its @bytes will not be charged. */
void lasack_flow_readmit(struct lasack_queue *q, struct lasack_flow *flow, u32 bytes)
{
	if (!flow->served && !flow->shared)
		lasack_account_readmit(q, lasack_flow_level(q, flow), &flow->account, bytes);
}

static void lasack_flow_charge(struct lasack_queue *q, struct lasack_flow *flow,
			       u64 *bytes_charged, u32 bytes)
{
	u64 was = lasack_flow_bytes(flow);

	*bytes_charged += bytes;
	/* Has the number more bits than before? */
	if (unlikely((was ^ (was + bytes)) > was) && !flow->shared) {
		q->by_bits[fls64(was)]--;
		q->by_bits[fls64(was + bytes)]++;
	}
	flow->account.sum = sum_add(q, flow->account.sum, bytes);
	if (lasack_has_station(q, flow)) {
		struct lasack_account *station = &lasack_station_at(q, flow)->account;

		station->sum = sum_add(q, station->sum, bytes);
	}
}

/* Charges bytes that the flow's other end has sent. */
void lasack_flow_charge_acked(struct lasack_queue *q, struct lasack_flow *flow, u32 bytes)
{
	lasack_flow_charge(q, flow, &flow->received, bytes);
	flow->unproven = min_t(u64, (u64)flow->unproven + bytes, LASACK_PENDING);
	flow->pending = min_t(u64, (u64)flow->pending + bytes, U32_MAX);
}

/* A packet is sent. */
void lasack_flow_charge_sent(struct lasack_queue *q, struct lasack_flow *flow, u32 bytes)
{
	lasack_flow_charge(q, flow, &flow->sent, bytes);
}
