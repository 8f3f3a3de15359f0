/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A flow's attained service, and what a packet adds to it.
 *
 * Source: M. Heusse, G. Urvoy-Keller, A. Duda, "Layer 2 vs. Layer 3 Mechanisms
 * for Improving TCP Performance in 802.11 Wireless LANs", section III: two
 * counters per connection, the last ACK number observed and the total volume of
 * data transferred in both directions.
 *
 * Data counts when it is sent. What an ACK acknowledges has crossed the radio
 * already: it counts when the ACK comes, whether or not that ACK is sent later.
 *
 * Pure arithmetic: no queue, no lock, no clock.
 */
#ifndef ACKWRR_LASACK_FLOW_H
#define ACKWRR_LASACK_FLOW_H

#include <linux/bits.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/rbtree.h>
#include <linux/skbuff.h>
#include <net/sch_generic.h>
#include "ackwrr/lasack_sum.h"
#include "common/tcp_segment.h"

/*
 * No honest ACK acknowledges more at once than the largest window that TCP can
 * offer (RFC 7323, 2.3: 65535 << 14 bytes).
 */
#define LASACK_MAX_ACKED	(65535U << 14)

struct lasack_station;

struct lasack_flow {
	struct segment_key	key;
	struct hlist_node	hash_node;
	struct list_head	idle_node;	/* in a list of its queue when empty */

	/* while packets are queued */
	struct sk_buff		*head;		/* in order of arrival */
	struct sk_buff		*tail;
	u32			length;		/* packets */
	struct lasack_station	*station;	/* where the first of them goes */
	struct rb_node		serve_node;	/* in the station's order */
	struct rb_node		drop_node;
	struct rb_node		wait_node;

	u64			idle_since;	/* ns; while none is queued */
	u64			waiting_since;	/* ns, for the floor */

	struct lasack_sum	attained;	/* both directions */
	u64			sent;		/* bytes of these, without decay: data */
	u64			received;	/* and what the other end had sent */
	u32			last_ack[2];	/* by direction of the ACK */
	u8			ack_seen;	/* bit: last_ack[direction] is valid */
	u8			shared:1,	/* not one connection: no ACK arithmetic */
				uncharged:1,	/* attained stays 0: control frames */
				finished:1,	/* FIN: first to be forgotten */
				reversed:1,	/* the last packet came from key.addr[1] */
				starved:1,	/* not served for its sum since then */
				aborted:1;	/* RST: forgotten once idle */
};

/* What a packet remembers until it is sent; 20 bytes are all it has. */
struct lasack_skb_cb {
	u64	arrival;	/* ns, no two the same: the order of arrival */
	u32	memory;		/* truesize, bytes */
	u32	acked;		/* bytes it was the first to acknowledge */
	u32	payload:30,	/* bytes to charge */
		fin:1,
		rst:1;
} __packed __aligned(4);

static inline struct lasack_skb_cb *lasack_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct lasack_skb_cb));
	return (struct lasack_skb_cb *)qdisc_skb_cb(skb)->data;
}

/* Both backlogged. Least sum first, equal sums in order of arrival. */
static inline bool lasack_flow_before(const struct lasack_flow *a,
				      const struct lasack_flow *b)
{
	if (!lasack_sum_equal(&a->attained, &b->attained))
		return lasack_sum_less(&a->attained, &b->attained);
	return lasack_cb(a->head)->arrival < lasack_cb(b->head)->arrival;
}

static inline void lasack_flow_append(struct lasack_flow *flow, struct sk_buff *skb)
{
	skb->next = NULL;
	if (flow->head)
		flow->tail->next = skb;
	else
		flow->head = skb;
	flow->tail = skb;
	flow->length++;
}

/* The first packet of a backlogged flow. */
static inline struct sk_buff *lasack_flow_pop(struct lasack_flow *flow)
{
	struct sk_buff *skb = flow->head;

	flow->head = skb->next;
	skb_mark_not_on_list(skb);
	flow->length--;
	return skb;
}

static inline void lasack_flow_new_life(struct lasack_flow *flow)
{
	flow->attained = (struct lasack_sum) {};
	flow->sent = 0;
	flow->received = 0;
	flow->ack_seen = 0;
	flow->starved = 0;
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
 * lasack_flow_observe() - a packet joins its flow
 * @flow: the flow
 * @seg: what the packet is
 * @cb: the packet's record; what is charged for it is set
 * @age: now, see lasack_sum.h
 *
 * Charges what the packet acknowledges. A SYN starts a new life: the same
 * addresses and ports, another connection.
 */
static inline void lasack_flow_observe(struct lasack_flow *flow,
				       const struct tcp_segment *seg,
				       struct lasack_skb_cb *cb, u64 age)
{
	u8 dir = seg->reversed;
	u32 acked;

	cb->payload = flow->uncharged ? 0 : seg->payload;
	cb->fin = seg->fin && !flow->shared;
	cb->rst = seg->rst && !flow->shared;
	cb->acked = 0;
	if (flow->shared)
		return;

	if (seg->syn)
		lasack_flow_new_life(flow);
	acked = lasack_newly_acked(flow, seg);
	cb->acked = acked;
	lasack_sum_add(&flow->attained, acked, age);
	flow->received += acked;
	flow->reversed = dir;
	if (acked || (seg->ack && !(flow->ack_seen & BIT(dir)))) {
		flow->last_ack[dir] = seg->ack_seq;
		flow->ack_seen |= BIT(dir);
	}
}

/* Bytes that have come from the flow's other end are charged with this packet. */
static inline void lasack_flow_charge_upload(struct lasack_flow *flow, u32 bytes,
					     struct lasack_skb_cb *cb, u64 age)
{
	lasack_sum_add(&flow->attained, bytes, age);
	flow->received += bytes;
	cb->acked = bytes;
}

/**
 * lasack_flow_send() - a packet of the flow is sent
 * @flow: the flow
 * @cb: that packet's record
 * @age: now
 *
 * After a FIN the other direction may go on for long, so the sum is kept.
 */
static inline void lasack_flow_send(struct lasack_flow *flow,
				    const struct lasack_skb_cb *cb, u64 age)
{
	lasack_sum_add(&flow->attained, cb->payload, age);
	flow->sent += cb->payload;
	flow->finished |= cb->fin;
	flow->aborted |= cb->rst;
}

#endif
