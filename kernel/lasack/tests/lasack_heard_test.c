// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of what an ACK may acknowledge where the queue hears what stations send.
 *
 * Principle: bytes are added up by hand. Nothing is sent unless the test says so, so an account
 * has what ACKs have charged it with, and nothing else.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/module.h>
#include "lasack/tests/lasack_datagrams.h"
#include "lasack/tests/lasack_frames.h"

#define FORGED	100000U			/* more than what overtaking explains */

static int heard_test_init(struct kunit *test)
{
	test->priv = NULL;
	begin_hearing(test);
	return 0;
}

static u64 station_sum(struct kunit *test, u32 id)
{
	struct lasack_queue *q = test->priv;

	return lasack_station_at(q, known(q, id))->account.sum;
}

static void heard_data_is_charged(struct kunit *test)
{
	hear(test, data(1, 5000), STATION);
	add(test, ack(1, 1), 1);
	add(test, ack(1, 3001), 2);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 3000ULL);
	add(test, ack(1, 5001), 3);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 5000ULL);
	KUNIT_EXPECT_EQ(test, station_sum(test, 1), 5000ULL);
}

/* Nobody's connections, always new ones: the station of the addressee is not charged. */
static void heard_forgery_costs_nothing(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	u32 i;

	hear_anything(test);
	add(test, data(1, 1000), 1);
	for (i = 0; i < 200; i++) {
		add_to(test, 1, ack(100 + i, 1), 2);
		add_to(test, 1, ack(100 + i, 1 + FORGED), 3);
		add_to(test, 1, ack(100 + i, 1 + FORGED + 8192), 4);
	}
	KUNIT_EXPECT_EQ(test, station_sum(test, 1), 0ULL);
	for (i = 0; i < 200; i++)
		KUNIT_EXPECT_EQ(test, known(q, 100 + i)->received, 0ULL);
}

/* Of two stations' downloads, how many of the first one's packets are among the first hundred? */
static u32 served_beside(struct kunit *test, u32 forged)
{
	u32 i, mark, own = 0, other = 0;

	begin_hearing(test);
	hear_anything(test);
	for (i = 0; i < forged; i++) {
		add_to(test, 1, ack(100 + i, 1), 3);
		add_to(test, 1, ack(100 + i, 1 + FORGED), 3);
	}
	for (i = 0; i < 100; i++) {
		add_to(test, 1, data(1, 1000), 1);
		add_to(test, 2, data(2, 1000), 2);
	}
	while (own + other < 100) {
		mark = serve(test);
		own += mark == 1;
		other += mark == 2;
	}
	while (serve(test))
		;
	return own;
}

/* The station's download is served as if nobody forged anything. */
static void heard_forgery_delays_nobody(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, served_beside(test, 0), 50U);
	KUNIT_EXPECT_EQ(test, served_beside(test, 50), 50U);
}

static void heard_data_is_spent_once(struct kunit *test)
{
	hear(test, data(1, 3000), STATION);
	add(test, ack(1, 1), 1);
	add(test, ack(1, 5001), 2);	/* more than has come */
	KUNIT_EXPECT_EQ(test, attained(test, 1), 0ULL);
	add(test, ack(1, 3001), 3);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 3000ULL);
	add(test, ack(1, 3004), 4);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 3000ULL);
	hear(test, data(1, 3), STATION);
	add(test, ack(1, 3004), 5);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 3003ULL);
}

/* A forged ACK for what is under way is undone by a real one, which may then acknowledge it. */
static void heard_data_of_a_forgery_comes_back(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	hear(test, data(1, FORGED), STATION);
	add(test, ack(1, 1), 1);
	add(test, ack(1, 1 + FORGED), 2);
	KUNIT_EXPECT_EQ(test, attained(test, 1), (u64)FORGED);
	add(test, ack(1, 1001), 3);
	KUNIT_EXPECT_EQ(test, known(q, 1)->last_ack[LASACK_POSITION], 1001U);
	add(test, ack(1, 1 + FORGED), 4);
	KUNIT_EXPECT_EQ(test, known(q, 1)->last_ack[LASACK_POSITION], 1 + FORGED);
	/* What is given back is counted in units of 256 bytes. */
	KUNIT_EXPECT_GE(test, attained(test, 1), (u64)FORGED - 256);
	KUNIT_EXPECT_LE(test, attained(test, 1), (u64)FORGED + 256);
}

