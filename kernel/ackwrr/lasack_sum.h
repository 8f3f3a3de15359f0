/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sums of bytes that decay with a half-life.
 *
 * Principle: all sums decay alike, so decay changes no order, and what grows is
 * the unit in which bytes are added: a byte charged one half-life later weighs
 * twice as much ("forward decay"). No sum is touched but to add to it, however
 * long it rests. It is a floating point number, so that the unit may grow for
 * ever; without a half-life the unit stays, and every sum below 2^64 bytes is
 * exact.
 *
 * Source: G. Cormode, V. Shkapenyuk, D. Srivastava, B. Xu, "Forward Decay: A
 * Practical Time Decay Model for Streaming Systems", ICDE 2009.
 *
 * Time is measured as an age: half-lives since an origin common to all sums, in
 * units of 2^-16. An age is never set back; the half-life may change any time.
 */
#ifndef ACKWRR_LASACK_SUM_H
#define ACKWRR_LASACK_SUM_H

#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define LASACK_AGE_BITS	16	/* of fraction in an age */

/*
 * mantissa * 2^(exponent - 64) bytes of age 0. The mantissa's highest bit is
 * set; nothing is 0 and 0. The exponent lasts for 2^32 half-lives.
 */
struct lasack_sum {
	u64	mantissa;
	u32	exponent;
};

struct lasack_decay {
	u64	halflife;	/* ns, 0: no decay */
	u64	since;		/* ns: when it was set */
	u64	age;		/* at that time */
};

/**
 * lasack_decay_age() - the age at a time
 * @decay: how fast
 * @now: ns, not before it was set
 */
static inline u64 lasack_decay_age(const struct lasack_decay *decay, u64 now)
{
	u64 whole, rest;

	if (!decay->halflife)
		return decay->age;
	whole = div64_u64_rem(now - decay->since, decay->halflife, &rest);
	/* A half-life is far below 2^48 ns, more than three days. */
	return decay->age + (whole << LASACK_AGE_BITS) +
	       div64_u64(rest << LASACK_AGE_BITS, decay->halflife);
}

/* From @now on another half-life (ns), or 0: what is left stays. */
static inline void lasack_decay_set(struct lasack_decay *decay, u64 halflife,
				    u64 now)
{
	decay->age = lasack_decay_age(decay, now);
	decay->since = now;
	decay->halflife = halflife;
}

/* 2^(k/16) in units of 2^-30, rounded to nearest */
static const u32 lasack_exp2_table[] = {
	0x40000000, 0x42d561b4, 0x45cae0f2, 0x48e1e9ba,
	0x4c1bf829, 0x4f7a9930, 0x52ff6b55, 0x56ac1f75,
	0x5a82799a, 0x5e8451d0, 0x62b39509, 0x6712460b,
	0x6ba27e65, 0x70666f76, 0x75606374, 0x7a92be8b,
	0x80000000,
};

/*
 * 2^x for an x of 0 to 1 in units of 2^-16; in units of 2^-30. Between the
 * table's points a straight line: too much by (ln 2 / 16)^2 / 8 at most, which
 * is 0.024 %.
 */
static inline u32 lasack_exp2(u32 x)
{
	u32 low = lasack_exp2_table[x >> 12], rest = x & 0xfff;

	if (!rest)
		return low;
	return low + ((u64)(lasack_exp2_table[(x >> 12) + 1] - low) * rest >> 12);
}

/**
 * lasack_sum_add() - charge bytes
 * @sum: what they are added to
 * @bytes: below 2^31
 * @age: now
 */
static inline void lasack_sum_add(struct lasack_sum *sum, u32 bytes, u64 age)
{
	u64 weight = lasack_exp2(age & (BIT(LASACK_AGE_BITS) - 1));
	struct lasack_sum more;
	u32 bits, shift;

	if (!bytes)
		return;
	more.mantissa = weight * bytes;
	bits = fls64(more.mantissa);
	more.mantissa <<= 64 - bits;
	more.exponent = bits - 30 + (age >> LASACK_AGE_BITS);

	if (sum->exponent < more.exponent)
		swap(*sum, more);
	shift = sum->exponent - more.exponent;
	if (shift >= 64)
		return;
	more.mantissa >>= shift;
	sum->mantissa += more.mantissa;
	if (sum->mantissa < more.mantissa) {	/* the carry */
		sum->mantissa = sum->mantissa >> 1 | BIT_ULL(63);
		sum->exponent++;
	}
}

/**
 * lasack_sum_bytes() - what is left of a sum
 * @sum: the sum
 * @age: now
 *
 * Return: bytes, rounded down.
 */
static inline u64 lasack_sum_bytes(const struct lasack_sum *sum, u64 age)
{
	u32 part = age & (BIT(LASACK_AGE_BITS) - 1);
	u32 whole = age >> LASACK_AGE_BITS;
	u64 left;

	if (sum->exponent <= whole)
		return 0;
	/* 2^-part is 2^(1 - part) / 2, which lasack_exp2() knows. */
	left = mul_u64_u32_shr(sum->mantissa,
			       lasack_exp2(BIT(LASACK_AGE_BITS) - part), 31);
	return left >> (64 - min_t(u32, sum->exponent - whole, 64));
}

static inline bool lasack_sum_equal(const struct lasack_sum *a,
				    const struct lasack_sum *b)
{
	return a->mantissa == b->mantissa && a->exponent == b->exponent;
}

/* At any time, for both decay alike. */
static inline bool lasack_sum_less(const struct lasack_sum *a,
				   const struct lasack_sum *b)
{
	if (a->exponent != b->exponent)
		return a->exponent < b->exponent;
	return a->mantissa < b->mantissa;
}

#endif
