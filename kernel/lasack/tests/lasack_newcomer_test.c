// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of the credit of new flows and stations, and of packets that come out of turn.
 *
 * Principle: a newcomer's first 64 KiB are charged to all newcomers. So many that begin, and send
 * later, have no more together than one; and what is pushed out gives nobody a new credit. Nor
 * does a long history of service, packets of 1000 bytes, if the structures are made anew then, as
 * "tc change" does it: nobody may live on what was counted by another rule.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include "lasack/tests/lasack_packets.h"

#define PACKET	1000U

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

/* As "tc change" does. */
static struct lasack_queue *rebuild(struct kunit *test, struct lasack_shape shape)
{
	struct lasack_queue *from = test->priv, *q;

	shape.flows = shape.flows ?: LASACK_FLOWS;
	q = lasack_queue_create(&shape);
	KUNIT_ASSERT_NOT_NULL(test, q);
	lasack_queue_take_over(q, from);
	lasack_queue_free(from);
	test->priv = q;
	return q;
}

/* Forty flows have packets, and there are places for 16: the others share one, as one flow. */
static void too_few_places(struct kunit *test, bool by_station)
{
	struct lasack_queue *q = lasack_test_reshape(test, (struct lasack_shape) {
		.by_station = by_station });
	u32 i, id, own = 0;

	for (i = 0; i < 20000; i++) {
		for (id = 1; id <= 40; id++) {
			if (i < 2 || i % 40 + 1 == id)
				add_to(test, 1 + id % 8, data(id, 1000), id);
		}
		serve(test);
	}
	for (id = 1; id <= 40; id++) {
		while (known(q, id)->account.packets < 2)
			add_to(test, 1 + id % 8, data(id, 1000), id);
	}
	q = rebuild(test, (struct lasack_shape) { .flows = 16, .by_station = by_station });
	for (i = 0; i < 400; i++) {
		for (id = 1; id <= 40; id++) {
			if (known(q, id) ? known(q, id)->account.packets <= 2 : i % 16 == 0)
				add_to(test, 1 + id % 8, data(id, 1000), id);
		}
		own += !!known(q, serve(test));
	}
	KUNIT_EXPECT_GE(test, own, 200U);
}

static void the_shared_flow_begins_as_others_do(struct kunit *test)
{
	too_few_places(test, false);
	too_few_places(test, true);
}

/* Service between stations, between flows, and between stations again. */
static struct lasack_queue *there_and_back(struct kunit *test)
{
	struct lasack_shape stations = { .by_station = true, .runs = true };
	struct lasack_queue *q = lasack_test_reshape(test, stations);
	u32 i;

	q->quantum = 24000;
	for (i = 0; i < 20000; i++) {
		add_to(test, 1, data(1, 1000), 1);
		serve(test);
	}
	add_to(test, 1, data(1, 1000), 1);
	rebuild(test, (struct lasack_shape) { .runs = true });
	q = rebuild(test, stations);
	q->quantum = 24000;
	return q;
}

/* A flow of the station that was served beside another one, of 4000 services. */
static void beside_the_old_one(struct kunit *test, u8 station)
{
	u32 i, old = 0;

	there_and_back(test);
	for (i = 0; i < 4000; i++) {
		add_to(test, 1, data(1, 1000), 1);
		add_to(test, station, data(3, 1000), 3);
		old += serve(test) == 1;
	}
	KUNIT_EXPECT_GE(test, old, 1900U);
	KUNIT_EXPECT_LE(test, old, 2100U);
}

static void an_old_station_is_not_put_off(struct kunit *test)
{
	beside_the_old_one(test, 2);
}

static void an_old_flow_does_not_put_off(struct kunit *test)
{
	beside_the_old_one(test, 1);
}

/* Who comes out of turn has had what it has had: who was quiet is served no sooner for it. */
static void a_turn_is_nobodys_credit(struct kunit *test)
{
	struct lasack_queue *q;

	q = lasack_test_reshape(test, (struct lasack_shape) { .by_station = true });
	set_quantum(test, LASACK_STATION_LAG);
	add_to(test, 2, data(2, 1000), 20);
	KUNIT_EXPECT_EQ(test, serve(test), 20U);
	add_to(test, 1, data(1, 1000), 10);
	q->level.high = 10 * LASACK_STATION_LAG;
	known(q, 1)->account.sum = 9 * LASACK_STATION_LAG;
	lasack_station_at(q, known(q, 1))->account.sum = 9 * LASACK_STATION_LAG;
	add_to(test, 1, data(3, 1000), 30);
	KUNIT_EXPECT_EQ(test, lasack_station_at(q, known(q, 3))->ahead, LASACK_STATION_LAG);
	add_to(test, 2, data(2, 1000), 20);
	KUNIT_EXPECT_GE(test, lasack_station_at(q, known(q, 2))->account.sum,
			9ULL * LASACK_STATION_LAG);
}

