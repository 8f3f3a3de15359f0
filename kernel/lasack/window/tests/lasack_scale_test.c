// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of the scales that queues tell each other.
 *
 * Principle: what is found is what was noted, or nothing: never what another connection, another
 * device or an earlier connection said. And a queue that sees only the ACKs of an upload makes its
 * window as small as one that saw how it was accepted.
 */
#include <kunit/test.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include "lasack/tests/lasack_frames.h"

#define HASH	0x123456789abcdef0ULL
#define NOW	1000U	/* s */
#define ACK	0xfffff000U	/* the first one */

static const struct lasack_window_scale seven = { .shift = 7, .known = 1 };

/* Return: the shift that is found, or -1. */
static int found(u64 hash, u32 now)
{
	struct lasack_window_scale scale = lasack_scale_find_at(hash, ACK, now);

	return scale.known && !scale.unclear ? scale.shift : -1;
}

static void scale_is_found(struct kunit *test)
{
	struct lasack_window_scale other = { .shift = 14, .known = 1, .reversed = 1 };
	u32 i;

	KUNIT_EXPECT_EQ(test, found(HASH, NOW), -1);
	lasack_scale_note_at(HASH, ACK, seven, NOW);
	KUNIT_EXPECT_EQ(test, found(HASH, NOW), 7);
	KUNIT_EXPECT_FALSE(test, lasack_scale_find_at(HASH, ACK, NOW).reversed);
	/* It is sent again. */
	lasack_scale_note_at(HASH, ACK, seven, NOW + 1);
	KUNIT_EXPECT_EQ(test, found(HASH, NOW + 1), 7);
	/* Every other connection: in the same place, or with the same tag. */
	for (i = 0; i < 64; i++)
		KUNIT_EXPECT_EQ(test, found(HASH ^ BIT_ULL(i), NOW + 1), i < 12 || i > 43 ? -1 : 7);
	lasack_scale_note_at(HASH ^ BIT_ULL(50), ACK, other, NOW + 1);
	KUNIT_EXPECT_EQ(test, found(HASH, NOW + 1), -1);
	KUNIT_EXPECT_EQ(test, found(HASH ^ BIT_ULL(50), NOW + 1), 14);
	KUNIT_EXPECT_TRUE(test, lasack_scale_find_at(HASH ^ BIT_ULL(50), ACK, NOW + 1).reversed);
}

/* One of two that differ is forged. That stays so, whatever comes then. */
static void scale_may_be_forged(struct kunit *test)
{
	struct lasack_window_scale other = seven, unclear = { .unclear = 1 };
	u32 i;

	for (i = 0; i < 2; i++) {
		other = seven;
		if (i)
			other.reversed = 1;
		else
			other.shift = 8;
		lasack_scale_note_at(HASH + i, ACK, seven, NOW);
		lasack_scale_note_at(HASH + i, ACK, other, NOW);
		KUNIT_EXPECT_EQ(test, found(HASH + i, NOW), -1);
		lasack_scale_note_at(HASH + i, ACK, other, NOW);
		KUNIT_EXPECT_EQ(test, found(HASH + i, NOW), -1);
	}
	lasack_scale_note_at(HASH + 2, ACK, unclear, NOW);
	KUNIT_EXPECT_EQ(test, found(HASH + 2, NOW), -1);
	lasack_scale_note_at(HASH + 2, ACK, seven, NOW);
	KUNIT_EXPECT_EQ(test, found(HASH + 2, NOW), -1);
}

/* Who forges a packet does not know the number. The real one takes its place, and stays. */
static void scale_is_of_a_number(struct kunit *test)
{
	struct lasack_window_scale other = { .shift = 14, .known = 1 };
	u32 i;

	lasack_scale_note_at(HASH, ACK + (1U << 30), other, NOW);
	KUNIT_EXPECT_EQ(test, found(HASH, NOW), -1);
	lasack_scale_note_at(HASH, ACK, seven, NOW);
	for (i = 0; i <= 20; i++)
		KUNIT_EXPECT_TRUE(test, lasack_scale_find_at(HASH, ACK + BIT(i), NOW).known);
	for (i = 21; i < 32; i++)
		KUNIT_EXPECT_FALSE(test, lasack_scale_find_at(HASH, ACK + BIT(i), NOW).known);
	KUNIT_EXPECT_FALSE(test, lasack_scale_find_at(HASH, ACK - 1, NOW).known);
}

/* A later connection with the same ports is another one. The clock wraps. */
static void scale_gets_old(struct kunit *test)
{
	const u32 starts[] = { NOW, (1U << 16) - 1, U32_MAX - 10 };
	struct lasack_window_scale other = { .shift = 8, .known = 1 };
	u32 i, now;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		now = starts[i];
		lasack_scale_note_at(HASH + i, ACK, seven, now);
		KUNIT_EXPECT_EQ(test, found(HASH + i, now + 300), 7);
		KUNIT_EXPECT_EQ(test, found(HASH + i, now + 301), -1);
		lasack_scale_note_at(HASH + i, ACK, other, now + 301);
		KUNIT_EXPECT_EQ(test, found(HASH + i, now + 301), 8);
	}
}