/* SYN and FIN count as a byte. What a packet is charged at least may be missing. */
static void heard_data_may_lack_a_little(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	hear(test, data(9, 1000), STATION);
	add(test, ack(9, 1), 1);
	add(test, ack(9, 1002), 2);	/* whatever a packet costs */
	KUNIT_EXPECT_EQ(test, known(q, 9)->last_ack[LASACK_POSITION], 1002U);
	q->overhead = 640;
	hear(test, data(1, 5000), STATION);
	add(test, ack(1, 1), 1);
	add(test, ack(1, 5002), 2);
	KUNIT_EXPECT_EQ(test, known(q, 1)->last_ack[LASACK_POSITION], 5002U);
	add(test, ack(1, 5002 + 641), 3);
	KUNIT_EXPECT_EQ(test, known(q, 1)->last_ack[LASACK_POSITION], 5002U);
	add(test, ack(1, 5002 + 640), 4);
	KUNIT_EXPECT_EQ(test, known(q, 1)->last_ack[LASACK_POSITION], 5002U + 640);
}

static void heard_data_of_others_does_not_count(struct kunit *test)
{
	hear(test, data(1, 5000), OTHER);	/* in the station's name */
	hear(test, data(9, 5000), STATION);	/* another connection */
	add(test, ack(1, 1), 1);
	add(test, ack(1, 5001), 2);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 0ULL);
	KUNIT_EXPECT_EQ(test, station_sum(test, 1), 0ULL);
}

/* No upload hides in pieces of packets, or in what cannot be parsed. */
static void heard_pieces_may_be_of_any_flow(struct kunit *test)
{
	struct tcp_segment piece = data(1, 2000), broken = { .class = SEGMENT_MALFORMED };

	piece.class = SEGMENT_FRAGMENT;
	piece.key.class = SEGMENT_FRAGMENT;
	piece.key.protocol = IPPROTO_TCP;
	hear(test, piece, STATION);
	broken.payload = 1000;
	hear(test, broken, STATION);
	add(test, ack(1, 1), 1);
	add(test, ack(1, 3001), 2);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 3000ULL);
	add(test, ack(1, 3004), 3);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 3000ULL);
	piece.key.protocol = IPPROTO_UDP;	/* which is counted as a flow of its own */
	hear(test, piece, STATION);
	add(test, ack(1, 5001), 4);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 3000ULL);
	piece.key.protocol = IPPROTO_DSTOPTS;	/* of IPv6: TCP comes after it */
	hear(test, piece, STATION);
	add(test, ack(1, 5001), 5);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 5000ULL);
}

/* What is sent again and again does not pile up. */
static void heard_data_has_a_most(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	u32 i, seq = 1;

	for (i = 0; i < 1000; i++)
		hear(test, data(1, 64000), STATION);
	add(test, ack(1, seq), 1);
	for (i = 0; i < 8000; i++)
		add(test, ack(1, seq += 8000), 1);
	KUNIT_EXPECT_GE(test, known(q, 1)->received + 8000, 16ULL << 20);
	KUNIT_EXPECT_LE(test, known(q, 1)->received, (16ULL << 20) + 64000);
}

/*
 * By two votes the position moves far ahead for nothing, and one ACK moves it back by a window.
 * That nobody sent what is in between does not change.
 */
static void heard_nothing_by_moving_back(struct kunit *test)
{
	const struct tcp_segment none = data(1, 0);
	struct lasack_queue *q = test->priv;
	u32 i, round, seq = 1;

	hear_anything(test);
	hear(test, data(1, 1000), STATION);
	add(test, ack(1, seq), 1);
	for (round = 0; round < 4; round++) {
		seq += 100U << 20;
		for (i = 0; i <= LASACK_VOTES + 2; i++)
			add(test, ack(1, seq + i), 1);
		KUNIT_EXPECT_GE(test, known(q, 1)->last_ack[LASACK_POSITION], seq);
		add(test, ack(1, seq - (8U << 20) + (64U << 10)), 1);
		for (i = 0; i < 100; i++)
			add(test, ack(1, seq - (8U << 20) + i * 8000), 1);
	}
	KUNIT_EXPECT_LE(test, known(q, 1)->received, 1000ULL);
	KUNIT_EXPECT_LE(test, station_sum(test, 1), 1000ULL);
	KUNIT_EXPECT_FALSE(test, lasack_observer_spend(q->observer, &none.key, STATION, 1001, 0));
}

