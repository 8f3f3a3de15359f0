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
#include "lasack/lasack_class.c"

static void replace_table(struct kunit *test, u32 size)
{
	struct lasack_queue *from = test->priv, *q;
	struct lasack_shape shape = from->shape;

	shape.flows = size;
	q = lasack_queue_create(&shape);
	KUNIT_ASSERT_NOT_NULL(test, q);
	lasack_queue_take_over(q, from);
	lasack_queue_free(from);
	test->priv = q;
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
	return known(test->priv, id);
}

static void expect_flows(struct kunit *test, u32 flows, u32 idle)
{
	struct lasack_queue *q = test->priv;

	KUNIT_EXPECT_EQ(test, q->table->flows, flows);
	KUNIT_EXPECT_EQ(test, q->table->flows - q->table->busy, idle);
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

	flow_table_clear(((struct lasack_queue *)test->priv)->table);
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
	struct lasack_queue *q;
	u32 last[10] = {}, mark, served = 0;

	for (mark = 1; mark <= 30; mark++)
		add(test, data(mark % 10, 100), mark);
	replace_table(test, 4);
	q = test->priv;
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
	struct lasack_queue *q;
	struct tcp_segment fin = data(9, 100);
	u32 id;

	fin.fin = 1;
	for (id = 1; id <= 8; id++)
		pass(test, data(id, 100 * id), id);
	pass(test, fin, 10);
	add(test, data(1, 100), 1);
	replace_table(test, 4);
	q = test->priv;
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

#define MS	BIT_ULL(FLOW_TIME_SHIFT)	/* nearly: the table's unit of time */

/* Looks at all places, as packets do while time goes on. */
static void sweep(struct kunit *test, u64 now)
{
	struct lasack_queue *q = test->priv;
	u32 i;

	for (i = 0; i < q->table->size; i++)
		lasack_queue_advance(q, now + div_u64(i * MS, q->table->size));
	for (i = 0; i < q->table->size; i++)
		flow_table_sweep(q->table, q->time);
}

static void table_forgets_after_idle(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct tcp_segment fin = data(3, 10);

	fin.fin = 1;
	flow_table_set_idle(q->table, 1000 * MS);
	pass(test, data(1, 10), 5000 * MS);
	pass(test, fin, 5100 * MS);
	pass(test, data(2, 10), 5200 * MS);

	sweep(test, 6000 * MS);		/* flow 1: exactly 1000 */
	expect_flows(test, 3, 3);
	lasack_queue_advance(q, 6001 * MS);
	KUNIT_EXPECT_FALSE(test, remembered(test, 1));
	KUNIT_EXPECT_TRUE(test, remembered(test, 3));
	KUNIT_EXPECT_TRUE(test, remembered(test, 2));
	sweep(test, 6001 * MS);
	expect_flows(test, 2, 2);
	sweep(test, 9000 * MS);
	expect_flows(test, 0, 0);
	KUNIT_EXPECT_EQ(test, q->table->counts.expired, 3ULL);
	KUNIT_EXPECT_EQ(test, q->table->counts.evicted, 0ULL);
}

/* One that comes back after its time has a life of its own, swept or not. */
static void table_forgets_who_comes_back(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	flow_table_set_idle(q->table, 1000 * MS);
	pass(test, data(1, 10), 5000 * MS);
	q->table->swept_at = (6001 * MS) >> FLOW_TIME_SHIFT;
	pass(test, data(1, 7), 6001 * MS);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 7ULL);
	KUNIT_EXPECT_EQ(test, q->table->counts.expired, 1ULL);
	expect_flows(test, 1, 1);
}

/* Neither a flow with packets, nor any while the option is off. */
static void table_remembers_the_others(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	pass(test, data(1, 10), 100 * MS);
	add(test, data(2, 10), 1);
	sweep(test, 1000000 * MS);
	expect_flows(test, 2, 1);
	flow_table_set_idle(q->table, 1);
	sweep(test, 2000000 * MS);
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
	int i;

	KUNIT_EXPECT_EQ(test, lasack_queue_percentile(q, 50), 0ULL);
	for (i = 0; i < ARRAY_SIZE(sums); i++)
		pass(test, data(i, sums[i]), 1);
	KUNIT_EXPECT_EQ(test, lasack_queue_percentile(q, 10), 1ULL);
	KUNIT_EXPECT_EQ(test, lasack_queue_percentile(q, 20), 2ULL);
	KUNIT_EXPECT_EQ(test, lasack_queue_percentile(q, 50), 128ULL);
	KUNIT_EXPECT_EQ(test, lasack_queue_percentile(q, 90), 128ULL);
	KUNIT_EXPECT_EQ(test, lasack_queue_percentile(q, 99), 8192ULL);
}

