// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of the line for the floor: who has it, and for how long.
 *
 * Principle: it is worked out by hand, of packets of 1000 bytes.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include "lasack/floor/tests/lasack_starving.h"

/* Of station 1's line. */
static struct lasack_flow *line_of(const struct lasack_queue *q, u32 place)
{
	struct lasack_floor *floor = &lasack_station_at(q, known((void *)q, 1))->level.floor;

	return lasack_flow_at(q, floor->line[place].flow);
}

/* So many flows stand in station 1's line, in this order. */
static void expect_line(struct kunit *test, const u32 *ids, u32 count)
{
	struct lasack_queue *q = test->priv;
	u32 place;

	for (place = 0; place < count; place++)
		KUNIT_EXPECT_PTR_EQ(test, known(q, ids[place]), line_of(q, place));
	KUNIT_EXPECT_EQ(test, lasack_flow_level(q, known(q, ids[0]))->floor.count, count);
}

/* Its sum is the least of two: it does not starve any more. Alone it still stands in line. */
static void floor_ends_when_it_has_caught_up(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	grow(test, 1);
	starve(test, 1);
	KUNIT_EXPECT_EQ(test, serve(test), 1U);
	KUNIT_EXPECT_TRUE(test, known(q, 1)->starved);
	add_to(test, 1, data(2, 1000), OTHER);
	known(q, 2)->account.sum = known(q, 1)->account.sum + 1;
	lasack_order_lowered(q, known(q, 2));
	KUNIT_EXPECT_EQ(test, serve(test), 1U);
	KUNIT_EXPECT_FALSE(test, known(q, 1)->starved);
	KUNIT_EXPECT_EQ(test, serve(test), OTHER);
	/* Newcomers begin 65 kB below it. */
	add_to(test, 1, data(1, 1000), 1);
	KUNIT_EXPECT_EQ(test, had_among(test, 1, 50, 1000), 0U);
}

/* While the first has no packets, the next one is served. If the first has ended, it is gone. */
static void floor_waits_for_nobody(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct tcp_segment fin = data(1, 1000);

	grow_both(test);
	starve(test, 1);
	starve(test, 2);
	drain(test, 1);
	KUNIT_EXPECT_GT(test, had_among(test, 2, 40, 1000), 5U);
	KUNIT_EXPECT_TRUE(test, known(q, 1)->starved);
	add_to(test, 1, data(1, 1000), 1);
	KUNIT_EXPECT_GT(test, had_among(test, 1, 40, 1000), 5U);
	fin.fin = 1;
	add_to(test, 1, fin, 1);
	drain(test, 1);
	had_among(test, 2, 4, 1000);
	KUNIT_EXPECT_FALSE(test, known(q, 1)->starved);
}

/* For a second without packets it has the floor; then the next one in line. */
static void floor_ends_with_a_pause(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	grow_both(test);
	starve(test, 1);
	starve(test, 2);
	drain(test, 1);
	drain(test, 2);
	wait(test, 900);
	add_to(test, 1, data(1, 1000), 1);
	add_to(test, 1, data(2, 1000), 2);
	KUNIT_EXPECT_GT(test, had_among(test, 1, 20, 1000), 3U);
	drain(test, 1);
	drain(test, 2);
	KUNIT_EXPECT_TRUE(test, known(q, 1)->starved);
	KUNIT_EXPECT_TRUE(test, known(q, 2)->starved);
	wait(test, 600);
	add_to(test, 1, data(2, 1000), 2);
	drain(test, 2);
	wait(test, 600);
	add_to(test, 1, data(1, 1000), 1);
	add_to(test, 1, data(2, 1000), 2);
	KUNIT_EXPECT_GT(test, had_among(test, 2, 40, 1000), 5U);
	KUNIT_EXPECT_FALSE(test, known(q, 1)->starved);
}

/*
 * First come, first served: the second has nothing until the first has had 4 MiB. Then the first
 * waits anew. Flow 3 has waited for longer by then, but asks later.
 */
