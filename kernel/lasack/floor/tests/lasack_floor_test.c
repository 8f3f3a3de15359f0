// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of the floor: the share of the service for flows that starve.
 *
 * Principle: a share is what is asked for, counted over every 100 packets of 1000 bytes.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include "lasack/floor/tests/lasack_starving.h"

/*
 * Of each 100 packets, so many percent, or what one packet more or less is. A newcomer begins 1 MiB
 * below an old flow at most: all packets together have less.
 */
static void expect_share(struct kunit *test, bool by_station, u32 floor, u32 length)
{
	s32 packet = 1000 * (100 - floor) + length * floor;
	u32 i, had;
	s32 more;

	begin(test, by_station, floor);
	grow(test, 1);
	starve(test, 1);
	had_among(test, 1, 100, length);
	for (i = 0; i < 5; i++) {
		had = had_among(test, 1, 100, length);
		more = had * 1000 * (100 - floor) - (100 - had) * length * floor;
		KUNIT_EXPECT_GE(test, more, -packet);
		KUNIT_EXPECT_LE(test, more, packet);
	}
}

static void floor_is_kept(struct kunit *test)
{
	expect_share(test, false, 5, 1000);
	expect_share(test, true, 5, 1000);
	expect_share(test, true, 25, 1000);
	expect_share(test, true, 100, 1000);
}

static void floor_counts_bytes(struct kunit *test)
{
	expect_share(test, true, 25, 300);
	expect_share(test, false, 50, 2000);
}

static void floor_of_none_starves(struct kunit *test)
{
	begin(test, true, 0);
	grow(test, 1);
	starve(test, 1);
	KUNIT_EXPECT_EQ(test, had_among(test, 1, 300, 1000), 0U);
}

/*
 * An upload's ACKs acknowledge 2000 bytes each, the others' packets are of 1000: a quarter of the
 * service of 100 packets is 14 ACKs and 86 packets. By their own bytes, here none, all would go.
 */
static void floor_counts_what_acks_acknowledge(struct kunit *test)
{
	u32 i, acks = 0;

	lasack_test_reshape(test, (struct lasack_shape) { .paper = true });
	lasack_queue_set_floor(test->priv, 25);
	add_to(test, 1, ack(1, 1), 1);
	for (i = 1; i < 200; i++)
		add_to(test, 1, ack(1, 1 + 2000 * i), 1);
	for (i = 0; i < 60; i++)
		serve(test);
	wait(test, 301);
	add_to(test, 1, ack(1, 1 + 2000 * i), 1);
	for (i = 0; i < 100; i++) {
		add_to(test, 1, data(1000 + i, 1000), OTHER);
		acks += serve(test) == 1;
	}
	KUNIT_EXPECT_GE(test, acks, 12U);
	KUNIT_EXPECT_LE(test, acks, 16U);
}

/* A station's floor is paid by its own flows: another one still has half of all. */
static void floor_is_paid_by_its_station(struct kunit *test)
{
	u32 i, mark, first = 0, second = 0;

	grow(test, 1);
	add_to(test, 2, data(2, LARGE), 2);
	serve(test);
	starve(test, 1);
	for (i = 0; i < 800; i++) {
		add_to(test, 2, data(2, 1000), 2);
		add_to(test, 1, transfer(1000 + i, 1000), OTHER);
		mark = serve(test);
		if (mark == 1)
			add_to(test, 1, data(1, 1000), 1);
		/* The stations do not begin with the same sum. */
		if (i < 200)
			continue;
		first += mark == 1;
		second += mark == 2;
	}
	KUNIT_EXPECT_GE(test, second, 298U);
	KUNIT_EXPECT_LE(test, second, 302U);
	KUNIT_EXPECT_GE(test, first, 73U);
	KUNIT_EXPECT_LE(test, first, 77U);
}

/* Not sooner than after 0.3 s. And not who sends on without an answer. */
static void floor_is_for_who_waits(struct kunit *test)
{
	u32 i;

	grow(test, 1);
	add_to(test, 1, data(1, 1000), 1);
	for (i = 0; i < 10; i++) {
		wait(test, 299);
		add_to(test, 1, data(1, 1000), 1);
	}
	KUNIT_EXPECT_EQ(test, had_among(test, 1, 100, 1000), 0U);
	wait(test, 301);
	add_to(test, 1, data(1, 1000), 1);
	KUNIT_EXPECT_GT(test, had_among(test, 1, 100, 1000), 20U);
}

/* Flow 5 is new and behind all others that are. What does @makes it, that it may ask? */
static u32 newcomer_had(struct kunit *test, void (*makes)(struct lasack_flow *flow))
{
	struct lasack_queue *q = begin(test, true, 25);

	grow(test, 1);
	add_to(test, 1, data(5, 30000), 5);
	serve(test);
	KUNIT_EXPECT_GT(test, known(q, 5)->account.credit, 0);
	makes(known(q, 5));
	known(q, 5)->account.sum += LASACK_CREDIT;
	starve(test, 5);
	return had_among(test, 5, 50, 10);
}

static void nothing(struct lasack_flow *flow)
{
}

static void solicited(struct lasack_flow *flow)
{
	flow->solicited = 1;
}

/* A flood of new flows has the service of one, and no floor beside that. */
static void floor_is_not_for_a_flood(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, newcomer_had(test, nothing), 0U);
	KUNIT_EXPECT_GT(test, newcomer_had(test, opened), 0U);
	KUNIT_EXPECT_GT(test, newcomer_had(test, solicited), 0U);
	/* Charged as if old, for what it acknowledged, but it was never served. */
	add_to(test, 1, data(6, 1000), 6);
	known(test->priv, 6)->received = LARGE;
	wait(test, 301);
	add_to(test, 1, data(6, 1000), 6);
	KUNIT_EXPECT_FALSE(test, known(test->priv, 6)->starved);
}

