// SPDX-License-Identifier: GPL-2.0-only
/*
 * Large arrays that take no more memory than they need.
 *
 * Principle: kvcalloc() rounds up to a power of two pages, up to 4 MB, so tables of flows would
 * take up to twice what they need. vmalloc() does not, but its memory is mapped page by page, which
 * costs each lookup. So the pages behind the array are given back; vmalloc() is for what is left.
 */
#include <linux/gfp.h>
#include <linux/kmemleak.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "common/exact_array.h"

/* Smaller ones are slab objects, bytes. */
#define EXACT_ARRAY_PAGES	(PAGE_SIZE / 2)

/**
 * exact_array_alloc() - a zeroed array
 * @count: its elements
 * @size: of an element, bytes
 *
 * Return: the array, aligned to a cache line unless it is small, or NULL: no memory.
 */
void *exact_array_alloc(size_t count, size_t size)
{
	size_t bytes = size_mul(count, size);
	void *array = NULL;

	if (bytes < EXACT_ARRAY_PAGES)
		return kzalloc(bytes, GFP_KERNEL);
	if (bytes <= KMALLOC_MAX_SIZE)
		array = alloc_pages_exact(bytes, GFP_KERNEL | __GFP_ZERO | __GFP_NORETRY |
						 __GFP_NOWARN);
	/* Who asks for too much gets an error from tc, so the log need not say it. */
	if (!array)
		return __vmalloc(bytes, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
	/* Packets are known only from here. */
	kmemleak_alloc(array, bytes, 1, GFP_KERNEL);
	return array;
}

/**
 * exact_array_free() - the array is not needed any more
 * @array: from exact_array_alloc(), or NULL
 * @count: as it was given there
 * @size: likewise
 */
void exact_array_free(void *array, size_t count, size_t size)
{
	size_t bytes = size_mul(count, size);

	if (!array || bytes < EXACT_ARRAY_PAGES) {
		kfree(array);
	} else if (is_vmalloc_addr(array)) {
		vfree(array);
	} else {
		kmemleak_free(array);
		free_pages_exact(array, bytes);
	}
}
