/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queue of LAS-ACK: a bounded table of flows and two orders over those
 * that have packets.
 *
 * Principle: order inside a flow never changes, so only each flow's first
 * packet can be the next to be served and only its last one the next to be
 * pushed out. Two red-black trees hold the backlogged flows, by first and by
 * last packet: every operation costs O(log backlogged flows).
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
	struct rb_root_cached	serve;	/* leftmost: the next to be served */
	struct rb_root_cached	drop;	/* leftmost: the next to be pushed out */
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
	return lasack_before(skb_peek(&rb_entry(a, struct lasack_flow, serve_node)->packets),
			     skb_peek(&rb_entry(b, struct lasack_flow, serve_node)->packets));
}

static inline bool lasack_drop_less(struct rb_node *a, const struct rb_node *b)
{
	return lasack_before(skb_peek_tail(&rb_entry(b, struct lasack_flow, drop_node)->packets),
			     skb_peek_tail(&rb_entry(a, struct lasack_flow, drop_node)->packets));
}

static inline void lasack_flow_link(struct lasack_queue *q, struct lasack_flow *flow)
{
	rb_add_cached(&flow->serve_node, &q->serve, lasack_serve_less);
	rb_add_cached(&flow->drop_node, &q->drop, lasack_drop_less);
}

static inline void lasack_flow_unlink(struct lasack_queue *q, struct lasack_flow *flow)
{
	rb_erase_cached(&flow->serve_node, &q->serve);
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
 * lasack_queue_add() - a packet joins its flow, and is charged to it
 * @q: the queue
 * @skb: the packet
 * @seg: what the packet is
 */
static inline void lasack_queue_add(struct lasack_queue *q, struct sk_buff *skb,
				    const struct tcp_segment *seg)
{
	struct lasack_flow *flow = lasack_queue_flow(q, seg);
	struct lasack_skb_cb *cb = lasack_cb(skb);

	lasack_flow_charge(flow, seg, cb);
	cb->order = q->order++;

	if (skb_queue_empty(&flow->packets))
		list_del_init(&flow->idle_node);
	else
		lasack_flow_unlink(q, flow);
	__skb_queue_tail(&flow->packets, skb);
	lasack_flow_link(q, flow);
}

static inline void lasack_queue_remove(struct lasack_queue *q,
				       struct lasack_flow *flow, struct sk_buff *skb)
{
	lasack_flow_unlink(q, flow);
	__skb_unlink(skb, &flow->packets);
	if (skb_queue_empty(&flow->packets))
		lasack_flow_idle(q, flow);
	else
		lasack_flow_link(q, flow);
}

/**
 * lasack_queue_serve() - take the packet of least attained service
 * @q: the queue
 *
 * Return: the packet, or NULL if the queue is empty.
 */
static inline struct sk_buff *lasack_queue_serve(struct lasack_queue *q)
{
	struct rb_node *first = rb_first_cached(&q->serve);
	struct lasack_flow *flow;
	struct sk_buff *skb;

	if (!first)
		return NULL;
	flow = rb_entry(first, struct lasack_flow, serve_node);
	skb = skb_peek(&flow->packets);
	lasack_queue_remove(q, flow, skb);
	return skb;
}

/**
 * lasack_queue_push_out() - take the packet that would be served last
 * @q: the queue
 *
 * It is the last of its flow, whose charge for it is undone.
 *
 * Return: the packet, or NULL if the queue is empty.
 */
static inline struct sk_buff *lasack_queue_push_out(struct lasack_queue *q)
{
	struct rb_node *first = rb_first_cached(&q->drop);
	struct lasack_flow *flow;
	struct sk_buff *skb;

	if (!first)
		return NULL;
	flow = rb_entry(first, struct lasack_flow, drop_node);
	skb = skb_peek_tail(&flow->packets);
	lasack_flow_refund(flow, lasack_cb(skb));
	lasack_queue_remove(q, flow, skb);
	return skb;
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
