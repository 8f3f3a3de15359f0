/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An order over numbered items, the least key first. See lasack_tournament.c.
 */
#ifndef LASACK_TOURNAMENT_H
#define LASACK_TOURNAMENT_H

#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/types.h>

#define LASACK_ROUNDS	10	/* of 4^9 items at most, so FLOW_TABLE_MAX */

/* Of no item. Those of items are less. */
#define LASACK_NO_KEY	((u64)S64_MAX)

/* Of equal keys the lesser tie is first, modulo 2^32. */
struct lasack_entry {
	u64	key;
	u64	tie_leaf;	/* the tie above, the leaf below */
};

/* One cache line: four entries, of which the least goes to the next round. */
struct lasack_four {
	u64	key[4];
	u64	tie_leaf[4];
};

struct lasack_tournament {
	/* the entries of the leaves, then the winners of these fours, and so on */
	struct lasack_four *rounds[LASACK_ROUNDS];
	u32	*items;		/* by leaf; of an unused one, the next unused */
	u32	*places;	/* by item: its leaf, counted from 1; 0: it is not here */
	u32	last;		/* round, of one entry: the first of all */
	u32	leaves;		/* in use or unused, since it was empty */
	u32	unused;		/* the first unused leaf, counted from 1; 0: none */
	u32	count;		/* of items */
	void	*memory;
};

int lasack_tournament_init(struct lasack_tournament *t, u32 items);
void lasack_tournament_destroy(struct lasack_tournament *t);
void lasack_tournament_clear(struct lasack_tournament *t);
void lasack_tournament_add(struct lasack_tournament *t, u32 item, u64 key, u32 tie);
void lasack_tournament_remove(struct lasack_tournament *t, u32 item);
void lasack_tournament_update(struct lasack_tournament *t, u32 item, u64 key, u32 tie);
void lasack_tournament_update_first(struct lasack_tournament *t, u64 key, u32 tie);
u32 lasack_tournament_second(const struct lasack_tournament *t);

static inline bool lasack_tournament_has(const struct lasack_tournament *t, u32 item)
{
	return t->places[item];
}

/* Which item has the leaf, if any? */
static inline bool lasack_tournament_at(const struct lasack_tournament *t, u32 leaf, u32 *item)
{
	*item = t->items[leaf];
	return t->rounds[0][leaf / 4].key[leaf % 4] != LASACK_NO_KEY;
}

static inline u32 lasack_tournament_first_leaf(const struct lasack_tournament *t)
{
	return lower_32_bits(t->rounds[t->last]->tie_leaf[0]);
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
	u32 round = t->last - min(t->last, rounds), at = leaf >> (2 * round);

	return t->items[lower_32_bits(t->rounds[round][at / 4].tie_leaf[at % 4])];
}

/* Has the first item, which there is, this key? */
static inline bool lasack_tournament_first_is(const struct lasack_tournament *t, u64 key, u32 tie)
{
	const struct lasack_four *first = t->rounds[t->last];

	return first->key[0] == key && upper_32_bits(first->tie_leaf[0]) == tie;
}

#endif
