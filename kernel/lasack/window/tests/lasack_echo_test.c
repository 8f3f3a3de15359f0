// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of what tells whether an upload's data waits in its own station.
 *
 * Principle: only data that was sent before an ACK came, and that comes long after it, says so. A
 * sender that pauses, another connection, and what is forged say nothing.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include "lasack/tests/lasack_frames.h"

#define FLOW	0x12345678U
#define STATION	0x87654321U
#define STAMP	0xfffffff0U	/* of the first ACK: timestamps wrap */
#define MS	(1000000U >> 10)
#define SECOND	(1000 * MS)
#define START	(0U - 10 * MS)	/* and the clock does */

struct one {
	struct lasack_echo		echo;
	struct lasack_echo_station	station;
};

static struct lasack_window_station ask(struct one *one, u32 flow, u32 stamp, u32 now)
{
	return lasack_echo_ask(&one->echo, &one->station, flow, stamp, FIRST, now);
}

/* Data that was sent when the station had an ACK with this timestamp. */
static void hear(struct one *one, u32 flow, u32 stamp, u32 now)
{
	struct lasack_echo_data data = {
		.timestamp = stamp, .end = FIRST + 2 * MSS, .segment = MSS,
	};

	lasack_echo_hear(&one->echo, &one->station, flow, &data, now);
}

static void echo_of_a_queue(struct kunit *test)
{
	struct lasack_window_station station;
	struct one one = {};

	station = ask(&one, FLOW, STAMP, START);
	KUNIT_EXPECT_EQ(test, station.segment, 0U);
	hear(&one, FLOW, STAMP - 1, START + 19 * MS);
	station = ask(&one, FLOW, STAMP + 20, START + 20 * MS);
	KUNIT_EXPECT_FALSE(test, station.late || station.lately);
	KUNIT_EXPECT_EQ(test, station.segment, MSS);
	KUNIT_EXPECT_EQ(test, station.beyond, 2 * MSS);
	hear(&one, FLOW, STAMP - 1, START + 22 * MS);
	station = ask(&one, FLOW, STAMP + 21, START + 23 * MS);
	KUNIT_EXPECT_TRUE(test, station.late && station.lately);
	/* Said once, and remembered. */
	station = ask(&one, FLOW, STAMP + 22, START + 24 * MS);
	KUNIT_EXPECT_FALSE(test, station.late);
	station = ask(&one, FLOW, STAMP + 22, START + 4 * SECOND);
	KUNIT_EXPECT_TRUE(test, station.lately);
	station = ask(&one, FLOW, STAMP + 22, START + 5 * SECOND);
	KUNIT_EXPECT_FALSE(test, station.lately);
}

/* It has nothing to send for half a second. What it sends then echoes the ACK. */
static void echo_of_a_pause(struct kunit *test)
{
	struct one one = {};
	u32 i, stamp = STAMP, now = START;

	for (i = 0; i < 10; i++) {
		struct lasack_window_station station = ask(&one, FLOW, stamp, now);

		KUNIT_EXPECT_FALSE(test, station.late || station.lately);
		now += 500 * MS;
		hear(&one, FLOW, stamp, now);
		stamp += 500;
	}
}

/* An ACK is lost. Its timestamp comes again with the ones behind it, but not for a second. */
static void echo_that_does_not_come(struct kunit *test)
{
	struct one one = {};
	u32 i, late = 0;

	ask(&one, FLOW, STAMP, START);
	for (i = 1; i <= 900; i += 10) {
		hear(&one, FLOW, STAMP - 1, START + i * MS);
		late += !!ask(&one, FLOW, STAMP + i, START + i * MS).late;
	}
	KUNIT_EXPECT_GT(test, late, 80U);
	ask(&one, FLOW, STAMP + 2000, START + 2000 * MS);
	hear(&one, FLOW, STAMP + 2000, START + 2010 * MS);
	ask(&one, FLOW, STAMP + 2010, START + 2010 * MS);
	hear(&one, FLOW, STAMP + 2000, START + 2020 * MS);
	KUNIT_EXPECT_EQ(test, ask(&one, FLOW, STAMP + 2020, START + 2020 * MS).late, 0U);
}

