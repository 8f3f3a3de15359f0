/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of flows that LAS-ACK remembers: bounded, found by the whole key.
 *
 * Principle: every place is allocated with the table, so no packet waits for
 * memory and a flood of connections costs nobody else's. Idle flows stand in
 * line by the time they fell idle, those that have ended in a line of their
 * own; a new flow takes an unused place, else the first of the ended, else the
 * first of the idle. Each packet also lets the first of either line go if its
 * time is over: constant work, and no timer.
 *
 * The hash is keyed (siphash) and the key is compared: nobody can make flows
 * collide from outside, and flows that do still have a sum each.
 */
#ifndef ACKWRR_LASACK_TABLE_H
#define ACKWRR_LASACK_TABLE_H

#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include "ackwrr/lasack_flow.h"

/* What a flow costs, with its share of the buckets (at most two). */
#define LASACK_FLOW_BYTES	256
static_assert(sizeof(struct lasack_flow) + 2 * sizeof(struct hlist_head) <=
	      LASACK_FLOW_BYTES);

struct lasack_table {
	struct lasack_flow	*places;
	u32			size;	/* places */
	u32			flows;	/* places in use: a sum is remembered */
	u32			idle_flows;	/* of these, without packets */
	u32			bucket_mask;
	struct hlist_head	*buckets;
	siphash_key_t		hash_key;

	struct list_head	unused;	/* places that are nobody's */
	struct list_head	ended;	/* after FIN, by the time they fell idle */
	struct list_head	idle;	/* the others, by that time */

	struct {
		u64	evicted;	/* idle flows that made room */
		u64	expired;	/* idle flows whose time was over */
		u64	collisions;	/* new flows in a bucket already in use */
	} counts;
};

static inline struct hlist_head *lasack_bucket(struct lasack_table *table,
					       const struct segment_key *key)
{
	u64 hash = siphash(key, sizeof(*key), &table->hash_key);

	return &table->buckets[hash & table->bucket_mask];
}

/* A flow without packets: its place is free again. */
static inline void lasack_table_forget(struct lasack_table *table,
				       struct lasack_flow *flow)
{
	hlist_del_init(&flow->hash_node);
	list_move(&flow->idle_node, &table->unused);
	table->flows--;
	table->idle_flows--;
}

/**
 * lasack_table_idle() - the flow's last packet has left
 * @table: the table
 * @flow: one of its flows
 * @now: ns
 *
 * It is remembered, unless it was aborted.
 */
static inline void lasack_table_idle(struct lasack_table *table,
				     struct lasack_flow *flow, u64 now)
{
	flow->idle_since = now;
	list_add_tail(&flow->idle_node,
		      flow->finished ? &table->ended : &table->idle);
	table->idle_flows++;
	if (flow->aborted)
		lasack_table_forget(table, flow);
}

/* The flow has packets again. */
static inline void lasack_table_wake(struct lasack_table *table,
				     struct lasack_flow *flow)
{
	list_del_init(&flow->idle_node);
	table->idle_flows--;
}

static inline struct lasack_flow *lasack_first_idle(struct list_head *line)
{
	return list_first_entry_or_null(line, struct lasack_flow, idle_node);
}

/**
 * lasack_table_expire() - forget flows that have been idle for long
 * @table: the table
 * @before: flows idle since before that time, ns
 *
 * Two at most. Called once for each packet it keeps up: a packet makes no more
 * than one flow idle.
 */
static inline void lasack_table_expire(struct lasack_table *table, u64 before)
{
	struct list_head *lines[] = { &table->ended, &table->idle };
	struct lasack_flow *flow;
	int i;

	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		flow = lasack_first_idle(lines[i]);
		if (!flow || flow->idle_since >= before)
			continue;
		lasack_table_forget(table, flow);
		table->counts.expired++;
	}
}

static inline struct lasack_flow *lasack_table_find(struct lasack_table *table,
						    const struct segment_key *key)
{
	struct lasack_flow *flow;

	hlist_for_each_entry(flow, lasack_bucket(table, key), hash_node) {
		if (!memcmp(&flow->key, key, sizeof(*key)))
			return flow;
	}
	return NULL;
}

/* An unused place, made if need be of that of an idle flow; or NULL. */
static inline struct lasack_flow *lasack_table_place(struct lasack_table *table)
{
	struct lasack_flow *flow;

	if (list_empty(&table->unused)) {
		flow = lasack_first_idle(&table->ended) ?:
		       lasack_first_idle(&table->idle);
		if (!flow)
			return NULL;
		lasack_table_forget(table, flow);
		table->counts.evicted++;
	}
	return lasack_first_idle(&table->unused);
}

/* The flow in an unused place has its key now; it stays in no line. */
static inline void lasack_table_hash(struct lasack_table *table,
				     struct lasack_flow *flow)
{
	struct hlist_head *bucket = lasack_bucket(table, &flow->key);

	table->counts.collisions += !hlist_empty(bucket);
	hlist_add_head(&flow->hash_node, bucket);
	list_del_init(&flow->idle_node);
	table->flows++;
}

/**
 * lasack_table_add() - a place for a new flow, with a sum of 0
 * @table: the table
 * @key: of no flow in it
 * @now: ns
 *
 * Return: the flow, idle, or NULL: all places are taken by flows with packets.
 */
