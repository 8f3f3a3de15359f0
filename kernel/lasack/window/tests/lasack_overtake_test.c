// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of what tells a fair queue from a FIFO.
 *
 * Principle: a model of a station that has both, and sends a packet at a time. So it follows from
 * its queue alone in which order its packets come. Then whole packets, and windows.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include "lasack/tests/lasack_frames.h"

#define FLOW	0x12345678U
#define OTHER	0x12345679U
#define END	0xfffffff0U	/* sequence numbers wrap */
#define MS	(1000000U >> 10)
#define SECOND	(1000 * MS)
#define START	(0U - 10 * MS)	/* and the clock does */

#define UPLOADS	4U
#define DEEP	512U		/* packets in a queue of the model at most */
#define AHEAD	10U		/* packets of each upload that wait in the station */

/* A packet that waits in the station. */
struct queued {
	u32	upload;		/* whose data it is; UPLOADS: an ACK of the download */
	u32	number;		/* the timestamp that it echoes, or what it acknowledges */
};

/* Each connection has a queue of its own, or all have the first one. */
struct station {
	struct lasack_echo		echo[UPLOADS];
	struct lasack_echo_station	place;
	struct lasack_window_station	known;
	struct queued			queue[UPLOADS + 1][DEEP];
	u32				head[UPLOADS + 1], tail[UPLOADS + 1];
	u32				turn;
	bool				fair;
};

static void station_queue(struct station *s, struct queued packet)
{
	u32 at = s->fair ? packet.upload : 0;

	s->queue[at][s->tail[at]++ % DEEP] = packet;
}

static struct queued station_send(struct station *s)
{
	do {
		s->turn = (s->turn + 1) % (UPLOADS + 1);
	} while (s->head[s->turn] == s->tail[s->turn]);
	return s->queue[s->turn][s->head[s->turn]++ % DEEP];
}

/* One packet has come from the station, of which an upload sends another one at once. */
static void station_heard(struct station *s, u32 stamp, u32 now)
{
	struct segment_key key = {};
	struct queued packet = station_send(s);
	struct lasack_echo_data data = {
		.timestamp = packet.number, .end = FIRST, .segment = MSS,
	};

	key.port[1] = htons(packet.upload + 1);
	lasack_echo_mix(&s->place, FLOW, &key, now);
	if (packet.upload == UPLOADS) {
		lasack_overtake_answer(&s->place.overtake, FLOW, packet.number);
		return;
	}
	lasack_echo_hear(&s->echo[packet.upload], &s->place, packet.upload, &data, now);
	s->known = lasack_echo_ask(&s->echo[packet.upload], &s->place, packet.upload, stamp, FIRST,
				   now);
	station_queue(s, (struct queued) { .upload = packet.upload, .number = stamp });
}

/* For three seconds, a packet each 2 ms. There is a packet of a download each 7 ms. */
static void station_run(struct station *s, bool fair)
{
	u32 i, j, now;

	s->fair = fair;
	for (i = 0; i < AHEAD; i++)
		for (j = 0; j < UPLOADS; j++)
			station_queue(s, (struct queued) { .upload = j });
	for (i = 0; i < 3000; i++) {
		now = START + i * MS;
		if (i % 7 == 0) {
			if (lasack_overtake_may_ask(&s->place.overtake, now))
				lasack_overtake_ask(&s->place.overtake, FLOW, i, now);
			station_queue(s, (struct queued) { .upload = UPLOADS, .number = i });
		}
		if (i % 2 == 0)
			station_heard(s, i, now);
	}
}

static void overtake_in_a_fair_queue(struct kunit *test)
{
	struct station *s;
	u32 fair;

	for (fair = 0; fair < 2; fair++) {
		s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, s);
		station_run(s, fair);
		KUNIT_EXPECT_TRUE(test, s->known.lately && s->known.shared);
		KUNIT_EXPECT_EQ(test, s->known.fair, fair);
	}
}

