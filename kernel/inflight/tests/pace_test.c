// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of what a device's pace says of its bound: does it send one by one?
 *
 * Principle: packets leave at times chosen by hand, those of 54 Mb/s: 395 us for one, ten in 4 ms.
 * An aggregate's leave at once.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include "inflight/pace.c"

#define US(us)	((u64)(us) * NSEC_PER_USEC)
#define MS(ms)	((u64)(ms) * NSEC_PER_MSEC)
#define FRAME	395	/* us */

static int pace_test_init(struct kunit *test)
{
	test->priv = kunit_kzalloc(test, sizeof(struct inflight_pace), GFP_KERNEL);
	return test->priv ? 0 : -ENOMEM;
}

/* So many packets of @bytes leave one by one in @each us from @now on, so many others behind. */
static u64 leave_of(struct kunit *test, u32 bytes, u32 packets, u32 each, u32 others, u64 now)
{
	while (packets--) {
		now += US(each);
		inflight_pace_note(test->priv, 0, bytes, 1, others, now);
	}
	return now;
}

static u64 leave(struct kunit *test, u32 packets, u32 each, u32 others, u64 now)
{
	return leave_of(test, 1500, packets, each, others, now);
}

static u64 leave_acks(struct kunit *test, u32 packets, u32 each, u64 now)
{
	return leave_of(test, 66, packets, each, 0, now);
}

/* After 32 packets that left alone while two others waited, an eighth is one: four. */
static void pace_one_by_one(struct kunit *test)
{
	u64 now = leave(test, 31, FRAME, 2, MS(1000));

	KUNIT_EXPECT_EQ(test, inflight_pace_packets(test->priv, now), 10U);
	now = leave(test, 1, FRAME, 2, now);
	KUNIT_EXPECT_EQ(test, inflight_pace_packets(test->priv, now), 4U);
	/* For a second, though two are behind all the time; then it is tried again. */
	now = leave(test, 2500, FRAME, 2, now);
	KUNIT_EXPECT_EQ(test, inflight_pace_packets(test->priv, now), 4U);
	now = leave(test, 32, FRAME, 2, now);
	KUNIT_EXPECT_EQ(test, inflight_pace_packets(test->priv, now), 10U);
	now = leave(test, 32, FRAME, 2, now);
	KUNIT_EXPECT_EQ(test, inflight_pace_packets(test->priv, now), 4U);
}

/* 802.11b has two packets, and keeps them. At 100 us each an eighth of 40 is five. */
static void pace_of_other_rates(struct kunit *test)
{
	struct inflight_pace *pace = test->priv;
	u64 now = leave(test, 64, 2000, 9, MS(1000));

	KUNIT_EXPECT_EQ(test, inflight_pace_packets(pace, now), 2U);
	*pace = (struct inflight_pace) {};
	now = leave(test, 64, 100, 9, MS(1000));
	KUNIT_EXPECT_EQ(test, inflight_pace_packets(pace, now), 5U);
}

/*
 * 802.11b: a long packet takes 1.6 ms, an ACK 0.7. The ACKs would allow five packets. After 32 that
 * left alone it is two for ten seconds, whoever waits; then it is tried again.
 */
static void pace_of_slow_devices(struct kunit *test)
{
	struct inflight_pace *pace = test->priv;
	u64 now = leave(test, 7, 1600, 0, MS(1000));	/* the third is the first of a known pace */

	now = leave_acks(test, 26, 700, now);
	KUNIT_EXPECT_EQ(test, inflight_pace_packets(pace, now), 5U);
	now = leave(test, 1, 1600, 0, now);
	KUNIT_EXPECT_EQ(test, inflight_pace_packets(pace, now), 2U);
	now = leave_acks(test, 2, 700, leave(test, 6249, 1600, 0, now));
	KUNIT_EXPECT_EQ(test, inflight_pace_packets(pace, now), 2U);
	now = leave_acks(test, 2, 700, now);
	KUNIT_EXPECT_EQ(test, inflight_pace_packets(pace, now), 5U);
	now = leave_acks(test, 32, 700, now);
	KUNIT_EXPECT_EQ(test, inflight_pace_packets(pace, now), 2U);
	/* Two that leave together end it. */
	now = leave_acks(test, 1, 99, now);
	KUNIT_EXPECT_EQ(test, inflight_pace_packets(pace, now), 5U);
}

/* A call over a fast device leaves one by one, too, and few bytes. Then a download begins. */
static void pace_with_little_to_send(struct kunit *test)
{
	struct inflight_pace *pace = test->priv;
	u64 now = MS(1000);
	u32 i;

	for (i = 0; i < 100; i++) {
		now += MS(20);
		inflight_pace_note(pace, now - US(200), 200, 1, 0, now);
	}
	now = leave(test, 32, FRAME, 1, now);
	KUNIT_EXPECT_EQ(test, inflight_pace_packets(pace, now), 10U);
}

/* ACKs at 54 Mb/s are few bytes, but many packets. */
static void pace_of_acks(struct kunit *test)
{
	u64 now = leave_acks(test, 500, 120, MS(1000));

	KUNIT_EXPECT_GT(test, inflight_pace_packets(test->priv, now), 2U);
}

