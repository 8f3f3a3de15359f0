// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of the floor with a target: ACKs that say no more than the next one are not sent.
 *
 * Principle: lasack_aqm_test.c says how many ACKs are one; each acknowledges one segment.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include "lasack/tests/lasack_frames.h"

/* An upload that starves pays its floor for all that the one ACK says. */
static void floor_counts_acks_that_give_way(struct kunit *test)
{
	struct frame other = { .flags = TCPHDR_ACK, .ack_seq = 1, .payload = MSS, .other = 1 };
	struct lasack_queue *q = test->priv;
	struct lasack_flow *flow;
	u32 i;

	begin(test, accepts());
	lasack_queue_set_floor(q, 25);
	for (i = 1; i <= 80; i++)
		enqueue(test, nth_ack(i));
	flow = lasack_order_first(q);
	flow->account.sum += LASACK_LAG;
	lasack_floor_ask(q, flow);
	enqueue(test, other);
	q->level.floor.credit = 1;
	kfree_skb(dequeue(test));
	KUNIT_EXPECT_EQ(test, q->aqm->thinned, 7ULL);
	KUNIT_EXPECT_LE(test, q->level.floor.credit, 1LL - 8 * MSS * (100 - 25));
}

static struct kunit_case lasack_floor_aqm_cases[] = {
	KUNIT_CASE(floor_counts_acks_that_give_way),
	{}
};

static struct kunit_suite lasack_floor_aqm_suite = {
	.name		= "lasack_floor_aqm",
	.init		= lasack_aqm_test_init,
	.exit		= lasack_test_exit,
	.test_cases	= lasack_floor_aqm_cases,
};

kunit_test_suite(lasack_floor_aqm_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of the floor of LAS-ACK with a target");
