// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of the sums that decay.
 *
 * Principle: expected values are those of real arithmetic, worked out
 * beforehand with 50 decimal digits (Python's decimal, 10^9 * 2^(-k/8) and
 * 1500 * sum over i of 2^(-(n - i)/10)); without a half-life they are plain
 * integers.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include "lasack/tests/lasack_packets.h"

#define HALFLIFE	30000000000ULL	/* ns */

/* Within 0.1 %: a tenth of what is asked for. One byte is rounded off. */
static void expect_close(struct kunit *test, u64 is, u64 should)
{
	KUNIT_EXPECT_LE(test, is, should + div_u64(should, 1000));
	KUNIT_EXPECT_GE(test, is + 1, should - div_u64(should, 1000));
}

static struct lasack_decay decay_from(u64 start)
{
	struct lasack_decay decay = {};

	lasack_decay_set(&decay, HALFLIFE, start);
	return decay;
}

/* 10^9 bytes at once, each eighth of a half-life, over ten of them. */
static void sum_decays(struct kunit *test)
{
	static const u32 expected[81] = {
		1000000000, 917004043, 840896415, 771105413, 707106781, 648419777,
		594603558, 545253866, 500000000, 458502022, 420448208, 385552706,
		353553391, 324209889, 297301779, 272626933, 250000000, 229251011,
		210224104, 192776353, 176776695, 162104944, 148650889, 136313467,
		125000000, 114625505, 105112052, 96388177, 88388348, 81052472,
		74325445, 68156733, 62500000, 57312753, 52556026, 48194088,
		44194174, 40526236, 37162722, 34078367, 31250000, 28656376,
		26278013, 24097044, 22097087, 20263118, 18581361, 17039183,
		15625000, 14328188, 13139006, 12048522, 11048543, 10131559,
		9290681, 8519592, 7812500, 7164094, 6569503, 6024261, 5524272,
		5065780, 4645340, 4259796, 3906250, 3582047, 3284752, 3012131,
		2762136, 2532890, 2322670, 2129898, 1953125, 1791024, 1642376,
		1506065, 1381068, 1266445, 1161335, 1064949, 976562,
	};
	u64 start, age;
	int i, k;

	/* The origin is no special time; 7 is prime to everything. */
	for (i = 0; i < 8; i++) {
		struct lasack_decay decay = decay_from(12345);
		u64 sum = 0;

		start = 12345 + i * HALFLIFE / 7;
		sum = lasack_decayed_add(sum, 1000000000, lasack_decay_age(&decay, start));
		for (k = 0; k <= 80; k++) {
			age = lasack_decay_age(&decay, start + k * HALFLIFE / 8);
			expect_close(test, lasack_decayed_bytes(sum, age), expected[k]);
		}
	}
}

/* 1500 bytes each tenth of a half-life, over ten of them. */
static void sum_of_a_stream(struct kunit *test)
{
	static const u32 expected[101] = {
		[10] = 11950, [25] = 18705, [37] = 20791, [50] = 21746,
		[99] = 22377, [100] = 22379,
	};
	struct lasack_decay decay = decay_from(0);
	u64 sum = 0;
	u64 age;
	int n;

	for (n = 0; n <= 100; n++) {
		age = lasack_decay_age(&decay, n * HALFLIFE / 10);
		sum = lasack_decayed_add(sum, 1500, age);
		if (expected[n])
			expect_close(test, lasack_decayed_bytes(sum, age), expected[n]);
	}
}

/* Within what the mantissa holds; and whatever is added, the sum is larger. */
static void sum_grows_with_every_byte(struct kunit *test)
{
	u64 sum = 0, before = 0, plain = 0;
	struct rnd_state rng;
	u32 bytes;
	int i;

	prandom_seed_state(&rng, 5);
	for (i = 0; i < 100000; i++) {
		bytes = prandom_u32_state(&rng) >> (1 + i % 31);
		before = sum;
		sum = lasack_decayed_add(sum, bytes, 0);
		plain += bytes;
		expect_close(test, lasack_decayed_bytes(sum, 0), plain);
		KUNIT_ASSERT_EQ(test, before < sum, bytes > 0);
		KUNIT_ASSERT_EQ(test, before == sum, !bytes);
	}
}

/* Below 2^35 bytes nothing is rounded off; without a half-life, never. */
static void sum_is_exact_without_decay(struct kunit *test)
{
	struct lasack_decay decay = {};
	u64 sum = 0, decayed = 0, plain = 0;
	struct rnd_state rng;
	u32 bytes;
	int i;

	prandom_seed_state(&rng, 6);
	for (i = 0; i < 100000; i++) {
		bytes = prandom_u32_state(&rng) >> (15 + i % 17);
		sum = lasack_sum_add(&decay, sum, bytes, 0);
		decayed = lasack_decayed_add(decayed, bytes, 0);
		plain += bytes;
		KUNIT_ASSERT_EQ(test, lasack_sum_bytes(&decay, sum, 0), plain);
		KUNIT_ASSERT_EQ(test, lasack_decayed_bytes(decayed, 0), plain);
	}
}

/* A byte is worth two of those that came one half-life before. */
static void sum_later_bytes_weigh_more(struct kunit *test)
{
	struct lasack_decay decay = decay_from(0);
	u64 age = lasack_decay_age(&decay, HALFLIFE);
	u64 early = 0, less = 0, more = 0;

	early = lasack_decayed_add(early, 1000, 0);
	less = lasack_decayed_add(less, 499, age);
	more = lasack_decayed_add(more, 500, age);
	KUNIT_EXPECT_LT(test, less, early);
	KUNIT_EXPECT_EQ(test, more, early);
	more = lasack_decayed_add(more, 1, age);
	KUNIT_EXPECT_LT(test, early, more);
}

