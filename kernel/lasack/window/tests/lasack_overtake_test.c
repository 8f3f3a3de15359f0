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
	u32				late;		/* how often an ACK told so */
	u32				end[UPLOADS];	/* of each upload's data */
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
	struct lasack_echo_data data = { .timestamp = packet.number, .segment = MSS };

	key.port[1] = htons(packet.upload + 1);
	lasack_echo_mix(&s->place, FLOW, &key, now);
	if (packet.upload == UPLOADS) {
		lasack_overtake_answer(&s->place.overtake, FLOW, packet.number);
		return;
	}
	data.end = s->end[packet.upload] += MSS;
	lasack_echo_hear(&s->echo[packet.upload], &s->place, packet.upload, &data, now);
	s->known = lasack_echo_ask(&s->echo[packet.upload], &s->place, packet.upload, stamp,
				   data.end, now);
	s->late += !!s->known.late;
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
			if (!lasack_overtake_is_pending(&s->place.overtake, now))
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
		KUNIT_EXPECT_TRUE(test, s->known.shared);
		KUNIT_EXPECT_GT(test, s->late, 100U);
		KUNIT_EXPECT_EQ(test, s->place.fair != 0, fair);
		/* They do not share a queue, and that data is late there is no surprise. */
		KUNIT_EXPECT_EQ(test, s->known.uploads, fair ? 1 : UPLOADS);
		KUNIT_EXPECT_EQ(test, s->known.lately, !fair);
	}
}

/* An ACK of an upload is lost on the air every 200 ms. What comes behind it proves nothing. */
static void overtake_of_a_lost_ack(struct kunit *test)
{
	struct lasack_echo_data data = { .end = FIRST, .segment = MSS };
	struct station *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	u32 i, now, late = 0;

	KUNIT_ASSERT_NOT_NULL(test, s);
	for (i = 1; i < 50; i++) {
		now = START + SECOND + i * 100 * MS;
		late += !!lasack_echo_ask(&s->echo[0], &s->place, FLOW, i, FIRST, now).late;
		lasack_overtake_ask(&s->place.overtake, OTHER, i, now + 15 * MS);
		lasack_overtake_answer(&s->place.overtake, OTHER, i);
		data.timestamp = i;
		if (i % 2) {
			data.timestamp = i - 1;
			lasack_echo_hear(&s->echo[0], &s->place, FLOW, &data, now + 30 * MS);
			data.timestamp = i + 1;
		}
		lasack_echo_hear(&s->echo[0], &s->place, FLOW, &data, now + 60 * MS);
	}
	KUNIT_EXPECT_GT(test, late, 20U);
	KUNIT_EXPECT_EQ(test, s->place.fair, 0U);
}

static void overtake_is_asked_one_at_a_time(struct kunit *test)
{
	struct lasack_overtake o = {};

	KUNIT_EXPECT_FALSE(test, lasack_overtake_is_pending(&o, START));
	lasack_overtake_ask(&o, FLOW, END, START);
	KUNIT_EXPECT_TRUE(test, lasack_overtake_is_pending(&o, START + 250 * MS));
	/* The data was lost, or its ACK. */
	KUNIT_EXPECT_FALSE(test, lasack_overtake_is_pending(&o, START + 270 * MS));
	lasack_overtake_answer(&o, OTHER, END);
	lasack_overtake_answer(&o, FLOW, END - 1);
	KUNIT_EXPECT_TRUE(test, lasack_overtake_is_pending(&o, START));
	lasack_overtake_answer(&o, FLOW, END + 100);
	KUNIT_EXPECT_FALSE(test, lasack_overtake_is_pending(&o, START));
	/* Data that is sent again may have been acknowledged before. */
	lasack_overtake_ask(&o, FLOW, END, START);
	KUNIT_EXPECT_FALSE(test, lasack_overtake_is_pending(&o, START));
	lasack_overtake_ask(&o, FLOW, END + 100, START);
	KUNIT_EXPECT_TRUE(test, lasack_overtake_is_pending(&o, START));
	lasack_overtake_ask(&o, OTHER, END, START + 300 * MS);
	KUNIT_EXPECT_TRUE(test, lasack_overtake_is_pending(&o, START + 300 * MS));
}