/* It is forged: no data echoes it. But the next ACK is older, and that is seen first. */
static void echo_of_the_future(struct kunit *test)
{
	struct lasack_window_station station;
	struct one one = {};
	u32 i;

	for (i = 0; i < 3000; i += 30) {
		station = ask(&one, FLOW, STAMP + i, START + i * MS);
		KUNIT_EXPECT_FALSE(test, station.late || station.lately);
		hear(&one, FLOW, STAMP + i, START + i * MS);
		ask(&one, FLOW, STAMP + i + BIT(30), START + i * MS);
		hear(&one, FLOW, STAMP + i, START + (i + 29) * MS);
	}
}

/* The clock was read before the ACK was sent, on another processor. */
static void echo_before_the_question(struct kunit *test)
{
	struct one one = {};

	ask(&one, FLOW, STAMP, START + MS);
	hear(&one, FLOW, STAMP - 1, START);
	KUNIT_EXPECT_EQ(test, ask(&one, FLOW, STAMP, START + 2 * MS).late, 0U);
}

/* With the same addresses and ports, and other sequence numbers. */
static void echo_of_the_next_connection(struct kunit *test)
{
	struct one one = {};

	ask(&one, FLOW, STAMP, START);
	hear(&one, FLOW, STAMP - 1, START + 30 * MS);
	lasack_echo_end(&one.echo, FLOW + 1);
	KUNIT_EXPECT_EQ(test, ask(&one, FLOW, STAMP + 1, START + 30 * MS).segment, MSS);
	lasack_echo_end(&one.echo, FLOW);
	KUNIT_EXPECT_EQ(test, ask(&one, FLOW, STAMP + 1, START + 40 * MS).segment, 0U);
	KUNIT_EXPECT_FALSE(test, ask(&one, FLOW, STAMP + 1, START + 2 * SECOND).lately);
}

/* Two connections have the same place. */
static void echo_of_another_connection(struct kunit *test)
{
	struct lasack_window_station station;
	struct one one = {};

	ask(&one, FLOW, STAMP, START);
	hear(&one, FLOW, STAMP - 1, START + 30 * MS);
	station = ask(&one, FLOW + 1, STAMP, START + 30 * MS);
	KUNIT_EXPECT_EQ(test, station.segment, 0U);
	KUNIT_EXPECT_FALSE(test, station.late || station.lately);
	hear(&one, FLOW + 1, STAMP, START + 30 * MS);
	KUNIT_EXPECT_TRUE(test, ask(&one, FLOW, STAMP + 1, START + 31 * MS).late);
	/* When the first one has ended, the other begins with nothing. */
	hear(&one, FLOW, STAMP - 1, START + 60 * MS);
	station = ask(&one, FLOW + 1, STAMP, START + 2 * SECOND);
	KUNIT_EXPECT_EQ(test, station.segment, 0U);
	KUNIT_EXPECT_FALSE(test, station.late || station.lately);
	hear(&one, FLOW + 1, STAMP, START + 2 * SECOND);
	KUNIT_EXPECT_EQ(test, ask(&one, FLOW + 1, STAMP, START + 2 * SECOND).segment, MSS);
}

#define BEGIN	(START + 2 * SECOND)	/* seconds wrap, too: none has begun before */

/* Return: how long data waits in the station, which has other connections if it is @shared. */
static u32 wait_of(struct kunit *test, struct one *one, bool shared, u32 late)
{
	struct segment_key keys[2] = {};

	*one = (struct one) {};
	keys[1].port[1] = htons(2);
	lasack_echo_mix(&one->station, STATION, &keys[0], BEGIN);
	lasack_echo_mix(&one->station, STATION, &keys[shared], BEGIN);
	ask(one, FLOW, STAMP, BEGIN);
	hear(one, FLOW, STAMP - 1, BEGIN + late);
	ask(one, FLOW, STAMP + 1, BEGIN + late);
	KUNIT_EXPECT_EQ(test, lasack_echo_wait(&one->station, BEGIN + late), 0U);
	/* After a pause. */
	hear(one, FLOW, STAMP + 1, BEGIN + 500 * MS);
	ask(one, FLOW, STAMP + 10, BEGIN + 500 * MS);
	return lasack_echo_wait(&one->station, BEGIN + 500 * MS);
}

