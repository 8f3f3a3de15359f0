// SPDX-License-Identifier: GPL-2.0-only
/*
 * A bounded table of flows, found by their whole key.
 *
 * Principle: every place is allocated with the table. So no packet waits for memory, and a
 * flood of connections takes no memory from others. A new flow takes an unused place, else
 * that of a flow that has ended, else that of a flow that has been idle for long.
 *
 * Idle flows stand in a line, in the order in which they first fell idle. When a flow comes to
 * the front and was busy again in the meantime, it is not forgotten but goes to the end (the
 * "second chance" of the CLOCK of F. J. Corbato, "A Paging Experiment with the Multics
 * System", 1968). So a packet of a known flow touches no other flow. The flows of a flood are
 * busy only once, so they take each other's places.
 *
 * The hash is secret, so nobody outside can make flows collide. The whole key is compared, so
 * two flows that do collide are never taken for one. The hash is MULTILINEAR-HM of D. Lemire,
 * O. Kaser, "Strongly Universal String Hashing is Fast", The Computer Journal 57(11), 2014, on
 * words of 32 bits. For those who do not know the secret, every pair of hashes of two keys is
 * equally probable. That is no promise for many keys: the hashes of ports that count up are
 * equal steps apart, and a few secrets in a thousand make these fall into few buckets. So jhash,
 * which is not linear, scatters them.
 *
 * The caller holds a lock.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/prefetch.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "common/exact_array.h"
#include "common/flow_table.h"

/* No chain is longer, whatever the secret is: then a flow finds no place. */
#define FLOW_TABLE_CHAIN	16
/* Places that are swept at once. */
#define FLOW_TABLE_SWEEP	64U

/* Takes a flow out of its bucket's chain. */
static void flow_table_unhash(struct flow_table *table, struct flow_entry *entry)
{
	u32 number = flow_table_number(table, entry) + 1;
	u32 *bucket = flow_table_bucket(table, entry->hash);
	struct flow_entry *before;

	if (*bucket == number) {
		*bucket = entry->next;
		return;
	}
	before = flow_table_place(table, *bucket - 1);
	while (before->next != number)
		before = flow_table_place(table, before->next - 1);
	before->next = entry->next;
}

/**
 * flow_table_forget() - make an idle flow's place unused
 * @table: the table
 * @entry: the flow
 */
void flow_table_forget(struct flow_table *table, struct flow_entry *entry)
{
	if (table->forgotten)
		table->forgotten(table->data, entry);
	flow_table_unhash(table, entry);
	entry->in_use = 0;
	entry->next = table->unused;
	table->unused = flow_table_number(table, entry) + 1;
	table->flows--;
}

/* The flow has something to do. */
void flow_table_wake(struct flow_table *table, struct flow_entry *entry)
{
	entry->busy = 1;
	entry->recent |= entry->known;
	entry->known = 1;
	table->busy++;
}

/* Appends to the line of the idle. */
static void flow_table_line_up(struct flow_table *table, struct flow_entry *entry)
{
	struct flow_line *line = &table->idle_line;
	u32 number = flow_table_number(table, entry) + 1;

	entry->in_idle = 1;
	entry->recent = 0;
	entry->next_idle = 0;
	if (line->first)
		flow_table_place(table, line->last - 1)->next_idle = number;
	else
		line->first = number;
	line->last = number;
}

static void flow_table_line_up_ended(struct flow_table *table, struct flow_entry *entry)
{
	struct flow_line *line = &table->ended_line;
	u32 number = flow_table_number(table, entry) + 1;

	entry->in_ended = 1;
	entry->next_ended = 0;
	if (line->first)
		flow_table_place(table, line->last - 1)->next_ended = number;
	else
		line->first = number;
	line->last = number;
}

/**
 * flow_table_idle() - the flow has nothing to do, and is remembered
 * @table: the table
 * @entry: the flow; if it is finished it is the first to be forgotten
 * @now: the table's time
 */
void flow_table_idle(struct flow_table *table, struct flow_entry *entry, u32 now)
{
	entry->idle_since = now;
	entry->busy = 0;
	table->busy--;
	if (!entry->in_idle)
		flow_table_line_up(table, entry);
	if (entry->finished && !entry->in_ended)
		flow_table_line_up_ended(table, entry);
}

/* The first flow that has ended, and has not begun again since; or NULL. */
static struct flow_entry *flow_table_first_ended(struct flow_table *table)
{
	struct flow_line *line = &table->ended_line;
	struct flow_entry *entry;

