// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of packets that come before their station's turn, where stations have no quantum.
 *
 * Principle: station 1 has a large flow and one that gets little, station 2 a large flow. Each
 * packet has 1000 bytes. How far station 1 may be ahead, and how much less the flow must have had,
 * is what lasack_call.h says.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include "lasack/tests/lasack_packets.h"

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

	test->priv = NULL;
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
 * Three stations have had 200 packets each. Then each has a flow that gets little, so that whoever is
 * served is out of turn, 100 times each. A newcomer does not begin where they were then.
 */
static void who_is_out_of_turn_is_known(struct kunit *test)
{
	const u32 large[] = { 1, 2, 4 }, little[] = { 9, 10, 12 };
	u32 i, s;

	test->priv = NULL;
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

static struct kunit_case lasack_turn_test_cases[] = {
	KUNIT_CASE(who_has_little_comes_at_once),
	KUNIT_CASE(a_station_is_ahead_by_so_much),
	KUNIT_CASE(who_has_as_much_waits),
	KUNIT_CASE(who_has_little_gains_little),
	KUNIT_CASE(who_comes_later_is_not_behind),
	KUNIT_CASE(who_is_out_of_turn_is_known),
	{}
};

static struct kunit_suite lasack_turn_test_suite = {
	.name = "lasack_turn",
	.exit = lasack_test_exit,
	.test_cases = lasack_turn_test_cases,
};

kunit_test_suite(lasack_turn_test_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of packets that come before their station's turn");
