/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets for the KUnit suites of LAS-ACK: each suite has a queue of its own
 * (test->priv), and each packet a mark to know it by.
 */
#ifndef LASACK_TESTS_LASACK_PACKETS_H
#define LASACK_TESTS_LASACK_PACKETS_H

#include <kunit/test.h>
#include "common/tests/segments.h"
#include "lasack/lasack_queue.h"

#define LASACK_FLOWS	1024

static inline int lasack_test_init(struct kunit *test)
{
	struct lasack_queue *q = kunit_kzalloc(test, sizeof(*q), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, q);
	KUNIT_ASSERT_EQ(test, lasack_queue_init(q, LASACK_FLOWS), 0);
	test->priv = q;
	return 0;
}

static inline void lasack_test_exit(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct sk_buff *skb;

	while ((skb = lasack_queue_serve(q)))
		kfree_skb(skb);
	lasack_table_free(q->table);
}

/* Queue a packet for @station that can be told from others by @mark. */
static inline void add_to(struct kunit *test, u8 station, struct tcp_segment seg, u32 mark)
{
	const u8 address[ETH_ALEN] = { 2, [5] = station };
	struct sk_buff *skb = alloc_skb(ETH_ALEN, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put_data(skb, address, sizeof(address));
	qdisc_skb_cb(skb)->pkt_len = seg.payload;
	skb->mark = mark;
	lasack_queue_add(test->priv, skb, &seg);
}

/* Eight stations, each the end of many flows. */
static inline void add(struct kunit *test, struct tcp_segment seg, u32 mark)
{
	add_to(test, be16_to_cpu(seg.key.port[0]) % 8, seg, mark);
}

/* The mark of what was taken, 0 for nothing. */
static inline u32 taken(struct sk_buff *skb)
{
	u32 mark = skb ? skb->mark : 0;

	kfree_skb(skb);
	return mark;
}

static inline u32 serve(struct kunit *test)
{
	return taken(lasack_queue_serve(test->priv));
}

static inline u32 push_out(struct kunit *test)
{
	return taken(lasack_queue_push_out(test->priv));
}

static inline u64 attained(struct kunit *test, u32 id)
{
	struct lasack_queue *q = test->priv;
	struct tcp_segment seg = data(id, 0);

	return lasack_sum_bytes(&lasack_queue_flow(q, &seg)->attained, q->age);
}

#endif
