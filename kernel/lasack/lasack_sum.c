// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums of bytes that decay with a half-life.
 *
 * Principle: all sums decay alike, so decay never changes their order. Instead of making all
 * sums smaller, the bytes that are added become larger: a byte charged one half-life later
 * weighs twice as much ("forward decay"). So a sum is changed only when bytes are added to it,
 * however long it rests.
 *
 * A sum is a floating point number in one word, because the weights grow without end. First
 * comes the exponent, then LASACK_MANTISSA_BITS of a mantissa whose highest bit is set. So two
 * sums can be compared as integers. The empty sum is 0.
 *
 * Source: G. Cormode, V. Shkapenyuk, D. Srivastava, B. Xu, "Forward Decay: A
 * Practical Time Decay Model for Streaming Systems", ICDE 2009.
 *
 * Time is measured as an age: half-lives since an origin common to all sums, in
 * units of 2^-16. An age never goes back; the half-life may change at any time.
 */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include "lasack/lasack_sum.h"

#define LASACK_MANTISSA_BITS	36
#define LASACK_MANTISSA		(BIT_ULL(LASACK_MANTISSA_BITS) - 1)
#define LASACK_WEIGHT_BITS	30	/* of fraction in what lasack_exp2() returns */

/**
 * lasack_decay_age() - the age at a time
 * @decay: how fast
 * @now: ns, not before it was set
 */
u64 lasack_decay_age(const struct lasack_decay *decay, u64 now)
{
	u64 whole, rest;

	if (!decay->halflife)
		return decay->age;
	whole = div64_u64_rem(now - decay->since, decay->halflife, &rest);
	/* A half-life is far below 2^48 ns, more than three days. */
	return decay->age + (whole << LASACK_AGE_BITS) +
	       div64_u64(rest << LASACK_AGE_BITS, decay->halflife);
}

/* Sets another half-life (ns) from @now on; with 0 the sums stay as they are. */
void lasack_decay_set(struct lasack_decay *decay, u64 halflife, u64 now)
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
static u32 lasack_exp2(u32 x)
{
	u32 low = lasack_exp2_table[x >> 12], rest = x & 0xfff;

	if (!rest)
		return low;
	return low + ((u64)(lasack_exp2_table[(x >> 12) + 1] - low) * rest >> 12);
}

/* @value * 2^exponent, as a sum; what does not fit is rounded off. */
static u64 lasack_decayed(u64 value, u32 exponent)
{
	u32 bits = fls64(value);

	if (!value)
		return 0;
	value = bits > LASACK_MANTISSA_BITS ? value >> (bits - LASACK_MANTISSA_BITS) :
					      value << (LASACK_MANTISSA_BITS - bits);
	return (u64)(exponent + bits) << LASACK_MANTISSA_BITS | value;
}

/**
 * lasack_decayed_add() - charge bytes
 * @sum: what they are added to
 * @bytes: how many
 * @age: now
 *
 * Return: the new sum, larger than @sum unless @bytes is 0.
 */
u64 lasack_decayed_add(u64 sum, u64 bytes, u64 age)
{
	u32 excess = max(fls64(bytes), 32) - 32, shift;
	u64 weight = lasack_exp2(age & (BIT(LASACK_AGE_BITS) - 1));
	u64 more = lasack_decayed(weight * (bytes >> excess), excess + (age >> LASACK_AGE_BITS));
	u64 large = max(sum, more), small = min(sum, more);
	u64 mantissa;

	if (!small)
		return large;
	shift = (large >> LASACK_MANTISSA_BITS) - (small >> LASACK_MANTISSA_BITS);
	mantissa = small & LASACK_MANTISSA;
	mantissa = shift < LASACK_MANTISSA_BITS ? mantissa >> shift : 0;
	/* However few bytes are charged, the sum grows. */
	if (small == more && !mantissa)
		mantissa = 1;
	mantissa += large & LASACK_MANTISSA;
	return lasack_decayed(mantissa, (large >> LASACK_MANTISSA_BITS) - LASACK_MANTISSA_BITS);
}

/**
 * lasack_decayed_bytes() - what is left of a sum
 * @sum: the sum
 * @age: now
 *
 * Return: bytes, rounded down, below 2^62.
 */
u64 lasack_decayed_bytes(u64 sum, u64 age)
{
	u32 part = age & (BIT(LASACK_AGE_BITS) - 1);
	u32 exponent = sum >> LASACK_MANTISSA_BITS;
	u32 whole = LASACK_WEIGHT_BITS + (age >> LASACK_AGE_BITS);
	u64 left;

	if (!sum || exponent <= whole)
		return 0;
	/* 2^-part is 2^(1 - part) / 2, which lasack_exp2() knows. */
	left = mul_u64_u32_shr(sum & LASACK_MANTISSA,
			       lasack_exp2(BIT(LASACK_AGE_BITS) - part), 31);
	exponent = min_t(u32, exponent - whole, 62);
	return exponent > LASACK_MANTISSA_BITS ? left << (exponent - LASACK_MANTISSA_BITS) :
						 left >> (LASACK_MANTISSA_BITS - exponent);
}

/* The largest sum that is less than this one, which is not 0. */
u64 lasack_decayed_before(u64 sum)
{
	const u64 highest = BIT_ULL(LASACK_MANTISSA_BITS - 1);

	sum--;
	/* If its highest bit is lost, the next mantissa has all bits, and a lesser exponent. */
	return sum & highest ? sum : sum - highest;
}
