// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of what counts below a discipline.
 *
 * Principle: a device is made up packet by packet, its times chosen by hand; what
 * must count follows from the rules at the head of account.c, and
 * what "auto" must allow from the frame times of IEEE 802.11.
 */
#include "device_by_hand.h"

#define US(us)	((u64)(us) * NSEC_PER_USEC)

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
	u64 silent;

	one = hand_down(test, 1, 0);
	KUNIT_EXPECT_TRUE(test, has_room(test));
	gso = hand_down_gso(test, 2, 45, 0);
	KUNIT_EXPECT_EQ(test, counted(test), 46U);
	KUNIT_EXPECT_EQ(test, account->out, 46U);
	set_free(test, &one, MS(1));
	KUNIT_EXPECT_FALSE(test, has_room(test));
	set_free(test, &gso, MS(2));
	KUNIT_EXPECT_TRUE(test, has_room(test));

	/* A sleeping station's segments do not count, and are not taken off twice. */
	sleeping = hand_down_gso(test, 1, 45, MS(5));
	silent = MS(5) + STALL;
	expire(test, silent);
	overtake(test, silent);
	KUNIT_EXPECT_EQ(test, counted(test), 0U);
	KUNIT_EXPECT_EQ(test, account->out, 45U);
	set_free(test, &sleeping, MS(500));
	expect_empty(test);
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
	overtake(test, MS(500));
	/* All sleep but those that share a place with the one that was served: a few of 500. */
	KUNIT_EXPECT_LE(test, counted(test), 25U);
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
	.init		= device_by_hand_init,
	.test_cases	= inflight_cases,
};

kunit_test_suite(inflight_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of the account of packets below a discipline");
