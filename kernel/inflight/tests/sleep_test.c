// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of stations that sleep, or seem to.
 *
 * Principle: what must count follows from the rules at the head of sleep.c.
 */
#include "device_by_hand.h"

/*
 * A sleeper takes the whole bound for the stall time and not a ns longer. Then one packet more may
 * be handed down. If that is freed, the others have the bound to themselves.
 */
static void sleep_with_the_whole_bound(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket sleeper[2], other, more;

	sleeper[0] = hand_down(test, 1, MS(5));
	sleeper[1] = hand_down(test, 1, MS(7));
	KUNIT_EXPECT_EQ(test, inflight_account_deadline(account), MS(105));
	expire(test, MS(105) - 1);
	KUNIT_EXPECT_FALSE(test, has_room(test));
	expire(test, MS(105));
	KUNIT_EXPECT_TRUE(test, has_room(test));
	other = hand_down(test, 2, MS(105));
	KUNIT_EXPECT_FALSE(test, has_room(test));
	KUNIT_EXPECT_EQ(test, counted(test), 3U);
	KUNIT_EXPECT_EQ(test, account->stalls, 0ULL);

	set_free(test, &other, MS(107));
	KUNIT_EXPECT_EQ(test, counted(test), 0U);
	KUNIT_EXPECT_EQ(test, account->out, 2U);
	KUNIT_EXPECT_EQ(test, account->stalls, 1ULL);
	KUNIT_EXPECT_EQ(test, inflight_account_stalled(account), 1U);
	KUNIT_EXPECT_EQ(test, inflight_account_deadline(account), U64_MAX);
	other = hand_down(test, 2, MS(107));
	more = hand_down(test, 2, MS(107));
	KUNIT_EXPECT_FALSE(test, has_room(test));
	set_free(test, &other, MS(108));
	set_free(test, &more, MS(109));

	set_free(test, &sleeper[0], MS(5000));
	set_free(test, &sleeper[1], MS(5000));
	KUNIT_EXPECT_EQ(test, inflight_account_stalled(account), 0U);
	expect_empty(test);
}

/* Half of the bound is the others': the sleeper is found out without any doubt. */
static void sleep_with_half_of_it(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket other;
	u64 now;

	hand_down(test, 1, 0);
	for (now = 0; now < MS(120); now += MS(5)) {
		other = hand_down(test, 2, now);
		expire(test, now);
		KUNIT_EXPECT_EQ(test, has_room(test), now > MS(104));
		set_free(test, &other, now + MS(4));
		KUNIT_EXPECT_EQ(test, counted(test), now >= STALL ? 0U : 1U);
	}
	KUNIT_EXPECT_EQ(test, account->stalls, 1ULL);
}

/* Packets that were handed down before the station was silent for too long overtake nobody. */
static void sleep_is_overtaken_later(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket early, late;

	inflight_account_set_limit(account, 8);
	hand_down(test, 1, 0);
	early = hand_down(test, 2, STALL - 1);
	late = hand_down(test, 2, STALL);
	expire(test, STALL);
	set_free(test, &early, STALL + MS(3));
	KUNIT_EXPECT_EQ(test, account->stalls, 0ULL);
	set_free(test, &late, STALL + MS(4));
	KUNIT_EXPECT_EQ(test, account->stalls, 1ULL);
}

/* A station that is served, however slowly, does not sleep. */
static void sleep_is_no_slow_station(struct kunit *test)
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