static void floor_goes_round(struct kunit *test)
{
	begin(test, true, 75);
	grow_both(test);
	grow(test, 3);
	starve(test, 1);
	starve(test, 2);
	add_to(test, 1, data(3, 1000), 3);
	wait(test, 10);
	KUNIT_EXPECT_EQ(test, had_among(test, 2, 5590, 1000), 0U);
	KUNIT_EXPECT_GE(test, had_among(test, 2, 10, 1000), 3U);
	KUNIT_EXPECT_EQ(test, had_among(test, 1, 100, 1000), 0U);
	wait(test, 301);
	add_to(test, 1, data(3, 1000), 3);
	expect_line(test, (const u32 []){ 2, 3, 1 }, 3);
}

/* A turn begins at nothing, also if nobody else stands in line. */
static void floor_begins_a_turn(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct lasack_floor *floor;

	grow(test, 1);
	starve(test, 1);
	floor = &lasack_station_at(q, known(q, 1))->level.floor;
	KUNIT_EXPECT_EQ(test, floor->line[0].had, 0U);
	floor->line[0].had = (4 << 20) - 1;
	KUNIT_EXPECT_GE(test, had_among(test, 1, 10, 1000), 2U);
	KUNIT_EXPECT_PTR_EQ(test, known(q, 1), line_of(q, 0));
	KUNIT_EXPECT_LT(test, floor->line[0].had, 10000U);
}

/* A flow that pauses now and then keeps the floor for no longer than that. */
static void floor_goes_round_with_pauses(struct kunit *test)
{
	struct lasack_queue *q = begin(test, true, 75);
	u32 i;

	grow_both(test);
	starve(test, 1);
	starve(test, 2);
	lasack_station_at(q, known(q, 1))->level.floor.line[0].had = 3 << 20;
	for (i = 0; i < 11; i++) {	/* of some 97500 bytes each */
		KUNIT_EXPECT_PTR_EQ(test, known(q, 1), line_of(q, 0));
		had_among(test, 1, 130, 1000);
		drain(test, 1);
		had_among(test, 2, 4, 1000);
		add_to(test, 1, data(1, 1000), 1);
	}
	expect_line(test, (const u32 []){ 2, 1 }, 2);
}

/* Flows 1 to @count have had much. */
static void grow_all(struct kunit *test, u32 count)
{
	u32 id;

	for (id = 1; id <= count; id++)
		grow(test, id);
}

/* Flows 1 to 16 fill the line. */
static void fill_line(struct kunit *test)
{
	u32 id;

	for (id = 1; id <= LASACK_FLOOR_LINE; id++)
		starve(test, id);
}

/* Who has waited longest stays. Without packets nobody waits. The first is not driven out. */
static void floor_line_is_short(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	grow_all(test, 18);
	add_to(test, 1, data(18, 1000), 18);
	wait(test, 10);
	fill_line(test);
	KUNIT_EXPECT_TRUE(test, known(q, 16)->starved);
	starve(test, 17);		/* all others have waited for longer */
	KUNIT_EXPECT_FALSE(test, known(q, 17)->starved);
	drain(test, 1);
	drain(test, 2);
	wait(test, 301);
	add_to(test, 1, data(17, 1000), 17);
	KUNIT_EXPECT_TRUE(test, known(q, 17)->starved);
	KUNIT_EXPECT_TRUE(test, known(q, 1)->starved);
	KUNIT_EXPECT_FALSE(test, known(q, 2)->starved);
	/* It was the first of all to wait, and asks last. */
	add_to(test, 1, data(18, 1000), 18);
	KUNIT_EXPECT_TRUE(test, known(q, 1)->starved);
	KUNIT_EXPECT_PTR_EQ(test, known(q, 18), line_of(q, 1));
	KUNIT_EXPECT_FALSE(test, known(q, 17)->starved);
}

/* Flow 4 asks last, but has waited for longer than flow 3. */
static void floor_line_is_in_order(struct kunit *test)
{
	grow_all(test, 4);
	starve(test, 1);
	starve(test, 2);
	add_to(test, 1, data(4, 1000), 4);
	wait(test, 10);
	starve(test, 3);
	add_to(test, 1, data(4, 1000), 4);
	expect_line(test, (const u32 []){ 1, 2, 4, 3 }, 4);
}

