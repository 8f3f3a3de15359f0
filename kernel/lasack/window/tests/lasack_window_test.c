// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of the window that an upload's sender is allowed.
 *
 * Principle: a model of a sender that always sends all that it may, of a path, and of a queue from
 * which its ACKs are served at a rate. So how long they wait follows from the window alone.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include "lasack/window/lasack_window.c"

#define SEGMENT		1448U
#define LEAST		8192U
/* By the receiver, bytes. The sender is limited only when it has sent so much. */
#define ADVERTISED	(512U << 10)
#define SHIFT		7U		/* of the windows */
#define CWND		(300U << 10)	/* the sender's own limit */
#define TARGET		100U		/* ms, which is the unit of time here */
#define SEGMENTS	1024U		/* the model's ring; more than CWND holds */

struct upload {
	struct lasack_window	w;
	struct lasack_window_aim aim;
	u32	advertised;		/* by the receiver, bytes */
	u32	rate;			/* bytes of ACKs served in a ms */
	u32	path;			/* ms from an ACK's departure to the next one's arrival */
	u32	trip;			/* to the receiver and back, ms; 0: not known */
	u32	arrives[SEGMENTS];	/* when the ACK of this segment joins the queue, ms */
	u32	sent, acked;		/* segments */
	u32	may;			/* bytes from the beginning */
	u32	credit;			/* bytes */
	u32	waited;			/* the last ACK, ms */
};

static struct upload *upload_begin(struct kunit *test, u32 rate, u32 path)
{
	struct upload *u = kunit_kzalloc(test, sizeof(*u), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, u);
	u->aim = (struct lasack_window_aim) {
		.wait = TARGET, .wait_most = TARGET, .window = LEAST,
	};
	u->advertised = ADVERTISED;
	u->rate = rate;
	u->path = path;
	u->may = 10 * SEGMENT;
	return u;
}

static void upload_send(struct upload *u, u32 now)
{
	while ((u->sent + 1) * SEGMENT <= u->may &&
	       (u->sent + 1 - u->acked) * SEGMENT <= CWND)
		u->arrives[u->sent++ % SEGMENTS] = now + u->path;
}

/* One ACK leaves. */
static void upload_ack(struct kunit *test, struct upload *u, u32 now)
{
	u32 behind = 0, i, ack, allowed;

	u->waited = now - u->arrives[u->acked++ % SEGMENTS];
	for (i = u->acked; i < u->sent && (s32)(now - u->arrives[i % SEGMENTS]) >= 0; i++)
		behind += SEGMENT;
	ack = u->acked * SEGMENT;
	allowed = lasack_window_serve(&u->w, &u->aim, &(struct lasack_window_ack) {
		.now = now, .seq = ack, .waited = u->waited, .behind = behind, .trip = u->trip,
		.window = u->advertised >> SHIFT, .shift = SHIFT,
	}) << SHIFT;
	KUNIT_EXPECT_LE(test, allowed, u->advertised);
	KUNIT_EXPECT_GE(test, allowed, LEAST);
	/* RFC 9293, 3.8.6: the window is not shrunk. */
	KUNIT_EXPECT_GE(test, ack + allowed, u->may);
	u->may = ack + allowed;
}

/* Until @until, ms. Return: segments acknowledged. */
static u32 upload_run(struct kunit *test, struct upload *u, u32 from, u32 until)
{
	u32 now, before = u->acked;

	for (now = from; now < until; now++) {
		upload_send(u, now);
		u->credit += u->rate;
		while (u->acked < u->sent && u->credit >= SEGMENT &&
		       (s32)(now - u->arrives[u->acked % SEGMENTS]) >= 0) {
			u->credit -= SEGMENT;
			upload_ack(test, u, now);
		}
		if (u->acked == u->sent)
			u->credit = 0;
	}
	return u->acked - before;
}

/* From 0.6 to 12 Mb/s, over paths of 2 to 150 ms. */
static void window_meets_the_target(struct kunit *test)
{
	static const u32 rates[] = { 80, 160, 700, 1500 }, paths[] = { 2, 20, 150 };
	struct upload *u;
	u32 i, j, served;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		for (j = 0; j < ARRAY_SIZE(paths); j++) {
			u = upload_begin(test, rates[i], paths[j]);
			upload_run(test, u, 0, 20000);
			served = upload_run(test, u, 20000, 25000);
			KUNIT_EXPECT_LE_MSG(test, u->waited, 2 * TARGET, "%u bytes/ms, %u ms",
					    rates[i], paths[j]);
			/* As much as without a limit: it takes nothing from the sender. */
			KUNIT_EXPECT_GE_MSG(test, served * SEGMENT * 100ULL,
					    5000ULL * rates[i] * 97, "%u bytes/ms, %u ms",
					    rates[i], paths[j]);
		}
	}
}

/*
 * With 1.3 to 8 Mb/s. The ACKs wait two thirds as long as the path takes, but 50 to 100 ms: a tenth
 * more or less, and two segments, which is how finely windows can be set. If it is known how far
 * the receiver is, that is the path, and the least is 25 ms.
 */