/* What was learnt of 802.11b does not last once the device is faster. */
static void pace_of_a_device_that_speeds_up(struct kunit *test)
{
	u64 now = leave(test, 40, 1600, 0, MS(1000));

	now = leave(test, 20, FRAME, 0, now);
	KUNIT_EXPECT_EQ(test, inflight_pace_packets(test->priv, now), 10U);
}

/* Who sends a packet now and then has not shown that the device cannot aggregate. */
static void pace_with_nobody_behind(struct kunit *test)
{
	u64 now = leave(test, 1000, FRAME, 1, MS(1000));

	KUNIT_EXPECT_EQ(test, inflight_pace_packets(test->priv, now), 10U);
}

/* One aggregate says that there will be more: at once, and for the next 31 packets. */
static void pace_with_an_aggregate(struct kunit *test)
{
	u64 now = leave(test, 32, FRAME, 9, MS(1000));

	now = leave(test, 1, 99, 8, now);
	KUNIT_EXPECT_GE(test, inflight_pace_packets(test->priv, now), 10U);
	now = leave(test, 31, FRAME, 9, now);
	now = leave(test, 1, 99, 8, now);
	now = leave(test, 31, FRAME, 9, now);
	KUNIT_EXPECT_GE(test, inflight_pace_packets(test->priv, now), 10U);
	now = leave(test, 1, FRAME, 9, now);
	KUNIT_EXPECT_EQ(test, inflight_pace_packets(test->priv, now), 4U);
}

/* Bytes are not bounded by it: it is only packets that wait. */
static void pace_of_bytes(struct kunit *test)
{
	leave(test, 64, FRAME, 9, MS(1000));
	KUNIT_EXPECT_EQ(test, inflight_pace_bytes(test->priv), 1500U * 4000 / FRAME);
}

/* An aggregate of @packets leaves in @us, to its end at @now. */
static u64 leave_together(struct kunit *test, u32 packets, u32 us, u64 now)
{
	u32 i;

	for (i = 0; i < packets; i++)
		inflight_pace_note(test->priv, now, 1500, 1, 9, now + US(us));
	return now + US(us);
}

/* 20 packets in 4 ms are a long aggregate: a run has two. */
static void pace_run_is_two_aggregates(struct kunit *test)
{
	u64 now = leave_together(test, 20, 4000, MS(1000));

	KUNIT_EXPECT_EQ(test, inflight_pace_run(test->priv, now), 0U);	/* not over yet */
	now = leave_together(test, 10, 2000, now);
	KUNIT_EXPECT_EQ(test, inflight_pace_run(test->priv, now), 2U * 20 * 1500);
}

/* 8 ms at 2.4 Gb/s are 2.4 MB: the others would wait for long if the rate falls. */
static void pace_run_has_an_end(struct kunit *test)
{
	u64 now = leave_together(test, 800, 4000, MS(1000));

	now = leave_together(test, 10, 2000, now);
	KUNIT_EXPECT_EQ(test, inflight_pace_run(test->priv, now), 512U << 10);
}

/* None, until two leave together, and for a second after; none where five packets may be below. */
static void pace_run_of_one_by_one(struct kunit *test)
{
	struct inflight_pace *pace = test->priv;
	u64 now = leave(test, 31, FRAME, 2, MS(1000));

	KUNIT_EXPECT_EQ(test, inflight_pace_run(pace, now), 0U);
	now = leave(test, 1, 99, 2, now);
	KUNIT_EXPECT_GT(test, inflight_pace_run(pace, now + NSEC_PER_SEC - 1), 0U);
	KUNIT_EXPECT_EQ(test, inflight_pace_run(pace, now + NSEC_PER_SEC), 0U);
	*pace = (struct inflight_pace) {};
	now = leave(test, 20, 2000, 9, MS(1000));
	now = leave(test, 1, 99, 9, now);
	KUNIT_EXPECT_EQ(test, inflight_pace_run(pace, now), 0U);
}

static struct kunit_case pace_cases[] = {
	KUNIT_CASE(pace_one_by_one),
	KUNIT_CASE(pace_of_other_rates),
	KUNIT_CASE(pace_of_slow_devices),
	KUNIT_CASE(pace_with_little_to_send),
	KUNIT_CASE(pace_of_acks),
	KUNIT_CASE(pace_of_a_device_that_speeds_up),
	KUNIT_CASE(pace_with_nobody_behind),
	KUNIT_CASE(pace_with_an_aggregate),
	KUNIT_CASE(pace_of_bytes),
	KUNIT_CASE(pace_run_is_two_aggregates),
	KUNIT_CASE(pace_run_has_an_end),
	KUNIT_CASE(pace_run_of_one_by_one),
	{}
};

static struct kunit_suite pace_suite = {
	.name = "pace",
	.init = pace_test_init,
	.test_cases = pace_cases,
};

kunit_test_suite(pace_suite);

MODULE_DESCRIPTION("KUnit suite of the pace of a device");
MODULE_LICENSE("GPL");
