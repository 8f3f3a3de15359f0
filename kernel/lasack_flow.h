/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A flow's attained service, and what a packet adds to it.
 *
 * Source: M. Heusse, G. Urvoy-Keller, A. Duda, "Layer 2 vs. Layer 3 Mechanisms
 * for Improving TCP Performance in 802.11 Wireless LANs", section III: two
 * counters per connection, the last ACK number and the total data size in both
 * directions. A data segment adds its payload, an ACK the bytes it newly
 * acknowledges; a packet's priority is the sum as it was when the packet came.
 *
 * Pure arithmetic: no queue, no lock, no clock.
 */
#ifndef LASACK_FLOW_H
#define LASACK_FLOW_H

#include <linux/bits.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/rbtree.h>
#include <linux/skbuff.h>
#include <net/sch_generic.h>
#include "tcp_segment.h"

/*
 * No honest ACK acknowledges more at once than the largest window that TCP can
 * offer (RFC 7323, 2.3: 65535 << 14 bytes).
 */
#define LASACK_MAX_ACKED	(65535U << 14)

struct lasack_flow {
	struct segment_key	key;
	struct hlist_node	hash_node;
	struct list_head	idle_node;	/* in a list of its queue when empty */

	/* while packets are queued */
	struct sk_buff_head	packets;	/* in order of arrival */
	struct rb_node		serve_node;	/* by the first packet */
	struct rb_node		drop_node;	/* by the last packet */

	u64			attained;	/* bytes, both directions */
	u32			last_ack[2];	/* by direction of the ACK */
	u8			ack_seen;	/* bit: last_ack[direction] is valid */
	u8			shared:1,	/* not one connection: no ACK arithmetic */
				uncharged:1,	/* attained stays 0: control frames */
				finished:1,	/* FIN: first to be forgotten */
				aborted:1;	/* RST: forgotten once idle */
};

/*
 * What a packet remembers of its flow: its place in the order, and the flow's
 * state before it came, so that a packet which is not sent is not charged.
 * Packed to fit the 20 bytes a discipline has in skb->cb.
 */
struct lasack_skb_cb {
	u64	sum;		/* the flow's attained service: the priority */
	u64	order : 59,	/* of arrival at the discipline */
		direction : 1,
		ack_seen : 2,
		finished : 1,
		aborted : 1;
	u32	last_ack;	/* in this packet's direction */
} __packed __aligned(4);

static inline struct lasack_skb_cb *lasack_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct lasack_skb_cb));
	return (struct lasack_skb_cb *)qdisc_skb_cb(skb)->data;
}

/* Smallest sum first, equal sums in order of arrival: a total order. */
static inline bool lasack_before(const struct sk_buff *a, const struct sk_buff *b)
{
	const struct lasack_skb_cb *x = lasack_cb(a), *y = lasack_cb(b);

	return x->sum != y->sum ? x->sum < y->sum : x->order < y->order;
}

static inline void lasack_flow_new_life(struct lasack_flow *flow)
{
	flow->attained = 0;
	flow->ack_seen = 0;
	flow->finished = 0;
	flow->aborted = 0;
}

/*
 * Bytes @seg acknowledges that no ACK of its direction did before, in sequence
 * arithmetic modulo 2^32 (RFC 9293, 3.4). The first ACK seen only says where
 * counting starts; duplicate and overtaken ACKs add nothing.
 */
static inline u32 lasack_newly_acked(const struct lasack_flow *flow,
				     const struct tcp_segment *seg)
{
	s32 advance;

	if (!seg->ack || !(flow->ack_seen & BIT(seg->reversed)))
		return 0;
	advance = (s32)(seg->ack_seq - flow->last_ack[seg->reversed]);
	return advance > 0 ? min_t(u32, advance, LASACK_MAX_ACKED) : 0;
}

/**
 * lasack_flow_charge() - a packet joins its flow
 * @flow: the flow
 * @seg: what the packet is
 * @cb: the packet's record; everything but the order of arrival is set
 *
 * A SYN starts a new life: the same addresses and ports, another connection.
 * After a FIN the other direction may go on for long, so the sum is kept.
 */
static inline void lasack_flow_charge(struct lasack_flow *flow,
				      const struct tcp_segment *seg,
				      struct lasack_skb_cb *cb)
{
	u8 dir = seg->reversed;
	u32 acked;

	if (seg->syn && !flow->shared)
		lasack_flow_new_life(flow);

	cb->sum = flow->attained;
	cb->direction = dir;
	cb->ack_seen = flow->ack_seen;
	cb->last_ack = flow->last_ack[dir];
	cb->finished = flow->finished;
	cb->aborted = flow->aborted;
	if (flow->uncharged)
		return;

	acked = lasack_newly_acked(flow, seg);
	flow->attained += (u64)seg->payload + acked;
	if (flow->shared)
		return;
	if (acked || (seg->ack && !(flow->ack_seen & BIT(dir)))) {
		flow->last_ack[dir] = seg->ack_seq;
		flow->ack_seen |= BIT(dir);
	}
	flow->finished |= seg->fin;
	flow->aborted |= seg->rst;
}

/**
 * lasack_flow_refund() - the flow's last packet goes unsent
 * @flow: the flow
 * @cb: that packet's record
 */
static inline void lasack_flow_refund(struct lasack_flow *flow,
				      const struct lasack_skb_cb *cb)
{
	flow->attained = cb->sum;
	flow->ack_seen = cb->ack_seen;
	flow->last_ack[cb->direction] = cb->last_ack;
	flow->finished = cb->finished;
	flow->aborted = cb->aborted;
}

#endif
