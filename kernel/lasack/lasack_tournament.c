// SPDX-License-Identifier: GPL-2.0-only
/*
 * An order over numbered items, the least key first: a tournament of four.
 *
 * Principle: each item in the order has a leaf. The entries of a round stand in fours, and the
 * least of each four goes to the next round. When an item gets a new key, the fours from its
 * leaf to the last round are decided again. Which fours these are depends only on the leaf, not
 * on any key. So the processor can read all of them at once, and the least of four is found
 * without a branch. In a heap each step has to wait for the one before. Four entries share a
 * cache line. All memory is allocated beforehand, because an item is in the order at most once.
 *
 * A key may be out of date as long as the true key is not less. Sums only grow. So whoever asks
 * for the first item checks whether its key is still true. If it is not, the caller sets the
 * true key and asks again (lasack_order.c).
 *
 * Source: D. E. Knuth, "The Art of Computer Programming", vol. 3, 5.2.3: tree selection.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include "common/exact_array.h"
#include "lasack/lasack_tournament.h"

static const struct lasack_entry lasack_no_entry = { .key = LASACK_NO_KEY };

static struct lasack_entry lasack_entry_of(u64 key, u64 tie, u32 leaf)
{
	return (struct lasack_entry) { key, tie << LASACK_LEAF_BITS | leaf };
}

/*
 * Without a branch, as nobody can predict which of two is less: it is @b if what is left of it
 * without @a is below 0, the tie borrowing from the key.
 */
static inline struct lasack_entry lasack_entry_lesser(struct lasack_entry a,
						      struct lasack_entry b)
{
	s64 left = b.key - a.key - (b.tie_leaf < a.tie_leaf);

	a.key = left < 0 ? b.key : a.key;
	a.tie_leaf = left < 0 ? b.tie_leaf : a.tie_leaf;
	return a;
}

/* Another entry of the same four, which is aligned to its size. */
static inline struct lasack_entry lasack_entry_beside(const struct lasack_entry *entry,
						      unsigned long other)
{
	return *(struct lasack_entry *)((unsigned long)entry ^ other * sizeof(*entry));
}

/* The least of the four with a new entry. */
static inline struct lasack_entry lasack_four_set(struct lasack_entry *at,
						  struct lasack_entry entry)
{
	struct lasack_entry other;

	*at = entry;
	other = lasack_entry_lesser(lasack_entry_beside(at, 1), lasack_entry_beside(at, 2));
	other = lasack_entry_lesser(other, lasack_entry_beside(at, 3));
	return lasack_entry_lesser(other, entry);
}

/* Carries a leaf's new entry to the last round. */
static inline void lasack_tournament_set(struct lasack_tournament *t, struct lasack_entry entry,
					 u32 leaf)
{
	u32 i, at = leaf;

	for (i = 0; i < t->last; i++, at /= 4)
		entry = lasack_four_set(&t->rounds[i][at], entry);
	*t->rounds[i] = entry;
}

/* The same of an entry where there was none: each round has the winner without it. */
static void lasack_tournament_enter(struct lasack_tournament *t, struct lasack_entry entry,
				    u32 leaf)
{
	struct lasack_entry *winner;
	u32 i, at = leaf;

	for (i = 0; i <= t->last; i++, at /= 4) {
		winner = &t->rounds[i][at];
		if (lasack_entry_lesser(*winner, entry).tie_leaf != entry.tie_leaf)
			return;
		*winner = entry;
	}
}

/* One leaf more. If there is no room, one round more, where those so far have but one winner. */
static u32 lasack_tournament_new_leaf(struct lasack_tournament *t)
{
	if (t->leaves == 1U << (2 * t->last)) {
		*t->rounds[t->last + 1] = *t->rounds[t->last];
		t->last++;
	}
	return t->leaves++;
}

/* No item is left, and no entry. */
static void lasack_tournament_restart(struct lasack_tournament *t)
{
	t->last = 0;
	t->leaves = 0;
	t->unused = 0;
	t->count = 0;
}

/**
 * lasack_tournament_add() - an item comes
 * @t: the tournament
 * @item: not in it
 * @key: its key, less than LASACK_NO_KEY
 * @tie: decides between equal keys, LASACK_TIE_MAX at most
 */
