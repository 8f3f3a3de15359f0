// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of urgent packets: how many of a station's, and of all, may hurry.
 *
 * Principle: it follows from the numbers at the head of account.c, counted by hand.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include "inflight/account.c"
#include "inflight/haste.c"
#include "inflight/late.c"
#include "inflight/pace.c"
#include "inflight/sleep.c"

#define MS(ms)	((u64)(ms) * NSEC_PER_MSEC)
#define STALL	MS(100)
#define LATER	MS(60 * 1000)	/* when the first packet comes */
#define CALL	214U		/* bytes: 160 of G.711, RTP, UDP, IP, Ethernet */
#define FULL	1514U

static int urgent_test_init(struct kunit *test)
{
	struct inflight_account *account = kunit_kzalloc(test, sizeof(*account), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, account);
	inflight_account_init(account, TC_INFLIGHT_AUTO, STALL);
	account->secret = 1;	/* the same places on every machine */
	test->priv = account;
	return 0;
}

/* Hands down an urgent packet, as such if it may be. Returns whether it was. */
static bool hurry(struct kunit *test, u64 address, u32 bytes, u64 now,
		  struct inflight_ticket *ticket)
{
	struct inflight_account *account = test->priv;
	bool told = inflight_account_may_hurry(account, address, bytes, now);
	bool may = inflight_account_add_urgent(account, address, bytes, now, ticket);

	KUNIT_EXPECT_EQ(test, told, may && account->limit == TC_INFLIGHT_AUTO);
	return may;
}

/* Offers @count urgent packets at once. Returns how many hurried; they are freed. */
static u32 hurried(struct kunit *test, u64 address, u32 bytes, u64 now, u32 count)
{
	struct inflight_ticket ticket;
	u32 i, sum = 0;

	for (i = 0; i < count; i++) {
		if (!hurry(test, address, bytes, now, &ticket))
			continue;
		inflight_account_remove(test->priv, &ticket, now, false);
		sum++;
	}
	return sum;
}

/* The bound is full: they pass it. They fill nothing. */
static void urgent_needs_no_room(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket bulk[2], call;

	inflight_account_add(account, 1, 1, FULL, LATER, &bulk[0]);
	inflight_account_add(account, 1, 1, FULL, LATER, &bulk[1]);
	KUNIT_EXPECT_FALSE(test, inflight_account_has_room(account));
	KUNIT_ASSERT_TRUE(test, hurry(test, 2, CALL, LATER, &call));
	KUNIT_EXPECT_EQ(test, account->out, 3U);
	KUNIT_EXPECT_EQ(test, account->counted, 2U);
	inflight_account_remove(account, &bulk[0], LATER, false);
	inflight_account_remove(account, &bulk[1], LATER, false);
	KUNIT_EXPECT_TRUE(test, inflight_account_has_room(account));
	inflight_account_remove(account, &call, LATER, false);
	KUNIT_EXPECT_EQ(test, account->out, 0U);
	KUNIT_EXPECT_EQ(test, account->out_bytes, 0U);
	KUNIT_EXPECT_EQ(test, account->counted, 0U);
}

/* A bound in packets is one for all of them. */
static void urgent_keeps_a_given_bound(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket call[2];

	inflight_account_set_limit(account, 2);
	KUNIT_EXPECT_FALSE(test, inflight_account_may_hurry(account, 1, CALL, LATER));
	KUNIT_EXPECT_TRUE(test, inflight_account_add_urgent(account, 1, CALL, LATER, &call[0]));
	KUNIT_EXPECT_TRUE(test, inflight_account_has_room(account));
	KUNIT_EXPECT_TRUE(test, inflight_account_add_urgent(account, 1, CALL, LATER, &call[1]));
	KUNIT_EXPECT_FALSE(test, inflight_account_has_room(account));
	inflight_account_remove(account, &call[0], LATER, false);
	inflight_account_remove(account, &call[1], LATER, false);
	KUNIT_EXPECT_EQ(test, account->counted, 0U);
	KUNIT_EXPECT_EQ(test, account->out, 0U);
}

/* A station that voice has overtaken is not asleep: its packets count. */
static void urgent_overtakes_nobody(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket waits[2], call;

	inflight_account_add(account, 1, 1, 1514, LATER, &waits[0]);
	inflight_account_add(account, 1, 1, 1514, LATER, &waits[1]);
	inflight_account_expire(account, LATER + STALL);
	KUNIT_ASSERT_TRUE(test, hurry(test, 2, CALL, LATER + STALL, &call));
	inflight_account_remove(account, &call, LATER + STALL + MS(1), false);
	KUNIT_EXPECT_EQ(test, inflight_account_stalled(account), 0U);
	KUNIT_EXPECT_EQ(test, account->counted, 2U);
}

