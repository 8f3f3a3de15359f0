// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of what stations ask for.
 *
 * Principle: the SYN of a connection that the station begins is a question, and so is a datagram.
 * The answers have more of the station's service than what nobody asked for, and do not wait for
 * it. But nobody asks in another's name, and one question has one answer. lasack_call_test.c has
 * the calls that go before them.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include "lasack/tests/lasack_datagrams.h"

#define SHORT	2			/* the mark of short transfers */

/* Connection @id begins; if @asked, its station sent a SYN. Then it has @packets that wait. */
static void begin_transfer(struct kunit *test, u32 id, bool asked, u32 packets)
{
	struct tcp_segment syn = data(id, 0);

	if (asked)
		ask(test, id);
	syn.syn = 1;
	syn.ack = 1;
	add_to(test, 1, syn, SHORT);
	while (packets--)
		add_to(test, 1, data(id, 1000), SHORT);
}

/*
 * One old download of a station always has data, and so have its short transfers, of 20 kB each.
 * First come the 24 MiB that may come at once, with a SYN-ACK for each 20 packets. Return: in 3000
 * services, those of the short ones.
 */
static u32 served_short(struct kunit *test, bool asked)
{
	const u32 first = (LASACK_SOLICITED_SHARES + 1) * (LASACK_LAG / 1000) * 21 / 20;
	u32 i, id = 0, mark, waiting = 0, served = 0;

	begin_hearing(test);
	hear_anything(test);
	for (i = 0; i < 2000; i++) {
		add_to(test, 1, data(1, 1000), 1);
		KUNIT_ASSERT_EQ(test, serve(test), 1U);
	}
	for (i = 0; i < 2; i++)
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

/*
 * Shares are 24 to 1, or 1 to 1. A SYN-ACK costs nothing here, but is served too: beside a packet
 * of the download there are 25.2 of others, 2885 of 3000; or 1.05, 1537 of 3000.
 */
static void questions_are_answered_first(struct kunit *test)
{
	u32 asked = served_short(test, true), unasked = served_short(test, false);

	KUNIT_EXPECT_GE(test, asked, 2880U);
	KUNIT_EXPECT_LE(test, asked, 2890U);
	KUNIT_EXPECT_LE(test, unasked, 1545U);
}

/* While a thousand connections that nobody asked for wait, one that is asked for does not. */
static void questions_do_not_wait_for_a_flood(struct kunit *test)
{
	u32 i;

	begin_hearing(test);
	hear_anything(test);
	for (i = 0; i < 300; i++) {
		add_to(test, 1, data(1, 1000), 1);
		add_to(test, 1, data(1, 1000), 1);
		serve(test);
	}
	for (i = 10; i < 1000; i++)
		begin_transfer(test, i, false, 3);
	ask(test, 5);
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
	KUNIT_EXPECT_FALSE(test, flow_of(test->priv, &ping)->solicited);
	KUNIT_EXPECT_TRUE(test, flow_of(test->priv, &asked)->solicited);
	KUNIT_EXPECT_FALSE(test, flow_of(test->priv, &unasked)->solicited);
}

/*
 * A station's address is chosen so that it differs from another's in high bits only: its SYNs are
 * not the other's. (With the address outside of the keyed hash, one in 30 was.)
 */
static void questions_in_anothers_name(struct kunit *test)
{
	struct tcp_segment syn;
	u32 i;

	begin_hearing(test);
	hear_anything(test);
	for (i = 1; i <= 500; i++) {
		syn = data(i, 0);
		syn.syn = 1;
		hear(test, syn, STATION ^ (0x48c9ULL << 32));
		add_to(test, 1, data(i, 1000), i);
		KUNIT_EXPECT_FALSE(test, known(test->priv, i)->solicited);
	}
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

static struct kunit_case lasack_question_test_cases[] = {
	KUNIT_CASE(questions_are_answered_first),
	KUNIT_CASE(questions_do_not_wait_for_a_flood),
	KUNIT_CASE(questions_of_others),
	KUNIT_CASE(datagrams_ask),
	KUNIT_CASE(questions_in_anothers_name),
	KUNIT_CASE(questions_only),
	{}
};

static struct kunit_suite lasack_question_test_suite = {
	.name = "lasack_question",
	.init = observe_test_init,
	.exit = lasack_test_exit,
	.test_cases = lasack_question_test_cases,
};

kunit_test_suite(lasack_question_test_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of what stations ask of LAS-ACK");