/* The data was sent before what its ACK has overtaken was queued, or with it, or long after. */
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
	KUNIT_EXPECT_FALSE(test, lasack_overtake_seen(&o, START + 2400 * SECOND));
	lasack_overtake_forget(&o);
	KUNIT_EXPECT_FALSE(test, lasack_overtake_seen(&o, START - 11 * MS));
}

/*
 * Data is late. What came before it was an ACK of data that was sent so many ms later than what the
 * late data does not echo. What comes then echoes just that. Return: whether the station is fair.
 */
static bool told(struct station *s, u32 later, u32 now)
{
	struct lasack_echo_data data = { .timestamp = 99, .end = FIRST, .segment = MSS };
	u32 end = s->end[0]++;

	lasack_echo_ask(&s->echo[0], &s->place, FLOW, 100, FIRST, now);
	lasack_overtake_ask(&s->place.overtake, OTHER, end, now + later * MS);
	lasack_overtake_answer(&s->place.overtake, OTHER, end);
	lasack_echo_hear(&s->echo[0], &s->place, FLOW, &data, now + 30 * MS);
	data.timestamp = 100;
	lasack_echo_hear(&s->echo[0], &s->place, FLOW, &data, now + 40 * MS);
	return !lasack_echo_ask(&s->echo[0], &s->place, FLOW, 101, FIRST, now + 41 * MS).lately;
}

/* What the next ACK is told if nothing has come. */
static struct lasack_window_station told_again(struct station *s, u32 now)
{
	return lasack_echo_ask(&s->echo[0], &s->place, FLOW, 102, FIRST, now);
}

/* Uploads that send much count as one. That is remembered for some seconds, as other delays are. */
static void overtake_is_remembered(struct kunit *test)
{
	struct station *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	KUNIT_EXPECT_FALSE(test, told(s, 5, START + 2 * SECOND));
	KUNIT_EXPECT_TRUE(test, told(s, 15, START + 4 * SECOND));
	s->place.uploads[0] = 3;
	KUNIT_EXPECT_EQ(test, told_again(s, START + 4 * SECOND + 50 * MS).uploads, 1U);
	s->place.uploads[0] = 3;
	s->place.second = (START + 9 * SECOND) >> LASACK_ECHO_SECOND;
	KUNIT_EXPECT_EQ(test, told_again(s, START + 9 * SECOND).uploads, 3U);
	KUNIT_EXPECT_FALSE(test, told(s, 5, START + 11 * SECOND));
}

static void overtake_of_another_station(struct kunit *test)
{
	struct station *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	struct segment_key key = {};

	KUNIT_ASSERT_NOT_NULL(test, s);
	lasack_echo_mix(&s->place, FLOW, &key, START + 2 * SECOND);
	KUNIT_EXPECT_TRUE(test, told(s, 15, START + 2 * SECOND));
	KUNIT_EXPECT_TRUE(test, lasack_echo_mix(&s->place, FLOW, &key, START + 3 * SECOND));
	KUNIT_EXPECT_NE(test, s->place.fair, 0U);
	KUNIT_EXPECT_TRUE(test, lasack_echo_mix(&s->place, OTHER, &key, START + 6 * SECOND));
	KUNIT_EXPECT_EQ(test, s->place.fair, 0U);
	KUNIT_EXPECT_FALSE(test, lasack_overtake_seen(&s->place.overtake, START + 2 * SECOND));
}

/*
 * Return: the window of one upload of four, in segments, whose data is late for a second, and still
 * is for so many ACKs, of 10 ms each, when the station's queue is known to be fair.
 */
static u32 window_after(u32 acks)
{
	const struct lasack_window_aim aim = {
		.wait = TARGET * MS, .wait_most = TARGET * MS, .window = 8192,
	};
	struct lasack_window w = {};
	u32 i, window = 0;

	for (i = 0; i < 100 + acks; i++) {
		bool fair = i >= 100;
		struct lasack_window_ack ack = {
			.now = i * 10 * MS, .seq = FIRST + i * MSS, .window = WINDOW,
			.shift = SCALE,
			.station = {
				.segment = MSS, .uploads = fair ? 1 : 4, .shared = true,
				.lately = !fair, .late = TARGET * MS / 2,
			},
		};

		window = lasack_window_serve(&w, &aim, &ack);
	}
	return ((window << SCALE) + MSS / 2) / MSS;
}

