// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of the credit of new flows and stations.
 *
 * Principle: a newcomer's first 64 KiB are charged to all newcomers. So many that begin, and send
 * later, have no more together than one; and what is pushed out gives nobody a new credit. What
 * a station was heard to ask for has more of its service, and does not wait for what nobody asked
 * for.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include "lasack/tests/lasack_datagrams.h"

#define PACKET	1000U
/* Who sends what is heard. */
#define STATION	0x020000000001ULL
#define OTHER	0x020000000002ULL
#define SHORT	2			/* the mark of short transfers */

static int newcomer_test_init(struct kunit *test)
{
	test->priv = NULL;
	lasack_test_reshape(test, (struct lasack_shape) {});
	return 0;
}

/* Flow 1, which is old, always has data. Serve until a packet with @mark is served. */
static void serve_until(struct kunit *test, u32 mark)
{
	u32 i;

	for (i = 0; i < 2000; i++) {
		add(test, data(1, PACKET), 1);
		if (serve(test) == mark)
			return;
	}
	KUNIT_FAIL(test, "no packet of mark %u", mark);
}

/* A connection begins with a SYN, which is sent, and goes on with @packets. */
static void open_connection(struct kunit *test, u32 id, u32 packets)
{
	struct tcp_segment syn = data(id, 0);

	syn.syn = 1;
	add(test, syn, id);
	serve_until(test, id);
	while (packets--) {
		add(test, data(id, PACKET), id);
		serve_until(test, id);
	}
}

/*
 * A connection was opened and waited. Meanwhile twenty others used up their credit, a third of
 * which counts for all: 400 kB. By its own sum it would come before an old flow for as much. Now
 * it does so for no more than one credit.
 */
static void opened_connections_wait_together(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	u32 i, first;

	for (i = 0; i < 200; i++)
		serve_until(test, 1);
	open_connection(test, 10, 1);
	for (i = 20; i < 40; i++)
		open_connection(test, i, 60);
	KUNIT_EXPECT_GT(test, known(q, 10)->account.credit, 60U * PACKET);
	for (first = 0; first < 500; first++) {
		add(test, data(10, PACKET), 10);
		if (serve(test) == 1)
			break;
	}
	KUNIT_EXPECT_LE(test, first, LASACK_CREDIT / PACKET);
}

/* New flows of an old station are pushed out: neither it nor newcomers have credit for that. */
static void lost_packets_are_no_credit(struct kunit *test)
{
	const struct lasack_station *station;
	struct lasack_queue *q;
	u64 newcomers;
	u32 i;

	q = lasack_test_reshape(test, (struct lasack_shape) { .by_station = true });
	for (i = 0; i < 200; i++) {
		add_to(test, 1, data(1, PACKET), 1);
		serve(test);
	}
	station = lasack_station_at(q, known(q, 1));
	newcomers = q->level.newcomers;
	for (i = 0; i < 20; i++) {
		add_to(test, 1, data(10 + i, PACKET), 2);
		KUNIT_EXPECT_EQ(test, push_out(test), 2U);
		KUNIT_EXPECT_EQ(test, station->account.credit, 0U);
	}
	KUNIT_EXPECT_EQ(test, q->level.newcomers, newcomers);
}

/* The mark of the next packet; another of that station comes. */
static u32 serve_and_refill(struct kunit *test)
{
	u32 mark = serve(test);

	add_to(test, mark, data(mark, PACKET), mark);
	return mark;
}

/*
 * A queue begins with 32 stations that all have data, as after `tc qdisc replace`. Each uses up
 * its credit. They competed with each other only. So who comes next waits at most until each of
 * them was served once, not until each has had as much as all have had together. It does not
 * matter whether their packets come by turns or a station's all at once, as one GSO packet's do.
 */
static void expect_new_queue_owes_nothing(struct kunit *test, bool by_turns)
{
	struct lasack_queue *q;
	u32 i, station, waited;

	q = lasack_test_reshape(test, (struct lasack_shape) { .by_station = true });
	for (i = 0; i < 32 * 44; i++) {
		station = 1 + (by_turns ? i % 32 : i / 44);
		add_to(test, station, data(station, PACKET), station);
	}
	for (i = 0; i < 32 * 2 * LASACK_CREDIT / PACKET; i++)
		serve_and_refill(test);
	KUNIT_EXPECT_EQ(test, lasack_station_at(q, known(q, 1))->account.credit, 0U);
	add_to(test, 100, data(100, PACKET), 100);
	for (waited = 0; waited < 32 * 200; waited++) {
		if (serve_and_refill(test) == 100)
			break;
	}
	KUNIT_EXPECT_LE_MSG(test, waited, 32U, "by turns: %d", by_turns);
}

