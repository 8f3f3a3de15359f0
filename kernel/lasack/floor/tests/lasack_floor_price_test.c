// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of who pays for the floor, and how much.
 *
 * Principle: the floor is a quarter here, so it has a third of what others pay for in full. Twenty
 * new flows of 1000-byte packets compete with a flow that starves, and do not end.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include "lasack/floor/tests/lasack_starving.h"

static struct lasack_floor *the_floor(struct kunit *test)
{
	return &lasack_flow_level(test->priv, known(test->priv, 1))->floor;
}

static void crowd(struct kunit *test)
{
	u32 i;

	for (i = 0; i < 20; i++)
		add_to(test, 1, data(100 + i, 1000), OTHER);
}

/* Serves @count packets, and queues others of these twenty. Return: how many flow @id had. */
static u32 had_in_crowd(struct kunit *test, u32 id, u32 count)
{
	u32 i, mark, had = 0;

	for (i = 0; i < count; i++) {
		add_to(test, 1, data(100 + i % 20, 1000), OTHER);
		mark = serve(test);
		if (mark == id)
			add_to(test, 1, data(id, 1000), id);
		had += mark == id;
	}
	return had;
}

/* Serves @count packets, and queues others of flow @id. Return: how many flow 1 had. */
static u32 had_beside(struct kunit *test, u32 id, u32 count)
{
	u32 i, mark, had = 0;

	for (i = 0; i < count; i++) {
		add_to(test, 1, data(id, 1000), id);
		mark = serve(test);
		if (mark == 1)
			add_to(test, 1, data(1, 1000), 1);
		had += mark == 1;
	}
	return had;
}

/* Flow 1 starves, old, in the crowd. */
static void starve_in_crowd(struct kunit *test)
{
	grow(test, 1);
	crowd(test);
	starve(test, 1);
}

/* A packet of flow @id is served, @seg. */
static void served(struct kunit *test, struct tcp_segment seg, u32 id)
{
	add_to(test, 1, seg, id);
	while (serve(test) != id)
		;
}

/* So many packets of 640: a sixteenth of a quarter is ten. In full it is 160. */
static void expect_sixteenth(struct kunit *test, u32 had)
{
	KUNIT_EXPECT_GE(test, had, 9U);
	KUNIT_EXPECT_LE(test, had, 11U);
}

static void price_of_who_does_not_end(struct kunit *test)
{
	starve_in_crowd(test);
	expect_sixteenth(test, had_in_crowd(test, 1, 640));
}

/* Flow 5 is new, and behind the others: one of many connections that begin at once. */
static void price_for_a_new_flow(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	grow(test, 1);
	add_to(test, 1, data(5, 30000), 5);
	serve(test);
	opened(known(q, 5));
	crowd(test);
	known(q, 5)->account.sum += 16 * LASACK_CREDIT;	/* they do not catch up */
	starve(test, 5);
	expect_sixteenth(test, had_in_crowd(test, 5, 640));
}

/* One old flow does not catch up with the other's 0.8 MB. Nor does it use up what new ones pay. */
static void price_of_old_flows(struct kunit *test)
{
	grow(test, 2);
	grow(test, 1);
	known(test->priv, 1)->account.sum += 800000;
	starve(test, 1);
	the_floor(test)->in_full = 50000;
	expect_sixteenth(test, had_beside(test, 2, 640));
	KUNIT_EXPECT_TRUE(test, known(test->priv, 1)->starved);
	KUNIT_EXPECT_EQ(test, the_floor(test)->in_full, 50000U);
}

/* 60 packets, and 20 of the floor's. After that, one or two of 98. */
static void price_in_full(struct kunit *test)
{
	u32 had;

	starve_in_crowd(test);
	the_floor(test)->in_full = 60000;
	had = had_in_crowd(test, 1, 80);
	KUNIT_EXPECT_GE(test, had, 19U);
	KUNIT_EXPECT_LE(test, had, 21U);
	KUNIT_EXPECT_EQ(test, the_floor(test)->in_full, 0U);
	had = had_in_crowd(test, 1, 98);
	KUNIT_EXPECT_GE(test, had, 1U);
	KUNIT_EXPECT_LE(test, had, 3U);
}

