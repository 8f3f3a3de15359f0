// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of stations: their places, their sums when those become less, and which of them
 * loses packets.
 *
 * Principle: stations of one flow or two, with packets of 1000 bytes; what is asked for follows
 * from who has attained least.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include "lasack/tests/lasack_packets.h"

static int station_test_init(struct kunit *test)
{
	test->priv = NULL;
	lasack_test_reshape(test, (struct lasack_shape) { .by_station = true });
	return 0;
}

/* Until a packet with @mark is served; both stations always have data. */
static void serve_until(struct kunit *test, u32 mark)
{
	u32 i;

	for (i = 0; i < 2000; i++) {
		add_to(test, 1, data(1, 1000), 1);
		add_to(test, 2, data(3, 1000), 3);
		if (serve(test) == mark)
			return;
	}
	KUNIT_FAIL(test, "no packet of mark %u", mark);
}

/* What forged ACKs cost a station is given back at once, by a flow that had no packets as well. */
static void a_refund_is_served_at_once(struct kunit *test)
{
	u32 i, own = 0;

	add_to(test, 1, ack(2, 0), 2);
	serve_until(test, 2);
	add_to(test, 1, ack(2, LASACK_BELIEVED), 2);
	serve_until(test, 2);
	for (i = 0; i < 10; i++)
		serve_until(test, 3);
	/* The station is behind now, and its place in the order says so. */
	add_to(test, 1, ack(2, 0), 2);
	for (i = 0; i < 20; i++)
		own += serve(test) != 3;
	KUNIT_EXPECT_GE(test, own, 10U);
}

/*
 * While a station waits because of a forged ACK, and while it pauses, another one is served. After
 * that it comes first for no longer than its lag; but it catches up with what it waited for.
 */
static void after_a_pause(struct kunit *test, u32 forged, u32 acks, u32 waits, u32 returned)
{
	u32 i, packets = 0, least = (LASACK_STATION_LAG + returned) / 1000;

	add_to(test, 1, ack(2, 0), 2);
	serve_until(test, 2);
	for (i = 1; i <= acks; i++)
		add_to(test, 1, ack(2, i * forged), 2);
	for (i = 0; i < waits; i++) {
		add_to(test, 2, data(3, 1000), 3);
		serve(test);
	}
	add_to(test, 1, ack(2, 0), 2);
	for (i = 0; i < 2000; i++) {
		add_to(test, 2, data(3, 1000), 3);
		serve(test);
	}
	while (serve(test))
		;
	for (i = 0; i < 3; i++)
		add_to(test, 2, data(3, 1000), 3);
	for (packets = 0; packets < 1000; packets++) {
		add_to(test, 1, data(1, 1000), 1);
		if (serve(test) == 3)
			break;
	}
	/* The ACKs themselves were sent, whose turn it was counts, and what waited before. */
	KUNIT_EXPECT_GE(test, packets, least - acks - 3);
	KUNIT_EXPECT_LE(test, packets, least + acks + 3);
}

static void a_pause_saves_up_little(struct kunit *test)
{
	after_a_pause(test, 1000, 1, 10, 0);
}

static void a_refund_outlives_a_pause(struct kunit *test)
{
	after_a_pause(test, LASACK_BELIEVED, 3, 3 * 131, 3 * LASACK_BELIEVED - LASACK_STATION_LAG);
}

/* Nobody was served meanwhile, so nothing is to be caught up with. */
static void a_refund_at_once_is_no_credit(struct kunit *test)
{
	after_a_pause(test, LASACK_BELIEVED, 3, 0, 0);
}

/* For @ms, five packets of @bytes each are served; station 2's, and 1's if it is not @silent. */
static void fast_link(struct kunit *test, u64 *now, u32 ms, u32 bytes, bool silent)
{
	u32 i;

	for (i = 0; i < 5 * ms; i++) {
		if (i % 5 == 0)
			lasack_queue_advance(test->priv, *now += NSEC_PER_MSEC);
		if (!silent)
			add_to(test, 1, data(1, bytes), 1);
		add_to(test, 2, data(3, bytes), 3);
		serve(test);
		if (!silent && i % 2)
			serve(test);
	}
}

/* Station 1 was silent for @ms. Return: its packets that are served before the others'. */
static u32 after_silence(struct kunit *test, u32 ms, u32 bytes)
{
	u64 now = 0;
	u32 first;

	lasack_test_reshape(test, (struct lasack_shape) { .by_station = true });
	fast_link(test, &now, 1500, bytes, false);
	while (known(test->priv, 1)->account.packets)
		serve(test);
	fast_link(test, &now, ms, bytes, true);
	for (first = 0; first < 10000; first++) {
		add_to(test, 1, data(1, bytes), 1);
		if (serve(test) == 3)
			break;
	}
	return first;
}