static void window_waits_for_the_path(struct kunit *test)
{
	static const u32 rates[] = { 160, 400, 1000 };
	static const struct { u32 path, trip, wait; } cases[] = {
		{ 20, 0, 50 }, { 120, 0, 80 }, { 160, 0, 100 },
		{ 20, 2, 25 }, { 120, 20, 25 }, { 120, 60, 40 }, { 120, 200, 80 },
		{ 160, 160, 100 },
	};
	struct upload *u;
	u32 i, j, close;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		for (j = 0; j < ARRAY_SIZE(cases); j++) {
			u = upload_begin(test, rates[i], cases[j].path);
			u->aim.wait = 50;
			u->aim.wait_near = 25;
			u->trip = cases[j].trip;
			upload_run(test, u, 0, 20000);
			close = cases[j].wait / 10 + 2 * SEGMENT / rates[i];
			KUNIT_EXPECT_LE_MSG(test, u->waited, cases[j].wait + close,
					    "%u bytes/ms, %u and %u ms", rates[i], cases[j].path,
					    cases[j].trip);
			KUNIT_EXPECT_GE_MSG(test, u->waited + close, cases[j].wait,
					    "%u bytes/ms, %u and %u ms", rates[i], cases[j].path,
					    cases[j].trip);
		}
	}
}

/*
 * The rate becomes twice what it was. The window needs twice as much, 250 kB. While ACKs wait for
 * less than 25 ms it has a quarter more in each round trip: from 175 kB, for which they wait so
 * long, twice more before this is seen, to 273 kB. So it is never more than a fifth too large.
 */
static void window_does_not_overshoot(struct kunit *test)
{
	struct upload *u = upload_begin(test, 500, 150);
	u32 now, need, most = 0;

	upload_run(test, u, 0, 20000);
	u->rate = 1000;
	need = u->rate * (150 + TARGET);
	for (now = 20000; now < 30000; now += 10) {
		upload_run(test, u, now, now + 10);
		most = max(most, u->w.limit);
	}
	KUNIT_EXPECT_LE(test, most, need / 5 * 6);
	KUNIT_EXPECT_GE(test, most, need / 10 * 9);
}

/*
 * The rate becomes a fiftieth. What was sent waits for seconds, whatever the window says. When that
 * has left and as much time has passed again, the ACKs wait for what the least window makes them
 * wait, 0.4 s, or twice that. If the limit changed only once in these long round trips, they would
 * wait for longer.
 */
static void window_follows_a_fall(struct kunit *test)
{
	struct upload *u = upload_begin(test, 1000, 20);
	u32 left;

	upload_run(test, u, 0, 20000);
	left = u->w.limit;
	u->rate = 20;
	upload_run(test, u, 20000, 20000 + 2 * left / u->rate);
	KUNIT_EXPECT_LE(test, u->waited, 2 * LEAST / u->rate);
}

/* A receiver that allows nothing for a moment does not make lasack forget the limit. */
static void window_closes(struct kunit *test)
{
	struct upload *u = upload_begin(test, 160, 20);
	struct lasack_window_ack ack = { .now = 20000, .shift = SHIFT };
	u32 limit;

	upload_run(test, u, 0, 20000);
	limit = u->w.limit;
	ack.seq = u->acked * SEGMENT;
	lasack_window_serve(&u->w, &u->aim, &ack);
	ack.window = U16_MAX;
	ack.seq = u->may;
	KUNIT_EXPECT_LE(test, (u32)lasack_window_serve(&u->w, &u->aim, &ack) << SHIFT,
			limit / 4 * 5 + BIT(SHIFT));
}

/*
 * The receiver allows 64 kB, which leave in 8 ms. Then the share becomes less, and they would wait
 * for 160 ms. The first limit is no less than what the receiver allows.
 */
static void window_of_the_receiver(struct kunit *test)
{
	struct upload *u = upload_begin(test, 8000, 5);

	u->advertised = 64 << 10;
	upload_run(test, u, 0, 20000);
	KUNIT_EXPECT_LE(test, u->waited, 10U);
	u->rate = 400;
	upload_run(test, u, 20000, 30000);
	KUNIT_EXPECT_LE(test, u->waited, TARGET + TARGET / 5);
}

/* The edge is where the window that is written ends: nothing is taken back by rounding. */
static void window_is_rounded(struct kunit *test)
{
	struct lasack_window_aim aim = { .wait = 50, .wait_most = 100, .window = LEAST };
	struct lasack_window w = { .limit = 20000, .edge = 1000, .until = U32_MAX / 2 };
	struct lasack_window_ack ack = { .seq = 1000, .window = 16, .shift = 14 };
	u32 edge = 0, i;

	for (i = 0; i < 40; i++, ack.seq += 700) {
		u32 told = (u32)lasack_window_serve(&w, &aim, &ack) << ack.shift;

		KUNIT_EXPECT_GE(test, ack.seq + told, edge);
		edge = ack.seq + told;
	}
}