/* New flows pay for twice what ended, once in each life, and for 64 KiB of it at most. */
static void price_is_paid_for_what_ended(struct kunit *test)
{
	struct tcp_segment reset = data(8, 9000), syn = data(6, 0);

	starve_in_crowd(test);
	KUNIT_EXPECT_EQ(test, the_floor(test)->in_full, 0U);
	served(test, transfer(6, 30000), 6);
	KUNIT_EXPECT_EQ(test, the_floor(test)->in_full, 60000U);
	the_floor(test)->in_full = 0;
	served(test, transfer(6, 30000), 6);
	KUNIT_EXPECT_EQ(test, the_floor(test)->in_full, 0U);
	syn.syn = true;
	served(test, syn, 6);
	served(test, transfer(6, 20000), 6);
	KUNIT_EXPECT_EQ(test, the_floor(test)->in_full, 40000U);
	the_floor(test)->in_full = 0;
	served(test, transfer(7, LARGE), 7);
	KUNIT_EXPECT_EQ(test, the_floor(test)->in_full, 2U * LASACK_CREDIT);
	the_floor(test)->in_full = 0;
	/* It is forgotten when it has no packets, but has another one. */
	reset.rst = true;
	add_to(test, 1, reset, 8);
	served(test, reset, 8);
	KUNIT_EXPECT_EQ(test, the_floor(test)->in_full, 18000U);
	the_floor(test)->in_full = 0;
	while (serve(test) != 8)
		;
	KUNIT_EXPECT_EQ(test, the_floor(test)->in_full, 0U);
	the_floor(test)->in_full = 16 * LASACK_CREDIT - 1000;
	served(test, transfer(9, 30000), 9);
	KUNIT_EXPECT_EQ(test, the_floor(test)->in_full, 16U * LASACK_CREDIT);
}

/* Nobody starved when it ended, or nobody does any more. */
static void price_is_not_kept(struct kunit *test)
{
	grow(test, 1);
	served(test, transfer(6, 30000), 6);
	KUNIT_EXPECT_EQ(test, the_floor(test)->in_full, 0U);
	crowd(test);
	starve(test, 1);
	served(test, transfer(7, 30000), 7);
	KUNIT_EXPECT_GT(test, the_floor(test)->in_full, 0U);
	while (serve(test))
		;
	wait(test, 60000);
	crowd(test);
	starve(test, 1);
	KUNIT_EXPECT_EQ(test, the_floor(test)->in_full, 0U);
}

/* A new flow pays in full until it has had 64 KiB: 65 packets, and 22 of the floor's. */
static void price_of_a_flow_that_grows_old(struct kunit *test)
{
	u32 had;

	grow(test, 1);
	starve(test, 1);
	the_floor(test)->in_full = LARGE;
	had = had_beside(test, 5, 87 + 49);
	KUNIT_EXPECT_GE(test, had, 21U);
	KUNIT_EXPECT_LE(test, had, 25U);
}

/* A sixteenth of 5 % is three of 960; of 96 %, when nearly all is the floor's, it is 30 of 500. */
static void price_of_other_floors(struct kunit *test)
{
	u32 had;

	begin(test, true, 5);
	starve_in_crowd(test);
	had = had_in_crowd(test, 1, 960);
	KUNIT_EXPECT_GE(test, had, 2U);
	KUNIT_EXPECT_LE(test, had, 4U);
	begin(test, true, 96);
	starve_in_crowd(test);
	had = had_in_crowd(test, 1, 500);
	KUNIT_EXPECT_GE(test, had, 28U);
	KUNIT_EXPECT_LE(test, had, 32U);
}

/* Flow 1 starves, and another flow begins: what does it pay for, that was there 8 s ago? */
static u32 in_full_when(struct kunit *test, u32 beginner)
{
	the_floor(test)->in_full = 0;
	starve(test, 1);
	add_to(test, 1, data(beginner, 1000), beginner);
	return the_floor(test)->in_full;
}