/* On a fast link a station may catch up with what others had in half a second, 4 MiB at most. */
static void a_pause_on_a_fast_link(struct kunit *test)
{
	u32 first = after_silence(test, 200, 1000);

	/* All of it, but for what it had while it used up its own packets. */
	KUNIT_EXPECT_GE(test, first, 900U);
	KUNIT_EXPECT_LE(test, first, 1100U);
	first = after_silence(test, 3000, 1000);
	KUNIT_EXPECT_GE(test, first, 2500U);
	KUNIT_EXPECT_LE(test, first, LASACK_LAG_MAX / 1000 + 1);
	/* In half a second the others have 7.5 MB here. */
	first = after_silence(test, 3000, 3000);
	KUNIT_EXPECT_GE(test, first, LASACK_LAG_MAX / 3000 - 3);
	KUNIT_EXPECT_LE(test, first, LASACK_LAG_MAX / 3000 + 2);
}

/* For a ms, five packets are served. Stations 1 and 2 download; 1 has @left packets to come. */
static void two_downloads(struct kunit *test, u32 *left, u32 *waits, bool *asks)
{
	u32 i, mark;

	for (i = 0; i < 5; i++) {
		mark = serve(test);
		if (mark == 5)
			*asks = false;
		*waits += *asks;
		if (mark == 1 && *left) {
			(*left)--;
			add_to(test, 1, data(1, 1000), 1);
		} else if (mark == 3) {
			add_to(test, 2, data(3, 1000), 3);
		}
	}
}

static void eight_packets(struct kunit *test, u8 station, u32 id)
{
	int i;

	for (i = 0; i < 8; i++)
		add_to(test, station, data(id, 1000), id);
}

/*
 * A call has a packet each 20 ms. Meanwhile station 1 pauses for three seconds, and then catches
 * up with 3 MB. Return: the most packets of others that were served before one of the call's.
 */
static u32 a_call_beside_a_pause(struct kunit *test)
{
	u32 ms, left = 5000, waits = 0, worst = 0;
	bool asks = false;
	u64 now = 0;

	lasack_test_reshape(test, (struct lasack_shape) { .by_station = true });
	eight_packets(test, 1, 1);
	eight_packets(test, 2, 3);
	for (ms = 0; ms < 6000; ms++) {
		lasack_queue_advance(test->priv, now += NSEC_PER_MSEC);
		if (ms == 5300) {
			left = 3000;
			eight_packets(test, 1, 1);
		}
		if (ms % 20 == 0 && !asks) {
			add_to(test, 5, data(5, 160), 5);
			asks = true;
			waits = 0;
		}
		two_downloads(test, &left, &waits, &asks);
		if (ms > 4000)
			worst = max(worst, waits);
	}
	return worst;
}

/*
 * Who sends little is not put behind who catches up. What it sent itself in half a second may be
 * caught up with, 25 packets of 160 bytes here, and of equal sums the older packet is first.
 */
static void nobody_waits_for_who_catches_up(struct kunit *test)
{
	KUNIT_EXPECT_LE(test, a_call_beside_a_pause(test), 25 * 160 / 1000 + 1U);
}

/* The ACKs of a receiver that merges segments are ordinary: they are charged when they arrive. */
static void large_acks_are_learned(struct kunit *test)
{
	struct lasack_queue *q = lasack_test_reshape(test, (struct lasack_shape) {});
	u32 i, number = 0;
	u64 was;

	for (i = 0; i < 60; i++) {
		add_to(test, 1, ack(2, number += 40000), 2);
		serve(test);
	}
	was = known(q, 2)->account.sum;
	for (i = 0; i < 20; i++)
		add_to(test, 1, ack(2, number += 40000), 2);
	KUNIT_EXPECT_EQ(test, known(q, 2)->account.sum, was + 20 * 40000);
	/* A few large ones among small ones are not. */
	for (i = 0; i < 400; i++) {
		add_to(test, 1, ack(2, number += i % 14 ? 2896 : 40000), 2);
		serve(test);
	}
	while (serve(test))
		;
	was = known(q, 2)->account.sum;
	for (i = 0; i < 20; i++)
		add_to(test, 1, ack(2, number += 40000), 2);
	KUNIT_EXPECT_EQ(test, known(q, 2)->account.sum,
			was + 20 * LASACK_ORDINARY + LASACK_PENDING);
}

