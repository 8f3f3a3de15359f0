// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of ackwrr's FIFO of ACKs with "weights auto": which packets it forgets, keeps and
 * compares.
 *
 * Principle: a discipline without a device, with packets that are given to it one by one. What
 * is asked for is what Documentation/reference/ackwrr.md says.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/skbuff.h>
#include "ackwrr/ackwrr_fifo.c"
#include "ackwrr/tests/connections.h"

#define LIMIT	16		/* packets: a connection may have two ACKs here */

struct queue {
	struct Qdisc	*sch, *fifos[ACKWRR_CLASSES];
};

static int take_at_tail(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	return qdisc_enqueue_tail(skb, sch);
}

static int fifo_test_init(struct kunit *test)
{
	struct queue *queue = kunit_kzalloc(test, sizeof(*queue), GFP_KERNEL);
	struct ackwrr_sched_data *q;
	int class;

	KUNIT_ASSERT_NOT_NULL(test, queue);
	queue->sch = kunit_kzalloc(test, sizeof(struct Qdisc) + sizeof(*q), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, queue->sch);
	q = qdisc_priv(queue->sch);
	q->limit = LIMIT;
	KUNIT_ASSERT_EQ(test, ackwrr_flows_init(&q->flows), 0);
	for (class = 0; class < ACKWRR_CLASSES; class++) {
		struct Qdisc *fifo = kunit_kzalloc(test, sizeof(*fifo), GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, fifo);
		fifo->enqueue = take_at_tail;
		queue->fifos[class] = fifo;
		q->classes[class] = (struct ackwrr_class) { .child = fifo, .own_child = true };
	}
	ackwrr_fifo_set_limits(q);
	ackwrr_flows_advance(&q->flows, &q->share, NSEC_PER_SEC);
	test->priv = queue;
	return 0;
}

static struct ackwrr_sched_data *data_of(struct kunit *test)
{
	const struct queue *queue = test->priv;

	return qdisc_priv(queue->sch);
}

/* Return: the packet of that class that goes now, or NULL. */
static struct sk_buff *take(struct kunit *test, int class)
{
	struct ackwrr_sched_data *q = data_of(test);
	struct sk_buff *skb = ackwrr_fifo_dequeue(q, class);
	struct ackwrr_moved moved;

	if (skb)
		ackwrr_fifo_taken(q, class, skb, &moved);
	return skb;
}

/* @skb is what @seg says. Return: how many packets were dropped for it. */
static u32 put(struct kunit *test, struct sk_buff *skb, int class, struct tcp_segment seg)
{
	struct queue *queue = test->priv;
	struct ackwrr_sched_data *q = data_of(test);
	struct sk_buff *to_free = NULL, *gone;
	struct ackwrr_flow *flow;
	u32 dropped = 0;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb->mark = seg.ack_seq;
	flow = ackwrr_flows_arrive(&q->flows, &q->share, &seg);
	KUNIT_ASSERT_NOT_NULL(test, flow);
	KUNIT_EXPECT_EQ(test, ackwrr_fifo_enqueue(skb, queue->sch, class, flow, &seg, &to_free),
			NET_XMIT_SUCCESS);
	for (gone = to_free; gone; gone = gone->next)
		dropped++;
	kfree_skb_list(to_free);
	return dropped;
}

static struct sk_buff *packet(void)
{
	return alloc_skb(64, GFP_KERNEL);
}

static void fifo_test_exit(struct kunit *test)
{
	struct sk_buff *skb;
	int class;

	for (class = 0; class < ACKWRR_CLASSES; class++) {
		while ((skb = take(test, class)))
			kfree_skb(skb);
	}
	ackwrr_flows_free(&data_of(test)->flows);
}

/*
 * An ACK was sent, and its memory is another connection's ACK now. That one is dropped for the
 * next ACK of the first connection, which has nothing to do with it.
 */
static void sent_ones_are_forgotten(struct kunit *test)
{
	struct sk_buff *skb;
	u32 id;

	KUNIT_EXPECT_EQ(test, put(test, packet(), ACKWRR_ACK, ack(1, 1000)), 0);
	skb = take(test, ACKWRR_ACK);
	KUNIT_EXPECT_EQ(test, put(test, skb, ACKWRR_ACK, ack(2, 1000)), 0);
	for (id = 2; id < 2 + LIMIT - 1; id++)
		KUNIT_EXPECT_EQ(test, put(test, packet(), ACKWRR_ACK, ack(id, 2000)), 0);
	KUNIT_EXPECT_EQ(test, put(test, packet(), ACKWRR_ACK, ack(1, 2000)), 1);
	KUNIT_EXPECT_EQ(test, data_of(test)->classes[ACKWRR_ACK].child->q.qlen, LIMIT);
}