/* An ACK for what has not come is no step back, though it has moved back before. */
static void heard_nothing_ahead_is_not_behind(struct kunit *test)
{
	const struct tcp_segment seg = data(1, FORGED);
	struct lasack_queue *q = test->priv;

	hear(test, seg, STATION);
	add(test, ack(1, 1), 1);
	add(test, ack(1, 1 + FORGED), 2);
	add(test, ack(1, 1001), 3);
	KUNIT_EXPECT_GT(test, known(q, 1)->returned, 0U);
	/* What came is forgotten; and it is less than what it has moved back. */
	lasack_observer_of_flow(q->observer, &seg.key, STATION)->heard -= 61 * HZ;
	add(test, ack(1, 1001 + FORGED / 2), 4);
	KUNIT_EXPECT_EQ(test, known(q, 1)->last_ack[LASACK_POSITION], 1001U);
	KUNIT_EXPECT_LE(test, known(q, 1)->returned, FORGED / 256 + 1);
}

/* What was sent twice is no credit for a forger of next week. */
static void heard_long_ago(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct tcp_segment seg = data(1, 5000);
	u32 i;

	hear(test, seg, STATION);
	lasack_observer_of_flow(q->observer, &seg.key, STATION)->heard -= 61 * HZ;
	for (i = 0; i < 4; i++)		/* votes */
		add(test, ack(1, 1), 1);
	add(test, ack(1, 3001), 2);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 0ULL);
	hear(test, data(1, 1000), STATION);
	add(test, ack(1, 3001), 3);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 0ULL);
	add(test, ack(1, 1001), 4);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 1000ULL);
}

/* The clock wraps: silence of weeks is still silence. */
static void heard_nothing_for_weeks(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	u32 week;

	add(test, ack(1, 1), 1);
	for (week = 1; week < 5; week++) {
		q->observer->heard -= 1U << 30;
		add(test, ack(1, 1 + week * 1000), 1);
		KUNIT_EXPECT_EQ(test, attained(test, 1), week * 1000ULL);
	}
}

/* Where something takes packets before they are heard, ACKs are all there is. */
static void heard_nothing_for_long(struct kunit *test)
{
	add(test, ack(1, 1), 1);
	add(test, ack(1, 5001), 2);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 5000ULL);
	hear_anything(test);
	add(test, ack(1, 10001), 3);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 5000ULL);
	msleep(1100);
	add(test, ack(1, 10001), 4);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 10000ULL);
}

/* It began to hear while data was under way: soon the upload is charged again. */
static void heard_from_the_middle(struct kunit *test)
{
	u32 i, seq = 200001;

	hear_anything(test);
	add(test, ack(1, 1), 1);
	for (i = 0; i < 200; i++) {
		hear(test, data(1, 2000), STATION);
		add(test, ack(1, seq += 2000), 1);
	}
	KUNIT_EXPECT_GE(test, attained(test, 1), 200000ULL);
	KUNIT_EXPECT_LE(test, attained(test, 1), 400000ULL);
}

/* An upload to port 53 or 547, from a port of the station's own choice or to such a server. */
static void heard_upload_is_no_question(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	static const u16 ports[] = { 53, 547 };
	struct tcp_segment seg;
	u32 i, sent;

	for (i = 0; i < 4; i++) {
		seg = datagram(10 + i, 40);
		seg.key.port[i % 2] = htons(ports[i / 2]);
		for (sent = 0; sent < 3; sent++) {
			struct tcp_segment up = seg;

			up.payload = sent ? 1200 : 60;
			lasack_observer_note(q->observer, &up, STATION);
			if (sent == 1)
				continue;
			add_to(test, 1, seg, 1);
			KUNIT_EXPECT_EQ(test, q->control_packets, i + 1);
		}
		KUNIT_EXPECT_EQ(test, lasack_queue_keyed_flow(q, &seg.key, STATION)->received,
				2400ULL);
	}
}