static void serve_alone(struct kunit *test, u8 station, u32 id, u32 packets)
{
	while (packets--) {
		add_to(test, station, data(id, 1000), id);
		KUNIT_EXPECT_EQ(test, serve(test), id);
	}
}

/*
 * Flow 2 has had 100 kB. Flow 1 of its station then gets 300 kB, of which none waits: the last run
 * took all. Flow 2 comes out of turn, and flow 1 does not.
 */
static void a_quiet_flow_need_not_wait(struct kunit *test)
{
	struct lasack_queue *q;

	q = lasack_test_reshape(test, (struct lasack_shape) { .by_station = true });
	set_quantum(test, 30000);
	serve_alone(test, 1, 2, 100);
	serve_alone(test, 1, 1, 300);
	add_to(test, 1, data(1, 1000), 1);
	KUNIT_EXPECT_EQ(test, lasack_station_at(q, known(q, 1))->ahead, 0U);
	KUNIT_EXPECT_EQ(test, serve(test), 1U);
	add_to(test, 1, data(2, 1000), 2);
	KUNIT_EXPECT_EQ(test, lasack_station_at(q, known(q, 2))->ahead, 30000U);
}

/*
 * Packets that come before their station's turn, where stations have no quantum. Station 1 has a
 * large flow and one that gets little, station 2 a large flow.
 */
#define LARGE	1	/* flows, and the marks of their packets */
#define LITTLE	9
#define OTHER	2
#define LATE	3

static u64 station_sum(struct kunit *test, u32 id)
{
	return lasack_station_at(test->priv, known(test->priv, id))->account.sum;
}

/* Both stations get @packets each of their large flows, and have two of each that wait. */
static void begin_turns(struct kunit *test, u32 packets)
{
	u32 i;

	while (serve(test))
		;
	lasack_test_reshape(test, (struct lasack_shape) { .by_station = true });
	add_to(test, 1, data(LITTLE, 1000), LITTLE);
	serve(test);
	for (i = 0; i < 2; i++) {
		add_to(test, 1, data(LARGE, 1000), LARGE);
		add_to(test, 2, data(OTHER, 1000), OTHER);
	}
	for (i = 0; i < 2 * packets; i++) {
		if (serve(test) == LARGE)
			add_to(test, 1, data(LARGE, 1000), LARGE);
		else
			add_to(test, 2, data(OTHER, 1000), OTHER);
	}
}

/* Station 1 is @bytes ahead of station 2. Return: whose packet comes next if LITTLE has one. */
static u32 next_while_ahead(struct kunit *test, s64 bytes)
{
	struct lasack_queue *q = test->priv;

	lasack_station_at(q, known(q, LARGE))->account.sum = station_sum(test, OTHER) + bytes;
	add_to(test, 1, data(LITTLE, 1000), LITTLE);
	return serve(test);
}

static void who_has_little_comes_at_once(struct kunit *test)
{
	begin_turns(test, 200);
	KUNIT_EXPECT_EQ(test, next_while_ahead(test, LASACK_CALL_AHEAD - 1), (u32)LITTLE);
	KUNIT_EXPECT_EQ(test, serve(test), (u32)OTHER);
}

static void a_station_is_ahead_by_so_much(struct kunit *test)
{
	begin_turns(test, 200);
	KUNIT_EXPECT_EQ(test, next_while_ahead(test, LASACK_CALL_AHEAD + 1), (u32)OTHER);
}

