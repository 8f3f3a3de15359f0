// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of what stations ask for, and what comes unasked.
 *
 * Principle: the hook is told what a station sends. Everything here goes to flows of one station,
 * so it is these that compete.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include "lasack/tests/lasack_datagrams.h"

#define STATION	0x020000000001ULL	/* where all packets go */
#define OTHER	0x020000000002ULL
#define SHORT	2			/* the mark of short transfers */

/* Another queue, which has not heard anything yet. */
static void begin_anew(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	if (q)
		lasack_observer_free(q->observer);
	q = lasack_test_reshape(test, (struct lasack_shape) { .by_station = true });
	q->observer = lasack_observer_alloc();
	KUNIT_ASSERT_NOT_NULL(test, q->observer);
}

static int solicited_test_init(struct kunit *test)
{
	test->priv = NULL;
	begin_anew(test);
	return 0;
}

static void hear(struct kunit *test, struct tcp_segment seg, u64 station)
{
	struct lasack_queue *q = test->priv;

	lasack_observer_note_tcp(q->observer, &seg, station, seg.payload);
}

/* Somebody is there, or all ACKs are believed. */
static void hear_anything(struct kunit *test)
{
	hear(test, ack(3, 1), OTHER);
}

/* Connection @id begins; if @asked, its station sent a SYN. Then it has @packets that wait. */
static void begin_transfer(struct kunit *test, u32 id, bool asked, u32 packets)
{
	struct tcp_segment syn = data(id, 0);

	syn.syn = 1;
	if (asked)
		hear(test, syn, STATION);
	syn.ack = 1;
	add_to(test, 1, syn, SHORT);
	while (packets--)
		add_to(test, 1, data(id, 1000), SHORT);
}

/*
 * One old download of a station always has data, and so have its short transfers, of 20 kB each.
 * First come the 24 MiB that may come at once. Return: in 3000 services, those of the short ones.
 */
static u32 served_short(struct kunit *test, bool asked)
{
	const u32 first = (LASACK_SOLICITED_SHARES + 1) * LASACK_LAG / 1000;
	u32 i, id = 0, mark, waiting = 0, served = 0;

	begin_anew(test);
	hear_anything(test);
	for (i = 0; i < 2000; i++) {
		add_to(test, 1, data(1, 1000), 1);
		KUNIT_ASSERT_EQ(test, serve(test), 1U);
	}
	add_to(test, 1, data(1, 1000), 1);
	for (i = 0; i < first + 3000; i++) {
		for (; waiting < 40; waiting += 21)
			begin_transfer(test, 10 + id++ % 900, asked, 20);
		mark = serve(test);
		if (mark == 1)
			add_to(test, 1, data(1, 1000), 1);
		waiting -= mark == SHORT;
		served += mark == SHORT && i >= first;
	}
	return served;
}

/* Shares are 24 to 1, or 1 to 1. A SYN-ACK costs nothing here, but is served too. */
static void solicited_questions_are_answered_first(struct kunit *test)
{
	u32 asked = served_short(test, true), unasked = served_short(test, false);

	KUNIT_EXPECT_GE(test, asked, 3000U * 23 / 25);
	KUNIT_EXPECT_LE(test, asked, 3000U * 25 / 26);
	KUNIT_EXPECT_LE(test, unasked, 3000U * 11 / 20);
}

/* While a thousand connections that nobody asked for wait, one that is asked for does not. */
static void solicited_questions_do_not_wait_for_a_flood(struct kunit *test)
{
	struct tcp_segment syn = data(5, 0);
	u32 i;

	hear_anything(test);
	for (i = 0; i < 300; i++) {
		add_to(test, 1, data(1, 1000), 1);
		serve(test);
	}
	for (i = 10; i < 1000; i++)
		begin_transfer(test, i, false, 3);
	syn.syn = 1;
	hear(test, syn, STATION);
	add_to(test, 1, data(5, 1000), 5);
	/* Only the first of them began as low. */
	for (i = 0; serve(test) != 5; i++)
		;
	KUNIT_EXPECT_LE(test, i, 4U);
}

/* The begin of flow @id is heard from @station. Return: whether its next packet is an answer. */
static bool is_answer(struct kunit *test, u32 id, struct tcp_segment heard, u64 station, u32 age)
{
	struct lasack_queue *q = test->priv;

	hear(test, heard, station);
	lasack_observer_of_flow(q->observer, &heard.key, station)->heard -= age;
	add_to(test, 1, data(id, 1000), id);
	return known(q, id)->solicited;
}

/* So many connections are heard that each counter is fresh. They are no others' questions. */
static void solicited_questions_of_others(struct kunit *test)
{
	struct tcp_segment syn = data(9, 0);
	u32 i;

	syn.syn = 1;
	for (i = 0; i < 1 << 16; i++) {
		syn.key.port[1] = cpu_to_be16(1000);
		syn.key.port[0] = cpu_to_be16(i);
		hear(test, syn, OTHER);
	}
	for (i = 1; i < 500; i++) {
		add_to(test, 1, data(i, 1000), i);
		KUNIT_EXPECT_FALSE(test, known(test->priv, i)->solicited);
	}
}

/* Datagrams that come in are a question, those that only go out are not. */
static void solicited_datagrams_ask(struct kunit *test)
{
	struct tcp_segment asked = datagram(9, 500), unasked = datagram(17, 500);

	comes_in(test, asked);
	add_to(test, 1, asked, 9);
	add_to(test, 1, unasked, 17);
	KUNIT_EXPECT_TRUE(test, lasack_queue_flow(test->priv, &asked)->solicited);
	KUNIT_EXPECT_FALSE(test, lasack_queue_flow(test->priv, &unasked)->solicited);
}

static void solicited_questions_only(struct kunit *test)
{
	struct tcp_segment syn[6];
	u32 i;

	for (i = 1; i < ARRAY_SIZE(syn); i++) {
		syn[i] = data(i, 0);
		syn[i].syn = 1;
	}
	syn[2].ack = 1;
	KUNIT_EXPECT_TRUE(test, is_answer(test, 1, syn[1], STATION, 0));
	KUNIT_EXPECT_FALSE(test, is_answer(test, 2, syn[2], STATION, 0));
	KUNIT_EXPECT_FALSE(test, is_answer(test, 3, syn[3], OTHER, 0));
	KUNIT_EXPECT_TRUE(test, is_answer(test, 4, syn[4], STATION, 3 * HZ));
	KUNIT_EXPECT_FALSE(test, is_answer(test, 5, syn[5], STATION, 4 * HZ));
	KUNIT_EXPECT_TRUE(test, is_answer(test, 6, data(6, 1), STATION, 0));
	KUNIT_EXPECT_FALSE(test, is_answer(test, 7, ack(7, 1), STATION, 0));
}

static struct kunit_case lasack_solicited_cases[] = {
	KUNIT_CASE(solicited_questions_are_answered_first),
	KUNIT_CASE(solicited_questions_do_not_wait_for_a_flood),
	KUNIT_CASE(solicited_questions_of_others),
	KUNIT_CASE(solicited_datagrams_ask),
	KUNIT_CASE(solicited_questions_only),
	{}
};

static struct kunit_suite lasack_solicited_suite = {
	.name		= "lasack_solicited",
	.init		= solicited_test_init,
	.exit		= observe_test_exit,
	.test_cases	= lasack_solicited_cases,
};

kunit_test_suite(lasack_solicited_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of what stations ask for");
