// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of options that change while there is traffic: who had most before has no more than
 * its share after.
 *
 * Principle: a long history of service, packets of 1000 bytes, then the structures are made anew
 * as "tc change" does it. Nobody may live on what was counted by another rule.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include "lasack/tests/lasack_packets.h"

static int rebuild_test_init(struct kunit *test)
{
	test->priv = NULL;
	lasack_test_reshape(test, (struct lasack_shape) {});
	return 0;
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

static struct kunit_case lasack_rebuild_cases[] = {
	KUNIT_CASE(the_shared_flow_begins_as_others_do),
	KUNIT_CASE(an_old_station_is_not_put_off),
	KUNIT_CASE(an_old_flow_does_not_put_off),
	{}
};

static struct kunit_suite lasack_rebuild_suite = {
	.name		= "lasack_rebuild",
	.init		= rebuild_test_init,
	.exit		= lasack_test_exit,
	.test_cases	= lasack_rebuild_cases,
};

kunit_test_suite(lasack_rebuild_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of lasack's options that change while there is traffic");