/* The sums of its own flows say who has little, not how many packets each has now. */
static void who_has_as_much_waits(struct kunit *test)
{
	begin_turns(test, 200);
	known(test->priv, LITTLE)->account.sum = known(test->priv, LARGE)->account.sum -
						 LASACK_CALL_LESS + 1;
	KUNIT_EXPECT_EQ(test, next_while_ahead(test, 2000), (u32)OTHER);
	begin_turns(test, 200);
	known(test->priv, LITTLE)->account.sum = known(test->priv, LARGE)->account.sum -
						 LASACK_CALL_LESS;
	KUNIT_EXPECT_EQ(test, next_while_ahead(test, 2000), (u32)LITTLE);
}

/* It has a packet all the time, and never two: the station gains this much, once. */
static void who_has_little_gains_little(struct kunit *test)
{
	u32 i, mark, served[LITTLE + 1] = {};

	begin_turns(test, 200);
	for (i = 0; i < 150; i++) {
		if (!known(test->priv, LITTLE)->account.packets)
			add_to(test, 1, data(LITTLE, 1000), LITTLE);
		mark = serve(test);
		served[mark]++;
		if (mark == OTHER)
			add_to(test, 2, data(OTHER, 1000), OTHER);
	}
	KUNIT_EXPECT_LE(test, served[LITTLE] + served[LARGE],
			served[OTHER] + LASACK_CALL_AHEAD / 1000 + 2);
	KUNIT_EXPECT_GE(test, served[LITTLE], served[OTHER] + LASACK_CALL_AHEAD / 1000 - 2);
}

/* A station that comes meanwhile begins before those who wait, as newcomers do. */
static void who_comes_later_is_not_behind(struct kunit *test)
{
	begin_turns(test, 200);
	KUNIT_EXPECT_EQ(test, next_while_ahead(test, 50000), (u32)LITTLE);
	add_to(test, 4, data(LATE, 1000), LATE);
	KUNIT_EXPECT_LE(test, station_sum(test, LATE) + LASACK_CREDIT,
			station_sum(test, OTHER) + 1000);
}

/*
 * Three stations have had 200 packets each. Then each has a flow that gets little, so that whoever
 * is served is out of turn, 100 times each. A newcomer does not begin where they were then.
 */
static void who_is_out_of_turn_is_known(struct kunit *test)
{
	const u32 large[] = { 1, 2, 4 }, little[] = { 9, 10, 12 };
	u32 i, s;

	lasack_test_reshape(test, (struct lasack_shape) { .by_station = true });
	for (s = 0; s < 3; s++)
		add_to(test, large[s], data(little[s], 1000), little[s]);
	for (i = 0; i < 600; i++) {
		add_to(test, large[i % 3], data(large[i % 3], 1000), 1);
		serve(test);
	}
	while (serve(test))
		;
	for (i = 0; i < 300; i++) {
		for (s = 0; s < 3; s++)
			if (!known(test->priv, little[s])->account.packets)
				add_to(test, large[s], data(little[s], 1000), little[s]);
		serve(test);
	}
	add_to(test, 3, data(LATE, 1000), LATE);
	KUNIT_EXPECT_GE(test, station_sum(test, LATE) + LASACK_CREDIT + LASACK_CALL_AHEAD + 2000,
			station_sum(test, LARGE));
}

static struct kunit_case lasack_newcomer_test_cases[] = {
	KUNIT_CASE(opened_connections_wait_together),
	KUNIT_CASE(lost_packets_are_no_credit),
	KUNIT_CASE(a_new_queue_owes_nothing),
	KUNIT_CASE(the_shared_flow_begins_as_others_do),
	KUNIT_CASE(an_old_station_is_not_put_off),
	KUNIT_CASE(an_old_flow_does_not_put_off),
	KUNIT_CASE(a_turn_is_nobodys_credit),
	KUNIT_CASE(a_quiet_flow_need_not_wait),
	KUNIT_CASE(who_has_little_comes_at_once),
	KUNIT_CASE(a_station_is_ahead_by_so_much),
	KUNIT_CASE(who_has_as_much_waits),
	KUNIT_CASE(who_has_little_gains_little),
	KUNIT_CASE(who_comes_later_is_not_behind),
	KUNIT_CASE(who_is_out_of_turn_is_known),
	{}
};

static struct kunit_suite lasack_newcomer_test_suite = {
	.name = "lasack_newcomer",
	.init = newcomer_test_init,
	.exit = lasack_test_exit,
	.test_cases = lasack_newcomer_test_cases,
};

kunit_test_suite(lasack_newcomer_test_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of the newcomers of LAS-ACK");