/* QUIC does not tell that it ends. After 8 s a flow is looked at that has paused for a second. */
static void price_for_who_left(struct kunit *test)
{
	grow(test, 1);
	wait(test, 600);
	served(test, data(10, 5000), 10);
	wait(test, 7000);
	KUNIT_EXPECT_EQ(test, in_full_when(test, 11), 0U);
	wait(test, 700);
	KUNIT_EXPECT_EQ(test, in_full_when(test, 12), 10000U);
	KUNIT_EXPECT_EQ(test, in_full_when(test, 13), 0U);
}

/* It has packets, or had some a moment ago, or has told that it ended. */
static void price_for_who_did_not_leave(struct kunit *test)
{
	struct tcp_segment reset = data(9, 1000);

	grow(test, 1);
	reset.rst = true;
	wait(test, 600);
	served(test, reset, 9);
	wait(test, 600);
	served(test, transfer(10, 5000), 10);
	wait(test, 600);
	served(test, data(11, 5000), 11);
	wait(test, 600);
	served(test, data(12, 5000), 12);
	wait(test, 8000);
	served(test, data(12, 5000), 12);
	add_to(test, 1, data(11, 5000), 11);
	KUNIT_EXPECT_EQ(test, in_full_when(test, 13), 0U);
}

/* One in half a second is looked at. The next one stands for those that began in between. */
static void price_for_many_who_left(struct kunit *test)
{
	u32 i;

	grow(test, 1);
	for (i = 0; i < 54; i++)
		served(test, data(200 + i, 100), OTHER);
	wait(test, 600);
	served(test, data(300, 1000), 10);
	wait(test, 8000);
	KUNIT_EXPECT_EQ(test, in_full_when(test, 301), 2 * 55 * 1000U);
}

/* Sixteen flows begin, half a second apart, and as many 52 days later: the queue's time wraps. */
static void price_when_time_wraps(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	u32 i;

	grow(test, 1);
	for (i = 0; i < 32; i++) {
		if (i == 16)
			lasack_queue_advance(q, q->now + (1ULL << 52) - 8ULL * NSEC_PER_SEC);
		wait(test, 540);
		served(test, data(10 + i, 100), OTHER);
		KUNIT_ASSERT_LE(test, lasack_flow_level(q, known(q, 10 + i))->floor.samples,
				(u32)LASACK_FLOOR_SAMPLES);
	}
}

/* The paper knows no new flows: all pay all the time. */
static void price_of_the_papers_rules(struct kunit *test)
{
	struct lasack_queue *q = lasack_test_reshape(test, (struct lasack_shape) {
		.paper = true,
	});
	u32 had;

	lasack_queue_set_floor(q, 25);
	starve_in_crowd(test);
	had = had_in_crowd(test, 1, 400);
	KUNIT_EXPECT_GE(test, had, 98U);
	KUNIT_EXPECT_LE(test, had, 102U);
}

static struct kunit_case lasack_floor_price_cases[] = {
	KUNIT_CASE(price_of_who_does_not_end),
	KUNIT_CASE(price_for_a_new_flow),
	KUNIT_CASE(price_of_old_flows),
	KUNIT_CASE(price_in_full),
	KUNIT_CASE(price_is_paid_for_what_ended),
	KUNIT_CASE(price_is_not_kept),
	KUNIT_CASE(price_of_a_flow_that_grows_old),
	KUNIT_CASE(price_of_other_floors),
	KUNIT_CASE(price_for_who_left),
	KUNIT_CASE(price_for_who_did_not_leave),
	KUNIT_CASE(price_for_many_who_left),
	KUNIT_CASE(price_when_time_wraps),
	KUNIT_CASE(price_of_the_papers_rules),
	{}
};

static struct kunit_suite lasack_floor_price_suite = {
	.name		= "lasack_floor_price",
	.init		= floor_test_init,
	.exit		= lasack_test_exit,
	.test_cases	= lasack_floor_price_cases,
};

kunit_test_suite(lasack_floor_price_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of who pays for the floor of LAS-ACK");