	while (line->first) {
		entry = flow_table_place(table, line->first - 1);
		line->first = entry->next_ended;
		entry->in_ended = 0;
		if (entry->in_use && !entry->busy && entry->finished)
			return entry;
	}
	return NULL;
}

/*
 * The next in line, itself fetched when the one before it was the next: its bucket, and who
 * comes after it. (Inlined, or the compiler takes it for a function without effect.)
 */
static __always_inline void flow_table_fetch(const struct flow_table *table,
					     const struct flow_entry *entry)
{
	const void *after;

	prefetchw(flow_table_bucket(table, entry->hash));
	if (!entry->next_idle)
		return;
	after = flow_table_place(table, entry->next_idle - 1);
	prefetchw(after);
	prefetchw(after + L1_CACHE_BYTES);
}

/*
 * The flow whose turn it is to be forgotten, or NULL: all are busy. Those that are passed over
 * have been busy since they joined the line, so each packet pays for one at most.
 */
static struct flow_entry *flow_table_first_idle(struct flow_table *table)
{
	struct flow_line *line = &table->idle_line;
	struct flow_entry *entry;

	while (line->first) {
		entry = flow_table_place(table, line->first - 1);
		line->first = entry->next_idle;
		entry->in_idle = 0;
		if (line->first)
			flow_table_fetch(table, flow_table_place(table, line->first - 1));
		if (!entry->in_use || entry->busy)
			continue;
		if (!entry->recent)
			return entry;
		flow_table_line_up(table, entry);
	}
	return NULL;
}

static struct flow_entry *flow_table_unused(struct flow_table *table)
{
	struct flow_entry *entry;

	if (!table->unused) {
		entry = flow_table_first_ended(table) ?: flow_table_first_idle(table);
		if (!entry)
			return NULL;
		flow_table_forget(table, entry);
		table->counts.evicted++;
	}
	return flow_table_place(table, table->unused - 1);
}

static bool flow_table_has_room(const struct flow_table *table, u32 hash)
{
	u32 number = *flow_table_bucket(table, hash), length = 0;

	for (; number; number = flow_table_place(table, number - 1)->next) {
		if (++length == FLOW_TABLE_CHAIN)
			return false;
	}
	return true;
}

/* The first unused place is the flow's from now on. */
static void flow_table_hash_in(struct flow_table *table, struct flow_entry *entry, u32 hash)
{
	u32 *bucket = flow_table_bucket(table, hash);

	table->unused = entry->next;
	table->counts.collisions += *bucket != 0;
	entry->hash = hash;
	entry->next = *bucket;
	*bucket = flow_table_number(table, entry) + 1;
	entry->in_use = 1;
	table->flows++;
}

/**
 * flow_table_add() - a place for a new flow
 * @table: the table
 * @key: of no flow in it
 * @hash: of the key
 * @now: the table's time
 *
 * Return: the flow, idle, of which only the entry is set; or NULL: the places
 * are taken by flows that are busy.
 */
struct flow_entry *flow_table_add(struct flow_table *table, const struct segment_key *key,
				  u32 hash, u32 now)
{
	struct flow_entry *entry;

	if (unlikely(!flow_table_has_room(table, hash)))
		return NULL;
	entry = flow_table_unused(table);
	if (!entry)
		return NULL;
	flow_table_hash_in(table, entry, hash);
	entry->key = *key;
	entry->idle_since = now;
	entry->busy = 0;
	entry->known = 0;
	entry->recent = 0;
	entry->finished = 0;
	if (!entry->in_idle)
		flow_table_line_up(table, entry);
	return entry;
}

/**
 * flow_table_adopt() - a place for a flow of another table
 * @table: the table
 * @entry: that flow; all of it is copied
 * @hash: of its key, in this table
 *
 * Return: the flow, as idle or busy as it was, or NULL: no place is unused.
 */
struct flow_entry *flow_table_adopt(struct flow_table *table, const struct flow_entry *entry,
				    u32 hash)
{
	struct flow_entry *place, was;

	if (!table->unused || !flow_table_has_room(table, hash))
		return NULL;
	place = flow_table_place(table, table->unused - 1);
	was = *place;
	memcpy(place, entry, 1U << table->entry_bits);
	place->next = was.next;
	place->in_idle = 0;
	place->in_ended = 0;
	flow_table_hash_in(table, place, hash);
	table->busy++;
	if (!place->busy)
		flow_table_idle(table, place, entry->idle_since);
	return place;
}