/* What a sleeper gets does not count, until one of its packets is freed. */
static void sleep_takes_no_room(struct kunit *test)
{
	struct inflight_ticket sleeper[20], other;
	u32 i;

	sleeper[0] = hand_down(test, 1, 0);
	expire(test, MS(100));
	overtake(test, MS(101));
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

/* What the driver drops while it is given a packet is no sign of life. */
static void sleep_and_drop(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket sleeper[2];

	sleeper[0] = hand_down(test, 1, 0);
	sleeper[1] = hand_down(test, 1, 0);
	expire(test, MS(100));
	inflight_account_remove(account, &sleeper[0], MS(101), true);
	overtake(test, MS(101));
	KUNIT_EXPECT_EQ(test, inflight_account_stalled(account), 1U);
	sleeper[0] = hand_down(test, 1, MS(103));
	KUNIT_EXPECT_EQ(test, counted(test), 0U);
}

/* A station has the whole bound until it is found asleep, then it wakes. Returns for how long. */
static u64 doze(struct kunit *test, u64 begin)
{
	struct inflight_ticket sleeper[2];
	u64 found;

	sleeper[0] = hand_down(test, 1, begin);
	sleeper[1] = hand_down(test, 1, begin);
	found = inflight_account_deadline(test->priv);
	expire(test, found);
	overtake(test, found);
	set_free(test, &sleeper[0], begin + MS(150));
	set_free(test, &sleeper[1], begin + MS(150));
	return found - begin;
}

static void sleep_again_and_again(struct kunit *test)
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
static void sleep_is_no_long_queue(struct kunit *test)
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

/* Two sleep, one of them 30 ms later. A packet handed down in between overtakes the first only. */
static void sleep_one_after_the_other(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket other[2];
	u32 turn;

	for (turn = 0; turn < 2; turn++) {
		inflight_account_init(account, 8, STALL);
		hand_down(test, 1 + turn, MS(1));
		hand_down(test, 2 - turn, MS(31));
		expire(test, MS(101));
		other[0] = hand_down(test, 3, MS(120));
		expire(test, MS(131));
		other[1] = hand_down(test, 3, MS(132));
		KUNIT_EXPECT_EQ(test, counted(test), 4U);
		set_free(test, &other[0], MS(133));
		KUNIT_EXPECT_EQ(test, account->stalls, 1ULL);
		KUNIT_EXPECT_EQ(test, counted(test), 2U);
		set_free(test, &other[1], MS(134));
		KUNIT_EXPECT_EQ(test, account->stalls, 2ULL);
		KUNIT_EXPECT_EQ(test, counted(test), 0U);
	}
}

/* 32 packets in time make up for a doze. 31 do not, whatever was late in between. */
static void sleep_is_remembered(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket packet;
	u32 i;

	doze(test, 0);
	KUNIT_EXPECT_EQ(test, inflight_account_stalled(account), 0U);
	for (i = 1; i <= 31; i++) {
		packet = hand_down(test, 1, MS(1000 + i));
		set_free(test, &packet, MS(1000 + i));
	}
	for (i = 0; i < 32; i++) {
		packet = hand_down(test, 1, MS(1100 + 60 * i));
		set_free(test, &packet, MS(1151 + 60 * i));
	}
	KUNIT_EXPECT_EQ(test, doze(test, MS(5000)), MS(50));
	for (i = 1; i <= 31; i++) {
		packet = hand_down(test, 1, MS(6000 + i));
		set_free(test, &packet, MS(6000 + i));
	}
	KUNIT_EXPECT_EQ(test, doze(test, MS(7000)), MS(25));
}

/* A packet that a sleeper gets after half of the stall time is no doze, a later one is. */
static void sleep_is_no_nap(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket old, naps;

	inflight_account_set_limit(account, 8);
	old = hand_down(test, 1, 0);
	expire(test, STALL);
	overtake(test, STALL);
	naps = hand_down(test, 1, MS(110));
	set_free(test, &naps, MS(160));
	KUNIT_EXPECT_EQ(test, account->stations[naps.station].dozes, 0);
	hand_down(test, 1, MS(200));
	expire(test, MS(300));
	overtake(test, MS(300));
	set_free(test, &old, MS(310));
	KUNIT_EXPECT_EQ(test, account->stations[naps.station].dozes, 1);
}

static struct kunit_case sleep_cases[] = {
	KUNIT_CASE(sleep_with_the_whole_bound),
	KUNIT_CASE(sleep_with_half_of_it),
	KUNIT_CASE(sleep_is_overtaken_later),
	KUNIT_CASE(sleep_is_no_slow_station),
	KUNIT_CASE(sleep_takes_no_room),
	KUNIT_CASE(sleep_and_drop),
	KUNIT_CASE(sleep_again_and_again),
	KUNIT_CASE(sleep_is_no_long_queue),
	KUNIT_CASE(sleep_one_after_the_other),
	KUNIT_CASE(sleep_is_remembered),
	KUNIT_CASE(sleep_is_no_nap),
	{}
};

static struct kunit_suite sleep_suite = {
	.name		= "sleep",
	.init		= device_by_hand_init,
	.test_cases	= sleep_cases,
};

kunit_test_suite(sleep_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of stations that sleep");