/* What else waits in the station for as long is told for a second. */
static void echo_tells_the_wait(struct kunit *test)
{
	struct one one = {};
	u32 i;

	KUNIT_EXPECT_EQ(test, lasack_echo_wait(&one.station, BEGIN), 0U);
	KUNIT_EXPECT_EQ(test, wait_of(test, &one, false, 60 * MS), 0U);
	KUNIT_EXPECT_EQ(test, wait_of(test, &one, true, 19 * MS), 0U);
	KUNIT_EXPECT_EQ(test, wait_of(test, &one, true, 60 * MS), 60 * MS);
	/* Not late since then. */
	hear(&one, FLOW, STAMP + 10, BEGIN + 510 * MS);
	ask(&one, FLOW, STAMP + 20, BEGIN + 510 * MS);
	KUNIT_EXPECT_EQ(test, lasack_echo_wait(&one.station, BEGIN + SECOND), 60 * MS);
	KUNIT_EXPECT_EQ(test, lasack_echo_wait(&one.station, BEGIN + 2 * SECOND), 0U);
	/* Nor is it late if nothing echoes what was forged. */
	wait_of(test, &one, true, 0);
	for (i = 0; i < 100; i++) {
		hear(&one, FLOW, STAMP + 1, BEGIN + (600 + 40 * i) * MS);
		ask(&one, FLOW, STAMP + 1000 + i, BEGIN + (600 + 40 * i) * MS);
		KUNIT_EXPECT_EQ(test, lasack_echo_wait(&one.station, BEGIN + (600 + 40 * i) * MS),
				0U);
	}
}

/* Two stations have the same place: it is that of the first, until nothing comes from it. */
static void echo_of_another_station(struct kunit *test)
{
	struct segment_key key = {};
	struct one one = {};
	u32 i;

	for (i = 0; i < 4; i++) {
		key.port[1] = htons(10);
		lasack_echo_mix(&one.station, STATION, &key, BEGIN + i * SECOND);
		key.port[1] = htons(11);
		lasack_echo_mix(&one.station, STATION + 1, &key, BEGIN + i * SECOND);
		KUNIT_EXPECT_EQ(test, one.station.station, STATION);
		KUNIT_EXPECT_FALSE(test, ask(&one, FLOW, STAMP, BEGIN + i * SECOND).shared);
	}
	KUNIT_EXPECT_GT(test, wait_of(test, &one, true, 60 * MS), 0U);
	lasack_echo_mix(&one.station, STATION + 1, &key, BEGIN + 3 * SECOND);
	KUNIT_EXPECT_EQ(test, one.station.station, STATION + 1);
	KUNIT_EXPECT_FALSE(test, ask(&one, FLOW, STAMP, BEGIN + 3 * SECOND).shared);
	KUNIT_EXPECT_EQ(test, lasack_echo_wait(&one.station, BEGIN + SECOND), 0U);
}

/* Of four connections, two send much. Then one does, alone. */
static void echo_counts_uploads(struct kunit *test)
{
	struct lasack_echo_station station = {};
	struct lasack_window_station told;
	struct lasack_echo echo[4] = {};
	struct segment_key keys[4] = {};
	u32 i, j, now, end = FIRST;

	for (j = 0; j < 4; j++)
		keys[j].port[1] = htons(j);

	for (i = 0; i < 100; i++, end += MSS) {
		now = START + 2 * SECOND + i * 50 * MS;
		for (j = 0; j < 4; j++) {
			struct lasack_echo_data data = {
				.timestamp = STAMP, .end = j < 2 ? end : FIRST, .segment = MSS,
			};

			lasack_echo_mix(&station, STATION, &keys[j], now);
			told = lasack_echo_ask(&echo[j], &station, FLOW + j, STAMP, FIRST, now);
			lasack_echo_hear(&echo[j], &station, FLOW + j, &data, now);
		}
		/* A second of 20 goes by until it is known. */
		if (i < 40)
			continue;
		KUNIT_EXPECT_TRUE(test, told.shared);
		KUNIT_EXPECT_EQ(test, told.uploads, 2U);
	}
	for (i = 0; i < 50; i++) {
		now = START + 9 * SECOND + i * 50 * MS;
		lasack_echo_mix(&station, STATION, &keys[3], now);
		told = lasack_echo_ask(&echo[0], &station, FLOW, STAMP, FIRST, now);
	}
	KUNIT_EXPECT_FALSE(test, told.shared);
	KUNIT_EXPECT_EQ(test, told.uploads, 1U);
	/* A packet of another one. */
	lasack_echo_mix(&station, STATION, &keys[2], now);
	told = lasack_echo_ask(&echo[0], &station, FLOW, STAMP, FIRST, now + SECOND);
	KUNIT_EXPECT_TRUE(test, told.shared);
	told = lasack_echo_ask(&echo[0], &station, FLOW, STAMP, FIRST, now + 3 * SECOND);
	KUNIT_EXPECT_FALSE(test, told.shared);
}