/* The connection is accepted in another queue. */
static void accepted_elsewhere(struct kunit *test, struct frame f)
{
	struct lasack_queue *acks = test->priv;

	test->priv = NULL;
	lasack_test_reshape(test, (struct lasack_shape) { .aqm = true });
	begin(test, f);
	lasack_test_exit(test);
	test->priv = acks;
}

/* Return: the shift that one of the queue's flows was told, plus 1; 0: none was. */
static u32 told(struct kunit *test)
{
	const struct lasack_queue *q = test->priv;
	u32 i, sum = 0;

	for (i = 0; i < q->aqm->size; i++)
		if (q->aqm->flows[i].scale.told && q->aqm->flows[i].scale.known)
			sum += q->aqm->flows[i].scale.shift + 1;
	return sum;
}

static void scale_is_told(struct kunit *test)
{
	accepted_elsewhere(test, accepts());
	KUNIT_EXPECT_EQ(test, lowered(test, nth_ack(0), 1, 4), 0U);
	KUNIT_EXPECT_GT(test, lowered(test, nth_ack(0), 5, 60), 0U);
	/* It is asked once: what comes later, from whom ever, changes nothing. */
	memset(lasack_scales, 0, sizeof(lasack_scales));
	KUNIT_EXPECT_GT(test, lowered(test, nth_ack(0), 65, 60), 0U);
}

static void scale_is_not_told(struct kunit *test)
{
	struct frame f = accepts();
	u32 far = (1U << 30) / MSS;

	KUNIT_EXPECT_EQ(test, lowered(test, nth_ack(0), 1, 60), 0U);
	/* Nor is it asked again ... */
	accepted_elsewhere(test, f);
	KUNIT_EXPECT_EQ(test, lowered(test, nth_ack(0), 61, 60), 0U);
	/* ... until the numbers are those of another connection. */
	f.ack_seq = FIRST + far * MSS;
	accepted_elsewhere(test, f);
	KUNIT_EXPECT_GT(test, lowered(test, nth_ack(0), far, 200), 0U);
	KUNIT_EXPECT_EQ(test, told(test), SCALE + 1);
}

/* Forged, in the other queue, with another number. Then the ACKs come, and do so elsewhere. */
static void scale_is_a_lie(struct kunit *test)
{
	struct frame f = accepts();

	f.option[3] = 14;
	f.ack_seq = FIRST + (1U << 30);
	accepted_elsewhere(test, f);
	KUNIT_EXPECT_EQ(test, lowered(test, nth_ack(0), 1, 60), 0U);
	KUNIT_EXPECT_EQ(test, told(test), 0);
}

/* ACKs that are elsewhere make it doubt. The number of now is not that of the beginning. */
static void scale_is_doubted(struct kunit *test)
{
	accepted_elsewhere(test, accepts());
	KUNIT_EXPECT_GT(test, lowered(test, nth_ack(0), 1, 60), 0U);
	KUNIT_EXPECT_EQ(test, told(test), SCALE + 1);
	lowered(test, nth_ack(0), (1U << 30) / MSS, 200);
	KUNIT_EXPECT_EQ(test, told(test), 0);
}

/* Another connection on the same ports: its numbers are elsewhere, and so may its scale be. */
static void scale_of_the_next_connection(struct kunit *test)
{
	struct frame f = accepts();
	u32 far = (1U << 30) / MSS;

	accepted_elsewhere(test, f);
	KUNIT_EXPECT_EQ(test, lowered(test, nth_ack(0), 1, 4), 0U);
	KUNIT_EXPECT_GT(test, lowered(test, nth_ack(0), 5, 60), 0U);
	KUNIT_EXPECT_EQ(test, told(test), SCALE + 1);
	f.ack_seq = FIRST + far * MSS;
	f.option[3] = 0;
	accepted_elsewhere(test, f);
	lowered(test, nth_ack(0), far, 200);
	KUNIT_EXPECT_EQ(test, told(test), 1);
}

static struct kunit_case lasack_scale_cases[] = {
	KUNIT_CASE(scale_is_found),
	KUNIT_CASE(scale_may_be_forged),
	KUNIT_CASE(scale_is_of_a_number),
	KUNIT_CASE(scale_gets_old),
	KUNIT_CASE(scale_is_told),
	KUNIT_CASE(scale_is_not_told),
	KUNIT_CASE(scale_is_a_lie),
	KUNIT_CASE(scale_is_doubted),
	KUNIT_CASE(scale_of_the_next_connection),
	{}
};

static struct kunit_suite lasack_scale_suite = {
	.name = "lasack_scale",
	.init = lasack_aqm_test_init,
	.exit = lasack_test_exit,
	.test_cases = lasack_scale_cases,
};

kunit_test_suite(lasack_scale_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of the scales that the queues of LAS-ACK tell each other");
