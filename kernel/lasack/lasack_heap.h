/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An order over numbered items, the least key first. See lasack_heap.c.
 */
#ifndef LASACK_HEAP_H
#define LASACK_HEAP_H

#include <linux/types.h>

struct lasack_heap_entry {
	u64	key;
	u32	tie;	/* of equal keys the lesser first, modulo 2^32 */
	u32	item;
};

struct lasack_heap {
	struct lasack_heap_entry *entries;
	u32	*places;	/* by item: its entry's, counted from 1; 0: it is not here */
	u32	count;
	void	*memory;
};

int lasack_heap_init(struct lasack_heap *heap, u32 items);
void lasack_heap_destroy(struct lasack_heap *heap);
void lasack_heap_clear(struct lasack_heap *heap);
void lasack_heap_add(struct lasack_heap *heap, u32 item, u64 key, u32 tie);
void lasack_heap_remove(struct lasack_heap *heap, u32 item);
void lasack_heap_update(struct lasack_heap *heap, u32 item, u64 key, u32 tie);
const struct lasack_heap_entry *lasack_heap_second(const struct lasack_heap *heap);

/* Was it made, with places for items? */
static inline bool lasack_heap_exists(const struct lasack_heap *heap)
{
	return heap->entries;
}

static inline bool lasack_heap_has(const struct lasack_heap *heap, u32 item)
{
	return heap->places[item];
}

/* The entry of the least key; there is one. */
static inline const struct lasack_heap_entry *lasack_heap_first(const struct lasack_heap *heap)
{
	return heap->entries;
}

#endif
