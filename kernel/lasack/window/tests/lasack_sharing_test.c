// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of the windows of uploads that share their station's queue.
 *
 * Principle: such a window is small for as long as that makes the queue short, and never for good.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include "lasack/window/lasack_window.c"

#define SEGMENT		1448U
#define LEAST		8192U
#define SHIFT		7U	/* of the windows */

/* Of one of four uploads of a station. Its data waits in its station, its ACKs do not wait here. */
static const struct lasack_window_ack elsewhere = {
	.now = 1000, .seq = 1000, .window = 500, .shift = SHIFT,
	.station = {
		.segment = SEGMENT, .uploads = 4, .shared = true, .beyond = 0,
		.late = 30, .lately = true,
	},
};

/* Return: the window that the @acks-th of these ACKs tells, bytes. */
static u32 window_after(struct kunit *test, struct lasack_window *w,
			const struct lasack_window_aim *aim, struct lasack_window_ack *ack,
			u32 acks)
{
	u32 told = 0, edge = 0, i;

	for (i = 0; i < acks; i++) {
		told = (u32)lasack_window_serve(w, aim, ack) << ack->shift;
		/* RFC 9293, 3.8.6: the window is not shrunk. */
		if (i)
			KUNIT_EXPECT_GE(test, (s32)(ack->seq + told - edge), 0);
		edge = ack->seq + told;
		ack->seq += SEGMENT;
		ack->now += 30;
	}
	return told;
}

/* What has come and two segments: whole ones, or what is a little less. */
static void window_of_a_station(struct kunit *test)
{
	struct lasack_window_aim aim = { .wait = 50, .wait_most = 100, .window = LEAST };
	struct lasack_window_ack ack = elsewhere;
	struct lasack_window w = {};
	u32 told = window_after(test, &w, &aim, &ack, 100);

	KUNIT_EXPECT_LE(test, told, 3 * SEGMENT);
	KUNIT_EXPECT_GT(test, told, 3 * SEGMENT - BIT(SHIFT));

	/* On its way, or acknowledged late. */
	ack = elsewhere;
	ack.station.beyond = 2 * SEGMENT;
	w = (struct lasack_window) {};
	told = window_after(test, &w, &aim, &ack, 100);
	KUNIT_EXPECT_LE(test, told, 5 * SEGMENT);
	KUNIT_EXPECT_GT(test, told, 5 * SEGMENT - BIT(SHIFT));

	/* Segments are short so far, and two uploads have a half of the least each. */
	ack = elsewhere;
	ack.station.uploads = 2;
	ack.station.segment = 512;
	w = (struct lasack_window) {};
	told = window_after(test, &w, &aim, &ack, 100);
	KUNIT_EXPECT_LE(test, told, LEAST / 2);
	KUNIT_EXPECT_GT(test, told, LEAST / 2 - BIT(SHIFT));
	/* 50 of them have no less than a quarter. */
	ack = elsewhere;
	ack.station.uploads = 50;
	ack.station.segment = 512;
	w = (struct lasack_window) {};
	KUNIT_EXPECT_GT(test, window_after(test, &w, &aim, &ack, 100), LEAST / 4 - BIT(SHIFT));

	/* The scale is so coarse that segments cannot be told: then it is rounded up. */
	ack = elsewhere;
	ack.shift = 14;
	ack.window = 4;
	w = (struct lasack_window) {};
	KUNIT_EXPECT_GE(test, window_after(test, &w, &aim, &ack, 100), 3 * SEGMENT);
	KUNIT_EXPECT_EQ(test, w.limit, 3 * SEGMENT);
}

/* A single connection, ACKs that wait here, and a station that is unknown or quick. */
static void window_of_no_such_station(struct kunit *test)
{
	struct lasack_window_aim aim = { .wait = 50, .wait_most = 100, .window = LEAST };
	struct lasack_window_ack acks[] = { elsewhere, elsewhere, elsewhere, elsewhere };
	struct lasack_window w;
	u32 i;

	acks[0].station.shared = false;
	acks[1].waited = 13;
	acks[2].station.segment = 0;
	acks[3].station.late = 0;
	for (i = 0; i < ARRAY_SIZE(acks); i++) {
		w = (struct lasack_window) {};
		KUNIT_EXPECT_EQ(test, window_after(test, &w, &aim, &acks[i], 100), 500U << SHIFT);
		KUNIT_EXPECT_EQ(test, w.limit, 0U);
	}
}

