// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of stations that send in another's name, with its addresses and ports.
 *
 * Principle: station 1 has a connection. An impostor, station 7, sends as if it were station 1, and
 * gets packets of the same addresses. What becomes of station 1 must be as without the impostor.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include "lasack/tests/lasack_datagrams.h"
#include "lasack/tests/lasack_frames.h"

#define IMPOSTOR	7

static int lasack_impostor_test_init(struct kunit *test)
{
	memset(lasack_scales, 0, sizeof(lasack_scales));
	test->priv = NULL;
	begin_hearing(test);
	return 0;
}

/* A queue with an AQM and an observer. */
static struct lasack_queue *begin_with_aqm(struct kunit *test)
{
	struct lasack_observer *observer = ((struct lasack_queue *)test->priv)->observer;
	struct lasack_shape shape = { .by_station = true, .aqm = true };
	struct lasack_queue *q = lasack_test_reshape(test, shape);

	q->observer = observer;
	q->overhead = 200;
	lasack_aqm_set(q->aqm, TARGET, 1514);
	lasack_queue_advance(q, ktime_get_ns());
	return q;
}

/* The same addresses and ports, but at the station with this MAC address. */
static struct lasack_flow *flow_at(struct lasack_queue *q, struct tcp_segment seg, u64 station)
{
	return lasack_queue_flow(q, &seg, station);
}

static void impostor_pays_for_tcp(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	hear_anything(test);
	add(test, ack(1, 1), 1);
	add_to(test, IMPOSTOR, ack(1, 1), 2);
	hear(test, data(1, 100000), MAC_OF(IMPOSTOR));
	add_to(test, IMPOSTOR, ack(1, 1 + 100000), 3);
	KUNIT_EXPECT_EQ(test, flow_at(q, data(1, 0), STATION)->received, 0ULL);
	KUNIT_EXPECT_EQ(test, flow_at(q, data(1, 0), STATION)->last_ack[0], 1U);
	KUNIT_EXPECT_EQ(test, flow_at(q, data(1, 0), MAC_OF(IMPOSTOR))->received, 100000ULL);
}

static void impostor_pays_for_datagrams(struct kunit *test)
{
	struct tcp_segment big = datagram(1, 60000), seg = datagram(1, 200);
	struct lasack_queue *q = test->priv;

	add(test, seg, 1);
	lasack_observer_note(q->observer, &big, MAC_OF(IMPOSTOR));
	add_to(test, IMPOSTOR, seg, 2);
	KUNIT_EXPECT_EQ(test, flow_at(q, seg, STATION)->received, 0ULL);
	KUNIT_EXPECT_EQ(test, flow_at(q, seg, MAC_OF(IMPOSTOR))->received, 60000ULL);
	serve(test);
	serve(test);
	/* Nor does station 1 pay for what goes to the impostor. */
	KUNIT_EXPECT_EQ(test, flow_at(q, seg, STATION)->sent, 200ULL);
	KUNIT_EXPECT_EQ(test, flow_at(q, seg, MAC_OF(IMPOSTOR))->sent, 200ULL);
}

/* Datagrams each way, which go out late. Return: how often station 1 is told to send less. */
static u32 told_in_a_call(struct kunit *test, bool attacked)
{
	struct tcp_segment seg = datagram(1, 200), big = datagram(1, 60000);
	struct lasack_queue *q = begin_with_aqm(test);
	u32 i, told = 0;

	for (i = 0; i < 100; i++) {
		comes_in(test, seg);
		add(test, seg, 1);
		kfree_skb(dequeue(test));
	}
	for (i = 0; attacked && i < 20; i++) {
		lasack_observer_note(q->observer, &big, MAC_OF(IMPOSTOR));
		add_to(test, IMPOSTOR, seg, 2);
		kfree_skb(dequeue(test));
	}
	for (i = 0; i < 200; i++) {
		told += comes_in(test, seg);
		add(test, seg, 1);
		msleep(20);
		lasack_queue_advance(q, ktime_get_ns());
		if (i >= 8)
			kfree_skb(dequeue(test));
	}
	KUNIT_EXPECT_TRUE(test, lasack_is_call(q, flow_at(q, seg, STATION)));
	return told;
}

static void impostor_ends_no_call(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, told_in_a_call(test, false), 0U);
	KUNIT_EXPECT_EQ(test, told_in_a_call(test, true), 0U);
}

/* The station sends half of the nth segment of an upload. */
static void sends(struct kunit *test, u8 station, u32 n, u8 stamp, u16 upload)
{
	struct sk_buff *skb = data_in(test, FIRST + n * MSS, stamp, false, upload);
	struct lasack_queue *q = test->priv;

	eth_hdr(skb)->h_source[5] = station;
	lasack_observer_hook(q->observer, skb, NULL);
	kfree_skb(skb);
}

