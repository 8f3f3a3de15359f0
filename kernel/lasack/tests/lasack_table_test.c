// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of the table of flows and of what it remembers.
 *
 * Principle: what a table does to flows must not be seen in the order of
 * service, so a queue whose table was replaced is compared with a twin that
 * kept its own; the lines are checked against the times that were set.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include "lasack/tests/lasack_packets.h"

static void replace_table(struct kunit *test, u32 size)
{
	struct lasack_table *table = lasack_table_create(size);

	KUNIT_ASSERT_NOT_NULL(test, table);
	lasack_table_free(lasack_queue_replace_table(test->priv, table));
}

/* A packet of flow @id comes and goes: it is idle from @now on. */
static void pass(struct kunit *test, struct tcp_segment seg, u64 now)
{
	lasack_queue_advance(test->priv, now);
	add(test, seg, 1);
	serve(test);
}

static bool remembered(struct kunit *test, u32 id)
{
	struct lasack_queue *q = test->priv;
	struct tcp_segment seg = data(id, 0);

	return lasack_table_find(q->table, &seg.key);
}

static void expect_flows(struct kunit *test, u32 flows, u32 idle)
{
	struct lasack_queue *q = test->priv;

	KUNIT_EXPECT_EQ(test, q->table->flows, flows);
	KUNIT_EXPECT_EQ(test, q->table->idle_flows, idle);
}

/* Forty flows of different sums and lengths, one hundred packets in all. */
static void fill(struct kunit *test)
{
	struct rnd_state rng;
	u32 mark;

	prandom_seed_state(&rng, 3);
	for (mark = 1; mark <= 200; mark++) {
		u32 random = prandom_u32_state(&rng);

		add(test, data(1 + random % 40, (random >> 8) % 3 * 700), mark);
		if (mark % 2)
			serve(test);
	}
}

static void table_replaced_unseen(struct kunit *test)
{
	u32 expected[101];
	int i;

	fill(test);
	for (i = 0; i <= 100; i++)
		expected[i] = serve(test);
	KUNIT_ASSERT_NE(test, expected[99], 0U);
	KUNIT_ASSERT_EQ(test, expected[100], 0U);

	lasack_table_clear(((struct lasack_queue *)test->priv)->table);
	fill(test);
	for (i = 0; i <= 100; i++) {
		if (i % 10 == 5)
			replace_table(test, i % 20 == 5 ? 40 : 5000);
		KUNIT_ASSERT_EQ(test, serve(test), expected[i]);
	}
}

/* Ten flows of three packets, four places: all come out, each flow in order. */
static void table_too_small_loses_no_packet(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	u32 last[10] = {}, mark, served = 0;

	for (mark = 1; mark <= 30; mark++)
		add(test, data(mark % 10, 100), mark);
	replace_table(test, 4);
	expect_flows(test, 4, 0);
	KUNIT_EXPECT_EQ(test, q->overflow, 18ULL);

	while ((mark = serve(test))) {
		KUNIT_EXPECT_GT(test, mark, last[mark % 10]);
		last[mark % 10] = mark;
		served++;
	}
	KUNIT_EXPECT_EQ(test, served, 30U);
	expect_flows(test, 4, 4);
}

static void table_keeps_the_latest(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct tcp_segment fin = data(9, 100);
	u32 id;

	fin.fin = 1;
	for (id = 1; id <= 8; id++)
		pass(test, data(id, 100 * id), id);
	pass(test, fin, 10);
	add(test, data(1, 100), 1);
	replace_table(test, 4);
	expect_flows(test, 4, 3);
	KUNIT_EXPECT_EQ(test, q->table->counts.evicted, 5ULL);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 100ULL);
	KUNIT_EXPECT_EQ(test, attained(test, 6), 600ULL);
	KUNIT_EXPECT_EQ(test, attained(test, 7), 700ULL);
	KUNIT_EXPECT_EQ(test, attained(test, 8), 800ULL);

	/* They still stand in line as they did. */
	pass(test, data(20, 100), 20);
	KUNIT_EXPECT_FALSE(test, remembered(test, 6));
	KUNIT_EXPECT_TRUE(test, remembered(test, 7));
}

static void table_forgets_after_idle(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct tcp_segment fin = data(3, 10);

	fin.fin = 1;
	q->idle_ns = 1000;
	pass(test, data(1, 10), 5000);
	pass(test, fin, 5100);
	pass(test, data(2, 10), 5200);

	lasack_queue_advance(q, 6000);	/* flow 1: exactly 1000 */
	expect_flows(test, 3, 3);
	lasack_queue_advance(q, 6001);
	KUNIT_EXPECT_FALSE(test, remembered(test, 1));
	KUNIT_EXPECT_TRUE(test, remembered(test, 3));
	KUNIT_EXPECT_TRUE(test, remembered(test, 2));
	lasack_queue_advance(q, 9000);	/* one of either line */
	expect_flows(test, 0, 0);
	KUNIT_EXPECT_EQ(test, q->table->counts.expired, 3ULL);
	KUNIT_EXPECT_EQ(test, q->table->counts.evicted, 0ULL);
}