void lasack_tournament_add(struct lasack_tournament *t, u32 item, u64 key, u64 tie)
{
	u32 leaf;

	if (t->unused) {
		leaf = t->unused - 1;
		t->unused = t->items[leaf];
	} else {
		leaf = lasack_tournament_new_leaf(t);
	}
	t->count++;
	t->items[leaf] = item;
	t->places[item] = leaf + 1;
	lasack_tournament_enter(t, lasack_entry_of(key, tie, leaf), leaf);
}

/**
 * lasack_tournament_remove() - an item goes
 * @t: the tournament
 * @item: in it
 */
void lasack_tournament_remove(struct lasack_tournament *t, u32 item)
{
	u32 leaf = t->places[item] - 1;

	t->places[item] = 0;
	lasack_tournament_set(t, lasack_no_entry, leaf);
	if (--t->count) {
		t->items[leaf] = t->unused;
		t->unused = leaf + 1;
		return;
	}
	lasack_tournament_restart(t);
}

/**
 * lasack_tournament_update() - an item has another key
 * @t: the tournament
 * @item: in it
 * @key: its key now, less than LASACK_NO_KEY
 * @tie: decides between equal keys, LASACK_TIE_MAX at most
 */
void lasack_tournament_update(struct lasack_tournament *t, u32 item, u64 key, u64 tie)
{
	u32 leaf = t->places[item] - 1;

	lasack_tournament_set(t, lasack_entry_of(key, tie, leaf), leaf);
}

/* The same of the first item. */
void lasack_tournament_update_first(struct lasack_tournament *t, u64 key, u64 tie)
{
	u32 leaf = lasack_tournament_first_leaf(t);

	lasack_tournament_set(t, lasack_entry_of(key, tie, leaf), leaf);
}

/* Entries of a round in whole fours, if there are so many leaves. */
static u32 lasack_round_size(u32 leaves, u32 round)
{
	return 4 * DIV_ROUND_UP(leaves, 4U << (2 * round));
}

static void lasack_entries_clear(struct lasack_entry *entry, u32 count)
{
	while (count--)
		*entry++ = lasack_no_entry;
}

/* Removes all items. */
void lasack_tournament_clear(struct lasack_tournament *t)
{
	u32 i, item;

	for (i = 0; i < t->leaves; i++) {
		if (lasack_tournament_at(t, i, &item))
			t->places[item] = 0;
	}
	for (i = 0; i <= t->last; i++)
		lasack_entries_clear(t->rounds[i], lasack_round_size(t->leaves, i));
	lasack_tournament_restart(t);
}

/**
 * lasack_tournament_init() - without items
 * @t: to be given to lasack_tournament_destroy()
 * @items: they are numbered from 0 to one less than this; FLOW_TABLE_MAX at most
 *
 * Return: 0 or -ENOMEM.
 */
int lasack_tournament_init(struct lasack_tournament *t, u32 items)
{
	struct lasack_entry *round;
	u32 i;

	t->size = items;
	t->entries = 4; /* to be aligned */
	for (i = 0; i < LASACK_ROUNDS; i++)
		t->entries += lasack_round_size(items, i);
	t->places = exact_array_alloc(items, sizeof(*t->places));
	t->items = exact_array_alloc(items, sizeof(*t->items));
	t->memory = exact_array_alloc(t->entries, sizeof(*round));
	if (!t->places || !t->items || !t->memory) {
		lasack_tournament_destroy(t);
		return -ENOMEM;
	}
	round = PTR_ALIGN(t->memory, 4 * sizeof(*round));
	for (i = 0; i < LASACK_ROUNDS; i++) {
		t->rounds[i] = round;
		lasack_entries_clear(round, lasack_round_size(items, i));
		round += lasack_round_size(items, i);
	}
	return 0;
}

/* A zeroed tournament may be freed too. */
void lasack_tournament_destroy(struct lasack_tournament *t)
{
	exact_array_free(t->places, t->size, sizeof(*t->places));
	exact_array_free(t->items, t->size, sizeof(*t->items));
	exact_array_free(t->memory, t->entries, sizeof(**t->rounds));
	*t = (struct lasack_tournament) {};
}