static void echo_is_read(struct kunit *test)
{
	struct lasack_echo_data data;
	struct tcp_segment seg;
	struct sk_buff *skb;
	u32 ipv6;

	for (ipv6 = 0; ipv6 < 2; ipv6++) {
		skb = data_in(test, FIRST, 7, ipv6, 0);
		tcp_segment_parse_received(skb, &seg);
		KUNIT_ASSERT_TRUE(test, lasack_echo_read(skb, &seg, &data));
		KUNIT_EXPECT_EQ(test, data.timestamp, 7U);
		KUNIT_EXPECT_EQ(test, data.end, FIRST + MSS / 2);
		KUNIT_EXPECT_EQ(test, data.segment, MSS / 2);
		/* Put together by GRO. */
		skb_shinfo(skb)->gso_size = 100;
		KUNIT_EXPECT_TRUE(test, lasack_echo_read(skb, &seg, &data));
		KUNIT_EXPECT_EQ(test, data.segment, 100U);
		/* A header without options: what follows is data. */
		((struct tcphdr *)(skb->data + seg.transport))->doff = 5;
		tcp_segment_parse_received(skb, &seg);
		KUNIT_EXPECT_FALSE(test, lasack_echo_read(skb, &seg, &data));
		skb_shinfo(skb)->gso_size = 0;
		kfree_skb(skb);
	}
}

static void echo_of_other_packets(struct kunit *test)
{
	struct frame f = { .flags = TCPHDR_ACK, .payload = 100, .back = true };
	struct frame pure = { .flags = TCPHDR_ACK, .back = true };
	struct frame *frames[] = { &f, &pure };
	struct lasack_echo_data data;
	struct tcp_segment seg;
	struct sk_buff *skb;
	u32 i;

	set_options(&pure, timestamps, sizeof(timestamps));
	for (i = 0; i < ARRAY_SIZE(frames); i++) {
		skb = packet_of(test, frames[i]);
		tcp_segment_parse(skb, &seg);
		KUNIT_EXPECT_FALSE(test, lasack_echo_read(skb, &seg, &data));
		kfree_skb(skb);
	}
}

/*
 * Segments are of half an MSS. All data that has come is acknowledged before more comes. So of
 * eight uploads each may have three segments, which is more than a quarter of the least.
 */
static void echo_makes_windows_small(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	lasack_queue_advance(q, ktime_get_ns());
	q->observer = lasack_observer_alloc();
	KUNIT_ASSERT_NOT_NULL(test, q->observer);
	KUNIT_EXPECT_EQ(test, window_beside(test, 0, 1, 6, NULL), WINDOW);
	KUNIT_EXPECT_EQ(test, window_beside(test, 10, 8, 0, NULL), WINDOW);
	KUNIT_EXPECT_LE(test, window_beside(test, 20, 8, 6, NULL) << SCALE, 3 * MSS / 2);
}

/* What is far from a laptop echoes late, too. */
static void echo_of_what_is_far(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	lasack_queue_advance(q, ktime_get_ns());
	q->observer = lasack_observer_alloc();
	KUNIT_ASSERT_NOT_NULL(test, q->observer);
	observe_as(test, q->observer, NL80211_IFTYPE_STATION);
	KUNIT_EXPECT_EQ(test, window_beside(test, 0, 8, 6, NULL), WINDOW);
	observe_as(test, q->observer, NL80211_IFTYPE_AP);
	KUNIT_EXPECT_LE(test, window_beside(test, 10, 8, 6, NULL) << SCALE, 3 * MSS / 2);
}