/* The paper knows no new flows: any may ask, and a quarter of what all get is the floor's. */
static void floor_of_the_papers_rules(struct kunit *test)
{
	struct lasack_queue *q = lasack_test_reshape(test, (struct lasack_shape) {
		.paper = true,
	});
	u32 i, mark, had = 0;

	lasack_queue_set_floor(q, 25);
	add_to(test, 1, data(1, 1000), 1);
	add_to(test, 1, data(1, 1000), 1);
	serve(test);
	wait(test, 301);
	add_to(test, 1, data(1, 1000), 1);
	KUNIT_EXPECT_TRUE(test, known(q, 1)->starved);
	for (i = 0; i < 100; i++) {
		add_to(test, 1, data(1000 + i, 900), OTHER);
		mark = serve(test);
		if (mark == 1)
			add_to(test, 1, data(1, 1000), 1);
		had += mark == 1;
	}
	KUNIT_EXPECT_GE(test, had, 23U);
	KUNIT_EXPECT_LE(test, had, 27U);
}

/* A short packet costs as much as it does in the sums. */
static void floor_counts_overhead(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	u32 i, mark, had = 0;

	q->overhead = 640;
	grow(test, 1);
	starve(test, 1);
	for (i = 0; i < 200; i++)
		add_to(test, 1, data(1, 60), 1);
	for (i = 0; i < 200; i++) {
		add_to(test, 1, transfer(20000 + i, 60), OTHER);
		mark = serve(test);
		had += mark == 1;
	}
	KUNIT_EXPECT_GE(test, had, 45U);
	KUNIT_EXPECT_LE(test, had, 55U);
}

/* So do packets that are as long as GSO allows: three parts of four are still that. */
static void floor_counts_long_packets(struct kunit *test)
{
	u32 had;

	begin(test, true, 75);
	grow(test, 1);
	starve(test, 1);
	had = had_among(test, 1, 600, 60000);
	/* And one goes out before any has ended. */
	KUNIT_EXPECT_GE(test, had, 600 - 600 * 1000 / 180000 - 2);
}

/* What the floor gave is held against a flow no further than others may catch up with anybody. */
static void floor_is_forgiven(struct kunit *test)
{
	struct lasack_queue *q = begin(test, true, 75);
	struct lasack_level *level;

	grow(test, 1);
	starve(test, 1);
	level = lasack_flow_level(q, known(q, 1));
	had_among(test, 1, 1000, 100);
	KUNIT_EXPECT_LE(test, known(q, 1)->account.sum, level->high + LASACK_LAG + 1000);
	KUNIT_EXPECT_GT(test, known(q, 1)->account.sum, level->high);
	KUNIT_EXPECT_TRUE(test, known(q, 1)->starved);
}

/* Control packets do not wait, though all others do. */
static void floor_is_behind_control(struct kunit *test)
{
	struct tcp_segment eapol = { .class = SEGMENT_NOT_IP, .payload = 500 };
	u32 i, control = 0;

	begin(test, false, 100);
	grow(test, 1);
	starve(test, 1);
	for (i = 0; i < 600; i++) {
		add_to(test, 1, data(1, 1000), 1);
		add_to(test, 1, data(1000 + i, 1000), OTHER);
		add_to(test, 3, eapol, OTHER - 1);
		control += serve(test) == OTHER - 1;
		control += serve(test) == OTHER - 1;
	}
	KUNIT_EXPECT_GE(test, control, 590U);
}

/* A call's station is ahead, also after a packet of the floor. */
static void floor_keeps_who_is_ahead(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct lasack_station *station;

	grow(test, 1);
	starve(test, 1);
	had_among(test, 1, 4, 1000);
	add_to(test, 1, data(999, 1000), OTHER);
	station = lasack_station_at(q, known(q, 1));
	station->ahead = 1000;
	lasack_flow_level(q, known(q, 1))->floor.credit = 1;
	KUNIT_EXPECT_EQ(test, serve(test), 1U);
	KUNIT_EXPECT_EQ(test, station->ahead, 1000U);
	KUNIT_EXPECT_EQ(test, serve(test), OTHER);
	KUNIT_EXPECT_EQ(test, station->ahead, 0U);
}

static struct kunit_case lasack_floor_cases[] = {
	KUNIT_CASE(floor_is_kept),
	KUNIT_CASE(floor_counts_bytes),
	KUNIT_CASE(floor_of_none_starves),
	KUNIT_CASE(floor_counts_what_acks_acknowledge),
	KUNIT_CASE(floor_is_paid_by_its_station),
	KUNIT_CASE(floor_is_for_who_waits),
	KUNIT_CASE(floor_is_not_for_a_flood),
	KUNIT_CASE(floor_of_the_papers_rules),
	KUNIT_CASE(floor_counts_overhead),
	KUNIT_CASE(floor_counts_long_packets),
	KUNIT_CASE(floor_is_forgiven),
	KUNIT_CASE(floor_is_behind_control),
	KUNIT_CASE(floor_keeps_who_is_ahead),
	{}
};

static struct kunit_suite lasack_floor_suite = {
	.name		= "lasack_floor",
	.init		= floor_test_init,
	.exit		= lasack_test_exit,
	.test_cases	= lasack_floor_cases,
};

kunit_test_suite(lasack_floor_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of the floor of LAS-ACK");
