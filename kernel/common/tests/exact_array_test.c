// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of arrays that take no more memory than they need.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/page_ref.h>
#include <linux/string.h>
#include "common/exact_array.c"

/* Slab objects, pages and what is mapped page by page; on both sides of each boundary. */
static const size_t sizes[] = {
	1, EXACT_ARRAY_PAGES - 1, EXACT_ARRAY_PAGES, PAGE_SIZE, PAGE_SIZE + 1, 5 * PAGE_SIZE,
	KMALLOC_MAX_SIZE, KMALLOC_MAX_SIZE + 1, KMALLOC_MAX_SIZE + 5 * PAGE_SIZE,
};

static void arrays_are_zeroed(struct kunit *test)
{
	u32 i, round;
	u8 *array;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (round = 0; round < 2; round++) {
			array = exact_array_alloc(sizes[i], 1);
			KUNIT_ASSERT_NOT_NULL(test, array);
			KUNIT_EXPECT_NULL(test, memchr_inv(array, 0, sizes[i]));
			memset(array, 0xff, sizes[i]);
			exact_array_free(array, sizes[i], 1);
		}
	}
}

/* The pages behind it are somebody else's, or nobody's: they belong to no block of eight. */
static void arrays_take_what_they_need(struct kunit *test)
{
	u8 *array = exact_array_alloc(5, PAGE_SIZE);

	KUNIT_ASSERT_NOT_NULL(test, array);
	if (!is_vmalloc_addr(array)) {
		KUNIT_EXPECT_FALSE(test, PageCompound(virt_to_page(array)));
		KUNIT_EXPECT_EQ(test, page_ref_count(virt_to_page(array + 4 * PAGE_SIZE)), 1);
	}
	exact_array_free(array, 5, PAGE_SIZE);
}

static void arrays_too_large(struct kunit *test)
{
	KUNIT_EXPECT_NULL(test, exact_array_alloc(SIZE_MAX / 2, 4));
	exact_array_free(NULL, 5, PAGE_SIZE);
}

static struct kunit_case exact_array_cases[] = {
	KUNIT_CASE(arrays_are_zeroed),
	KUNIT_CASE(arrays_take_what_they_need),
	KUNIT_CASE(arrays_too_large),
	{}
};

static struct kunit_suite exact_array_suite = {
	.name = "exact_array",
	.test_cases = exact_array_cases,
};

kunit_test_suite(exact_array_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of arrays that take no more memory than they need");