/* 2^25 half-lives: more than a month of the shortest, 100 ms. */
static void sum_of_a_long_life(struct kunit *test)
{
	struct lasack_decay decay = decay_from(0);
	u64 sum = 0;
	u64 age;
	int i;

	sum = lasack_decayed_add(sum, 1000, 0);
	for (i = 1; i <= 32; i++) {
		age = lasack_decay_age(&decay, i * HALFLIFE << 20);
		KUNIT_EXPECT_EQ(test, lasack_decayed_bytes(sum, age), 0ULL);
		sum = lasack_decayed_add(sum, 1000, age);
		KUNIT_EXPECT_EQ(test, lasack_decayed_bytes(sum, age), 1000ULL);
	}
}

/* Flow 1's sum is @bytes now. */
static void expect_left(struct kunit *test, u64 now, u64 bytes)
{
	lasack_queue_advance(test->priv, now);
	KUNIT_EXPECT_EQ(test, attained(test, 1), bytes);
}

/* The half-life is set anew: what is left stays, and decays as it says. */
static void sum_half_life_changes(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	u64 now = HALFLIFE;

	lasack_queue_set_halflife(q, HALFLIFE);
	add(test, data(1, 8000), 1);
	serve(test);
	expect_left(test, now, 4000);
	lasack_queue_set_halflife(q, 1000);
	expect_left(test, now, 4000);
	now += 1000;
	expect_left(test, now, 2000);
	lasack_queue_set_halflife(q, 0);
	expect_left(test, now, 2000);
	now += 100 * HALFLIFE;
	expect_left(test, now, 2000);
	add(test, data(1, 500), 1);
	serve(test);
	expect_left(test, now, 2500);
	lasack_queue_set_halflife(q, 1000);
	expect_left(test, now, 2500);
	expect_left(test, now + 1000, 1250);
}

/* After 2^25 half-lives the sums have another origin; nobody sees it. */
static void sum_origin_moves(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	u64 now = (1ULL << 25) * 1000 - 1000;

	lasack_queue_set_halflife(q, 1000);
	lasack_queue_advance(q, now);
	add(test, data(1, 8000), 1);
	serve(test);
	add(test, data(1, 100), 1);
	add(test, data(2, 100), 2);
	expect_left(test, now + 1000, 4000);
	KUNIT_EXPECT_EQ(test, q->age, 0ULL);
	expect_left(test, now + 2000, 2000);
	KUNIT_EXPECT_EQ(test, serve(test), 2U);
	KUNIT_EXPECT_EQ(test, serve(test), 1U);
}

/* A stream of old beats a newcomer that has taken more of late. */
static void sum_decides_who_is_served(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	lasack_queue_set_halflife(q, 1000);
	add(test, data(1, 8000), 1);
	serve(test);
	lasack_queue_advance(q, 3000);	/* flow 1 has 1000 left */
	add(test, data(2, 1100), 2);
	serve(test);
	add(test, data(2, 10), 3);
	add(test, data(1, 10), 4);
	add(test, data(1, 10), 5);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 1000ULL);
	KUNIT_EXPECT_EQ(test, serve(test), 4U);
	KUNIT_EXPECT_EQ(test, serve(test), 5U);
	KUNIT_EXPECT_EQ(test, serve(test), 3U);
}

/*
 * Without decay a byte less, with decay so little that no sum is between: a byte more is more than
 * the sum itself, or as much. At the powers of two the exponent is another.
 */
static void sum_before(struct kunit *test)
{
	struct lasack_decay decay = {};
	u64 age, bytes, sum, before;

	KUNIT_EXPECT_EQ(test, lasack_sum_before(&decay, 1000), 999ULL);
	KUNIT_EXPECT_EQ(test, lasack_sum_before(&decay, 0), 0ULL);
	lasack_decay_set(&decay, NSEC_PER_SEC, 0);
	KUNIT_EXPECT_EQ(test, lasack_sum_before(&decay, 0), 0ULL);
	for (bytes = 1; bytes <= 1ULL << 32; bytes *= 2) {
		for (age = 0; age < 1 << 17; age += 4096) {
			sum = lasack_sum_add(&decay, 0, bytes, age);
			before = lasack_sum_before(&decay, sum);
			KUNIT_EXPECT_LT(test, before, sum);
			KUNIT_EXPECT_NE(test, before & BIT_ULL(LASACK_MANTISSA_BITS - 1), 0ULL);
			KUNIT_EXPECT_GE(test, lasack_sum_add(&decay, before, 1, age), sum);
		}
	}
}

static struct kunit_case lasack_sum_cases[] = {
	KUNIT_CASE(sum_decays),
	KUNIT_CASE(sum_of_a_stream),
	KUNIT_CASE(sum_grows_with_every_byte),
	KUNIT_CASE(sum_before),
	KUNIT_CASE(sum_is_exact_without_decay),
	KUNIT_CASE(sum_later_bytes_weigh_more),
	KUNIT_CASE(sum_of_a_long_life),
	KUNIT_CASE(sum_half_life_changes),
	KUNIT_CASE(sum_origin_moves),
	KUNIT_CASE(sum_decides_who_is_served),
	{}
};

static struct kunit_suite lasack_sum_suite = {
	.name		= "lasack_sum",
	.init		= lasack_test_init,
	.exit		= lasack_test_exit,
	.test_cases	= lasack_sum_cases,
};

kunit_test_suite(lasack_sum_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of the decaying sums of LAS-ACK");
