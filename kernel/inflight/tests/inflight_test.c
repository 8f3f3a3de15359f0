// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of what counts below a discipline.
 *
 * Principle: a device is made up packet by packet, its times chosen by hand; what
 * must count follows from the rules at the head of account.c, and
 * what "auto" must allow from the frame times of IEEE 802.11.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include "inflight/account.c"
#include "inflight/haste.c"
#include "inflight/late.c"
#include "inflight/pace.c"

#define MS(ms)	((u64)(ms) * NSEC_PER_MSEC)
#define US(us)	((u64)(us) * NSEC_PER_USEC)
#define STALL	MS(100)
#define ROOM	256	/* packets, in the device */

static int inflight_test_init(struct kunit *test)
{
	struct inflight_account *account = kunit_kzalloc(test, sizeof(*account), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, account);
	inflight_account_init(account, 2, STALL);
	test->priv = account;
	return 0;
}

static struct inflight_ticket hand_down(struct kunit *test, u64 address, u64 now)
{
	struct inflight_ticket ticket;

	inflight_account_add(test->priv, address, 1, 1514, now, &ticket);
	return ticket;
}

static struct inflight_ticket hand_down_gso(struct kunit *test, u64 address, u16 segs, u64 now)
{
	struct inflight_ticket ticket;

	inflight_account_add(test->priv, address, segs, segs * 1448 + 66, now, &ticket);
	return ticket;
}

static void set_free(struct kunit *test, struct inflight_ticket *ticket, u64 now)
{
	inflight_account_remove(test->priv, ticket, now, false);
}

static void expire(struct kunit *test, u64 now)
{
	inflight_account_expire(test->priv, now);
}

static bool has_room(struct kunit *test)
{
	return inflight_account_has_room(test->priv);
}

static u32 counted(struct kunit *test)
{
	struct inflight_account *account = test->priv;

	return account->counted;
}

/* Nothing is out and nothing is left over. */
static void expect_empty(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	u32 i;

	KUNIT_EXPECT_EQ(test, account->out, 0U);
	KUNIT_EXPECT_EQ(test, account->out_bytes, 0U);
	KUNIT_EXPECT_EQ(test, account->counted, 0U);
	KUNIT_EXPECT_EQ(test, account->dql.num_queued, account->dql.num_completed);
	for (i = 0; i < ARRAY_SIZE(account->stations); i++) {
		KUNIT_EXPECT_EQ(test, account->stations[i].packets, 0U);
		KUNIT_EXPECT_EQ(test, account->stations[i].counted, 0U);
		KUNIT_EXPECT_EQ(test, account->stations[i].bytes, 0U);
	}
}

static void inflight_bound(struct kunit *test)
{
	struct inflight_ticket a, b;

	KUNIT_EXPECT_TRUE(test, has_room(test));
	a = hand_down(test, 1, 0);
	KUNIT_EXPECT_TRUE(test, has_room(test));
	b = hand_down(test, 2, 0);
	KUNIT_EXPECT_FALSE(test, has_room(test));
	set_free(test, &a, MS(1));
	KUNIT_EXPECT_TRUE(test, has_room(test));
	set_free(test, &b, MS(2));
	expect_empty(test);
}

/* A GSO packet counts as its segments: it may exceed the bound, and fills it until it is freed. */
static void inflight_gso(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket one, gso, sleeping;

	one = hand_down(test, 1, 0);
	KUNIT_EXPECT_TRUE(test, has_room(test));
	gso = hand_down_gso(test, 2, 45, 0);
	KUNIT_EXPECT_EQ(test, counted(test), 46U);
	KUNIT_EXPECT_EQ(test, account->out, 46U);
	set_free(test, &one, MS(1));
	KUNIT_EXPECT_FALSE(test, has_room(test));
	set_free(test, &gso, MS(2));
	KUNIT_EXPECT_TRUE(test, has_room(test));

	/* A stalled station's segments do not count, and are not taken off twice. */
	sleeping = hand_down_gso(test, 1, 45, MS(5));
	expire(test, MS(5) + STALL);
	KUNIT_EXPECT_EQ(test, counted(test), 0U);
	KUNIT_EXPECT_EQ(test, account->out, 45U);
	set_free(test, &sleeping, MS(500));
	expect_empty(test);
}