/* Until an ACK has told up to where the sender may send, the limit stays. */
static void window_begins_anywhere(struct kunit *test)
{
	struct lasack_window_aim aim = { .wait = 50, .wait_most = 100, .window = LEAST };
	struct lasack_window_ack ack = {
		.now = 1, .seq = 0x90000000, .waited = 200, .behind = 10 * LEAST,
		.window = U16_MAX, .shift = SHIFT,
	};
	struct lasack_window w = {};

	KUNIT_EXPECT_EQ(test, lasack_window_serve(&w, &aim, &ack), U16_MAX);
	KUNIT_EXPECT_EQ(test, w.limit, 0U);
	lasack_window_serve(&w, &aim, &ack);
	KUNIT_EXPECT_NE(test, w.limit, 0U);
	KUNIT_EXPECT_EQ(test, w.until, ack.seq + ((u32)U16_MAX << SHIFT));
}

/* More ACKs than can be counted. */
static void window_of_many_acks(struct kunit *test)
{
	struct lasack_window_aim aim = { .wait = 50, .wait_most = 100, .window = LEAST };
	struct lasack_window w = { .limit = 20000, .edge = 1000, .until = 1000, .acks = U32_MAX };
	struct lasack_window_ack ack = { .now = 5, .seq = 1000, .window = 1000, .shift = SHIFT };

	lasack_window_serve(&w, &aim, &ack);
	KUNIT_EXPECT_GE(test, w.limit, 20000U);
}

/* Without a limit the model's ACKs do wait: else the case above would say nothing. */
static void window_without_limit(struct kunit *test)
{
	struct upload *u = upload_begin(test, 160, 20);

	u->may = U32_MAX;
	upload_send(u, 0);
	KUNIT_EXPECT_GT(test, u->sent * SEGMENT / u->rate, 10 * TARGET);
}

/* The rate becomes a quarter, then four times what it was. */
static void window_follows_the_rate(struct kunit *test)
{
	struct upload *u = upload_begin(test, 400, 20);
	u32 served;

	upload_run(test, u, 0, 10000);
	u->rate = 100;
	upload_run(test, u, 10000, 20000);
	KUNIT_EXPECT_LE(test, u->waited, 2 * TARGET);
	u->rate = 1600;
	upload_run(test, u, 20000, 25000);
	served = upload_run(test, u, 25000, 30000);
	KUNIT_EXPECT_GE(test, served * SEGMENT * 100ULL, 5000ULL * u->rate * 97);
}

/* Who forges what accepts a connection gets no say in it. */
static void window_of_two_receivers(struct kunit *test)
{
	struct lasack_window_scale scale = {};

	lasack_window_open(&scale, true, 7);
	lasack_window_open(&scale, true, 7);
	KUNIT_EXPECT_FALSE(test, scale.unclear);
	KUNIT_EXPECT_EQ(test, (int)scale.shift, 7);
	lasack_window_open(&scale, true, 14);
	KUNIT_EXPECT_TRUE(test, scale.unclear);

	scale = (struct lasack_window_scale) {};
	lasack_window_open(&scale, true, 7);
	lasack_window_open(&scale, false, 7);
	KUNIT_EXPECT_TRUE(test, scale.unclear);

	scale = (struct lasack_window_scale) {};
	lasack_window_open(&scale, true, -1);
	lasack_window_open(&scale, true, 7);
	KUNIT_EXPECT_FALSE(test, scale.known);

	scale = (struct lasack_window_scale) {};
	lasack_window_open(&scale, true, 255);
	KUNIT_EXPECT_EQ(test, (int)scale.shift, 14);
}

/* A scale that is too large makes windows too small: then nothing waits, and they grow. */
static void window_with_a_wrong_scale(struct kunit *test)
{
	struct upload *u = upload_begin(test, 160, 20);
	u32 served;

	upload_run(test, u, 0, 5000);
	u->w.limit = LEAST;
	upload_run(test, u, 5000, 15000);
	served = upload_run(test, u, 15000, 20000);
	KUNIT_EXPECT_GE(test, served * SEGMENT * 100ULL, 5000ULL * u->rate * 97);
}

static struct kunit_case lasack_window_cases[] = {
	KUNIT_CASE(window_meets_the_target),
	KUNIT_CASE(window_waits_for_the_path),
	KUNIT_CASE(window_does_not_overshoot),
	KUNIT_CASE(window_follows_a_fall),
	KUNIT_CASE(window_closes),
	KUNIT_CASE(window_of_the_receiver),
	KUNIT_CASE(window_is_rounded),
	KUNIT_CASE(window_begins_anywhere),
	KUNIT_CASE(window_of_many_acks),
	KUNIT_CASE(window_without_limit),
	KUNIT_CASE(window_follows_the_rate),
	KUNIT_CASE(window_of_two_receivers),
	KUNIT_CASE(window_with_a_wrong_scale),
	{}
};

static struct kunit_suite lasack_window_suite = {
	.name = "lasack_window",
	.test_cases = lasack_window_cases,
};

kunit_test_suite(lasack_window_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of the window that an upload's sender is allowed");
