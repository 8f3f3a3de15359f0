// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of servers that are near: how that is known, and how long packets wait for them.
 *
 * Principle: a station's SYN comes in, and after a while its answer. What follows from the time
 * between them is compared with the rule, and with what becomes of packets that wait.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include "lasack/tests/lasack_frames.h"

#define FAR	200U	/* ms */
#define TICK	(jiffies_to_usecs(1) / 1000)
/* ms: to be late in a busy machine, and for ticks to be rounded. */
#define SLACK	100U

/* A time of CoDel's in ms, rounded. */
static u32 ms_of(codel_time_t time)
{
	return div_u64(((u64)time << CODEL_SHIFT) + NSEC_PER_MSEC / 2, NSEC_PER_MSEC);
}

static void near_is_a_third(struct kunit *test)
{
	static const struct { u32 trip, target, interval; } cases[] = {
		{ 0, 50, 1600 }, { 1, 12, 384 }, { 20, 12, 384 }, { 60, 20, 640 },
		{ 120, 40, 1280 }, { 151, 50, 1600 }, { 1000, 50, 1600 },
	};
	const struct codel_params far = { .target = MS2TIME(50), .interval = MS2TIME(1600) };
	struct codel_params p;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		p = far;
		lasack_near_codel(MS2TIME(12), MS2TIME(cases[i].trip), &p);
		KUNIT_EXPECT_EQ(test, ms_of(p.target), cases[i].target);
		KUNIT_EXPECT_EQ(test, ms_of(p.interval), cases[i].interval);
		/* Every server counts as far. */
		p = far;
		lasack_near_codel(0, MS2TIME(cases[i].trip), &p);
		KUNIT_EXPECT_EQ(test, p.target, far.target);
		KUNIT_EXPECT_EQ(test, p.interval, far.interval);
	}
}

/* In eight bits, to 2.1 ms, up to half a second. */
static void near_is_known_roughly(struct kunit *test)
{
	static const u32 trips[] = { 1, 2000, 20000, 150000, 500000 };
	u32 i, known;

	KUNIT_EXPECT_EQ(test, lasack_near_unpack(lasack_near_pack(0)), 0U);
	for (i = 0; i < ARRAY_SIZE(trips); i++) {
		known = lasack_near_unpack(lasack_near_pack(trips[i]));
		KUNIT_EXPECT_GE(test, known, trips[i]);
		KUNIT_EXPECT_LE(test, known, trips[i] + 2100);
	}
	KUNIT_EXPECT_EQ(test, lasack_near_unpack(lasack_near_pack(U32_MAX)), 255U << 11);
}

/* The station sends a SYN. */
static void ask_server(struct kunit *test, u16 other)
{
	struct frame f = { .flags = TCPHDR_SYN, .back = true, .other = other };
	struct sk_buff *skb = packet_of(test, &f);
	struct lasack_queue *q = test->priv;

	skb_reset_mac_header(skb);
	eth_hdr(skb)->h_source[0] = 2;
	skb_pull(skb, ETH_HLEN);
	skb_reset_network_header(skb);
	lasack_observer_hook(q->observer, skb, NULL);
	kfree_skb(skb);
}

/* The station sends the two halves of a segment. */
static void send_segment(struct kunit *test, u32 seq, u16 other)
{
	struct lasack_queue *q = test->priv;
	struct sk_buff *skb;
	u32 half;

	for (half = 0; half < 2; half++) {
		skb = data_in(test, seq + half * MSS / 2, 1, false, other);
		lasack_observer_hook(q->observer, skb, NULL);
		kfree_skb(skb);
	}
}

static void server_answers(struct kunit *test, u16 other)
{
	struct frame f = accepts();

	f.other = other;
	lasack_queue_advance(test->priv, ktime_get_ns());
	begin(test, f);
}

static struct lasack_flow *connection(struct kunit *test, u16 other)
{
	struct frame f = nth_ack(0);
	struct lasack_flow *flow;
	struct tcp_segment seg;
	struct sk_buff *skb;

	f.other = other;
	skb = packet_of(test, &f);
	tcp_segment_parse(skb, &seg);
	flow = lasack_queue_flow(test->priv, &seg, lasack_station_address(skb));
	kfree_skb(skb);
	return flow;
}

/* Return: ms to the server and back, as it is known now; 0: it is not. */
static u32 trip_of(struct kunit *test, u16 other)
{
	return ms_of(lasack_near_unpack(lasack_aqm_of(test->priv, connection(test, other))->trip));
}

static void near_is_from_a_question_to_its_answer(struct kunit *test)
{
	ask_server(test, 1);
	server_answers(test, 1);
	KUNIT_EXPECT_GE(test, trip_of(test, 1), 1U);
	KUNIT_EXPECT_LE(test, trip_of(test, 1), SLACK);
	/* What comes, or is asked again, before the answer makes nobody nearer. */
	ask_server(test, 2);
	msleep(FAR);
	send_segment(test, FIRST, 2);
	ask_server(test, 2);
	server_answers(test, 2);
	KUNIT_EXPECT_GE(test, trip_of(test, 2), FAR - TICK);
	KUNIT_EXPECT_LE(test, trip_of(test, 2), FAR + SLACK);
	/* The answer is repeated: that is no round trip. */
	server_answers(test, 2);
	server_answers(test, 1);
	KUNIT_EXPECT_GE(test, trip_of(test, 2), FAR - TICK);
	KUNIT_EXPECT_LE(test, trip_of(test, 1), SLACK);
	/* Nobody has asked; what else the station sends is no question. */
	send_segment(test, FIRST, 3);
	server_answers(test, 3);
	KUNIT_EXPECT_EQ(test, trip_of(test, 3), 0U);
}