/* As the stack hands it to netfilter: the counters are those that the answer looks for. */
static void heard_by_the_hook(struct kunit *test)
{
	struct frame f = { .flags = TCPHDR_ACK, .payload = 1000, .back = true };
	struct sk_buff *in = packet_of(test, &f), *out;
	struct lasack_queue *q = test->priv;
	struct tcp_segment seg;

	skb_reset_mac_header(in);
	eth_hdr(in)->h_source[0] = 2;
	skb_pull(in, ETH_HLEN);
	skb_reset_network_header(in);
	KUNIT_EXPECT_EQ(test, lasack_observer_hook(q->observer, in, NULL), (unsigned int)NF_ACCEPT);
	f.back = false;
	f.payload = 0;
	out = packet_of(test, &f);
	KUNIT_EXPECT_EQ(test, tcp_segment_parse(out, &seg), SEGMENT_TCP);
	KUNIT_EXPECT_FALSE(test, lasack_observer_spend(q->observer, &seg.key,
						       lasack_station_address(out), 1001, 0));
	KUNIT_EXPECT_TRUE(test, lasack_observer_spend(q->observer, &seg.key,
						      lasack_station_address(out), 1000, 0));
	KUNIT_EXPECT_FALSE(test, lasack_observer_spend(q->observer, &seg.key,
						       lasack_station_address(out), 1, 0));
	kfree_skb(in);
	kfree_skb(out);
}

/* Is a packet of connection 1 to @station an answer? It is not sent. */
static bool is_answered(struct kunit *test, u64 station)
{
	struct tcp_segment seg = data(1, 0);
	struct lasack_queue *q = test->priv;

	return lasack_observer_answer(q->observer, &seg.key, station);
}

/* One SYN has one answer, whatever ACKs give back: nobody answers again and again. */
static void questions_are_used_up(struct kunit *test)
{
	struct tcp_segment seg = data(1, 0);
	struct lasack_queue *q;

	begin_hearing(test);
	q = test->priv;
	ask(test, 1);
	KUNIT_EXPECT_FALSE(test, is_answered(test, OTHER));
	KUNIT_EXPECT_TRUE(test, is_answered(test, STATION));
	lasack_observer_return(q->observer, &seg.key, STATION, 1);
	KUNIT_EXPECT_FALSE(test, is_answered(test, STATION));
}

/* Nothing that steps back and forth makes a question seem new. */
static void questions_grow_old(struct kunit *test)
{
	struct tcp_segment seg = data(1, 0);
	struct lasack_queue *q;

	begin_hearing(test);
	q = test->priv;
	ask(test, 1);
	lasack_observer_of_flow(q->observer, &seg.key, STATION)->heard -= 4 * HZ;
	lasack_observer_return(q->observer, &seg.key, STATION, 0);
	KUNIT_EXPECT_FALSE(test, is_answered(test, STATION));
}

/* A laptop hears its access point only, which sends what anybody asks. */
static void questions_to_an_access_point(struct kunit *test)
{
	struct lasack_queue *q;

	begin_hearing(test);
	q = test->priv;
	observe_as(test, q->observer, NL80211_IFTYPE_STATION);
	ask(test, 1);
	KUNIT_EXPECT_FALSE(test, is_answered(test, STATION));
	observe_as(test, q->observer, NL80211_IFTYPE_AP);
	KUNIT_EXPECT_TRUE(test, is_answered(test, STATION));
}

static struct kunit_case lasack_heard_cases[] = {
	KUNIT_CASE(heard_data_is_charged),
	KUNIT_CASE(heard_forgery_costs_nothing),
	KUNIT_CASE(heard_forgery_delays_nobody),
	KUNIT_CASE(heard_data_is_spent_once),
	KUNIT_CASE(heard_data_of_a_forgery_comes_back),
	KUNIT_CASE(heard_data_may_lack_a_little),
	KUNIT_CASE(heard_data_of_others_does_not_count),
	KUNIT_CASE(heard_pieces_may_be_of_any_flow),
	KUNIT_CASE(heard_data_has_a_most),
	KUNIT_CASE(heard_nothing_by_moving_back),
	KUNIT_CASE(heard_nothing_ahead_is_not_behind),
	KUNIT_CASE(heard_long_ago),
	KUNIT_CASE(heard_nothing_for_weeks),
	KUNIT_CASE(heard_nothing_for_long),
	KUNIT_CASE(heard_from_the_middle),
	KUNIT_CASE(heard_upload_is_no_question),
	KUNIT_CASE(heard_by_the_hook),
	KUNIT_CASE(questions_are_used_up),
	KUNIT_CASE(questions_grow_old),
	KUNIT_CASE(questions_to_an_access_point),
	{}
};

static struct kunit_suite lasack_heard_suite = {
	.name		= "lasack_heard",
	.init		= heard_test_init,
	.exit		= lasack_test_exit,
	.test_cases	= lasack_heard_cases,
};

kunit_test_suite(lasack_heard_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of what ACKs may acknowledge where the queue hears stations");