/* May be forgotten, and stands in line for it. */
static bool flow_table_is_idle(const struct flow_entry *entry)
{
	return entry->in_use && !entry->busy;
}

/**
 * flow_table_adopt_idle() - all idle flows of another table
 * @table: the table
 * @from: the other; as many of the latest as there is room for are copied, and of
 *	  those that have ended as many as there is room for then
 */
void flow_table_adopt_idle(struct flow_table *table, struct flow_table *from)
{
	u32 room = table->size - table->flows, idle = 0, number, pass;
	struct flow_entry *entry;

	for (number = from->idle_line.first; number; number = entry->next_idle) {
		entry = flow_table_place(from, number - 1);
		idle += flow_table_is_idle(entry) && !entry->finished;
	}
	for (pass = 0; pass < 2; pass++) {
		for (number = from->idle_line.first; number; number = entry->next_idle) {
			entry = flow_table_place(from, number - 1);
			if (!flow_table_is_idle(entry) || entry->finished != pass)
				continue;
			if ((!pass && idle-- > room) ||
			    !flow_table_adopt(table, entry, flow_table_rehash(table, from, entry)))
				table->counts.evicted++;
		}
	}
}

/* Forgets every idle flow. */
void flow_table_clear(struct flow_table *table)
{
	struct flow_entry *entry;
	u32 i;

	for (i = 0; i < table->size; i++) {
		entry = flow_table_place(table, i);
		if (entry->in_use && !entry->busy)
			flow_table_forget(table, entry);
	}
}

/**
 * flow_table_set_idle() - for how long an idle flow is remembered
 * @table: the table
 * @ns: that time, or 0: for ever
 */
void flow_table_set_idle(struct flow_table *table, u64 ns)
{
	table->idle = ns >> FLOW_TIME_SHIFT;
	if (ns && !table->idle)
		table->idle = 1;
	table->sweep_places = table->idle ?
		clamp_t(u32, DIV_ROUND_UP(table->size, table->idle), 1, FLOW_TABLE_SWEEP) : 0;
}

/**
 * flow_table_sweep() - forget flows whose time is over
 * @table: the table
 * @now: the table's time
 *
 * Looks at a few places in each unit of time, so that all have their turn before
 * their time is over once more.
 */
void flow_table_sweep(struct flow_table *table, u32 now)
{
	struct flow_entry *entry;
	u32 i;

	table->swept_at = now;
	for (i = 0; i < table->sweep_places; i++) {
		entry = flow_table_place(table, table->sweep);
		if (++table->sweep == table->size)
			table->sweep = 0;
		if (!entry->in_use || entry->busy || !flow_table_is_over(table, entry, now))
			continue;
		flow_table_forget(table, entry);
		table->counts.expired++;
	}
}

/**
 * flow_table_create() - an empty table
 * @size: flows it holds, at least 1; with @more at most FLOW_TABLE_MAX
 * @more: places behind those, zeroed, for what the caller makes of them
 * @entry_bits: a place takes 2^n bytes and begins with a struct flow_entry
 *
 * Return: the table, to be given to flow_table_free(), or NULL: no memory.
 */
struct flow_table *flow_table_create(u32 size, u32 more, u32 entry_bits)
{
	struct flow_table *table = kzalloc(sizeof(*table), GFP_KERNEL);
	u32 buckets = roundup_pow_of_two(size), i;

	if (!table)
		return NULL;
	table->size = size;
	table->more = more;
	table->entry_bits = entry_bits;
	table->bucket_mask = buckets - 1;
	table->places = exact_array_alloc(size + more, 1U << entry_bits);
	table->buckets = exact_array_alloc(buckets, sizeof(*table->buckets));
	if (!table->places || !table->buckets) {
		flow_table_free(table);
		return NULL;
	}

	get_random_bytes(table->secret, sizeof(table->secret));
	for (i = size; i; i--) {
		flow_table_place(table, i - 1)->next = table->unused;
		table->unused = i;
	}
	return table;
}

/* Also of NULL. */
void flow_table_free(struct flow_table *table)
{
	if (!table)
		return;
	exact_array_free(table->places, table->size + table->more, 1U << table->entry_bits);
	exact_array_free(table->buckets, table->bucket_mask + 1, sizeof(*table->buckets));
	kfree(table);
}
