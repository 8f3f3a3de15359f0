/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queue of LAS-ACK: two orders over the flows that have packets.
 *
 * Principle: what is compared is what each flow has attained by now, so a flow
 * whose ACKs arrive while others wait falls behind at once; order inside a
 * flow never changes. Two red-black trees hold the backlogged flows, one to
 * serve the least and one to push out of the largest: every operation costs
 * O(log backlogged flows).
 *
 * Push-out takes the oldest packet of the flow with the largest sum: the newer
 * ACKs say what it said, and a sender learns soonest of lost data. A flow's
 * only packet goes last of all: without it a TCP has nothing to clock it but
 * its time-out. Documentation/lasack.md has the figures of the alternatives.
 *
 * If every place of the table is taken by a flow with packets, new flows share
 * one (lasack_table.h has the rest).
 *
 * Everything here runs under the discipline's lock.
 */
#ifndef LASACK_QUEUE_H
#define LASACK_QUEUE_H

#include "lasack_flow.h"
#include "lasack_table.h"

/* Flows without a key, each shared by all packets of its kind. */
enum lasack_shared {
	LASACK_CONTROL,		/* not IP: ARP, EAPOL. Never charged */
	LASACK_OTHER,		/* IP that cannot be parsed */
	LASACK_OVERFLOW,	/* more backlogged flows than the table holds */
	__LASACK_SHARED
};

struct lasack_queue {
	struct rb_root_cached	serve;	/* all backlogged flows, least sum first */
	struct rb_root_cached	drop;	/* those that can spare one, largest first */
	u64			now;	/* ns, see lasack_queue_advance() */
	u64			age;	/* the same for the sums, see lasack_sum.h */
	struct lasack_decay	decay;
	u64			arrival; /* of the last packet */
	u64			memory;	/* truesize of all packets, bytes */

	struct lasack_table	*table;
	struct lasack_flow	shared[__LASACK_SHARED];
	u64			idle_ns; /* for longer no flow is remembered; 0: off */
	u64			overflow;
};

static inline bool lasack_serve_less(struct rb_node *a, const struct rb_node *b)
{
	return lasack_flow_before(rb_entry(a, struct lasack_flow, serve_node),
				  rb_entry(b, struct lasack_flow, serve_node));
}

static inline bool lasack_drop_less(struct rb_node *a, const struct rb_node *b)
{
	return lasack_flow_before(rb_entry(b, struct lasack_flow, drop_node),
				  rb_entry(a, struct lasack_flow, drop_node));
}

/* May the flow lose a packet before those that have but one? */
static inline bool lasack_flow_can_spare(const struct lasack_flow *flow)
{
	return flow->length > 1 && !flow->uncharged;
}

static inline void lasack_flow_link(struct lasack_queue *q, struct lasack_flow *flow)
{
	rb_add_cached(&flow->serve_node, &q->serve, lasack_serve_less);
	if (lasack_flow_can_spare(flow))
		rb_add_cached(&flow->drop_node, &q->drop, lasack_drop_less);
}

static inline void lasack_flow_unlink(struct lasack_queue *q, struct lasack_flow *flow)
{
	rb_erase_cached(&flow->serve_node, &q->serve);
	if (lasack_flow_can_spare(flow))
		rb_erase_cached(&flow->drop_node, &q->drop);
}

/**
 * lasack_queue_advance() - time goes on
 * @q: the queue
 * @now: monotonic, ns
 *
 * Called once before a packet is added or taken.
 */
static inline void lasack_queue_advance(struct lasack_queue *q, u64 now)
{
	q->now = now;
	q->age = lasack_decay_age(&q->decay, now);
	if (q->idle_ns && now > q->idle_ns)
		lasack_table_expire(q->table, now - q->idle_ns);
}

/* From now on another half-life of the sums (ns), or 0: they stay. */
static inline void lasack_queue_set_halflife(struct lasack_queue *q, u64 halflife)
{
	lasack_decay_set(&q->decay, halflife, q->now);
}

/**
 * lasack_queue_flow() - the flow a packet belongs to
 * @q: the queue
 * @seg: what the packet is
 *
 * A new flow starts at 0.
 */
static inline struct lasack_flow *lasack_queue_flow(struct lasack_queue *q,
						    const struct tcp_segment *seg)
{
	struct lasack_flow *flow;

	if (!segment_has_key(seg))
		return &q->shared[seg->class == SEGMENT_NOT_IP ? LASACK_CONTROL :
								 LASACK_OTHER];

	flow = lasack_table_find(q->table, &seg->key) ?:
	       lasack_table_add(q->table, &seg->key, q->now);
	if (!flow) {
		q->overflow++;
		return &q->shared[LASACK_OVERFLOW];
	}
	return flow;
}

/**
 * lasack_queue_add() - a packet joins its flow
 * @q: the queue
 * @skb: the packet
 * @seg: what the packet is
 */