/* A sleeper takes the whole bound, for the stall time and not a ns longer. */
static void inflight_stall(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket sleeper[2], other;

	sleeper[0] = hand_down(test, 1, MS(5));
	sleeper[1] = hand_down(test, 1, MS(7));
	KUNIT_EXPECT_EQ(test, inflight_account_deadline(account), MS(105));
	expire(test, MS(105) - 1);
	KUNIT_EXPECT_FALSE(test, has_room(test));
	expire(test, MS(105));
	KUNIT_EXPECT_TRUE(test, has_room(test));
	KUNIT_EXPECT_EQ(test, counted(test), 0U);
	KUNIT_EXPECT_EQ(test, account->out, 2U);
	KUNIT_EXPECT_EQ(test, account->stalls, 1ULL);
	KUNIT_EXPECT_EQ(test, inflight_account_stalled(account), 1U);
	KUNIT_EXPECT_EQ(test, inflight_account_deadline(account), U64_MAX);

	/* The others have the bound to themselves. */
	other = hand_down(test, 2, MS(106));
	KUNIT_EXPECT_EQ(test, counted(test), 1U);
	set_free(test, &other, MS(107));
	set_free(test, &sleeper[0], MS(5000));
	set_free(test, &sleeper[1], MS(5000));
	KUNIT_EXPECT_EQ(test, inflight_account_stalled(account), 0U);
	expect_empty(test);
}

/* A station that is served, however slowly, does not stall. */
static void inflight_slow_station(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket queue[2];
	u32 i;

	queue[0] = hand_down(test, 1, 0);
	queue[1] = hand_down(test, 1, 0);
	for (i = 1; i <= 50; i++) {
		expire(test, MS(90 * i));
		set_free(test, &queue[i % 2], MS(90 * i));
		queue[i % 2] = hand_down(test, 1, MS(90 * i));
	}
	KUNIT_EXPECT_EQ(test, account->stalls, 0ULL);
	KUNIT_EXPECT_EQ(test, counted(test), 2U);
}

/* Of a sleeper more may be buffered below while the others go on. */
static void inflight_sleeper_is_excused(struct kunit *test)
{
	struct inflight_ticket sleeper[20], other;
	u32 i;

	sleeper[0] = hand_down(test, 1, 0);
	expire(test, MS(100));
	other = hand_down(test, 2, MS(101));
	set_free(test, &other, MS(102));
	for (i = 1; i < 20; i++)
		sleeper[i] = hand_down(test, 1, MS(102 + i));
	KUNIT_EXPECT_EQ(test, counted(test), 0U);

	/* It wakes: from now on it counts, but not what it had. */
	set_free(test, &sleeper[0], MS(200));
	other = hand_down(test, 1, MS(200));
	KUNIT_EXPECT_EQ(test, counted(test), 1U);
	for (i = 1; i < 20; i++)
		set_free(test, &sleeper[i], MS(201));
	KUNIT_EXPECT_EQ(test, counted(test), 1U);
	set_free(test, &other, MS(202));
	expect_empty(test);
}

/* If nothing of anybody is freed: the bound, and 2, 4, 8... more. */
static void inflight_hung_device(struct kunit *test)
{
	static const u32 out[] = { 2, 2 + 4, 6 + 6, 12 + 10, 22 + 18, 40 + 34 };
	struct inflight_account *account = test->priv;
	struct inflight_ticket last;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(out); i++) {
		expire(test, MS(100 * i));
		while (has_room(test))
			last = hand_down(test, 1, MS(100 * i));
		KUNIT_EXPECT_EQ(test, account->out, out[i]);
	}
	/* It goes on: from now on the bound holds again. */
	set_free(test, &last, MS(510));
	while (has_room(test))
		hand_down(test, 1, MS(510));
	KUNIT_EXPECT_EQ(test, counted(test), 2U);
	KUNIT_EXPECT_EQ(test, account->out, 74U);
}

/* Others' packets behind 500 of a sleeper in a FIFO do not wait for a second. */
static void inflight_sleeper_ahead_in_a_fifo(struct kunit *test)
{
	u64 now = 0;
	u32 ahead;

	for (ahead = 500; ahead; ahead--) {
		while (!has_room(test)) {
			now = inflight_account_deadline(test->priv);
			expire(test, now);
		}
		hand_down(test, 1, now);
	}
	KUNIT_EXPECT_LE(test, now, MS(1000));
}

