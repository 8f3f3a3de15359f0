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

static void near_is_a_part(struct kunit *test)
{
	static const struct { bool aggregates; u32 trip, target, interval; } cases[] = {
		{ true, 0, 50, 1600 }, { true, 1, 12, 500 }, { true, 20, 12, 500 },
		{ true, 60, 20, 640 }, { true, 120, 40, 1280 }, { true, 151, 50, 1600 },
		{ true, 1000, 50, 1600 },
		{ false, 0, 100, 300 }, { false, 1, 50, 300 }, { false, 60, 50, 300 },
		{ false, 120, 80, 300 }, { false, 151, 100, 300 }, { false, 200, 100, 300 },
		{ false, 300, 150, 450 }, { false, 500, 250, 750 },
	};
	const struct lasack_near none = { .thirds = 1, .interval = 32 };
	struct codel_params far, p;
	struct lasack_near near;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		if (cases[i].aggregates) {
			far.target = MS2TIME(50);
			far.interval = MS2TIME(1600);
			/* A quarter of it is 12 ms. */
			lasack_near_set(&near, MS2TIME(48), true);
		} else {
			far.target = MS2TIME(100);
			far.interval = MS2TIME(300);
			lasack_near_set(&near, far.target, false);
		}
		p = far;
		lasack_near_codel(&near, MS2TIME(cases[i].trip), &p);
		KUNIT_EXPECT_EQ(test, ms_of(p.target), cases[i].target);
		KUNIT_EXPECT_EQ(test, ms_of(p.interval), cases[i].interval);
		/* Every server counts as far. */
		p = far;
		lasack_near_codel(&none, MS2TIME(cases[i].trip), &p);
		KUNIT_EXPECT_EQ(test, p.target, far.target);
		KUNIT_EXPECT_EQ(test, p.interval, far.interval);
	}
}