static void overtake_is_asked_one_at_a_time(struct kunit *test)
{
	struct lasack_overtake o = {};

	KUNIT_EXPECT_TRUE(test, lasack_overtake_may_ask(&o, START));
	KUNIT_EXPECT_FALSE(test, lasack_overtake_is_pending(&o));
	lasack_overtake_ask(&o, FLOW, END, START);
	KUNIT_EXPECT_TRUE(test, lasack_overtake_is_pending(&o));
	KUNIT_EXPECT_FALSE(test, lasack_overtake_may_ask(&o, START + 250 * MS));
	/* The data was lost, or its ACK. */
	KUNIT_EXPECT_TRUE(test, lasack_overtake_may_ask(&o, START + 270 * MS));
	lasack_overtake_answer(&o, OTHER, END);
	lasack_overtake_answer(&o, FLOW, END - 1);
	KUNIT_EXPECT_TRUE(test, lasack_overtake_is_pending(&o));
	lasack_overtake_answer(&o, FLOW, END + 100);
	KUNIT_EXPECT_FALSE(test, lasack_overtake_is_pending(&o));
	KUNIT_EXPECT_TRUE(test, lasack_overtake_may_ask(&o, START + MS));
}

/* The data was sent before what its ACK has overtaken was queued, or with it. */
static void overtake_needs_an_order(struct kunit *test)
{
	struct lasack_overtake o = {};

	KUNIT_EXPECT_FALSE(test, lasack_overtake_seen(&o, START - SECOND));
	lasack_overtake_ask(&o, FLOW, END, START);
	KUNIT_EXPECT_FALSE(test, lasack_overtake_seen(&o, START - 20 * MS));
	lasack_overtake_answer(&o, FLOW, END);
	KUNIT_EXPECT_TRUE(test, lasack_overtake_seen(&o, START - 11 * MS));
	KUNIT_EXPECT_FALSE(test, lasack_overtake_seen(&o, START - 9 * MS));
	KUNIT_EXPECT_FALSE(test, lasack_overtake_seen(&o, START + MS));
	lasack_overtake_forget(&o);
	KUNIT_EXPECT_FALSE(test, lasack_overtake_seen(&o, START - 11 * MS));
}

/*
 * Data is late. What came before it was an ACK of data that was sent so many ms later than what the
 * late data does not echo. Return: what the next ACK, of @stamp, is told.
 */
static struct lasack_window_station told(struct station *s, u32 stamp, u32 later, u32 now)
{
	struct lasack_echo_data data = { .timestamp = 99, .end = FIRST, .segment = MSS };

	lasack_echo_ask(&s->echo[0], &s->place, FLOW, 100, FIRST, now);
	lasack_overtake_ask(&s->place.overtake, OTHER, END, now + later * MS);
	lasack_overtake_answer(&s->place.overtake, OTHER, END);
	lasack_echo_hear(&s->echo[0], &s->place, FLOW, &data, now + 30 * MS);
	return lasack_echo_ask(&s->echo[0], &s->place, FLOW, stamp, FIRST, now + 31 * MS);
}

/* What the next ACK is told if nothing has come. */
static struct lasack_window_station told_again(struct station *s, u32 now)
{
	return lasack_echo_ask(&s->echo[0], &s->place, FLOW, 101, FIRST, now);
}

/* It is remembered for some seconds, as that data was late. A forged ACK tells nothing. */
static void overtake_is_remembered(struct kunit *test)
{
	struct station *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	KUNIT_EXPECT_FALSE(test, told(s, 98, 15, START - SECOND).fair);
	KUNIT_EXPECT_TRUE(test, told(s, 101, 15, START + SECOND).fair);
	KUNIT_EXPECT_TRUE(test, told_again(s, START + 5 * SECOND).fair);
	KUNIT_EXPECT_FALSE(test, told_again(s, START + 6 * SECOND).fair);
	KUNIT_EXPECT_TRUE(test, told(s, 101, 5, START + 8 * SECOND).late);
	KUNIT_EXPECT_FALSE(test, told_again(s, START + 9 * SECOND).fair);
}

static void overtake_of_another_station(struct kunit *test)
{
	struct station *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	struct segment_key key = {};

	KUNIT_ASSERT_NOT_NULL(test, s);
	KUNIT_EXPECT_TRUE(test, told(s, 101, 15, START).fair);
	KUNIT_EXPECT_TRUE(test, lasack_overtake_seen(&s->place.overtake, START));
	lasack_echo_mix(&s->place, FLOW, &key, START);
	KUNIT_EXPECT_FALSE(test, told_again(s, START + 40 * MS).fair);
	KUNIT_EXPECT_FALSE(test, lasack_overtake_seen(&s->place.overtake, START));
}