/* What the driver drops while it is given a packet is no sign of life. */
static void inflight_drop_is_no_life(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket sleeper[2], other;

	sleeper[0] = hand_down(test, 1, 0);
	sleeper[1] = hand_down(test, 1, 0);
	expire(test, MS(100));
	inflight_account_remove(account, &sleeper[0], MS(101), true);
	KUNIT_EXPECT_EQ(test, inflight_account_stalled(account), 1U);
	other = hand_down(test, 2, MS(101));
	set_free(test, &other, MS(102));
	sleeper[0] = hand_down(test, 1, MS(103));
	KUNIT_EXPECT_EQ(test, counted(test), 0U);
}

/* One doze: holds the whole bound until excused, then wakes. Returns for how long. */
static u64 doze(struct kunit *test, u64 begin)
{
	struct inflight_ticket sleeper[2], other;
	u64 excused;

	sleeper[0] = hand_down(test, 1, begin);
	sleeper[1] = hand_down(test, 1, begin);
	excused = inflight_account_deadline(test->priv);
	expire(test, excused);
	other = hand_down(test, 2, excused);
	set_free(test, &other, excused + MS(1));
	set_free(test, &sleeper[0], begin + MS(150));
	set_free(test, &sleeper[1], begin + MS(150));
	return excused - begin;
}

static void inflight_dozer_is_excused_sooner(struct kunit *test)
{
	static const u64 waits[] = { MS(100), MS(50), MS(25), MS(25), MS(25) };
	struct inflight_ticket prompt;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(waits); i++)
		KUNIT_EXPECT_EQ(test, doze(test, MS(1000 * i)), waits[i]);
	for (i = 0; i < 32; i++) {
		prompt = hand_down(test, 1, MS(9000 + i));
		set_free(test, &prompt, MS(9001 + i));
	}
	KUNIT_EXPECT_EQ(test, doze(test, MS(10000)), MS(50));
	expect_empty(test);
}

/*
 * A long queue below, as after a sleeper has waked: who waits in it is not
 * asleep, and it gets shorter. In order, 2 ms each, four stations.
 */
static void inflight_long_queue_drains(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket *queue;
	u32 held = 0, next = 0;
	u64 now;

	queue = kunit_kzalloc(test, ROOM * sizeof(*queue), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, queue);
	for (held = 0; held < 200; held++)
		queue[held] = hand_down(test, held / 50, MS(1));
	for (now = MS(3); now < MS(3000); now += MS(2)) {
		if (inflight_account_deadline(account) <= now)
			expire(test, now);
		set_free(test, &queue[0], now);
		memmove(&queue[0], &queue[1], --held * sizeof(*queue));
		/* A burst for each station in turn, as long as there is room. */
		while (has_room(test) && held < ROOM)
			queue[held++] = hand_down(test, next++ / 20 % 4, now);
	}
	KUNIT_EXPECT_LE(test, held, 2U);
}

/* More stations than places: none is lost, and the books are right after all. */
static void inflight_many_stations(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket *tickets;
	u32 i;

	tickets = kunit_kzalloc(test, 1000 * sizeof(*tickets), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, tickets);
	for (i = 0; i < 1000; i++)
		tickets[i] = hand_down(test, 0x020000000000ULL + i, MS(1));
	KUNIT_EXPECT_EQ(test, counted(test), 1000U);
	expire(test, MS(50));
	KUNIT_EXPECT_EQ(test, counted(test), 1000U);
	for (i = 0; i < 500; i++)
		set_free(test, &tickets[i], MS(60));
	expire(test, MS(500));
	KUNIT_EXPECT_EQ(test, counted(test), 0U);
	KUNIT_EXPECT_EQ(test, account->out, 500U);
	for (i = 500; i < 1000; i++)
		set_free(test, &tickets[i], MS(600));
	expect_empty(test);
}

/*
 * A device that sends what it holds of one station at once, @most packets, in
 * @head + @each * packets us. Returns what it holds after a second of saturation.
 */
static u32 saturate(struct kunit *test, u32 most, u32 head, u32 each)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket *queue;
	u32 held = 0, burst, i;
	u64 now = MS(1);

	queue = kunit_kzalloc(test, ROOM * sizeof(*queue), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, queue);
	inflight_account_init(account, TC_INFLIGHT_AUTO, STALL);
	while (now < NSEC_PER_SEC) {
		while (has_room(test) && held < ROOM)
			queue[held++] = hand_down(test, 1, now);
		burst = min(held, most);
		now += US(head + each * burst);
		for (i = 0; i < burst; i++)
			set_free(test, &queue[i], now);
		held -= burst;
		memmove(queue, &queue[burst], held * sizeof(queue[0]));
	}
	while (has_room(test) && held < ROOM)
		queue[held++] = hand_down(test, 1, now);
	return held;
}