/* Neither a flow with packets, nor any while the option is off. */
static void table_remembers_the_others(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	pass(test, data(1, 10), 100);
	add(test, data(2, 10), 1);
	lasack_queue_advance(q, U64_MAX);
	expect_flows(test, 2, 1);
	q->idle_ns = 1;
	lasack_queue_advance(q, U64_MAX);
	expect_flows(test, 1, 0);
	KUNIT_EXPECT_TRUE(test, remembered(test, 2));
}

/* RFC 4987, 2: a SYN flood. A connection with packets keeps its sum. */
static void table_withstands_a_flood(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct tcp_segment syn;
	struct rnd_state rng;
	u32 i;

	prandom_seed_state(&rng, 4);
	pass(test, data(1, 500), 1);
	add(test, data(1, 500), 1);
	add(test, data(1, 500), 2);
	add(test, data(2, 0), 3);
	for (i = 0; i < 50000; i++) {
		syn = data(prandom_u32_state(&rng), 0);
		syn.syn = 1;
		syn.key.protocol = 6;
		add(test, syn, 9);
		KUNIT_ASSERT_EQ(test, serve(test), i ? 9U : 3U);
	}
	expect_flows(test, LASACK_FLOWS, LASACK_FLOWS - 2);
	KUNIT_EXPECT_EQ(test, q->overflow, 0ULL);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 500ULL);
	KUNIT_EXPECT_EQ(test, serve(test), 9U);
	KUNIT_EXPECT_EQ(test, serve(test), 1U);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 1000ULL);
}

static void table_memory_adds_up(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct tcp_segment seg = data(1, 10);
	struct sk_buff *skb[3];
	u64 sum = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(skb); i++) {
		skb[i] = alloc_skb(1 << (6 + 2 * i), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, skb[i]);
		sum += skb[i]->truesize;
		lasack_queue_add(q, skb[i], &seg);
	}
	KUNIT_EXPECT_EQ(test, q->memory, sum);
	sum -= skb[0]->truesize;
	push_out(test);
	KUNIT_EXPECT_EQ(test, q->memory, sum);
	serve(test);
	serve(test);
	KUNIT_EXPECT_EQ(test, q->memory, 0ULL);
}

/* By hand: sums of 0, 1, 100 (below 2^7) and 5000 (below 2^13). */
static void table_percentiles(struct kunit *test)
{
	static const u32 sums[] = { 0, 1, 100, 100, 100, 100, 100, 100, 100, 5000 };
	struct lasack_queue *q = test->priv;
	struct lasack_histogram histogram;
	int i;

	lasack_table_histogram(q->table, 0, &histogram);
	KUNIT_EXPECT_EQ(test, lasack_percentile(&histogram, 50), 0ULL);
	for (i = 0; i < ARRAY_SIZE(sums); i++)
		pass(test, data(i, sums[i]), 1);
	lasack_table_histogram(q->table, 0, &histogram);
	KUNIT_EXPECT_EQ(test, histogram.flows, 10U);
	KUNIT_EXPECT_EQ(test, lasack_percentile(&histogram, 10), 1ULL);
	KUNIT_EXPECT_EQ(test, lasack_percentile(&histogram, 20), 2ULL);
	KUNIT_EXPECT_EQ(test, lasack_percentile(&histogram, 50), 128ULL);
	KUNIT_EXPECT_EQ(test, lasack_percentile(&histogram, 90), 128ULL);
	KUNIT_EXPECT_EQ(test, lasack_percentile(&histogram, 99), 8192ULL);
}

/* Sums of 100 * 37 * id modulo 101: all different, the largest 100 * 100. */
static void table_heaviest(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	u32 places[16], id, i;

	KUNIT_EXPECT_EQ(test, lasack_table_heaviest(q->table, places, 16), 0U);
	for (id = 1; id <= 100; id++) {
		pass(test, data(id, 100 * (37 * id % 101)), 1);
		KUNIT_EXPECT_EQ(test, lasack_table_heaviest(q->table, places, 16),
				min(id, 16U));
	}
	for (i = 0; i < 16; i++)
		KUNIT_EXPECT_EQ(test, lasack_sum_bytes(&q->table->places[places[i]].attained, 0),
				100ULL * (100 - i));
}

static struct kunit_case lasack_table_cases[] = {
	KUNIT_CASE(table_replaced_unseen),
	KUNIT_CASE(table_too_small_loses_no_packet),
	KUNIT_CASE(table_keeps_the_latest),
	KUNIT_CASE(table_forgets_after_idle),
	KUNIT_CASE(table_remembers_the_others),
	KUNIT_CASE(table_withstands_a_flood),
	KUNIT_CASE(table_memory_adds_up),
	KUNIT_CASE(table_percentiles),
	KUNIT_CASE(table_heaviest),
	{}
};

static struct kunit_suite lasack_table_suite = {
	.name		= "lasack_table",
	.init		= lasack_test_init,
	.exit		= lasack_test_exit,
	.test_cases	= lasack_table_cases,
};

kunit_test_suite(lasack_table_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of the flow table of LAS-ACK");