/* Flow 2 is served while flow 1 pauses. What it has then is younger than flow 3's packet. */
static void floor_line_stays_in_order(struct kunit *test)
{
	grow_all(test, 3);
	starve(test, 1);
	starve(test, 2);
	add_to(test, 1, data(3, 1000), 3);
	drain(test, 1);
	drain(test, 2);
	wait(test, 301);
	add_to(test, 1, data(1, 1000), 1);
	add_to(test, 1, data(2, 1000), 2);
	add_to(test, 1, data(3, 1000), 3);
	expect_line(test, (const u32 []){ 1, 2, 3 }, 3);
}

/* Who does not starve any more takes no place from others, behind one that still does. */
static void floor_line_has_no_ghosts(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct lasack_floor *floor;
	u32 id;

	grow_all(test, 17);
	fill_line(test);
	for (id = 2; id <= LASACK_FLOOR_LINE; id++)
		known(q, id)->starved = 0;
	starve(test, 17);
	KUNIT_EXPECT_TRUE(test, known(q, 17)->starved);
	floor = &lasack_flow_level(q, known(q, 17))->floor;
	KUNIT_EXPECT_EQ(test, floor->count, 2U);
	known(q, 17)->starved = 0;
	wait(test, 301);
	add_to(test, 1, data(17, 1000), 17);
	KUNIT_EXPECT_EQ(test, floor->count, 2U);
}

/* New flows have half of the line, and drive out no old ones. */
static void floor_line_has_room_for_old_flows(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	u32 id, had = 0;

	grow_all(test, 2);
	starve(test, 1);
	for (id = 100; id <= 100 + LASACK_FLOOR_LINE; id++) {
		add_to(test, 1, data(id, 1000), OTHER);
		opened(known(q, id));
		wait(test, 301);
		if (id == 100)
			continue;
		add_to(test, 1, data(id, 1000), OTHER);
		had += known(q, id)->starved;
	}
	KUNIT_EXPECT_EQ(test, had, LASACK_FLOOR_LINE / 2);
	starve(test, 2);
	KUNIT_EXPECT_TRUE(test, known(q, 2)->starved);
	/* Flow 100 has waited longest, and flow 2 least. */
	add_to(test, 1, data(100, 1000), OTHER);
	KUNIT_EXPECT_TRUE(test, known(q, 100)->starved);
	KUNIT_EXPECT_TRUE(test, known(q, 2)->starved);
	KUNIT_EXPECT_FALSE(test, known(q, 108)->starved);
}

/* While the only one in line pauses, 16 KiB are kept for it: 17 packets, then a quarter. */
static void floor_keeps_little(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	grow(test, 1);
	starve(test, 1);
	drain(test, 1);
	KUNIT_EXPECT_EQ(test, had_among(test, 1, 500, 1000), 0U);
	KUNIT_EXPECT_TRUE(test, known(q, 1)->starved);
	add_to(test, 1, data(1, 1000), 1);
	KUNIT_EXPECT_EQ(test, had_among(test, 1, 17, 1000), 17U);
	KUNIT_EXPECT_EQ(test, had_among(test, 1, 40, 1000), 10U);
}

/* What is left when the line is empty belongs to nobody. What is owed is. */
static void floor_line_leaves_nothing(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct lasack_floor *floor;

	grow(test, 1);
	starve(test, 1);
	floor = &lasack_flow_level(q, known(q, 1))->floor;
	floor->credit = 1000;
	known(q, 1)->starved = 0;
	serve(test);
	KUNIT_EXPECT_EQ(test, floor->count, 0U);
	KUNIT_EXPECT_EQ(test, floor->credit, 0LL);
	starve(test, 1);
	floor->credit = 1000;
	known(q, 1)->starved = 0;
	wait(test, 301);
	add_to(test, 1, data(1, 1000), 1);
	KUNIT_EXPECT_TRUE(test, known(q, 1)->starved);
	KUNIT_EXPECT_EQ(test, floor->credit, 0LL);
	floor->credit = -1000;
	known(q, 1)->starved = 0;
	serve(test);
	KUNIT_EXPECT_EQ(test, floor->credit, -1000LL);
}