/* Both that wait stay: one may be replaced only by what is listed in its place. */
static void only_acks_replace_acks(struct kunit *test)
{
	struct tcp_segment fin = ack(1, 90000);
	u32 marks[3], i;

	fin.fin = 1;
	fin.pure_ack = 0;
	put(test, packet(), ACKWRR_ACK, ack(1, 1000));
	put(test, packet(), ACKWRR_ACK, ack(1, 2000));
	put(test, packet(), ACKWRR_ACK, fin);
	for (i = 0; i < 2; i++) {
		struct sk_buff *skb = take(test, ACKWRR_ACK);

		KUNIT_ASSERT_NOT_NULL(test, skb);
		marks[i] = skb->mark;
		kfree_skb(skb);
	}
	KUNIT_EXPECT_EQ(test, marks[0], 2000);
	KUNIT_EXPECT_EQ(test, marks[1], 90000);
}

/*
 * A filter sends UDP to the ACKs, whose first is a connection's only one. That one stays, and so
 * does an ACK that a connection with none sends. Nothing else exceeds the limit.
 */
static void only_first_acks_exceed_the_limit(struct kunit *test)
{
	struct tcp_segment udp = data(9, 1000);
	struct queue *queue = test->priv;
	struct ackwrr_sched_data *q = data_of(test);
	const struct Qdisc *fifo = queue->fifos[ACKWRR_ACK];
	struct sk_buff *to_free = NULL;
	struct ackwrr_flow *flow;
	u32 i;

	put(test, packet(), ACKWRR_ACK, ack(1, 1000));
	flow = ackwrr_flows_arrive(&q->flows, &q->share, &udp);
	KUNIT_ASSERT_NOT_NULL(test, flow);
	for (i = 0; i < 4 * LIMIT; i++)
		ackwrr_fifo_enqueue(packet(), queue->sch, ACKWRR_ACK, flow, &udp, &to_free);
	kfree_skb_list(to_free);
	KUNIT_EXPECT_EQ(test, fifo->q.qlen, LIMIT);
	KUNIT_EXPECT_EQ(test, fifo->q.head->mark, 1000);
	KUNIT_EXPECT_EQ(test, put(test, packet(), ACKWRR_ACK, ack(2, 1000)), 0);
	KUNIT_EXPECT_EQ(test, fifo->q.qlen, LIMIT + 1);
}

/* In order of arrival goes the packet that would go, which need not be the FIFO's first. */
static void first_come_is_whose_turn_it_is(struct kunit *test)
{
	struct ackwrr_sched_data *q = data_of(test);
	struct sk_buff *skb;

	/* It has had its turn: others go before its next ACK. */
	put(test, packet(), ACKWRR_ACK, ack(1, 1000));
	put(test, packet(), ACKWRR_ACK, ack(1, 2000));
	ackwrr_turn_next(&q->flows)->credit = -100000;
	put(test, packet(), ACKWRR_DATA, data(3, 1000));
	put(test, packet(), ACKWRR_ACK, ack(2, 3000));
	KUNIT_EXPECT_EQ(test, ackwrr_fifo_first_come(q), ACKWRR_DATA);
	kfree_skb(take(test, ACKWRR_DATA));
	skb = take(test, ACKWRR_ACK);
	KUNIT_EXPECT_EQ(test, skb->mark, 3000);
	kfree_skb(skb);
}

/* A packet that leaves says what it said when it came: its ACK number, and of which direction. */
static void packets_keep_their_direction(struct kunit *test)
{
	struct ackwrr_sched_data *q = data_of(test);
	struct ackwrr_moved moved;
	struct tcp_segment seg;
	struct sk_buff *skb;
	int class;
	u8 dir;

	for (class = 0; class < ACKWRR_CLASSES; class++) {
		for (dir = 0; dir < 2; dir++) {
			seg = ack(5, 1000 + dir);
			seg.reversed = dir;
			put(test, packet(), class, seg);
			skb = ackwrr_fifo_dequeue(q, class);
			KUNIT_ASSERT_NOT_NULL(test, skb);
			ackwrr_fifo_taken(q, class, skb, &moved);
			KUNIT_EXPECT_TRUE(test, moved.ack);
			KUNIT_EXPECT_EQ(test, moved.ack_seq, 1000 + dir);
			KUNIT_EXPECT_EQ(test, moved.reversed, dir);
			kfree_skb(skb);
		}
	}
}

static struct kunit_case ackwrr_fifo_cases[] = {
	KUNIT_CASE(sent_ones_are_forgotten),
	KUNIT_CASE(only_acks_replace_acks),
	KUNIT_CASE(only_first_acks_exceed_the_limit),
	KUNIT_CASE(first_come_is_whose_turn_it_is),
	KUNIT_CASE(packets_keep_their_direction),
	{}
};

static struct kunit_suite ackwrr_fifo_suite = {
	.name = "ackwrr_fifo",
	.init = fifo_test_init,
	.exit = fifo_test_exit,
	.test_cases = ackwrr_fifo_cases,
};

kunit_test_suite(ackwrr_fifo_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of ackwrr's FIFO of ACKs");
