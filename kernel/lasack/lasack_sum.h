/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sums of bytes that decay with a half-life. See lasack_sum.c.
 */
#ifndef LASACK_SUM_H
#define LASACK_SUM_H

#include <linux/minmax.h>
#include <linux/types.h>

#define LASACK_AGE_BITS	16	/* of fraction in an age */

/* Before an age becomes this large, the sums must get another origin. */
#define LASACK_AGE_MAX	(1ULL << (25 + LASACK_AGE_BITS))

/* No sum is larger: two such numbers of bytes, or of that age with any mantissa, have 63 bits. */
#define LASACK_SUM_MAX	((1ULL << 62) - 2)

struct lasack_decay {
	u64	halflife;	/* ns, 0: no decay */
	u64	since;		/* ns: when it was set */
	u64	age;		/* at that time */
};

u64 lasack_decay_age(const struct lasack_decay *decay, u64 now);
void lasack_decay_set(struct lasack_decay *decay, u64 halflife, u64 now);

u64 lasack_decayed_add(u64 sum, u64 bytes, u64 age);
u64 lasack_decayed_bytes(u64 sum, u64 age);
u64 lasack_decayed_before(u64 sum);

/*
 * Without decay a sum is a plain number of bytes, with decay what lasack_sum.c says. Either way
 * the lesser number is the lesser sum.
 */
static inline u64 lasack_sum_add(const struct lasack_decay *decay, u64 sum, u64 bytes, u64 age)
{
	if (unlikely(decay->halflife))
		return lasack_decayed_add(sum, bytes, age);
	return min(sum + bytes, LASACK_SUM_MAX);
}

/* Bytes that are left of a sum. */
static inline u64 lasack_sum_bytes(const struct lasack_decay *decay, u64 sum, u64 age)
{
	return likely(!decay->halflife) ? sum : lasack_decayed_bytes(sum, age);
}

/* The largest that is less, but not below 0: with decay, a byte less may be rounded to no less. */
static inline u64 lasack_sum_before(const struct lasack_decay *decay, u64 sum)
{
	if (!sum)
		return 0;
	return likely(!decay->halflife) ? sum - 1 : lasack_decayed_before(sum);
}

/* Bytes less, not below 0. */
static inline u64 lasack_sum_sub(const struct lasack_decay *decay, u64 sum, u64 bytes, u64 age)
{
	u64 left = lasack_sum_bytes(decay, sum, age);

	return lasack_sum_add(decay, 0, left > bytes ? left - bytes : 0, age);
}

#endif