/* What waits in the station, too, has a part of the target: half of it at most. */
static void near_is_shared_with_the_station(struct kunit *test)
{
	static const struct { u32 target, interval, wait, shorter, less; } cases[] = {
		{ 100, 300, 0, 100, 300 }, { 100, 300, 30, 70, 100 }, { 100, 300, 80, 50, 100 },
		{ 50, 1600, 10, 40, 100 }, { 50, 80, 10, 40, 80 },
		/* CoDel's interval is never less than its target. */
		{ 150, 450, 1, 149, 149 }, { 250, 750, 50, 200, 200 }, { 250, 750, 900, 125, 125 },
	};
	struct codel_params p;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		p.target = MS2TIME(cases[i].target);
		p.interval = MS2TIME(cases[i].interval);
		lasack_near_codel_twice(MS2TIME(cases[i].wait), &p);
		KUNIT_EXPECT_EQ(test, ms_of(p.target), cases[i].shorter);
		KUNIT_EXPECT_EQ(test, ms_of(p.interval), cases[i].less);
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
	struct sk_buff *skb = packet_in(test, &f);
	struct lasack_queue *q = test->priv;

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
	u32 i, j;

	ask_server(test, 1);
	server_answers(test, 1);
	KUNIT_EXPECT_GE(test, trip_of(test, 1), 1U);
	KUNIT_EXPECT_LE(test, trip_of(test, 1), SLACK);
	/* What comes before the answer makes nobody nearer. */
	ask_server(test, 2);
	msleep(FAR);
	send_segment(test, FIRST, 2);
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
	/* It is asked again: the answer may be to any of the SYNs. */
	for (i = 2; i < 4; i++) {
		for (j = 0; j < i; j++)
			ask_server(test, 2 + i);
		server_answers(test, 2 + i);
		KUNIT_EXPECT_EQ(test, trip_of(test, 2 + i), 0U);
	}
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

/* Packets come at once and leave one by one. Return: how many of them CoDel drops in @ms. */
static u32 dropped_in(struct kunit *test, u32 ms, u16 other)
{
	struct frame like = late_data;
	struct lasack_queue *q = test->priv;
	u32 before = q->aqm->codel_stats.drop_count, drops, i;
	struct sk_buff *skb;
	u64 until;

	like.other = other;
	lasack_queue_advance(q, ktime_get_ns());
	for (i = 0; i < ms / 10; i++)
		enqueue(test, like);
	until = q->now + ms * NSEC_PER_MSEC;
	for (;;) {
		msleep(20);
		lasack_queue_advance(q, ktime_get_ns());
		if (q->now >= until)
			break;
		kfree_skb(dequeue(test));
	}
	drops = q->aqm->codel_stats.drop_count - before;
	while ((skb = dequeue(test)))
		kfree_skb(skb);
	return drops;
}

/* For a second: more than 12.5 ms for more than 0.5 s; or 50 ms, but for less than 1.6 s. */
static void near_data_waits_for_less(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	ask_server(test, 1);
	server_answers(test, 1);
	ask_server(test, 2);
	msleep(FAR);
	server_answers(test, 2);
	lasack_aqm_set_aggregates(q->aqm, true, true);
	KUNIT_EXPECT_EQ(test, dropped_in(test, 1000, 2), 0U);
	KUNIT_EXPECT_EQ(test, dropped_in(test, 1000, 3), 0U);
	KUNIT_EXPECT_GE(test, dropped_in(test, 1000, 1), 1U);
	/* Only if the target may be shorter. */
	lasack_aqm_set_aggregates(q->aqm, true, false);
	KUNIT_EXPECT_EQ(test, dropped_in(test, 1000, 1), 0U);
}

/* CoDel's interval is short here, so that it is the target that counts. */
static void set_alone(struct lasack_aqm *aqm, bool automatic)
{
	lasack_aqm_set(aqm, 10 * TARGET, 1514);
	lasack_aqm_set_aggregates(aqm, false, automatic);
	aqm->codel_tcp.interval = MS2TIME(100);
}

/* For 0.85 s: more than 0.5 s for more than 0.1 s; or less than a second. */
static void near_data_waits_for_less_alone(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	ask_server(test, 1);
	server_answers(test, 1);
	set_alone(q->aqm, true);
	KUNIT_EXPECT_EQ(test, dropped_in(test, 850, 3), 0U);
	KUNIT_EXPECT_GE(test, dropped_in(test, 850, 1), 1U);
	set_alone(q->aqm, false);
	KUNIT_EXPECT_EQ(test, dropped_in(test, 850, 1), 0U);
}

/* For 0.6 s: more than 100 ms for more than 0.3 s; or 200 ms, but for less than 0.6 s. */
static void very_far_data_waits_for_more_alone(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	ask_server(test, 1);
	msleep(2 * FAR);
	server_answers(test, 1);
	lasack_aqm_set(q->aqm, TARGET, 1514);
	lasack_aqm_set_aggregates(q->aqm, false, true);
	KUNIT_EXPECT_GE(test, dropped_in(test, 600, 3), 1U);
	KUNIT_EXPECT_EQ(test, dropped_in(test, 600, 1), 0U);
}

/* ACKs wait for @first, and then for 2/3 of it each time. Return: the window of the last one. */
static u32 window_after(struct kunit *test, u32 first, u16 other)
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
		wait(test, i < 2 ? first : first / 3 * 2);
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
	KUNIT_EXPECT_LT(test, window_after(test, 60, 1), WINDOW / 2);
	KUNIT_EXPECT_GT(test, window_after(test, 60, 2), WINDOW / 2);
	/* There must be few ACKs where each is sent alone. 80 ms are less than they may wait. */
	ask_server(test, 4);
	server_answers(test, 4);
	lasack_aqm_set_aggregates(q->aqm, false, true);
	KUNIT_EXPECT_GT(test, window_after(test, 120, 4), WINDOW / 2);
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
	KUNIT_CASE(near_is_a_part),
	KUNIT_CASE(near_is_shared_with_the_station),
	KUNIT_CASE(near_is_known_roughly),
	KUNIT_CASE(near_is_from_a_question_to_its_answer),
	KUNIT_CASE(near_is_doubted_with_the_scale),
	KUNIT_CASE(near_is_not_known_to_a_laptop),
	KUNIT_CASE(near_data_waits_for_less),
	KUNIT_CASE(near_data_waits_for_less_alone),
	KUNIT_CASE(very_far_data_waits_for_more_alone),
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