/* It grows if nothing has been late lately: half a segment a round trip, not a quarter of it. */
static void window_of_a_station_grows(struct kunit *test)
{
	struct lasack_window_aim aim = { .wait = 50, .wait_most = 100, .window = LEAST };
	struct lasack_window_ack ack = elsewhere;
	struct lasack_window w = {};
	u32 rounds = 0, before;

	window_after(test, &w, &aim, &ack, 100);
	ack.station.late = 0;
	window_after(test, &w, &aim, &ack, 100);
	KUNIT_EXPECT_EQ(test, w.limit, 3 * SEGMENT);
	ack.station.lately = false;
	while (w.limit < LEAST && rounds < 100) {
		before = w.limit;
		window_after(test, &w, &aim, &ack, 1);
		KUNIT_EXPECT_LE(test, w.limit, before + SEGMENT / 2);
		rounds += w.limit > before;
	}
	KUNIT_EXPECT_EQ(test, rounds, DIV_ROUND_UP(LEAST - 3 * SEGMENT, SEGMENT / 2));
	/* Then as ever. */
	window_after(test, &w, &aim, &ack, 100);
	KUNIT_EXPECT_GT(test, w.limit, 4 * LEAST);
}

/* ACKs that begin to wait here make a small window neither the least at once, nor smaller. */
static void window_of_a_station_whose_acks_wait(struct kunit *test)
{
	struct lasack_window_aim aim = { .wait = 50, .wait_most = 100, .window = LEAST };
	struct lasack_window_ack ack = elsewhere;
	struct lasack_window w = {};

	window_after(test, &w, &aim, &ack, 100);
	ack.waited = 400;
	window_after(test, &w, &aim, &ack, 100);
	KUNIT_EXPECT_EQ(test, w.limit, 3 * SEGMENT);
}

/* Nothing is known of the station any more: its place was needed, or it sends aggregates now. */
static void window_of_a_forgotten_station(struct kunit *test)
{
	struct lasack_window_aim aim = { .wait = 50, .wait_most = 100, .window = LEAST };
	struct lasack_window_ack ack = elsewhere;
	struct lasack_window w = {};

	window_after(test, &w, &aim, &ack, 100);
	ack.station = (struct lasack_window_station) {};
	window_after(test, &w, &aim, &ack, 100);
	KUNIT_EXPECT_GT(test, w.limit, 4 * LEAST);
}

/* It sends so little that what it was allowed before lasts for long. */
static void window_of_a_station_that_rests(struct kunit *test)
{
	struct lasack_window_aim aim = { .wait = 50, .wait_most = 100, .window = LEAST };
	struct lasack_window_ack ack = elsewhere;
	struct lasack_window w = {};
	u32 i;

	window_after(test, &w, &aim, &ack, 2);
	KUNIT_EXPECT_EQ(test, w.limit, 3 * SEGMENT);
	ack.station.late = 0;
	ack.station.lately = false;
	for (i = 0; i < 20; i++) {
		ack.seq += 10;
		ack.now += LASACK_WINDOW_TRIES + 1;
		lasack_window_serve(&w, &aim, &ack);
	}
	KUNIT_EXPECT_GE(test, w.limit, LEAST);
}

/* What fills the station's queue is something else. After a while it is tried again. */
static void window_of_a_hopeless_station(struct kunit *test)
{
	struct lasack_window_aim aim = { .wait = 50, .wait_most = 100, .window = LEAST };
	struct lasack_window_ack ack = elsewhere;
	struct lasack_window w = {};

	window_after(test, &w, &aim, &ack, 100);
	/* Its own segments may make it late by the target, for ever. */
	ack.now += LASACK_WINDOW_TRIES;
	ack.station.late = aim.wait_most;
	window_after(test, &w, &aim, &ack, 2);
	KUNIT_EXPECT_EQ(test, w.limit, 3 * SEGMENT);
	ack.station.late = aim.wait_most + 1;
	window_after(test, &w, &aim, &ack, 1);
	KUNIT_EXPECT_GE(test, w.limit, LEAST);
	window_after(test, &w, &aim, &ack, 100);
	KUNIT_EXPECT_GE(test, w.limit, LEAST);
	ack.now += LASACK_WINDOW_FUTILE;
	window_after(test, &w, &aim, &ack, 1);
	KUNIT_EXPECT_EQ(test, w.limit, 3 * SEGMENT);
}

static struct kunit_case lasack_sharing_cases[] = {
	KUNIT_CASE(window_of_a_station),
	KUNIT_CASE(window_of_no_such_station),
	KUNIT_CASE(window_of_a_station_grows),
	KUNIT_CASE(window_of_a_station_whose_acks_wait),
	KUNIT_CASE(window_of_a_forgotten_station),
	KUNIT_CASE(window_of_a_station_that_rests),
	KUNIT_CASE(window_of_a_hopeless_station),
	{}
};

static struct kunit_suite lasack_sharing_suite = {
	.name = "lasack_sharing",
	.test_cases = lasack_sharing_cases,
};

kunit_test_suite(lasack_sharing_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of the windows of uploads that share their station's queue");
