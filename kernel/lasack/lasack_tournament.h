/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An order over numbered items, the least key first. See lasack_tournament.c.
 */
#ifndef LASACK_TOURNAMENT_H
#define LASACK_TOURNAMENT_H

#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/types.h>

#define LASACK_ROUNDS	10	/* of 4^9 items at most, so FLOW_TABLE_MAX */

/* Of no item. Those of items are less. */
#define LASACK_NO_KEY	((u64)S64_MAX)

/* Bits of a leaf: there are FLOW_TABLE_MAX at most. */
#define LASACK_LEAF_BITS	18
#define LASACK_TIE_MAX		(BIT_ULL(64 - LASACK_LEAF_BITS) - 1)

/* Of equal keys the lesser tie is first. */
struct lasack_entry {
	u64	key;
	u64	tie_leaf;	/* the tie above, the leaf below */
};

struct lasack_tournament {
	/* the entries of the leaves, then the winners of these fours, and so on */
	struct lasack_entry *rounds[LASACK_ROUNDS];
	u32	*items;		/* by leaf; of an unused one, the next unused */
	u32	*places;	/* by item: its leaf, counted from 1; 0: it is not here */
	u32	last;		/* round, of one entry: the first of all */
	u32	leaves;		/* in use or unused, since it was empty */
	u32	unused;		/* the first unused leaf, counted from 1; 0: none */
	u32	count;		/* of items */
	u32	size;		/* items that there is room for */
	u32	entries;	/* likewise, in memory */
	void	*memory;
};

int lasack_tournament_init(struct lasack_tournament *t, u32 items);
void lasack_tournament_destroy(struct lasack_tournament *t);
void lasack_tournament_clear(struct lasack_tournament *t);
void lasack_tournament_add(struct lasack_tournament *t, u32 item, u64 key, u64 tie);
void lasack_tournament_remove(struct lasack_tournament *t, u32 item);
void lasack_tournament_update(struct lasack_tournament *t, u32 item, u64 key, u64 tie);
void lasack_tournament_update_first(struct lasack_tournament *t, u64 key, u64 tie);

static inline bool lasack_tournament_has(const struct lasack_tournament *t, u32 item)
{
	return t->places[item];
}

/* Which item has the leaf, if any? */
static inline bool lasack_tournament_at(const struct lasack_tournament *t, u32 leaf, u32 *item)
{
	*item = t->items[leaf];
	return t->rounds[0][leaf].key != LASACK_NO_KEY;
}

static inline u32 lasack_entry_leaf(const struct lasack_entry *entry)
{
	return entry->tie_leaf & (BIT(LASACK_LEAF_BITS) - 1);
}

static inline u32 lasack_tournament_first_leaf(const struct lasack_tournament *t)
{
	return lasack_entry_leaf(t->rounds[t->last]);
}

/* The least key; there are items. */
static inline u64 lasack_tournament_least(const struct lasack_tournament *t)
{
	return t->rounds[t->last]->key;
}

/* The item of the least key; there is one. */
static inline u32 lasack_tournament_first(const struct lasack_tournament *t)
{
	return t->items[lasack_tournament_first_leaf(t)];
}

/*
 * The best of the 4^rounds-th part of all leaves where @leaf is: it may be the first soon. There
 * are items.
 */
static inline u32 lasack_tournament_contender(const struct lasack_tournament *t, u32 leaf,
					      u32 rounds)
{
	u32 round = t->last - min(t->last, rounds);

	return t->items[lasack_entry_leaf(&t->rounds[round][leaf >> (2 * round)])];
}

/* Has the first item, which there is, this key? */
static inline bool lasack_tournament_first_is(const struct lasack_tournament *t, u64 key, u64 tie)
{
	const struct lasack_entry *first = t->rounds[t->last];

	return first->key == key && first->tie_leaf >> LASACK_LEAF_BITS == tie;
}

#endif