/* What is counted as packets go is what a look at all flows says. */
static void table_counts_bits(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	u32 by_bits[65] = {}, i, round;
	struct rnd_state rng;

	prandom_seed_state(&rng, 5);
	for (round = 0; round < 5000; round++) {
		u32 random = prandom_u32_state(&rng);
		struct tcp_segment seg = data(random % 2000, (random >> 16) % 3000);

		seg.syn = !(random % 97);
		seg.fin = !(random % 89);
		seg.rst = !(random % 83);
		add(test, seg, 1);
		if (random & 1)
			serve(test);
		else if (random & 2)
			push_out(test);
	}
	replace_table(test, 700);
	q = test->priv;
	for (i = 0; i < q->table->size; i++) {
		struct lasack_flow *flow = lasack_flow_at(q, i);

		if (flow->entry.in_use)
			by_bits[fls64(flow->sent + flow->received)]++;
	}
	for (i = 0; i < ARRAY_SIZE(by_bits); i++)
		KUNIT_EXPECT_EQ(test, q->by_bits[i], by_bits[i]);
}

/* Sums of 100 * 37 * id modulo 101: all different, the largest 100 * 100. */
static void table_heaviest(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct lasack_heaviest heaviest = {};
	u32 id, i;

	lasack_heaviest_look(q, 0, &heaviest);
	KUNIT_EXPECT_EQ(test, heaviest.count, 0U);
	for (id = 1; id <= 100; id++) {
		pass(test, data(id, 100 * (37 * id % 101)), 1);
		memset(&heaviest, 0, sizeof(heaviest));
		for (i = 0; i < q->table->size; i += LASACK_CLASS_WALK)
			lasack_heaviest_look(q, i, &heaviest);
		KUNIT_EXPECT_EQ(test, heaviest.count, min(id, 16U));
	}
	for (i = 0; i < 16; i++)
		KUNIT_EXPECT_EQ(test, lasack_flow_at(q, heaviest.places[i])->account.sum,
				100ULL * (100 - i));
}

/*
 * Keys that count up all find a place, whatever the secret is. Each secret here is one that
 * makes their sums fall into so few of 2048 buckets, of which each takes 16 flows.
 */
static void table_scatters_sequences(struct kunit *test)
{
	struct segment_key key = {};
	struct flow_table *table;
	u32 buckets, i, found;

	for (buckets = 1; buckets <= 60; buckets++) {
		table = flow_table_create(2000, 0, LASACK_FLOW_BITS);
		KUNIT_ASSERT_NOT_NULL(test, table);
		/* The lower half of the first two words of the key is multiplied by it. */
		table->secret[2] = (0x9e37ULL << 48) + div_u64(BIT_ULL(32 + 11), buckets);
		for (i = 0, found = 0; i < 1000; i++) {
			key.words[0] = i;
			found += !!flow_table_add(table, &key, flow_table_hash(table, &key), 0);
		}
		flow_table_free(table);
		KUNIT_EXPECT_EQ_MSG(test, found, 1000U, "%u buckets", buckets);
	}
}

static struct kunit_case lasack_table_cases[] = {
	KUNIT_CASE(table_replaced_unseen),
	KUNIT_CASE(table_too_small_loses_no_packet),
	KUNIT_CASE(table_keeps_the_latest),
	KUNIT_CASE(table_forgets_after_idle),
	KUNIT_CASE(table_forgets_who_comes_back),
	KUNIT_CASE(table_remembers_the_others),
	KUNIT_CASE(table_withstands_a_flood),
	KUNIT_CASE(table_memory_adds_up),
	KUNIT_CASE(table_percentiles),
	KUNIT_CASE(table_counts_bits),
	KUNIT_CASE(table_heaviest),
	KUNIT_CASE(table_scatters_sequences),
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
