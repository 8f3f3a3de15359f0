// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite: a flood of SYNs with random tuples (RFC 4987, 2).
 *
 * Principle: a flood may cost nobody else anything. What it must not change is
 * compared with a twin queue that sees the same connections and no flood; what
 * a packet costs is counted in steps (entries of its bucket, depth in the trees),
 * which say the same on any machine, at the beginning and at the end.
 *
 * 50,000 SYNs, or "packets" of test_parameters.c.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include "lasack/tests/lasack_packets.h"
#include "common/tests/test_parameters.h"

#define CONNECTIONS	16
/* Fewer than the table has places: an idle connection is not the oldest yet. */
#define SYNS_A_ROUND	640
#define WAITING		100	/* SYNs kept queued */
#define SYN_MARK	U32_MAX

struct flood {
	struct lasack_queue	*flooded;
	struct lasack_queue	*twin;
	struct rnd_state	rng;
	u64			steps;	/* of the packets since it was last read */
};

static int flood_init(struct kunit *test)
{
	struct flood *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	KUNIT_ASSERT_EQ(test, lasack_test_init(test), 0);
	f->twin = test->priv;
	KUNIT_ASSERT_EQ(test, lasack_test_init(test), 0);
	f->flooded = test->priv;
	prandom_seed_state(&f->rng, test_seed);
	/* The same chains in each run. */
	prandom_bytes_state(&f->rng, f->flooded->table->secret,
			    sizeof(f->flooded->table->secret));
	test->priv = f;
	return 0;
}

static void flood_exit(struct kunit *test)
{
	struct flood *f = test->priv;

	test->priv = f->twin;
	lasack_test_exit(test);
	test->priv = f->flooded;
	lasack_test_exit(test);
}

/* What the packet of a new flow costs: its bucket, and its place in the order. */
static u64 flood_cost(struct lasack_queue *q, const struct tcp_segment *seg)
{
	u32 hash = lasack_flow_hash(q, &seg->key, MAC_OF(station_of(seg)));
	u32 number = q->table->buckets[hash & q->table->bucket_mask];
	struct flow_entry *entry;
	u64 steps = 0;

	for (; number; number = entry->next) {
		entry = flow_table_place(q->table, number - 1);
		steps++;
		if (!memcmp(&entry->key, &seg->key, sizeof(seg->key)))
			steps += fls(q->order.places[flow_table_number(q->table, entry)]);
	}
	return steps;
}

static void flood_add(struct kunit *test, struct lasack_queue *q,
		      struct tcp_segment seg, u32 mark)
{
	struct flood *f = test->priv;

	test->priv = q;
	add_to(test, mark % 8, seg, mark);
	test->priv = f;
}

static void flood_syn(struct kunit *test)
{
	struct flood *f = test->priv;
	struct tcp_segment seg = {
		.class = SEGMENT_TCP,
		.syn = 1,
	};

	prandom_bytes_state(&f->rng, &seg.key.addr, sizeof(seg.key.addr));
	prandom_bytes_state(&f->rng, &seg.key.port, sizeof(seg.key.port));
	seg.key.protocol = IPPROTO_TCP;
	seg.key.class = SEGMENT_TCP;
	flood_add(test, f->flooded, seg, SYN_MARK);
	f->steps += flood_cost(f->flooded, &seg);
}

/* The next packet that is no SYN, or 0. */
static u32 flood_serve(struct lasack_queue *q)
{
	u32 mark;

	do {
		mark = taken(lasack_queue_serve(q));
	} while (mark == SYN_MARK);
	return mark;
}

/* Every connection sends; in both queues their packets go in the same order. */
static void flood_round(struct kunit *test)
{
	struct flood *f = test->priv;
	u32 id, i, mark;

	for (i = 0; i < WAITING; i++)
		flood_syn(test);
	for (i = WAITING; i < SYNS_A_ROUND; i++) {
		flood_syn(test);
		KUNIT_ASSERT_EQ(test, taken(lasack_queue_serve(f->flooded)), SYN_MARK);
	}
	for (id = 1; id <= CONNECTIONS; id++) {
		struct tcp_segment seg = data(id, prandom_u32_state(&f->rng) % 1448);

		flood_add(test, f->flooded, seg, id);
		flood_add(test, f->twin, seg, id);
	}
	do {
		mark = flood_serve(f->twin);
		KUNIT_ASSERT_EQ(test, flood_serve(f->flooded), mark);
	} while (mark);
}

static u64 flood_attained(struct lasack_queue *q, u32 id)
{
	struct lasack_flow *flow = known(q, id);

	return flow ? flow->account.sum : 0;
}

static void flood_of_syns(struct kunit *test)
{
	unsigned long rounds = max(10UL, DIV_ROUND_UP(test_packets, SYNS_A_ROUND)), round;
	struct flood *f = test->priv;
	struct flow_table *table = f->flooded->table;
	u64 first = 0, last;
	u32 id;

	for (round = 0; round < rounds; round++) {
		flood_round(test);
		KUNIT_ASSERT_LE(test, table->flows, LASACK_FLOWS);
		/* Until then the table was filling. */
		if (round < 2)
			f->steps = 0;
		if (round + 1 == rounds / 10 + 2) {
			first = f->steps;
			f->steps = 0;
		} else if (round + 1 == rounds - rounds / 10) {
			f->steps = 0;
		}
		cond_resched();
	}
	last = f->steps;

	KUNIT_EXPECT_EQ(test, f->flooded->overflow, 0ULL);
	for (id = 1; id <= CONNECTIONS; id++)
		KUNIT_EXPECT_EQ(test, flood_attained(f->flooded, id),
				flood_attained(f->twin, id));
	KUNIT_EXPECT_GT(test, flood_attained(f->twin, 1), 0ULL);
	/* A step in a hundred is chance. */
	KUNIT_EXPECT_GT(test, first, 0ULL);
	KUNIT_EXPECT_LE(test, last * 100, first * 101);
	kunit_info(test, "%lu SYNs: %llu steps in the first tenth, %llu in the last\n",
		   rounds * SYNS_A_ROUND, first, last);
}

static struct kunit_case lasack_flood_cases[] = {
	KUNIT_CASE(flood_of_syns),
	{}
};

static struct kunit_suite lasack_flood_suite = {
	.name		= "lasack_flood",
	.init		= flood_init,
	.exit		= flood_exit,
	.test_cases	= lasack_flood_cases,
};

kunit_test_suite(lasack_flood_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of LAS-ACK under a flood of SYNs");