static inline void lasack_queue_add(struct lasack_queue *q, struct sk_buff *skb,
				    const struct tcp_segment *seg)
{
	struct lasack_flow *flow = lasack_queue_flow(q, seg);
	struct lasack_skb_cb *cb = lasack_cb(skb);

	if (flow->head)
		lasack_flow_unlink(q, flow);
	else if (!flow->shared)
		lasack_table_wake(q->table, flow);
	lasack_flow_observe(flow, seg, cb, q->age);
	q->arrival = max(q->now, q->arrival + 1);
	cb->arrival = q->arrival;
	cb->memory = skb->truesize;
	q->memory += cb->memory;
	lasack_flow_append(flow, skb);
	lasack_flow_link(q, flow);
}

/* Take the first packet of a backlogged flow, which is charged if it is @sent. */
static inline struct sk_buff *lasack_queue_take(struct lasack_queue *q,
						struct lasack_flow *flow, bool sent)
{
	struct sk_buff *skb;

	lasack_flow_unlink(q, flow);
	skb = lasack_flow_pop(flow);
	q->memory -= lasack_cb(skb)->memory;
	if (sent)
		lasack_flow_send(flow, lasack_cb(skb), q->age);
	if (flow->head)
		lasack_flow_link(q, flow);
	else if (flow->shared)
		/* Its past says nothing about the next packet's connection. */
		lasack_flow_new_life(flow);
	else
		lasack_table_idle(q->table, flow, q->now);
	return skb;
}

/**
 * lasack_queue_serve() - take the packet of least attained service
 * @q: the queue
 *
 * Return: the packet, or NULL if the queue is empty.
 */
static inline struct sk_buff *lasack_queue_serve(struct lasack_queue *q)
{
	struct rb_node *least = rb_first_cached(&q->serve);

	if (!least)
		return NULL;
	return lasack_queue_take(q, rb_entry(least, struct lasack_flow, serve_node), true);
}

/**
 * lasack_queue_push_out() - take a packet of the flow with the largest sum
 * @q: the queue
 *
 * A flow with but one packet is spared while another has more, and control
 * frames while there is anything else.
 *
 * Return: the packet, or NULL if the queue is empty.
 */
static inline struct sk_buff *lasack_queue_push_out(struct lasack_queue *q)
{
	struct rb_node *largest = rb_first_cached(&q->drop);

	if (largest)
		return lasack_queue_take(q, rb_entry(largest, struct lasack_flow, drop_node),
					 false);
	largest = rb_last(&q->serve.rb_root);
	if (!largest)
		return NULL;
	return lasack_queue_take(q, rb_entry(largest, struct lasack_flow, serve_node), false);
}

/* A flow with packets moves to @table, or its packets to the shared flow. */
static inline void lasack_queue_move_flow(struct lasack_queue *q,
					  struct lasack_table *table,
					  struct lasack_flow *flow)
{
	struct lasack_flow *place;

	lasack_flow_unlink(q, flow);
	place = lasack_table_adopt(table, flow);
	if (!place) {
		place = &q->shared[LASACK_OVERFLOW];
		q->overflow += flow->length;
		if (place->head)
			lasack_flow_unlink(q, place);
		while (flow->head)
			lasack_flow_append(place, lasack_flow_pop(flow));
	}
	lasack_flow_link(q, place);
}

/**
 * lasack_queue_replace_table() - another table, the same flows and packets
 * @q: the queue
 * @table: an empty table
 *
 * If the places do not suffice, the flows idle for longest are forgotten, and
 * if even flows with packets are too many, some share one from now on.
 *
 * Return: the table it had, to be freed.
 */
static inline struct lasack_table *
lasack_queue_replace_table(struct lasack_queue *q, struct lasack_table *table)
{
	struct lasack_table *old = q->table;
	u32 i;

	table->counts = old->counts;
	for (i = 0; i < old->size; i++) {
		if (old->places[i].head)
			lasack_queue_move_flow(q, table, &old->places[i]);
	}
	lasack_table_adopt_line(table, &table->idle, &old->idle);
	lasack_table_adopt_line(table, &table->ended, &old->ended);
	table->counts.collisions = old->counts.collisions;
	q->table = table;
	return old;
}

/**
 * lasack_queue_init() - an empty queue with an empty table
 * @q: the queue, zeroed
 * @flows: places in the table
 *
 * Return: 0 or -ENOMEM.
 */
static inline int lasack_queue_init(struct lasack_queue *q, u32 flows)
{
	int i;

	q->table = lasack_table_create(flows);
	if (!q->table)
		return -ENOMEM;

	q->serve = RB_ROOT_CACHED;
	q->drop = RB_ROOT_CACHED;
	for (i = 0; i < __LASACK_SHARED; i++)
		q->shared[i].shared = 1;
	q->shared[LASACK_CONTROL].uncharged = 1;
	return 0;
}

#endif
