// SPDX-License-Identifier: GPL-2.0-only
/*
 * An order over numbered items, the least key first: a heap of arity four.
 *
 * Principle: keys are kept in the heap, four children in one cache line, so that
 * going up or down touches nothing else but the places of the items that move. All memory
 * is allocated beforehand: an item is here once at most.
 *
 * A key may be out of date as long as the true one is not less. Sums only grow, so
 * who asks for the first item looks whether its key is still true, and if not
 * gives the true one and asks again (lasack_order.c).
 *
 * Source: D. B. Johnson, "Priority queues with update and finding minimum spanning
 * trees", Information Processing Letters 4(3), 1975.
 */
#include <linux/cache.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include "lasack/lasack_heap.h"

#define LASACK_HEAP_ARITY	4

/* Without a branch: which of two is less nobody can predict. */
static inline bool lasack_heap_less(const struct lasack_heap_entry *a,
				    const struct lasack_heap_entry *b)
{
	return (a->key < b->key) | ((a->key == b->key) & ((s32)(a->tie - b->tie) < 0));
}

/* The place of the lesser one. */
static inline u32 lasack_heap_lesser(const struct lasack_heap_entry *entries, u32 a, u32 b)
{
	return a + ((b - a) & -(u32)lasack_heap_less(&entries[b], &entries[a]));
}

static inline void lasack_heap_put(struct lasack_heap *heap, u32 at,
				   struct lasack_heap_entry entry)
{
	heap->entries[at] = entry;
	heap->places[entry.item] = at + 1;
}

/* The entry belongs at place @at or above. */
static void lasack_heap_rise(struct lasack_heap *heap, u32 at, struct lasack_heap_entry entry)
{
	u32 parent;

	while (at) {
		parent = (at - 1) / LASACK_HEAP_ARITY;
		if (!lasack_heap_less(&entry, &heap->entries[parent]))
			break;
		lasack_heap_put(heap, at, heap->entries[parent]);
		at = parent;
	}
	lasack_heap_put(heap, at, entry);
}

/*
 * The entry belongs at place @at or below. Places without an entry have a key that no item has,
 * the largest, so there are always four children to look at.
 */
static void lasack_heap_fall(struct lasack_heap *heap, u32 at, struct lasack_heap_entry entry)
{
	const struct lasack_heap_entry *entries = heap->entries;
	u32 child, least;

	for (;;) {
		child = at * LASACK_HEAP_ARITY + 1;
		if (child >= heap->count)
			break;
		least = lasack_heap_lesser(entries,
					   lasack_heap_lesser(entries, child, child + 1),
					   lasack_heap_lesser(entries, child + 2, child + 3));
		if (!lasack_heap_less(&entries[least], &entry))
			break;
		lasack_heap_put(heap, at, entries[least]);
		at = least;
	}
	lasack_heap_put(heap, at, entry);
}

/* Takes the last entry away. */
static struct lasack_heap_entry lasack_heap_pop_last(struct lasack_heap *heap)
{
	struct lasack_heap_entry last = heap->entries[--heap->count];

	heap->entries[heap->count].key = U64_MAX;
	heap->places[last.item] = 0;
	return last;
}

/**
 * lasack_heap_add() - an item comes
 * @heap: the heap
 * @item: not in it
 * @key: its key, less than U64_MAX
 * @tie: decides between equal keys
 */
void lasack_heap_add(struct lasack_heap *heap, u32 item, u64 key, u32 tie)
{
	lasack_heap_rise(heap, heap->count++, (struct lasack_heap_entry) { key, tie, item });
}

/**
 * lasack_heap_remove() - an item goes
 * @heap: the heap
 * @item: in it
 */
void lasack_heap_remove(struct lasack_heap *heap, u32 item)
{
	struct lasack_heap_entry gone = heap->entries[heap->places[item] - 1];
	u32 at = heap->places[item] - 1;
	struct lasack_heap_entry last = lasack_heap_pop_last(heap);

	if (at == heap->count)
		return;
	heap->places[item] = 0;
	if (lasack_heap_less(&last, &gone))
		lasack_heap_rise(heap, at, last);
	else
		lasack_heap_fall(heap, at, last);
}

/**
 * lasack_heap_update() - an item has another key
 * @heap: the heap
 * @item: in it
 * @key: its key now, less than U64_MAX
 * @tie: decides between equal keys
 */
void lasack_heap_update(struct lasack_heap *heap, u32 item, u64 key, u32 tie)
{
	struct lasack_heap_entry entry = { key, tie, item };
	u32 at = heap->places[item] - 1;

	if (lasack_heap_less(&entry, &heap->entries[at]))
		lasack_heap_rise(heap, at, entry);
	else
		lasack_heap_fall(heap, at, entry);
}

/* The entry that would be the first without the first; or NULL. */
const struct lasack_heap_entry *lasack_heap_second(const struct lasack_heap *heap)
{
	u32 i, end = min(heap->count, LASACK_HEAP_ARITY + 1U), least = 1;

	if (heap->count < 2)
		return NULL;
	for (i = 2; i < end; i++) {
		if (lasack_heap_less(&heap->entries[i], &heap->entries[least]))
			least = i;
	}
	return &heap->entries[least];
}

/* All items go. */
void lasack_heap_clear(struct lasack_heap *heap)
{
	while (heap->count)
		lasack_heap_pop_last(heap);
}

/**
 * lasack_heap_init() - an empty heap
 * @heap: to be given to lasack_heap_destroy()
 * @items: they are numbered from 0 to one less than this
 *
 * Return: 0 or -ENOMEM.
 */
int lasack_heap_init(struct lasack_heap *heap, u32 items)
{
	/* To be aligned, and for the last entry's children. */
	const u32 spare = L1_CACHE_BYTES / sizeof(*heap->entries) + LASACK_HEAP_ARITY;
	u32 i;

	heap->count = 0;
	heap->places = kvcalloc(items, sizeof(*heap->places), GFP_KERNEL);
	heap->memory = kvmalloc_array(items + 2 * spare, sizeof(*heap->entries), GFP_KERNEL);
	if (!heap->places || !heap->memory) {
		lasack_heap_destroy(heap);
		return -ENOMEM;
	}
	/* The root ends a cache line: so its children, and all others', share one. */
	heap->entries = PTR_ALIGN(heap->memory, L1_CACHE_BYTES) + L1_CACHE_BYTES -
			sizeof(*heap->entries);
	for (i = 0; i < items + LASACK_HEAP_ARITY; i++)
		heap->entries[i].key = U64_MAX;
	return 0;
}

/* Also of one that was zeroed. */
void lasack_heap_destroy(struct lasack_heap *heap)
{
	kvfree(heap->places);
	kvfree(heap->memory);
	*heap = (struct lasack_heap) {};
}