/* What a call frees says nothing of the others' queue, in which nothing is freed. */
static void urgent_is_no_sign_of_life(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket waits, call;
	u32 i;

	inflight_account_add(account, 1, 1, FULL, LATER, &waits);
	for (i = 0; i < 5; i++) {
		KUNIT_ASSERT_TRUE(test, hurry(test, 2, CALL, LATER + MS(20 * i), &call));
		inflight_account_remove(account, &call, LATER + MS(20 * i + 1), false);
	}
	inflight_account_expire(account, LATER + STALL);
	KUNIT_EXPECT_GT(test, account->doubted_limit, 0U);
}

/* Calls of 50 packets in a second always hurry, ten of them too. */
static void urgent_calls(struct kunit *test)
{
	u32 i, j;

	for (i = 0; i < 500; i++) {
		for (j = 1; j <= 10; j++)
			KUNIT_EXPECT_EQ(test, hurried(test, j, CALL, LATER + MS(20 * i), 1), 1U);
	}
	KUNIT_EXPECT_EQ(test, hurried(test, 1, CALL, 2 * LATER, 1), 1U);
}

/* A download that says it is voice: 8 kB, and then none until it has paused for 128 ms. */
static void urgent_download(struct kunit *test)
{
	u32 i, sum = 0;

	for (i = 0; i < 10000; i++)
		sum += hurried(test, 1, FULL, LATER + MS(i), 3);
	KUNIT_EXPECT_GE(test, sum, 32 * 256 / FULL);
	KUNIT_EXPECT_LE(test, sum, 32 * 256 / FULL + 1);
	KUNIT_EXPECT_EQ(test, hurried(test, 1, FULL, LATER + MS(9999 + 127), 1), 0U);
	KUNIT_EXPECT_EQ(test, hurried(test, 1, FULL, LATER + MS(9999 + 127 + 128), 1), 1U);
	/* A call at another station does not notice. */
	KUNIT_EXPECT_EQ(test, hurried(test, 2, CALL, LATER + MS(9999 + 127 + 128), 1), 1U);
}

/* On a fast device a video call hurries: 1.5 Mb/s of 65, which are 32500 bytes in 4 ms. */
static void urgent_video(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	u32 i, sum = 0;

	for (i = 0; i < 300; i++)
		sum += hurried(test, 1, 1054, LATER + MS(33 * i), 6);
	KUNIT_EXPECT_LE(test, sum, 8U);
	account->pace.best_bytes[0] = 32500;
	for (i = 0; i < 300; i++)
		KUNIT_EXPECT_EQ(test, hurried(test, 2, 1054, LATER + MS(33 * i), 6), 6U);
}

/* A device that keeps them has few, whoever they are for. */
static void urgent_is_bounded(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket ticket;
	u32 i, sum = 0;

	for (i = 0; i < 1000; i++)
		sum += hurry(test, 1 + i % 100, CALL, LATER + MS(20 * i), &ticket);
	KUNIT_EXPECT_EQ(test, sum, INFLIGHT_HASTE_MAX);
	inflight_account_remove(account, &ticket, LATER, true);
	KUNIT_EXPECT_EQ(test, account->urgent, INFLIGHT_HASTE_MAX - 1);
}

/* All places are taken by stations with packets out. Who shares one shares what it may have. */
static void urgent_without_a_place(struct kunit *test)
{
	struct inflight_ticket ticket;
	u32 i;

	for (i = 0; i < 2000; i++)
		inflight_account_add(test->priv, i, 1, FULL, LATER, &ticket);
	KUNIT_EXPECT_LE(test, hurried(test, 5000, FULL, LATER, 1000), 32 * 256 / FULL);
}

/* The first address from @from on that looks for its place at @home. */
static u64 address_at(const struct inflight_account *account, u32 home, u64 from)
{
	while (inflight_place(account, from, 0) != home)
		from++;
	return from;
}

/* Addresses that share a place in one account are in many in another: nobody can choose them. */
static void urgent_places_are_secret(struct kunit *test)
{
	struct inflight_account *other = kunit_kzalloc(test, sizeof(*other), GFP_KERNEL);
	u64 address = 0;
	u32 i, together = 0;

	KUNIT_ASSERT_NOT_NULL(test, other);
	inflight_account_init(other, TC_INFLIGHT_AUTO, STALL);
	for (i = 0; i < 16; i++) {
		address = address_at(test->priv, 5, address + 1);
		together += inflight_place(other, address, 0) == 5;
	}
	KUNIT_EXPECT_LT(test, together, 8U);
}

/*
 * Stations that sleep have all places that a ninth one may be in, and the bound is full. If its
 * urgent packets may not hurry, they wait for room.
 */