/* Return: the window of an upload of a station, in segments, after @acks of 10 ms each. */
static u32 window_after(u32 acks, u32 late, bool fair)
{
	const struct lasack_window_aim aim = {
		.wait = TARGET, .wait_most = TARGET, .window = 8192,
	};
	struct lasack_window w = {};
	u32 i, window = 0;

	for (i = 0; i < 100 + acks; i++) {
		struct lasack_window_ack ack = {
			.now = i * 10, .seq = FIRST + i * MSS, .window = WINDOW, .shift = SCALE,
			.station = {
				.segment = MSS, .uploads = 4, .shared = true, .lately = true,
				.late = i < 100 ? late : 0, .fair = fair,
			},
		};

		window = lasack_window_serve(&w, &aim, &ack);
	}
	return ((window << SCALE) + MSS / 2) / MSS;
}

/* In a fair queue data may wait for the target. If it does longer, that is mended sooner. */
static void overtake_leaves_windows(struct kunit *test)
{
	const u32 all = (WINDOW << SCALE) / MSS;

	KUNIT_EXPECT_EQ(test, window_after(0, TARGET / 2, false), 3U);
	KUNIT_EXPECT_EQ(test, window_after(0, TARGET, true), all);
	KUNIT_EXPECT_EQ(test, window_after(0, TARGET + 1, true), 3U);
	KUNIT_EXPECT_EQ(test, window_after(20, TARGET + 1, false), 3U);
	KUNIT_EXPECT_GT(test, window_after(20, TARGET + 1, true), 3U);
}

/* Packets of a download go to the station, and their ACK comes at once. */
static void download(struct kunit *test)
{
	struct frame data = { .flags = TCPHDR_ACK, .ack_seq = 1, .payload = MSS, .other = 99 };
	struct frame ack = { .flags = TCPHDR_ACK, .ack_seq = MSS, .back = true, .other = 99 };
	struct lasack_queue *q = test->priv;
	struct sk_buff *skb;
	u32 i;

	/* CoDel does not look at a flow's only packet. */
	for (i = 0; i < 2; i++)
		enqueue(test, data);
	for (i = 0; i < 2; i++)
		kfree_skb(dequeue(test));
	skb = packet_of(test, &ack);
	skb_reset_mac_header(skb);
	eth_hdr(skb)->h_source[0] = 2;
	skb_pull(skb, ETH_HLEN);
	skb_reset_network_header(skb);
	lasack_observer_hook(q->observer, skb, NULL);
	kfree_skb(skb);
}

/* Of eight uploads whose data is late. If a download's ACKs do not wait, windows are left alone. */
static void overtake_of_packets(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	/* As the kernel starts, all places seem to have been used at its begin. */
	msleep(1100);
	lasack_queue_advance(q, ktime_get_ns());
	q->observer = lasack_observer_alloc();
	KUNIT_ASSERT_NOT_NULL(test, q->observer);
	KUNIT_EXPECT_LE(test, window_beside(test, 0, 8, 6, NULL) << SCALE, 3 * MSS / 2);
	KUNIT_EXPECT_GT(test, window_beside(test, 10, 8, 6, download) << SCALE, 3 * MSS);
}

static struct kunit_case lasack_overtake_cases[] = {
	KUNIT_CASE(overtake_in_a_fair_queue),
	KUNIT_CASE(overtake_is_asked_one_at_a_time),
	KUNIT_CASE(overtake_needs_an_order),
	KUNIT_CASE(overtake_is_remembered),
	KUNIT_CASE(overtake_of_another_station),
	KUNIT_CASE(overtake_leaves_windows),
	KUNIT_CASE(overtake_of_packets),
	{}
};

static struct kunit_suite lasack_overtake_suite = {
	.name = "lasack_overtake",
	.init = lasack_aqm_test_init,
	.exit = lasack_test_exit,
	.test_cases = lasack_overtake_cases,
};

kunit_test_suite(lasack_overtake_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of what tells a fair queue from a FIFO");