static void a_new_queue_owes_nothing(struct kunit *test)
{
	expect_new_queue_owes_nothing(test, true);
	expect_new_queue_owes_nothing(test, false);
}

/* Another queue, which has not heard anything yet. */
static void begin_hearing(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	if (q)
		lasack_observer_free(q->observer);
	q = lasack_test_reshape(test, (struct lasack_shape) { .by_station = true });
	q->observer = lasack_observer_alloc();
	KUNIT_ASSERT_NOT_NULL(test, q->observer);
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

	begin_hearing(test);
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
static void questions_are_answered_first(struct kunit *test)
{
	u32 asked = served_short(test, true), unasked = served_short(test, false);

	KUNIT_EXPECT_GE(test, asked, 3000U * 23 / 25);
	KUNIT_EXPECT_LE(test, asked, 3000U * 25 / 26);
	KUNIT_EXPECT_LE(test, unasked, 3000U * 11 / 20);
}

/* While a thousand connections that nobody asked for wait, one that is asked for does not. */
static void questions_do_not_wait_for_a_flood(struct kunit *test)
{
	struct tcp_segment syn = data(5, 0);
	u32 i;

	begin_hearing(test);
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
static void questions_of_others(struct kunit *test)
{
	struct tcp_segment syn = data(9, 0);
	u32 i;

	begin_hearing(test);
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
static void datagrams_ask(struct kunit *test)
{
	struct tcp_segment asked = datagram(9, 500), unasked = datagram(17, 500);
	struct tcp_segment ping = datagram(25, 500);

	begin_hearing(test);
	comes_in(test, asked);
	add_to(test, 1, asked, 9);
	add_to(test, 1, unasked, 17);
	ping.key.protocol = IPPROTO_ICMP;
	comes_in(test, ping);
	add_to(test, 1, ping, 25);
	KUNIT_EXPECT_FALSE(test, lasack_queue_flow(test->priv, &ping)->solicited);
	KUNIT_EXPECT_TRUE(test, lasack_queue_flow(test->priv, &asked)->solicited);
	KUNIT_EXPECT_FALSE(test, lasack_queue_flow(test->priv, &unasked)->solicited);
}

/* What an ACK gives back is no question. */
static void questions_end(struct kunit *test)
{
	struct tcp_segment syn = data(1, 0);
	struct lasack_queue *q;

	begin_hearing(test);
	q = test->priv;
	syn.syn = 1;
	hear(test, syn, STATION);
	KUNIT_EXPECT_TRUE(test, lasack_observer_is_solicited(q->observer, &syn.key, STATION));
	lasack_observer_return(q->observer, &syn.key, STATION, 1);
	KUNIT_EXPECT_FALSE(test, lasack_observer_is_solicited(q->observer, &syn.key, STATION));
	/* Nor is it another station's, whatever its address is. */
	hear(test, syn, STATION ^ (0x48c9ULL << 32));
	KUNIT_EXPECT_FALSE(test, lasack_observer_is_solicited(q->observer, &syn.key, STATION));
}

static void questions_only(struct kunit *test)
{
	struct tcp_segment syn[6];
	u32 i;

	begin_hearing(test);
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
	KUNIT_EXPECT_FALSE(test, is_answer(test, 6, data(6, 1), STATION, 0));
	KUNIT_EXPECT_FALSE(test, is_answer(test, 7, ack(7, 1), STATION, 0));
}

static struct kunit_case lasack_newcomer_test_cases[] = {
	KUNIT_CASE(opened_connections_wait_together),
	KUNIT_CASE(lost_packets_are_no_credit),
	KUNIT_CASE(a_new_queue_owes_nothing),
	KUNIT_CASE(questions_are_answered_first),
	KUNIT_CASE(questions_do_not_wait_for_a_flood),
	KUNIT_CASE(questions_of_others),
	KUNIT_CASE(datagrams_ask),
	KUNIT_CASE(questions_end),
	KUNIT_CASE(questions_only),
	{}
};

static struct kunit_suite lasack_newcomer_test_suite = {
	.name = "lasack_newcomer",
	.init = newcomer_test_init,
	.exit = observe_test_exit,
	.test_cases = lasack_newcomer_test_cases,
};

kunit_test_suite(lasack_newcomer_test_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of the newcomers of LAS-ACK");
