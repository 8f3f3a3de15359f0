/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queue of LAS-ACK: a bounded table of flows and two orders over those
 * that have packets.
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
 * The table is allocated once. A new flow takes an unused place, else that of
 * the flow which has been idle longest: constant work per packet and no
 * allocation that could fail. If every flow is backlogged a packet goes to a
 * shared flow.
 *
 * Everything here runs under the discipline's lock.
 */
#ifndef LASACK_QUEUE_H
#define LASACK_QUEUE_H

#include <linux/mm.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include "lasack_flow.h"

#define LASACK_FLOWS		1024
#define LASACK_HASH_BITS	10

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
	u64			order;	/* arrivals so far */

	struct lasack_flow	*table;	/* LASACK_FLOWS of them */
	struct list_head	unused;	/* of the table: nobody's */
	struct list_head	idle;	/* of the table: the next to forget first */
	struct lasack_flow	shared[__LASACK_SHARED];
	struct hlist_head	buckets[1 << LASACK_HASH_BITS];
	siphash_key_t		hash_key;

	u32			flows;	/* hashed: their sum is remembered */
	u64			evicted;
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
	return skb_queue_len(&flow->packets) > 1 && !flow->uncharged;
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

static inline struct hlist_head *lasack_bucket(struct lasack_queue *q,
					       const struct segment_key *key)
{
	u64 hash = siphash(key, sizeof(*key), &q->hash_key);

	return &q->buckets[hash & (ARRAY_SIZE(q->buckets) - 1)];
}

static inline void lasack_flow_forget(struct lasack_queue *q, struct lasack_flow *flow)
{
	hlist_del_init(&flow->hash_node);
	q->flows--;
}

/* The flow's last packet has left: decide how long it is remembered. */
static inline void lasack_flow_idle(struct lasack_queue *q, struct lasack_flow *flow)
{
	if (flow->shared) {
		/* Its past says nothing about the next packet's connection. */
		lasack_flow_new_life(flow);
		return;
	}
	if (flow->aborted) {
		lasack_flow_forget(q, flow);
		list_add(&flow->idle_node, &q->unused);
	} else if (flow->finished) {
		list_add(&flow->idle_node, &q->idle);
	} else {
		list_add_tail(&flow->idle_node, &q->idle);
	}
}

/* A place for a new flow, still in its list, or NULL: all are backlogged. */
static inline struct lasack_flow *lasack_queue_place(struct lasack_queue *q)
{
	struct lasack_flow *flow;

	flow = list_first_entry_or_null(&q->unused, struct lasack_flow, idle_node);
	if (flow)
		return flow;

	flow = list_first_entry_or_null(&q->idle, struct lasack_flow, idle_node);
	if (flow) {
		lasack_flow_forget(q, flow);
		q->evicted++;
	}
	return flow;
}

/**
 * lasack_queue_flow() - the flow a packet belongs to
 * @q: the queue
 * @seg: what the packet is
 *
 * The whole key is compared: two connections never share a flow because their
 * hashes collide. A new flow starts at 0.
 */
static inline struct lasack_flow *lasack_queue_flow(struct lasack_queue *q,
						    const struct tcp_segment *seg)
{
	struct hlist_head *bucket;
	struct lasack_flow *flow;

	if (!segment_has_key(seg))
		return &q->shared[seg->class == SEGMENT_NOT_IP ? LASACK_CONTROL :
								 LASACK_OTHER];

	bucket = lasack_bucket(q, &seg->key);
	hlist_for_each_entry(flow, bucket, hash_node) {
		if (!memcmp(&flow->key, &seg->key, sizeof(flow->key)))
			return flow;
	}

	flow = lasack_queue_place(q);
	if (!flow) {
		q->overflow++;
		return &q->shared[LASACK_OVERFLOW];
	}
	flow->key = seg->key;
	lasack_flow_new_life(flow);
	hlist_add_head(&flow->hash_node, bucket);
	q->flows++;
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

	if (skb_queue_empty(&flow->packets))
		list_del_init(&flow->idle_node);
	else
		lasack_flow_unlink(q, flow);
	lasack_flow_observe(flow, seg, cb);
	cb->order = q->order++;
	__skb_queue_tail(&flow->packets, skb);
	lasack_flow_link(q, flow);
}

/* Take the first packet of a backlogged flow, which is charged if it is @sent. */
static inline struct sk_buff *lasack_queue_take(struct lasack_queue *q,
						struct lasack_flow *flow, bool sent)
{
	struct sk_buff *skb;

	lasack_flow_unlink(q, flow);
	skb = __skb_dequeue(&flow->packets);
	if (sent)
		lasack_flow_send(flow, lasack_cb(skb));
	if (skb_queue_empty(&flow->packets))
		lasack_flow_idle(q, flow);
	else
		lasack_flow_link(q, flow);
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

static inline void lasack_flow_init(struct lasack_flow *flow)
{
	INIT_HLIST_NODE(&flow->hash_node);
	INIT_LIST_HEAD(&flow->idle_node);
	__skb_queue_head_init(&flow->packets);
}

/**
 * lasack_queue_init() - an empty queue with an empty table
 * @q: the queue, zeroed
 *
 * Return: 0 or -ENOMEM.
 */
static inline int lasack_queue_init(struct lasack_queue *q)
{
	int i;

	q->table = kvcalloc(LASACK_FLOWS, sizeof(*q->table), GFP_KERNEL);
	if (!q->table)
		return -ENOMEM;

	q->serve = RB_ROOT_CACHED;
	q->drop = RB_ROOT_CACHED;
	INIT_LIST_HEAD(&q->unused);
	INIT_LIST_HEAD(&q->idle);
	get_random_bytes(&q->hash_key, sizeof(q->hash_key));
	for (i = 0; i < __LASACK_SHARED; i++) {
		lasack_flow_init(&q->shared[i]);
		q->shared[i].shared = 1;
	}
	q->shared[LASACK_CONTROL].uncharged = 1;
	for (i = 0; i < LASACK_FLOWS; i++) {
		lasack_flow_init(&q->table[i]);
		list_add_tail(&q->table[i].idle_node, &q->unused);
	}
	return 0;
}

/**
 * lasack_queue_forget() - forget every flow of an empty queue
 * @q: the queue
 */
static inline void lasack_queue_forget(struct lasack_queue *q)
{
	struct lasack_flow *flow;

	list_for_each_entry(flow, &q->idle, idle_node)
		lasack_flow_forget(q, flow);
	list_splice_init(&q->idle, &q->unused);
}

/**
 * lasack_queue_free() - free the table of an empty queue
 * @q: the queue, also if lasack_queue_init() failed
 */
static inline void lasack_queue_free(struct lasack_queue *q)
{
	kvfree(q->table);
	q->table = NULL;
}

#endif
