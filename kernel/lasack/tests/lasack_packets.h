/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets for the KUnit suites of LAS-ACK: each suite has a queue of its own
 * (test->priv), and each packet a mark to know it by.
 */
#ifndef LASACK_TESTS_LASACK_PACKETS_H
#define LASACK_TESTS_LASACK_PACKETS_H

#include <kunit/test.h>
#include "common/exact_array.c"
#include "common/flow_table.c"
#include "common/tcp_segment.c"
#include "lasack/airtime/lasack_airtime.c"
#include "lasack/lasack_arrival.c"
#include "lasack/lasack_charge.c"
#include "lasack/lasack_ack.c"
#include "lasack/lasack_accept.c"
#include "lasack/lasack_aqm.c"
#include "lasack/lasack_heard.c"
#include "lasack/lasack_call.c"
#include "lasack/floor/lasack_floor.c"
#include "lasack/lasack_newcomer.c"
#include "lasack/lasack_observe.c"
#include "lasack/lasack_order.c"
#include "lasack/lasack_queue.c"
#include "lasack/airtime/lasack_rates.c"
#include "lasack/lasack_rebuild.c"
#include "lasack/lasack_station.c"
#include "lasack/lasack_sum.c"
#include "lasack/lasack_tournament.c"
#include "lasack/window/lasack_echo.c"
#include "lasack/window/lasack_near.c"
#include "lasack/window/lasack_overtake.c"
#include "lasack/window/lasack_plain.c"
#include "lasack/window/lasack_scale.c"
#include "lasack/window/lasack_window.c"
#include "common/tests/segments.h"

#define LASACK_FLOWS	1024

/* The MAC address of the station that add_to() calls by its number. */
#define MAC_OF(station)	(0x020000000000ULL | (station))

/* A queue of another shape instead of the suite's. */
static inline struct lasack_queue *lasack_test_reshape(struct kunit *test,
						       struct lasack_shape shape)
{
	struct lasack_queue *q;

	shape.flows = shape.flows ?: LASACK_FLOWS;
	q = lasack_queue_create(&shape);
	KUNIT_ASSERT_NOT_NULL(test, q);
	lasack_queue_free(test->priv);
	test->priv = q;
	return q;
}

/* The paper's rules, flows alone. */
static inline int lasack_test_init(struct kunit *test)
{
	test->priv = NULL;
	lasack_test_reshape(test, (struct lasack_shape) { .paper = true });
	return 0;
}

static inline void lasack_test_exit(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct sk_buff *skb;

	while ((skb = lasack_queue_serve(q)))
		kfree_skb(skb);
	lasack_observer_free(q->observer);
	lasack_queue_free(q);
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
static inline u8 station_of(const struct tcp_segment *seg)
{
	return be16_to_cpu(seg->key.port[0]) % 8;
}

static inline void add(struct kunit *test, struct tcp_segment seg, u32 mark)
{
	add_to(test, station_of(&seg), seg, mark);
}

/* The mark of what was taken, 0 for nothing. */
static inline u32 taken(struct sk_buff *skb)
{
	u32 mark = skb ? skb->mark : 0;

	kfree_skb(skb);
	return mark;
}

/* Without an AQM it is known before which packet comes next. */
static inline u32 serve(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	const struct sk_buff *next = lasack_queue_next(q);
	struct sk_buff *skb = lasack_queue_serve(q);

	if (!q->shape.aqm)
		KUNIT_EXPECT_PTR_EQ(test, next, (const struct sk_buff *)skb);
	return taken(skb);
}

static inline u32 push_out(struct kunit *test)
{
	return taken(lasack_queue_push_out(test->priv));
}

/* The flow with this key, whichever station has it, if it is remembered. */
static inline struct lasack_flow *known_flow(struct lasack_queue *q, const struct segment_key *key)
{
	struct flow_entry *entry;
	u32 i;

	for (i = 0; i < q->table->size; i++) {
		entry = flow_table_place(q->table, i);
		if (entry->in_use && segment_key_equal(&entry->key, key) &&
		    (entry->busy || !flow_table_is_over(q->table, entry, q->time)))
			return container_of(entry, struct lasack_flow, entry);
	}
	return NULL;
}

/* The flow of connection @id if it is remembered. */
static inline struct lasack_flow *known(struct lasack_queue *q, u32 id)
{
	struct tcp_segment seg = data(id, 0);

	return known_flow(q, &seg.key);
}

/* The packet's flow, a new one of add()'s station if need be. */
static inline struct lasack_flow *flow_of(struct lasack_queue *q, const struct tcp_segment *seg)
{
	return known_flow(q, &seg->key) ?:
	       lasack_queue_flow(q, seg, MAC_OF(station_of(seg)));
}

static inline u64 attained(struct kunit *test, u32 id)
{
	struct lasack_queue *q = test->priv;
	struct tcp_segment seg = data(id, 0);

	return lasack_sum_bytes(&q->decay, flow_of(q, &seg)->account.sum, q->age);
}

/* The observer's device becomes a Wi-Fi device of that kind; without Wi-Fi the test is skipped. */
static inline void observe_as(struct kunit *test, struct lasack_observer *observer,
			      enum nl80211_iftype iftype)
{
#if IS_ENABLED(CONFIG_NETFILTER_INGRESS) && IS_ENABLED(CONFIG_CFG80211)
	struct net_device *dev = kunit_kzalloc(test, sizeof(*dev), GFP_KERNEL);
	struct wireless_dev *wdev = kunit_kzalloc(test, sizeof(*wdev), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, dev);
	KUNIT_ASSERT_NOT_NULL(test, wdev);
	wdev->iftype = iftype;
	dev->ieee80211_ptr = wdev;
	observer->hook.dev = dev;
#else
	kunit_skip(test, "this kernel has no Wi-Fi");
#endif
}

static inline void set_quantum(struct kunit *test, u32 bytes)
{
	struct lasack_queue *q = test->priv;

	q->quantum = bytes;
}

static inline void expect_order(struct kunit *test, const u32 *marks, int count)
{
	int i;

	for (i = 0; i < count; i++)
		KUNIT_EXPECT_EQ_MSG(test, serve(test), marks[i], "packet %d", i);
	KUNIT_EXPECT_EQ(test, serve(test), 0U);
}

/* Two stations of one flow each; marks are 10 * flow + number. */
static inline void fill_two_stations(struct kunit *test)
{
	u32 i;

	for (i = 0; i < 4; i++) {
		add_to(test, 1, data(1, 1000), 10 + i);
		add_to(test, 2, data(2, 1000), 20 + i);
	}
}

#endif