/* 802.11b, 11 Mb/s, long preamble: DIFS, half of CWmin, frame, SIFS, ACK: 2 ms. */
static void inflight_auto_on_11b(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, saturate(test, 1, 50 + 310 + 192 + 10 + 304, 1134), 2U);
}

/*
 * 802.11n, 65 Mb/s: 190 us and 187 us for each MPDU. 4 ms are 20 of these. In an aggregate of
 * 20 an MPDU takes 1.4 % longer than in one of 28, the most that 5484 us allow.
 */
static void inflight_auto_on_11n(struct kunit *test)
{
	u32 held = saturate(test, 28, 190, 187);

	KUNIT_EXPECT_GE(test, held, 20U);
	KUNIT_EXPECT_LE(test, held, 22U);
}

/* 54 Mb/s, one by one: 395 us each, so ten in 4 ms. But none of them waits for an aggregate. */
static void inflight_auto_without_aggregates(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, saturate(test, 1, 170, 225), 4U);
}

/*
 * ACKs of 60 bytes go 64 at once in 190 us and 10 us for each: 300 of them in 4 ms, more
 * than a driver keeps. A full aggregate's worth of short packets is 60.
 */
static void inflight_auto_of_short_packets(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket *acks;
	u64 now = 2 * NSEC_PER_SEC;
	u32 round, i;

	acks = kunit_kzalloc(test, 64 * sizeof(*acks), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, acks);
	saturate(test, 28, 190, 187);
	for (round = 0; round < 8; round++) {
		for (i = 0; i < 64; i++)
			inflight_account_add(account, 1, 1, 60, now, &acks[i]);
		now += US(190 + 10 * 64);
		for (i = 0; i < 64; i++)
			inflight_account_remove(account, &acks[i], now, false);
	}
	KUNIT_EXPECT_LE(test, account->auto_packets, 64U);
	KUNIT_EXPECT_LE(test, account->auto_packets * 512, account->dql.min_limit);
}

/* 60 frames held for a sleeper are given up at once: that is not how fast it goes. */
static void inflight_auto_is_not_misled(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket *held, other;
	u64 now = MS(200);
	u32 i;

	held = kunit_kzalloc(test, 60 * sizeof(*held), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, held);
	inflight_account_init(account, TC_INFLIGHT_AUTO, STALL);
	for (i = 0; i < 60; i++)
		held[i] = hand_down(test, 1, MS(1));
	expire(test, MS(101));
	for (i = 0; i < 20; i++) {
		other = hand_down(test, 2, now);
		now += MS(2);
		set_free(test, &other, now);
	}
	for (i = 0; i < 60; i++)
		set_free(test, &held[i], now + US(500));
	for (i = 0; i < 20; i++) {
		other = hand_down(test, 2, now);
		now += MS(2);
		set_free(test, &other, now);
	}
	KUNIT_EXPECT_LE(test, account->auto_packets, 2U);
	KUNIT_EXPECT_LE(test, account->dql.min_limit, 2 * 1514U);
}

static struct kunit_case inflight_cases[] = {
	KUNIT_CASE(inflight_bound),
	KUNIT_CASE(inflight_gso),
	KUNIT_CASE(inflight_stall),
	KUNIT_CASE(inflight_slow_station),
	KUNIT_CASE(inflight_sleeper_is_excused),
	KUNIT_CASE(inflight_hung_device),
	KUNIT_CASE(inflight_sleeper_ahead_in_a_fifo),
	KUNIT_CASE(inflight_drop_is_no_life),
	KUNIT_CASE(inflight_dozer_is_excused_sooner),
	KUNIT_CASE(inflight_long_queue_drains),
	KUNIT_CASE(inflight_many_stations),
	KUNIT_CASE(inflight_auto_on_11b),
	KUNIT_CASE(inflight_auto_on_11n),
	KUNIT_CASE(inflight_auto_without_aggregates),
	KUNIT_CASE(inflight_auto_of_short_packets),
	KUNIT_CASE(inflight_auto_is_not_misled),
	{}
};

static struct kunit_suite inflight_suite = {
	.name		= "inflight",
	.init		= inflight_test_init,
	.test_cases	= inflight_cases,
};

kunit_test_suite(inflight_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of the account of packets below a discipline");
