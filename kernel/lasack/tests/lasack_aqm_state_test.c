// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of the AQM's states: there are fewer than flows.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include "lasack/tests/lasack_frames.h"

/* Each state is the flow's that it names, and each flow's is its own. Return: how many are. */
static u32 states(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	u32 i, taken = 0, had = 0;

	for (i = 0; i < q->aqm->count; i++) {
		if (!q->aqm->states[i].flow)
			continue;
		taken++;
		KUNIT_EXPECT_EQ(test, (u32)q->aqm->flows[q->aqm->states[i].flow - 1].state, i + 1);
	}
	for (i = 0; i < lasack_queue_places(q); i++)
		had += q->aqm->flows[i].state != 0;
	KUNIT_EXPECT_EQ(test, taken, had);
	return taken;
}

static struct frame segment_of(u16 other)
{
	return (struct frame) { .flags = TCPHDR_ACK, .ack_seq = 1, .payload = MSS, .other = other };
}

/* Other connections come with two packets each, all at once, and are served. */
static void others_pass(struct kunit *test, u32 count)
{
	struct sk_buff *skb;
	u32 i;

	for (i = 1; i <= count; i++) {
		enqueue(test, segment_of(i));
		enqueue(test, segment_of(i));
		while ((skb = dequeue(test)))
			kfree_skb(skb);
	}
}

/* What has one packet at a time needs none. */
static void states_for_those_that_wait(struct kunit *test)
{
	u32 i;

	for (i = 0; i < 10; i++)
		begin(test, segment_of(i));
	KUNIT_EXPECT_EQ(test, states(test), 0U);
	others_pass(test, 10);
	KUNIT_EXPECT_EQ(test, states(test), 10U);
}

/* A flow that has packets keeps its state, however many others come. */
static void states_of_busy_flows_stay(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct tcp_segment seg;
	struct sk_buff *skb;
	u32 i, mine, number;

	skb = enqueue(test, segment_of(0));
	tcp_segment_parse(skb, &seg);
	number = lasack_flow_number(q, lasack_queue_flow(q, &seg));
	for (i = 0; i < 900; i++)
		enqueue(test, segment_of(0));
	kfree_skb(dequeue(test));
	mine = q->aqm->flows[number].state;
	KUNIT_EXPECT_NE(test, mine, 0U);
	for (i = 1; i <= 900; i++) {
		enqueue(test, segment_of(i));
		enqueue(test, segment_of(i));
		/* Least attained service: mostly the others. */
		kfree_skb(dequeue(test));
		kfree_skb(dequeue(test));
		if (i % 100 == 0)
			states(test);
	}
	KUNIT_EXPECT_GT(test, q->packets, 0U);
	KUNIT_EXPECT_EQ(test, (u32)q->aqm->flows[number].state, mine);
}

static void states_go_to_who_needs_them(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	others_pass(test, 2 * q->aqm->count);
	KUNIT_EXPECT_EQ(test, states(test), q->aqm->count);
}

/* More flows wait than there are states: each is served, and one of them may lose its state. */
static void states_run_out(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	u32 i, count = 3 * q->aqm->count, sent = 0;
	struct sk_buff *skb;

	for (i = 0; i < 2 * count; i++)
		enqueue(test, segment_of(i % count));
	while ((skb = dequeue(test))) {
		kfree_skb(skb);
		sent++;
		if (sent % 100 == 0)
			states(test);
	}
	KUNIT_EXPECT_EQ(test, sent, 2 * count);
	KUNIT_EXPECT_EQ(test, states(test), q->aqm->count);
}

/* Its window was limited. Without a state, nothing is taken back that was allowed. */
static void states_lost_take_nothing_back(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct tcp_segment seg;
	struct sk_buff *skb;
	u32 i, number;

	begin(test, accepts());
	lowered(test, nth_ack(0), 1, 4);
	KUNIT_EXPECT_GT(test, lowered(test, nth_ack(0), 5, 60), 0U);
	skb = enqueue(test, nth_ack(65));
	tcp_segment_parse(skb, &seg);
	number = lasack_flow_number(q, lasack_queue_flow(q, &seg));
	kfree_skb(dequeue(test));
	KUNIT_EXPECT_NE(test, (u32)q->aqm->flows[number].state, 0U);
	others_pass(test, q->aqm->count);
	KUNIT_EXPECT_EQ(test, (u32)q->aqm->flows[number].state, 0U);
	/* Many ACKs wait. The first allows all that the receiver does; then there is a limit. */
	for (i = 66; i < 86; i++)
		enqueue(test, nth_ack(i));
	wait(test, 5 * TARGET);
	skb = dequeue(test);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	tcp_segment_parse(skb, &seg);
	KUNIT_EXPECT_EQ(test, window_of(skb, &seg), WINDOW);
	kfree_skb(skb);
	while ((skb = dequeue(test)))
		kfree_skb(skb);
	KUNIT_EXPECT_GT(test, lowered(test, nth_ack(0), 86, 60), 0U);
}

/* A forgotten flow leaves none behind. */
static void states_of_forgotten_flows(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	others_pass(test, 50);
	lasack_queue_forget(q);
	others_pass(test, 50);
	KUNIT_EXPECT_EQ(test, states(test), 50U);
}

static struct kunit_case lasack_aqm_state_cases[] = {
	KUNIT_CASE(states_for_those_that_wait),
	KUNIT_CASE(states_of_busy_flows_stay),
	KUNIT_CASE(states_go_to_who_needs_them),
	KUNIT_CASE(states_run_out),
	KUNIT_CASE(states_lost_take_nothing_back),
	KUNIT_CASE(states_of_forgotten_flows),
	{}
};

static struct kunit_suite lasack_aqm_state_suite = {
	.name = "lasack_aqm_state",
	.init = lasack_aqm_test_init,
	.exit = lasack_test_exit,
	.test_cases = lasack_aqm_state_cases,
};

kunit_test_suite(lasack_aqm_state_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of the AQM's states of LAS-ACK");
