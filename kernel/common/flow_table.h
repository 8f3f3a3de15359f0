/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A bounded table of flows, found by their whole key. See flow_table.c.
 */
#ifndef COMMON_FLOW_TABLE_H
#define COMMON_FLOW_TABLE_H

#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/jhash.h>
#include <linux/kernel.h>
#include <linux/prefetch.h>
#include <linux/types.h>
#include "common/tcp_segment.h"

/* So many places at most, with the caller's own. */
#define FLOW_TABLE_MAX	((1U << 18) - 1)

/* The table's time: ns >> FLOW_TIME_SHIFT, about 1 ms; it wraps after 52 days. */
#define FLOW_TIME_SHIFT	20

#define FLOW_KEY_WORDS	(sizeof(struct segment_key) / sizeof(u32))

/* First in every flow. Numbers of places count from 1; 0 is none. */
struct flow_entry {
	struct segment_key	key;
	u32	hash;
	u32	idle_since;	/* the table's time; while it is idle */
	u64	next:18,	/* in its bucket, or of the unused */
		next_idle:18,
		next_ended:18,
		in_use:1,	/* the place is a flow's */
		busy:1,		/* not idle: the flow may not be forgotten */
		known:1,	/* was busy before */
		recent:1,	/* was busy again since it joined the line of the idle */
		finished:1,	/* when idle, the first to be forgotten */
		in_idle:1,	/* stands in that line, idle or not */
		in_ended:1;	/* stands in that line, ended or not */
};

struct flow_table {
	void	*places;	/* of flows: size, then those of the caller's own */
	u32	*buckets;
	u32	entry_bits;	/* a place takes 2^n bytes */
	u32	size;
	u32	more;		/* places behind those */
	u32	bucket_mask;
	u32	flows;		/* places in use */
	u32	busy;		/* of these */
	u32	unused;		/* the first unused place */
	struct flow_line {
		u32	first, last;
	} idle_line, ended_line;
	u32	sweep;		/* goes round the places, to find flows whose time is over */
	u32	swept_at;	/* the table's time */
	u32	idle;		/* for how long an idle flow is remembered, 0: for ever */
	u32	sweep_places;	/* a unit of time */
	u64	secret[FLOW_KEY_WORDS + 1];
	/* told of a flow that is about to be forgotten; NULL: not */
	void	(*forgotten)(void *data, struct flow_entry *entry);
	void	*data;
	struct {
		u64	evicted;	/* idle flows that made room */
		u64	expired;	/* idle flows whose time was over */
		u64	collisions;	/* new flows in a bucket already in use */
	} counts;
};

struct flow_table *flow_table_create(u32 size, u32 more, u32 entry_bits);
void flow_table_free(struct flow_table *table);
void flow_table_set_idle(struct flow_table *table, u64 ns);

struct flow_entry *flow_table_add(struct flow_table *table,
				  const struct segment_key *key, u32 hash, u32 now);
struct flow_entry *flow_table_adopt(struct flow_table *table,
				    const struct flow_entry *entry, u32 hash);
void flow_table_adopt_idle(struct flow_table *table, struct flow_table *from);

void flow_table_wake(struct flow_table *table, struct flow_entry *entry);
void flow_table_idle(struct flow_table *table, struct flow_entry *entry, u32 now);
void flow_table_forget(struct flow_table *table, struct flow_entry *entry);
void flow_table_clear(struct flow_table *table);
void flow_table_sweep(struct flow_table *table, u32 now);

/* The flow in a place, counted from 0; those from size on are the caller's own. */
static inline struct flow_entry *flow_table_place(const struct flow_table *table, u32 number)
{
	return table->places + ((size_t)number << table->entry_bits);
}

static inline u32 *flow_table_bucket(const struct flow_table *table, u32 hash)
{
	return &table->buckets[hash & table->bucket_mask];
}

static inline u64 flow_hash_word(u64 word, const u64 *secret)
{
	return (lower_32_bits(word) + secret[0]) * (upper_32_bits(word) + secret[1]);
}

/**
 * flow_table_hash() - the hash of a key
 * @table: the table, whose secret counts
 * @key: the key
 */
static inline u32 flow_table_hash(const struct flow_table *table, const struct segment_key *key)
{
	const u64 *words = key->words, *secret = table->secret;

	BUILD_BUG_ON(FLOW_KEY_WORDS != 10);
	return jhash_1word((flow_hash_word(words[0], &secret[1]) +
			    flow_hash_word(words[1], &secret[3]) +
			    flow_hash_word(words[2], &secret[5]) +
			    flow_hash_word(words[3], &secret[7]) +
			    flow_hash_word(words[4], &secret[9]) + secret[0]) >> 32, 0);
}

/**
 * flow_table_rehash() - the hash of a flow that comes from another table
 * @table: the table
 * @from: the other one
 * @entry: the flow, in the other one
 *
 * Who tells flows with the same key apart has added something to the hash, without carry. It is in
 * the new one, too.
 */
static inline u32 flow_table_rehash(const struct flow_table *table, const struct flow_table *from,
				    const struct flow_entry *entry)
{
	return flow_table_hash(table, &entry->key) ^ flow_table_hash(from, &entry->key) ^
	       entry->hash;
}

/**
 * flow_table_find() - a flow by its key
 * @table: the table
 * @key: the key
 * @hash: its hash, and with it whatever tells flows with the same key apart
 *
 * Return: the flow or NULL.
 */
static inline struct flow_entry *flow_table_find(const struct flow_table *table,
						 const struct segment_key *key, u32 hash)
{
	u32 number = *flow_table_bucket(table, hash);
	struct flow_entry *entry;

	while (number) {
		entry = flow_table_place(table, number - 1);
		/* Whoever finds it needs the rest. */
		prefetch((void *)entry + L1_CACHE_BYTES);
		if (likely(entry->hash == hash && segment_key_equal(&entry->key, key)))
			return entry;
		number = entry->next;
	}
	return NULL;
}

/* The place a flow is in. */
static inline u32 flow_table_number(const struct flow_table *table,
				    const struct flow_entry *entry)
{
	return ((void *)entry - table->places) >> table->entry_bits;
}

/* Has an idle flow's time come? */
static inline bool flow_table_is_over(const struct flow_table *table,
				      const struct flow_entry *entry, u32 now)
{
	return table->idle && now - entry->idle_since > table->idle;
}

#endif