static void urgent_beside_sleepers(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	u64 now = LATER + STALL + MS(2), ninth = address_at(account, 5, 1000);
	u64 awake = address_at(account, 40, 1);
	struct inflight_ticket ticket;
	u32 i, passed = 0;

	for (i = 0; i < INFLIGHT_PROBES; i++)
		inflight_account_add(account, address_at(account, 5 + i, 1), 1, FULL, LATER,
				     &ticket);
	inflight_account_expire(account, LATER + STALL);
	inflight_account_add(account, awake, 1, FULL, LATER + STALL + 1, &ticket);
	inflight_account_remove(account, &ticket, LATER + STALL + MS(1), false);
	inflight_account_add(account, awake, 1, FULL, now, &ticket);
	inflight_account_add(account, awake, 1, FULL, now, &ticket);
	for (i = 0; i < 1000; i++) {
		KUNIT_ASSERT_FALSE(test, inflight_account_has_room(account));
		passed += hurry(test, ninth, FULL, now + i, &ticket);
	}
	KUNIT_EXPECT_LE(test, passed, 32 * 256 / FULL);
}

/* A bound in packets: what a sleeping station's call has out does not count, as nothing of it. */
static void urgent_to_a_sleeper(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket ticket;
	u64 now = LATER + STALL;
	u32 i;

	inflight_account_set_limit(account, 2);
	inflight_account_add(account, 1, 1, FULL, LATER, &ticket);
	inflight_account_expire(account, now);
	inflight_account_add(account, 2, 1, FULL, now + 1, &ticket);
	inflight_account_remove(account, &ticket, now + MS(1), false);
	for (i = 1; i <= 50; i++) {
		KUNIT_EXPECT_TRUE(test, hurry(test, 1, CALL, now + MS(20 * i), &ticket));
		KUNIT_EXPECT_EQ(test, account->counted, 0U);
	}
}

/* A bound in packets: a sleeper that gets its call's packet is awake, and what follows counts. */
static void urgent_wakes(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket ticket, call;
	u64 now = LATER + STALL;

	inflight_account_set_limit(account, 2);
	inflight_account_add(account, 1, 1, FULL, LATER, &ticket);
	inflight_account_expire(account, now);
	inflight_account_add(account, 2, 1, FULL, now + 1, &ticket);
	inflight_account_remove(account, &ticket, now + MS(1), false);
	KUNIT_ASSERT_TRUE(test, hurry(test, 1, CALL, now + MS(2), &call));
	inflight_account_remove(account, &call, now + MS(3), false);
	inflight_account_add(account, 1, 1, FULL, now + MS(4), &ticket);
	KUNIT_EXPECT_EQ(test, account->counted, 1U);
}

/* A bound in packets: a call of which one packet is always out is no sleeper's. */
static void urgent_is_alive(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket before, next;
	u32 i;

	inflight_account_set_limit(account, 10);
	KUNIT_ASSERT_TRUE(test, hurry(test, 1, CALL, LATER, &before));
	for (i = 1; i <= 20; i++) {
		KUNIT_ASSERT_TRUE(test, hurry(test, 1, CALL, LATER + MS(20 * i), &next));
		inflight_account_remove(account, &before, LATER + MS(20 * i), false);
		inflight_account_expire(account, LATER + MS(20 * i));
		before = next;
	}
	KUNIT_EXPECT_EQ(test, account->stalls, 0U);
}

/* Who has several addresses that may be in the same places has no more by changing them. */
static void urgent_by_turns(struct kunit *test)
{
	u64 addresses[20];
	u32 i, sum = 0;

	for (i = 0; i < ARRAY_SIZE(addresses); i++)
		addresses[i] = address_at(test->priv, 5, i ? addresses[i - 1] + 1 : 1);
	for (i = 0; i < 10000; i++)
		sum += hurried(test, addresses[i % 20], 500, LATER + MS(i), 20);
	/* Each of the eight places has what one station has that asks for too many. */
	KUNIT_EXPECT_LE(test, sum, 8U * (32 * 256 / 512));
}