/* Who forges ACKs may have forged the answer, too. */
static void near_is_doubted_with_the_scale(struct kunit *test)
{
	ask_server(test, 1);
	server_answers(test, 1);
	KUNIT_EXPECT_GE(test, trip_of(test, 1), 1U);
	lasack_aqm_give_up(test->priv, connection(test, 1));
	KUNIT_EXPECT_EQ(test, trip_of(test, 1), 0U);
}

/* What asks a laptop is its access point, for others: their part of the path is not known. */
static void near_is_not_known_to_a_laptop(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	observe_as(test, q->observer, NL80211_IFTYPE_STATION);
	ask_server(test, 1);
	server_answers(test, 1);
	KUNIT_EXPECT_EQ(test, trip_of(test, 1), 0U);
	observe_as(test, q->observer, NL80211_IFTYPE_AP);
	ask_server(test, 2);
	server_answers(test, 2);
	KUNIT_EXPECT_GE(test, trip_of(test, 2), 1U);
}

/* Return: of 30 packets that wait for 20, 40, 60 ms and so on, those that CoDel drops. */
static u32 dropped(struct kunit *test, u16 other)
{
	struct lasack_queue *q = test->priv;
	u32 before = q->aqm->codel_stats.drop_count, marked = 0;
	struct frame like = late_data;

	like.other = other;
	sent_late(test, like, TICK >= 10 ? 1 : 2, &marked);
	return q->aqm->codel_stats.drop_count - before;
}

/* More than 12.5 ms for more than 0.4 s; or 50 ms, but for less than 1.6 s. */
static void near_data_waits_for_less(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	ask_server(test, 1);
	server_answers(test, 1);
	ask_server(test, 2);
	msleep(FAR);
	server_answers(test, 2);
	lasack_aqm_set_aggregates(q->aqm, true, true);
	KUNIT_EXPECT_EQ(test, dropped(test, 2), 0U);
	KUNIT_EXPECT_EQ(test, dropped(test, 3), 0U);
	KUNIT_EXPECT_GE(test, dropped(test, 1), 1U);
	/* Only if the target may be shorter. */
	lasack_aqm_set_aggregates(q->aqm, true, false);
	KUNIT_EXPECT_EQ(test, dropped(test, 1), 0U);
}

/* ACKs wait for 60 ms, and then for 40 ms each time. Return: the window of the last one. */
static u32 window_after(struct kunit *test, u16 other)
{
	struct frame f = nth_ack(0);
	struct tcp_segment seg;
	struct sk_buff *skb;
	u32 i, j, window = 0;

	f.other = other;
	for (i = 0; i < 20; i++) {
		for (j = 1; j <= 20; j++) {
			send_segment(test, f.ack_seq, other);
			f.ack_seq += MSS;
			enqueue(test, f);
		}
		wait(test, i < 2 ? 60 : 40);
		while ((skb = dequeue(test))) {
			tcp_segment_parse(skb, &seg);
			window = window_of(skb, &seg);
			kfree_skb(skb);
		}
	}
	return window;
}

/* 40 ms is more than the 25 ms that are enough, or less than two thirds of what it seems to be. */
static void near_acks_wait_for_less(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	ask_server(test, 1);
	server_answers(test, 1);
	server_answers(test, 2);
	lasack_aqm_set_aggregates(q->aqm, true, true);
	KUNIT_EXPECT_LT(test, window_after(test, 1), WINDOW / 2);
	KUNIT_EXPECT_GT(test, window_after(test, 2), WINDOW / 2);
}

static int near_test_init(struct kunit *test)
{
	struct lasack_queue *q;
	int err = lasack_aqm_test_init(test);

	if (err)
		return err;
	q = test->priv;
	q->observer = lasack_observer_alloc();
	KUNIT_ASSERT_NOT_NULL(test, q->observer);
	return 0;
}

static struct kunit_case near_cases[] = {
	KUNIT_CASE(near_is_a_third),
	KUNIT_CASE(near_is_known_roughly),
	KUNIT_CASE(near_is_from_a_question_to_its_answer),
	KUNIT_CASE(near_is_doubted_with_the_scale),
	KUNIT_CASE(near_is_not_known_to_a_laptop),
	KUNIT_CASE(near_data_waits_for_less),
	KUNIT_CASE(near_acks_wait_for_less),
	{}
};

static struct kunit_suite near_suite = {
	.name = "lasack_near",
	.init = near_test_init,
	.exit = lasack_test_exit,
	.test_cases = near_cases,
};

kunit_test_suite(near_suite);

MODULE_LICENSE("GPL");