static inline struct lasack_flow *lasack_table_add(struct lasack_table *table,
						   const struct segment_key *key,
						   u64 now)
{
	struct lasack_flow *flow = lasack_table_place(table);

	if (!flow)
		return NULL;
	flow->key = *key;
	lasack_flow_new_life(flow);
	lasack_table_hash(table, flow);
	lasack_table_idle(table, flow, now);
	return flow;
}

/* Forget every idle flow. */
static inline void lasack_table_clear(struct lasack_table *table)
{
	struct lasack_flow *flow;

	while ((flow = lasack_first_idle(&table->ended) ?:
		       lasack_first_idle(&table->idle)))
		lasack_table_forget(table, flow);
}

/* The copy is in no line and no tree. */
static inline struct lasack_flow *lasack_table_adopt(struct lasack_table *table,
						     const struct lasack_flow *flow)
{
	struct lasack_flow *place = lasack_first_idle(&table->unused);

	if (!place)
		return NULL;
	list_del(&place->idle_node);
	*place = *flow;
	INIT_LIST_HEAD(&place->idle_node);
	lasack_table_hash(table, place);
	return place;
}

/* The last to fall idle is the last to be given up. */
static inline void lasack_table_adopt_line(struct lasack_table *table,
					   struct list_head *to,
					   struct list_head *from)
{
	struct lasack_flow *flow, *place;

	list_for_each_entry_reverse(flow, from, idle_node) {
		place = lasack_table_adopt(table, flow);
		if (place) {
			list_add(&place->idle_node, to);
			table->idle_flows++;
		} else {
			table->counts.evicted++;
		}
	}
}

/* by_bits[n]: flows whose sums are below 2^n bytes, but not below 2^(n - 1). */
struct lasack_histogram {
	u32	flows;
	u32	by_bits[65];
};

/* Costs a look at each place: for statistics only. */
static inline void lasack_table_histogram(const struct lasack_table *table, u64 age,
					  struct lasack_histogram *histogram)
{
	const struct lasack_flow *flow;

	memset(histogram, 0, sizeof(*histogram));
	for (flow = table->places; flow < table->places + table->size; flow++) {
		if (hlist_unhashed(&flow->hash_node))
			continue;
		histogram->flows++;
		histogram->by_bits[fls64(lasack_sum_bytes(&flow->attained, age))]++;
	}
}

/* The power of two (bytes) that the sums of @percent of the flows are below. */
static inline u64 lasack_percentile(const struct lasack_histogram *histogram, u32 percent)
{
	u64 wanted = DIV_ROUND_UP_ULL((u64)histogram->flows * percent, 100), seen = 0;
	u32 bits;

	if (!histogram->flows)
		return 0;
	for (bits = 0; bits < 63; bits++) {
		seen += histogram->by_bits[bits];
		if (seen >= wanted)
			break;
	}
	return BIT_ULL(bits);
}

/**
 * lasack_table_heaviest() - the flows with the largest sums
 * @table: the table
 * @places: indices of theirs, the largest first
 * @room: for that many
 *
 * Costs a look at each place: for statistics only. Return: how many there are.
 */
static inline u32 lasack_table_heaviest(const struct lasack_table *table,
					u32 *places, u32 room)
{
	const struct lasack_flow *flows = table->places;
	u32 i, at, count = 0;

	for (i = 0; i < table->size; i++) {
		if (hlist_unhashed(&flows[i].hash_node))
			continue;
		for (at = count; at > 0; at--) {
			if (!lasack_sum_less(&flows[places[at - 1]].attained,
					     &flows[i].attained))
				break;
			if (at < room)
				places[at] = places[at - 1];
		}
		if (at < room)
			places[at] = i;
		count = min(count + 1, room);
	}
	return count;
}

/**
 * lasack_table_create() - an empty table
 * @size: flows it holds, at least 1
 *
 * Return: the table, to be given to lasack_table_free(), or NULL: no memory.
 */
static inline struct lasack_table *lasack_table_create(u32 size)
{
	struct lasack_table *table = kzalloc(sizeof(*table), GFP_KERNEL);
	u32 buckets = roundup_pow_of_two(size), i;

	if (!table)
		return NULL;
	table->places = kvcalloc(size, sizeof(*table->places), GFP_KERNEL);
	table->buckets = kvcalloc(buckets, sizeof(*table->buckets), GFP_KERNEL);
	if (!table->places || !table->buckets) {
		kvfree(table->places);
		kvfree(table->buckets);
		kfree(table);
		return NULL;
	}

	table->size = size;
	table->bucket_mask = buckets - 1;
	get_random_bytes(&table->hash_key, sizeof(table->hash_key));
	INIT_LIST_HEAD(&table->unused);
	INIT_LIST_HEAD(&table->ended);
	INIT_LIST_HEAD(&table->idle);
	for (i = 0; i < size; i++)
		list_add_tail(&table->places[i].idle_node, &table->unused);
	return table;
}

/* Also of NULL. The flows' packets are not the table's to free. */
static inline void lasack_table_free(struct lasack_table *table)
{
	if (!table)
		return;
	kvfree(table->places);
	kvfree(table->buckets);
	kfree(table);
}

#endif