/* The packet goes out to the station. Return: its window. */
static u32 goes_to(struct kunit *test, u8 station, struct frame f)
{
	struct sk_buff *skb = packet_of(test, &f);
	struct tcp_segment seg;
	u32 window;

	skb->data[5] = station;
	tcp_segment_parse(skb, &seg);
	lasack_queue_add(test->priv, skb, &seg);
	skb = dequeue(test);
	tcp_segment_parse(skb, &seg);
	window = window_of(skb, &seg);
	kfree_skb(skb);
	return window;
}

static struct frame nth_ack_of(u32 n, u8 stamp, u16 upload)
{
	struct frame f = nth_ack(n);

	f.other = upload;
	f.option[7] = stamp;
	return f;
}

/*
 * Station 0 uploads alone, and its data is never late. The impostor has four uploads, and each 40
 * ms an old segment and an ACK of station 0's. Return: the least window of station 0.
 */
static u32 least_window(struct kunit *test, bool attacked)
{
	struct lasack_queue *q = begin_with_aqm(test);
	u32 i, least = WINDOW;
	struct frame f;
	u16 upload;

	goes_to(test, 0, accepts());
	for (upload = 1; upload <= 4; upload++) {
		f = accepts();
		f.other = upload;
		goes_to(test, IMPOSTOR, f);
	}
	for (i = 1; i <= 400; i++) {
		for (upload = 1; upload <= 4; upload++) {
			sends(test, IMPOSTOR, i, i, upload);
			goes_to(test, IMPOSTOR, nth_ack_of(i, i, upload));
		}
		sends(test, 0, i, i, 0);
		least = min(least, goes_to(test, 0, nth_ack_of(i, i, 0)));
		if (attacked && i % 8 == 0) {
			sends(test, IMPOSTOR, i, 0, 0);
			goes_to(test, IMPOSTOR, nth_ack_of(i, 1, 0));
		}
		usleep_range(5000, 6000);
		lasack_queue_advance(q, ktime_get_ns());
	}
	return least;
}

static void impostor_lowers_no_window(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, least_window(test, false), (u32)WINDOW);
	KUNIT_EXPECT_EQ(test, least_window(test, true), (u32)WINDOW);
}

/* Another table: the two flows stay two, those with packets and those without. */
static void impostor_stays_apart(struct kunit *test)
{
	struct lasack_shape shape = { .by_station = true, .flows = 2 * LASACK_FLOWS };
	struct lasack_queue *from = test->priv, *q;
	struct tcp_segment seg[] = { datagram(1, 100), datagram(9, 100) };
	u32 i;

	add(test, seg[0], 1);
	add_to(test, IMPOSTOR, seg[0], 2);
	add_to(test, IMPOSTOR, seg[0], 3);
	while (serve(test))
		;
	add(test, seg[1], 4);
	add_to(test, IMPOSTOR, seg[1], 5);
	add_to(test, IMPOSTOR, seg[1], 6);
	q = lasack_queue_create(&shape);
	KUNIT_ASSERT_NOT_NULL(test, q);
	lasack_queue_take_over(q, from);
	lasack_queue_free(from);
	test->priv = q;
	KUNIT_EXPECT_EQ(test, q->table->flows, 4U);
	KUNIT_EXPECT_EQ(test, flow_at(q, seg[0], STATION)->sent, 100ULL);
	KUNIT_EXPECT_EQ(test, flow_at(q, seg[0], MAC_OF(IMPOSTOR))->sent, 200ULL);
	KUNIT_EXPECT_EQ(test, flow_at(q, seg[1], STATION)->account.packets, 1U);
	KUNIT_EXPECT_EQ(test, flow_at(q, seg[1], MAC_OF(IMPOSTOR))->account.packets, 2U);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_NE(test, serve(test), 0U);
	KUNIT_EXPECT_EQ(test, q->table->flows, 4U);
}

static struct kunit_case lasack_impostor_test_cases[] = {
	KUNIT_CASE(impostor_pays_for_tcp),
	KUNIT_CASE(impostor_pays_for_datagrams),
	KUNIT_CASE(impostor_ends_no_call),
	KUNIT_CASE(impostor_lowers_no_window),
	KUNIT_CASE(impostor_stays_apart),
	{}
};

static struct kunit_suite lasack_impostor_test_suite = {
	.name = "lasack_impostor",
	.init = lasack_impostor_test_init,
	.exit = lasack_test_exit,
	.test_cases = lasack_impostor_test_cases,
};

kunit_test_suite(lasack_impostor_test_suite);

MODULE_LICENSE("GPL");