/*
 * The data of two uploads waits in the station until @late more ACKs are sent. Return: how many of
 * 80 packets of a download CoDel drops, which wait for @ms, and up to one step of the clock more.
 */
static u32 dropped_beside(struct kunit *test, u32 first, u32 late, u32 ms)
{
	/* Too large for the stack of the debug kernel. */
	static u64 came[80];
	struct frame like = { .flags = TCPHDR_ACK, .ack_seq = 1, .payload = MSS, .other = 99 };
	struct lasack_queue *q = test->priv;
	u32 i, next = 0, before = q->aqm->codel_stats.drop_count;
	struct sk_buff *skb;

	window_beside(test, first, 2, late, NULL);
	for (i = 0; i < ARRAY_SIZE(came); i++) {
		came[i] = ktime_get_ns();
		lasack_queue_advance(q, came[i]);
		enqueue(test, like);
		for (; came[i] - came[next] >= (u64)ms * NSEC_PER_MSEC; next++)
			kfree_skb(dequeue(test));
		usleep_range(5000, 6000);
	}
	lasack_queue_advance(q, ktime_get_ns());
	while ((skb = dequeue(test)))
		kfree_skb(skb);
	return q->aqm->codel_stats.drop_count - before;
}

/* As the station of data_in(). */
static u32 wait_now(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	const struct lasack_echo_station *place = lasack_observer_station(q->observer, 2ULL << 40);

	return place ? lasack_echo_wait(place, q->now >> LASACK_ARRIVAL_SHIFT) : 0;
}

/* RFC 8289, with a target that is less by what the download's ACKs will wait in the station. */
static void echo_makes_data_wait_less(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	lasack_queue_advance(q, ktime_get_ns());
	q->observer = lasack_observer_alloc();
	KUNIT_ASSERT_NOT_NULL(test, q->observer);
	KUNIT_EXPECT_EQ(test, dropped_beside(test, 0, 0, TARGET * 6 / 10), 0U);
	KUNIT_EXPECT_GE(test, dropped_beside(test, 10, 15, TARGET * 6 / 10), 2U);
	/* Half of the target is for here, whatever the ACKs wait. */
	KUNIT_EXPECT_EQ(test, dropped_beside(test, 20, 30, TARGET * 3 / 10), 0U);
	KUNIT_EXPECT_GT(test, wait_now(test), TARGET * MS);
	/* Nobody is asked: an aggregate is made of what waits in the station. */
	lasack_aqm_set_aggregates(q->aqm, true, false);
	window_beside(test, 30, 2, 30, NULL);
	window_beside(test, 40, 2, 30, NULL);
	KUNIT_EXPECT_EQ(test, wait_now(test), 0U);
}

static struct kunit_case lasack_echo_cases[] = {
	KUNIT_CASE(echo_of_a_queue),
	KUNIT_CASE(echo_of_a_pause),
	KUNIT_CASE(echo_that_does_not_come),
	KUNIT_CASE(echo_of_the_future),
	KUNIT_CASE(echo_before_the_question),
	KUNIT_CASE(echo_of_the_next_connection),
	KUNIT_CASE(echo_of_another_connection),
	KUNIT_CASE(echo_tells_the_wait),
	KUNIT_CASE(echo_of_another_station),
	KUNIT_CASE(echo_counts_uploads),
	KUNIT_CASE(echo_is_read),
	KUNIT_CASE(echo_of_other_packets),
	KUNIT_CASE(echo_makes_windows_small),
	KUNIT_CASE(echo_of_what_is_far),
	KUNIT_CASE(echo_makes_data_wait_less),
	{}
};

static struct kunit_suite lasack_echo_suite = {
	.name = "lasack_echo",
	.init = lasack_aqm_test_init,
	.exit = lasack_test_exit,
	.test_cases = lasack_echo_cases,
};

kunit_test_suite(lasack_echo_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of what tells whether an upload's data waits in its own station");