/* After a flood a call is what it was: 64 packets out, or all that all may have. */
static void urgent_after_a_flood(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	static struct inflight_ticket out[INFLIGHT_HASTE_MAX];
	u32 i, j, calls = 0;

	/* It has had more than half of its own. */
	KUNIT_ASSERT_EQ(test, hurried(test, 2, CALL, LATER, 10), 10U);
	for (i = 0; i < ARRAY_SIZE(out); i++)
		KUNIT_ASSERT_TRUE(test, hurry(test, 10 + i / 16, CALL, LATER, &out[i]));
	KUNIT_EXPECT_EQ(test, hurried(test, 2, CALL, LATER, 1), 0U);
	for (i = 0; i < ARRAY_SIZE(out); i++)
		inflight_account_remove(account, &out[i], LATER, false);
	KUNIT_EXPECT_EQ(test, hurried(test, 2, CALL, LATER, 1), 1U);

	for (i = 0; i < 4000; i += 2) {	/* eight stations, each 500 packets in a second */
		for (j = 10; j < 18; j++)
			hurried(test, j, CALL, LATER + MS(1000 + i), 1);
	}
	for (i = 1; i <= 50; i++)
		calls += hurried(test, 2, CALL, LATER + MS(5000 + 20 * i), 1);
	KUNIT_EXPECT_EQ(test, calls, 50U);
}

/* A call in a place that another has emptied: it goes on as one that asks for little. */
static void urgent_in_an_emptied_place(struct kunit *test)
{
	u64 caller = address_at(test->priv, 5, 1000);
	u32 i, j, calls = 0;

	for (i = 0; i < INFLIGHT_PROBES; i++) {
		for (j = 0; j < 100; j++)
			hurried(test, address_at(test->priv, 5 + i, 1), FULL, LATER, 1);
	}
	for (i = 1; i <= 500; i++)
		calls += hurried(test, caller, CALL, LATER + MS(20 * i), 1);
	/* Half of 8 kB, of which 128 bytes are left in each 20 ms: 32 packets. */
	KUNIT_EXPECT_GE(test, calls, 500U - 33);
}

/* Whenever they ask, nine calls get what they need: no part of a ms is lost. */
static void urgent_at_any_time(struct kunit *test)
{
	u32 i, j, calls = 0;

	for (i = 0; i < 1000; i++) {
		for (j = 1; j <= 9; j++)
			calls += hurried(test, j, CALL, LATER + MS(20 * i) + j * 2300000ULL, 1);
	}
	KUNIT_EXPECT_EQ(test, calls, 9000U);
}

/* However many stations have their share: together half of what the device sends at best. */
static void urgent_of_many(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	u64 bytes = 0;
	u32 i, j;

	account->pace.best_bytes[0] = 32500;
	for (i = 0; i < 5000; i++) {
		for (j = 1; j <= 30; j++)
			bytes += 1000 * hurried(test, j, 1000, LATER + MS(2 * i), 1);
	}
	/* In 10 s, and what may come at once; nearly all of it is used. */
	KUNIT_EXPECT_LE(test, bytes, 32500ULL / 4 / 2 * (10000 + 256));
	KUNIT_EXPECT_GE(test, bytes * 100, 32500ULL / 4 / 2 * 10000 * 95);
}

/* To ask about an address takes nobody's place. */
static void urgent_question_changes_nothing(struct kunit *test)
{
	struct inflight_account *account = test->priv, *before;
	u32 i;

	for (i = 0; i < 200; i++)
		hurried(test, i, FULL, LATER, 10);
	before = kunit_kmalloc(test, sizeof(*before), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, before);
	memcpy(before, account, sizeof(*before));
	for (i = 0; i < 2000; i++)
		inflight_account_may_hurry(account, i, FULL, LATER + MS(1));
	KUNIT_EXPECT_EQ(test, memcmp(before, account, sizeof(*before)), 0);
}

static struct kunit_case urgent_cases[] = {
	KUNIT_CASE(urgent_needs_no_room),
	KUNIT_CASE(urgent_keeps_a_given_bound),
	KUNIT_CASE(urgent_overtakes_nobody),
	KUNIT_CASE(urgent_is_no_sign_of_life),
	KUNIT_CASE(urgent_calls),
	KUNIT_CASE(urgent_download),
	KUNIT_CASE(urgent_video),
	KUNIT_CASE(urgent_is_bounded),
	KUNIT_CASE(urgent_without_a_place),
	KUNIT_CASE(urgent_places_are_secret),
	KUNIT_CASE(urgent_beside_sleepers),
	KUNIT_CASE(urgent_to_a_sleeper),
	KUNIT_CASE(urgent_wakes),
	KUNIT_CASE(urgent_is_alive),
	KUNIT_CASE(urgent_by_turns),
	KUNIT_CASE(urgent_after_a_flood),
	KUNIT_CASE(urgent_in_an_emptied_place),
	KUNIT_CASE(urgent_at_any_time),
	KUNIT_CASE(urgent_of_many),
	KUNIT_CASE(urgent_question_changes_nothing),
	{}
};

static struct kunit_suite urgent_suite = {
	.name		= "inflight_urgent",
	.init		= urgent_test_init,
	.test_cases	= urgent_cases,
};

kunit_test_suite(urgent_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of urgent packets");