/* A station that had a flow with packets to spare, and lost them all by being served, has none. */
static void an_empty_station_spares_nothing(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	u32 i, had, other;

	for (i = 1; i <= 2; i++) {
		add_to(test, i, data(i, 1000), i);
		serve(test);
	}
	for (i = 0; i < 10; i++)
		add_to(test, 1 + i % 2, data(1 + i % 2, 1000), 1 + i % 2);
	push_out(test);
	while (q->dropping)
		serve(test);
	had = known(q, 1)->account.packets > 1 ? 1 : 2;
	other = 3 - had;
	while (serve(test))
		;
	/* It has attained more. Its only packet is spared while the other can spare one. */
	for (i = 0; i < 20; i++) {
		add_to(test, had, data(had, 1000), had);
		serve(test);
	}
	for (i = 0; i < 10; i++)
		add_to(test, other, data(other, 1000), other);
	KUNIT_EXPECT_EQ(test, push_out(test), other);
	add_to(test, had, data(had, 1000), had);
	KUNIT_EXPECT_EQ(test, push_out(test), other);
}

/* The order to push out of is given up, also if it was made for the only packet. */
static void the_drop_order_is_given_up(struct kunit *test)
{
	struct lasack_queue *q = lasack_test_reshape(test, (struct lasack_shape) {});
	u32 i;

	add_to(test, 1, data(1, 1000), 1);
	push_out(test);
	for (i = 0; i < 3; i++)
		add_to(test, i, data(i, 1000), 1);
	while (serve(test))
		;
	KUNIT_EXPECT_FALSE(test, q->dropping);
}

/* A flow waits in the place that stations share. As soon as its own has one free, it goes there. */
static void a_lodger_finds_a_place(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	u32 i, served = 0;

	for (i = 0; i < LASACK_STATIONS; i++) {
		q->stations->place[i].known = 1;
		q->stations->place[i].address = i;	/* nobody's here */
		q->stations->place[i].account.packets = 1;
		q->stations->place[i].idle_since = q->time;
	}
	for (i = 0; i < 3; i++)
		add_to(test, 1, data(1, 1000), 1);
	KUNIT_EXPECT_TRUE(test, known(q, 1)->station == LASACK_STATION_SHARED);
	/* Those that were here are only quiet. */
	for (i = 0; i < LASACK_STATIONS; i++)
		q->stations->place[i].account.packets = 0;
	add_to(test, 1, data(1, 1000), 1);
	KUNIT_EXPECT_TRUE(test, known(q, 1)->station == LASACK_STATION_SHARED);
	lasack_queue_advance(q, q->now + 6ULL * NSEC_PER_SEC);
	add_to(test, 1, data(1, 1000), 1);
	KUNIT_EXPECT_FALSE(test, known(q, 1)->station == LASACK_STATION_SHARED);
	KUNIT_EXPECT_EQ(test, lasack_station_at(q, known(q, 1))->account.packets, 5);
	KUNIT_EXPECT_EQ(test, q->stations->place[LASACK_STATION_SHARED].account.packets, 0);
	while (serve(test))
		served++;
	KUNIT_EXPECT_EQ(test, served, 5);
}

/*
 * Addresses that count up: nearly all of 100 stations have one of the 256 places to themselves,
 * whatever the secret is. Others seldom have all eight that a station may take, unless the hash
 * puts stations close together.
 */
static void stations_are_scattered(struct kunit *test)
{
	struct lasack_queue *q;
	u32 secret, i;

	for (secret = 0; secret < 50; secret++) {
		q = lasack_test_reshape(test, (struct lasack_shape) { .by_station = true });
		q->stations->secret = secret;
		for (i = 0; i < 100; i++)
			add_to(test, i, data(i, 1000), 1);
		KUNIT_EXPECT_GE_MSG(test, q->stations->count, 95U, "secret %u", secret);
		while (serve(test))
			;
	}
}

/* Who has had less than the station had as its turn began does not wait for the turn's end. */
static void who_has_less_does_not_wait(struct kunit *test)
{
	static const u32 order[] = { 13, 21, 22, 23, 31 };

	lasack_test_reshape(test, (struct lasack_shape) { .paper = true, .by_station = true });
	fill_two_stations(test);
	KUNIT_EXPECT_EQ(test, serve(test), 10U);
	KUNIT_EXPECT_EQ(test, serve(test), 20U);
	set_quantum(test, 100000);
	KUNIT_EXPECT_EQ(test, serve(test), 11U);	/* the turn begins at 1000 bytes */
	add_to(test, 3, data(3, 1000), 30);
	KUNIT_EXPECT_EQ(test, serve(test), 30U);	/* has had nothing */
	KUNIT_EXPECT_EQ(test, serve(test), 12U);	/* and the turn goes on */
	add_to(test, 3, data(3, 1000), 31);		/* has had as much */
	expect_order(test, order, ARRAY_SIZE(order));
}