/* It has its part of the least, or else the least. */
static void overtake_makes_room(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, window_after(0), 3U);
	KUNIT_EXPECT_EQ(test, window_after(50), 6U);
}

/* Late data that also acknowledges a download's. What it is itself it has not overtaken. */
static void overtake_of_oneself(struct kunit *test)
{
	struct tcp_segment seg = { .class = SEGMENT_TCP, .ack = 1, .ack_seq = END, .payload = MSS };
	struct lasack_echo_data data = { .timestamp = 99, .end = FIRST, .segment = MSS };
	struct lasack_observer *observer = lasack_observer_alloc();
	u32 now = ktime_get_ns() >> LASACK_ARRIVAL_SHIFT;
	u64 hash, station = MAC_OF(1);
	struct lasack_echo_station *place;
	struct lasack_echo *echo;

	KUNIT_ASSERT_NOT_NULL(test, observer);
	hash = lasack_observer_hash(observer, &seg.key, station);
	echo = lasack_observer_echo(observer, hash);
	place = lasack_observer_mix(observer, &seg.key, station, now);
	KUNIT_ASSERT_NOT_NULL(test, place);
	lasack_echo_begin(echo, hash);
	lasack_echo_ask(echo, place, hash, 100, FIRST, now - 40 * MS);
	lasack_overtake_ask(&place->overtake, hash, END, now - 20 * MS);
	lasack_observer_note_tcp(observer, &seg, station, MSS, &data);
	KUNIT_EXPECT_NE(test, echo->fresh, 0U);
	KUNIT_EXPECT_NE(test, place->overtake.answered, 0U);
	KUNIT_EXPECT_EQ(test, echo->overtaken, LASACK_ECHO_IS_NOT);
	/* The next one is. */
	lasack_observer_note_tcp(observer, &seg, station, MSS, &data);
	KUNIT_EXPECT_EQ(test, echo->overtaken, LASACK_ECHO_MAY_BE);
	lasack_observer_free(observer);
}

/* Packets of a download go to the station, and their ACK comes at once. */
static void download(struct kunit *test)
{
	struct frame data = { .flags = TCPHDR_ACK, .ack_seq = 1, .payload = MSS, .other = 99 };
	struct frame ack = { .flags = TCPHDR_ACK, .back = true, .other = 99 };
	struct lasack_queue *q = test->priv;
	u32 i, seq = q->now >> LASACK_ARRIVAL_SHIFT;
	struct sk_buff *skb;

	/* CoDel does not look at a flow's only packet. */
	for (i = 0; i < 2; i++) {
		skb = enqueue(test, data);
		((struct tcphdr *)(skb->data + ETH_HLEN + sizeof(struct iphdr)))->seq =
			htonl(seq + i * MSS);
	}
	for (i = 0; i < 2; i++)
		kfree_skb(dequeue(test));
	ack.ack_seq = seq + 2 * MSS;
	skb = packet_in(test, &ack);
	lasack_observer_hook(q->observer, skb, NULL);
	kfree_skb(skb);
}

/*
 * Of eight uploads whose data is late: three segments of half an MSS for each. If a download's ACKs
 * do not wait, each has the least for itself.
 */
static void overtake_of_packets(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	/* As the kernel starts, all places seem to have been used at its begin. */
	msleep(1100);
	lasack_queue_advance(q, ktime_get_ns());
	q->observer = lasack_observer_alloc();
	KUNIT_ASSERT_NOT_NULL(test, q->observer);
	KUNIT_EXPECT_LE(test, window_beside(test, 0, 8, 6, NULL) << SCALE, 3 * MSS / 2);
	KUNIT_EXPECT_GT(test, window_beside(test, 10, 8, 6, download) << SCALE, 8192 - MSS / 2);
}

static struct kunit_case lasack_overtake_cases[] = {
	KUNIT_CASE(overtake_in_a_fair_queue),
	KUNIT_CASE(overtake_of_a_lost_ack),
	KUNIT_CASE(overtake_is_asked_one_at_a_time),
	KUNIT_CASE(overtake_needs_an_order),
	KUNIT_CASE(overtake_is_remembered),
	KUNIT_CASE(overtake_of_another_station),
	KUNIT_CASE(overtake_makes_room),
	KUNIT_CASE(overtake_of_oneself),
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