/* Another connection in its place, or another station, has nothing of it. */
static void floor_is_not_inherited(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct tcp_segment syn = data(1, 0), seg = data(1, 1000);

	grow(test, 1);
	starve(test, 1);
	while (serve(test))
		;
	syn.syn = 1;
	known(q, 1)->entry.finished = 1;
	add_to(test, 1, syn, 1);
	serve(test);
	KUNIT_EXPECT_FALSE(test, known(q, 1)->starved);
	grow(test, 1);
	add_to(test, 1, data(1, 1000), 1);
	KUNIT_EXPECT_EQ(test, had_among(test, 1, 50, 1000), 0U);

	begin(test, true, 25);
	q = test->priv;
	grow(test, 1);
	starve(test, 1);
	while (serve(test))
		;
	add_to(test, 2, seg, 1);
	KUNIT_EXPECT_TRUE(test, lasack_queue_flow(q, &seg, MAC_OF(1))->starved);
	KUNIT_EXPECT_FALSE(test, lasack_queue_flow(q, &seg, MAC_OF(2))->starved);
}

static void stand_up(struct kunit *test, bool by_station)
{
	struct lasack_queue *q = begin(test, by_station, 25), *other;
	struct lasack_shape shape = q->shape;

	grow(test, 1);
	starve(test, 1);
	shape.flows /= 2;
	other = lasack_queue_create(&shape);
	KUNIT_ASSERT_NOT_NULL(test, other);
	lasack_queue_take_over(other, q);
	lasack_queue_free(q);
	test->priv = other;
	lasack_queue_set_floor(other, 25);
	KUNIT_EXPECT_FALSE(test, known(other, 1)->starved);
	KUNIT_EXPECT_EQ(test, lasack_flow_level(other, known(other, 1))->floor.count, 0U);
	KUNIT_EXPECT_EQ(test, had_among(test, 1, 50, 1000), 0U);
	wait(test, 301);
	add_to(test, 1, data(1, 1000), 1);
	KUNIT_EXPECT_TRUE(test, known(other, 1)->starved);
	lasack_queue_set_floor(other, 0);
	KUNIT_EXPECT_FALSE(test, known(other, 1)->starved);
	KUNIT_EXPECT_EQ(test, lasack_flow_level(other, known(other, 1))->floor.count, 0U);
	KUNIT_EXPECT_EQ(test, had_among(test, 1, 50, 1000), 0U);
}

/* All stand up: flows have other numbers, or there is no floor. */
static void floor_of_another_queue(struct kunit *test)
{
	stand_up(test, true);
	stand_up(test, false);
}

static struct kunit_case lasack_line_cases[] = {
	KUNIT_CASE(floor_ends_when_it_has_caught_up),
	KUNIT_CASE(floor_waits_for_nobody),
	KUNIT_CASE(floor_ends_with_a_pause),
	KUNIT_CASE(floor_goes_round),
	KUNIT_CASE(floor_goes_round_with_pauses),
	KUNIT_CASE(floor_begins_a_turn),
	KUNIT_CASE(floor_line_is_short),
	KUNIT_CASE(floor_line_is_in_order),
	KUNIT_CASE(floor_line_stays_in_order),
	KUNIT_CASE(floor_line_has_no_ghosts),
	KUNIT_CASE(floor_line_has_room_for_old_flows),
	KUNIT_CASE(floor_keeps_little),
	KUNIT_CASE(floor_line_leaves_nothing),
	KUNIT_CASE(floor_is_not_inherited),
	KUNIT_CASE(floor_of_another_queue),
	{}
};

static struct kunit_suite lasack_line_suite = {
	.name		= "lasack_line",
	.init		= floor_test_init,
	.exit		= lasack_test_exit,
	.test_cases	= lasack_line_cases,
};

kunit_test_suite(lasack_line_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of the line for the floor of LAS-ACK");