/* Stations with a sum of their own have had so many bytes each; then four packets of each wait. */
static void fill_stations_after(struct kunit *test, u32 first, u32 second)
{
	lasack_test_reshape(test, (struct lasack_shape) { .paper = true, .by_station = true });
	add_to(test, 1, data(1, first), 1);
	add_to(test, 2, data(2, second), 2);
	KUNIT_EXPECT_EQ(test, serve(test), 1U);
	KUNIT_EXPECT_EQ(test, serve(test), 2U);
	set_quantum(test, 3000);
	fill_two_stations(test);
	KUNIT_EXPECT_EQ(test, serve(test), 10U);
}

/* A flow that has had a run less than the station's other one comes before the station's turn. */
static void a_packet_comes_out_of_turn(struct kunit *test)
{
	static const u32 order[] = { 30, 11, 12, 20, 21, 22, 13, 23 };

	fill_stations_after(test, 10000, 10000);
	add_to(test, 2, data(3, 1000), 30);
	expect_order(test, order, ARRAY_SIZE(order));
}

/* Not if its station has had a run more than the least. When it has not, it costs nobody a turn. */
static void nobody_is_out_of_turn_for_long(struct kunit *test)
{
	static const u32 order[] = { 11, 12, 30, 13, 20, 21, 22, 23 };

	fill_stations_after(test, 10000, 13000);
	add_to(test, 2, data(3, 1000), 30);
	expect_order(test, order, ARRAY_SIZE(order));
}

/* Nor if it has had nearly as much: it waits for its station's turn, and comes first then. */
static void another_comes_in_turn(struct kunit *test)
{
	/* After 13000 bytes each: 22 came before 13. */
	static const u32 order[] = { 11, 12, 30, 20, 21, 22, 23, 13 };
	struct lasack_queue *q;

	fill_stations_after(test, 10000, 10000);
	q = test->priv;
	add_to(test, 2, data(3, 1000), 30);
	KUNIT_EXPECT_EQ(test, serve(test), 30U);
	known(q, 3)->account.sum = 7001;	/* of 10000, with a quantum of 3000 */
	lasack_station_at(q, known(q, 3))->account.sum = 10000;
	add_to(test, 2, data(3, 1000), 30);
	expect_order(test, order, ARRAY_SIZE(order));
}

/* What comes out of turn at the station whose turn it is makes the turn no longer. */
static void nobody_prolongs_a_turn(struct kunit *test)
{
	u32 others = 0;

	fill_stations_after(test, 10000, 10000);	/* 2000 bytes are left of the turn */
	do {
		add_to(test, 1, data(3, 1000), 30);
	} while (serve(test) != 20 && ++others < 9);
	KUNIT_EXPECT_EQ(test, others, 2U);
}

/* Nor does a smaller quantum take effect only when a turn is over. */
static void a_turn_has_no_more_than_the_quantum(struct kunit *test)
{
	static const u32 order[] = { 20, 11, 21, 12, 22, 13, 23 };

	fill_stations_after(test, 10000, 10000);
	lasack_queue_set_quantum(test->priv, 0);
	expect_order(test, order, ARRAY_SIZE(order));
}

/* A packet counts for what it is charged at least. */
static void a_turn_has_few_short_packets(struct kunit *test)
{
	static const u32 order[] = { 11, 20, 21, 12, 13, 22, 23 };
	struct lasack_queue *q;

	fill_stations_after(test, 10000, 10000);
	q = test->priv;
	q->overhead = 2000;
	expect_order(test, order, ARRAY_SIZE(order));
}

static struct kunit_case lasack_station_cases[] = {
	KUNIT_CASE(a_refund_is_served_at_once),
	KUNIT_CASE(a_pause_saves_up_little),
	KUNIT_CASE(a_refund_outlives_a_pause),
	KUNIT_CASE(a_refund_at_once_is_no_credit),
	KUNIT_CASE(a_pause_on_a_fast_link),
	KUNIT_CASE(nobody_waits_for_who_catches_up),
	KUNIT_CASE(large_acks_are_learned),
	KUNIT_CASE(an_empty_station_spares_nothing),
	KUNIT_CASE(the_drop_order_is_given_up),
	KUNIT_CASE(a_lodger_finds_a_place),
	KUNIT_CASE(stations_are_scattered),
	KUNIT_CASE(who_has_less_does_not_wait),
	KUNIT_CASE(a_packet_comes_out_of_turn),
	KUNIT_CASE(nobody_is_out_of_turn_for_long),
	KUNIT_CASE(another_comes_in_turn),
	KUNIT_CASE(nobody_prolongs_a_turn),
	KUNIT_CASE(a_turn_has_no_more_than_the_quantum),
	KUNIT_CASE(a_turn_has_few_short_packets),
	{}
};

static struct kunit_suite lasack_station_suite = {
	.name = "lasack_station",
	.init = station_test_init,
	.exit = lasack_test_exit,
	.test_cases = lasack_station_cases,
};

kunit_test_suite(lasack_station_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of the stations of LAS-ACK");
