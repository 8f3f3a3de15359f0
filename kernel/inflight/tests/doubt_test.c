// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of how much may be out while nothing is freed.
 *
 * Principle: it follows from the rules at the head of sleep.c.
 */
#include "device_by_hand.h"

/*
 * Others have the medium for 290 ms. Nobody sleeps: then all packets are freed, as they came. An
 * eighth of the bound may be out besides, and after another stall time a quarter.
 */
static void doubt_on_a_busy_medium(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket queue[24];
	u64 now = 0, end = MS(290);
	u32 held = 0, first = 0;

	inflight_account_set_limit(account, 16);
	while (now < end) {
		expire(test, now);
		while (has_room(test) && held < ARRAY_SIZE(queue)) {
			queue[held] = hand_down(test, held % 2, now);
			held++;
		}
		KUNIT_EXPECT_EQ(test, held, now < STALL ? 16U : now < MS(200) ? 18U : 20U);
		now = inflight_account_deadline(account);
	}
	for (now = end; first < held; now += MS(1))
		set_free(test, &queue[first++], now);
	KUNIT_EXPECT_EQ(test, account->stalls, 0ULL);
	expect_empty(test);
}

/* The others had nothing to send for a while. The sleeper has filled the bound meanwhile. */
static void doubt_after_a_pause(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket other;

	hand_down(test, 1, 0);
	other = hand_down(test, 2, MS(1));
	set_free(test, &other, MS(60));
	hand_down(test, 1, MS(61));
	expire(test, STALL);
	KUNIT_EXPECT_FALSE(test, has_room(test));
	KUNIT_EXPECT_EQ(test, inflight_account_deadline(account), MS(160));
	expire(test, MS(160));
	KUNIT_EXPECT_TRUE(test, has_room(test));
	overtake(test, MS(160));
	KUNIT_EXPECT_EQ(test, counted(test), 0U);
}

/* If nothing of anybody is freed: the bound, and 1, 2, 4... more than that. */
static void doubt_while_it_hangs(struct kunit *test)
{
	static const u32 out[] = { 2, 2 + 1, 2 + 2, 2 + 4, 2 + 8, 2 + 16 };
	struct inflight_account *account = test->priv;
	struct inflight_ticket last;
	u64 now = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(out); i++) {
		expire(test, now);
		while (has_room(test))
			last = hand_down(test, 1, now);
		KUNIT_EXPECT_EQ(test, account->out, out[i]);
		now = inflight_account_deadline(account);
		KUNIT_EXPECT_EQ(test, now, STALL + i * STALL);
	}
	/* It goes on: from now on the bound holds again. */
	set_free(test, &last, MS(510));
	KUNIT_EXPECT_FALSE(test, has_room(test));
	KUNIT_EXPECT_EQ(test, account->out, 17U);
	KUNIT_EXPECT_EQ(test, inflight_account_deadline(account), MS(610));
}

/* Others' packets behind 500 of a sleeper in a FIFO do not wait for a second. */
static void doubt_in_a_fifo(struct kunit *test)
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

/*
 * One queue, in which a packet is freed each 101 ms, as of a far station at 1 Mb/s. The bound is
 * 16: an eighth more is allowed again and again, but no more than that is ever out.
 */
static void doubt_in_a_slow_queue(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	const u32 size = 32;
	struct inflight_ticket *queue = kunit_kcalloc(test, size, sizeof(*queue), GFP_KERNEL);
	u64 now, next = MS(101);
	u32 head = 0, tail = 0;

	KUNIT_ASSERT_NOT_NULL(test, queue);
	inflight_account_set_limit(account, 16);
	for (now = 0; now < MS(10000); now += MS(1)) {
		if (inflight_account_deadline(account) <= now)
			expire(test, now);
		while (has_room(test) && tail - head < size) {
			queue[tail % size] = hand_down(test, tail % 4, now);
			tail++;
		}
		KUNIT_ASSERT_LE(test, account->out, 18U);
		if (now < next)
			continue;
		set_free(test, &queue[head++ % size], now);
		next += MS(101);
	}
	KUNIT_EXPECT_EQ(test, account->stalls, 0ULL);
}

/* 100 packets count, and 12 segments more may: a GSO packet may exceed that as it may the bound. */
static void doubt_is_of_segments(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	u64 now = STALL;

	inflight_account_set_limit(account, 100);
	while (has_room(test))
		hand_down(test, 1, 0);
	expire(test, now);
	while (has_room(test))
		hand_down_gso(test, 2, 5, now);
	KUNIT_EXPECT_EQ(test, account->out, 100 + 15);
}

/* An eighth of 64 is 8. However long nothing is freed, 1024 more are the most. */
static void doubt_has_a_limit(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	u32 i;

	inflight_account_set_limit(account, 64);
	for (i = 0; i < 64; i++)
		hand_down(test, 1, 0);
	for (i = 0; i < 300; i++) {
		expire(test, STALL + i * STALL);
		KUNIT_EXPECT_EQ(test, account->doubted_limit,
				64 + (i < 7 ? 8U << i : 1024U));
	}
}

/*
 * A station that slept has packets that do not count, and fetches one each 90 ms. They make no room
 * and are no reason to wait: a sleeper that has the bound is found out as if there were none.
 */
static void doubt_beside_a_drip(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket stock[8];
	u64 now, begin = MS(110);
	u32 i;

	stock[0] = hand_down(test, 1, 0);
	expire(test, STALL);
	overtake(test, STALL);
	for (i = 1; i < ARRAY_SIZE(stock); i++)
		stock[i] = hand_down(test, 1, MS(102));
	hand_down(test, 2, begin);
	hand_down(test, 2, begin);
	for (i = 0, now = begin; !has_room(test) && i < ARRAY_SIZE(stock); i++) {
		now += MS(90);
		set_free(test, &stock[i], now);
		if (inflight_account_deadline(account) <= now + MS(20))
			expire(test, now + MS(20));
	}
	KUNIT_EXPECT_EQ(test, now, begin + MS(90));
	overtake(test, now + MS(20));
	KUNIT_EXPECT_EQ(test, counted(test), 0U);
	KUNIT_EXPECT_EQ(test, inflight_account_stalled(account), 1U);
}

/* A device 400 ms late needs so long to say that the first packet more was sent. */
static void doubt_on_a_late_device(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	u64 first = STALL + MS(400);

	account->late.ns = MS(400);
	hand_down(test, 1, 0);
	hand_down(test, 1, 0);
	KUNIT_EXPECT_EQ(test, inflight_account_deadline(account), first);
	expire(test, first);
	hand_down(test, 2, first);
	KUNIT_EXPECT_FALSE(test, has_room(test));
	KUNIT_EXPECT_EQ(test, inflight_account_deadline(account), first + STALL + MS(400));
	/* Perhaps it is 300 ms late: twice that is allowed. */
	account->late.suspected = MS(300);
	expire(test, STALL + MS(600));
	KUNIT_EXPECT_EQ(test, inflight_account_deadline(account), first + STALL + MS(600));
}

/* Another bound ends the doubt, and counts what is out in bytes. */
static void doubt_and_another_bound(struct kunit *test)
{
	struct inflight_account *account = test->priv;

	hand_down(test, 1, 0);
	hand_down(test, 1, 0);
	expire(test, STALL);
	inflight_account_set_limit(account, 1);
	KUNIT_EXPECT_FALSE(test, has_room(test));
	expire(test, 2 * STALL);
	overtake(test, 2 * STALL);
	inflight_account_set_limit(account, TC_INFLIGHT_AUTO);
	KUNIT_EXPECT_EQ(test, account->dql.num_queued, 0U);
}

/* It does not matter how much counted when the last packet was handed down within another bound. */
static void doubt_within_a_smaller_bound(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket tickets[20];
	u32 i;

	inflight_account_set_limit(account, 20);
	for (i = 0; i < 20; i++)
		tickets[i] = hand_down(test, 1, 0);
	for (i = 0; i < 10; i++)
		set_free(test, &tickets[i], 0);
	inflight_account_set_limit(account, 1);
	expire(test, STALL);
	KUNIT_EXPECT_EQ(test, account->doubted_limit, 11U);
}

/* A packet that does not count makes no room, but it overtakes: the doubt is over. */
static void doubt_ends_when_one_sleeps(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket first, more;

	first = hand_down(test, 1, 0);
	expire(test, STALL);
	overtake(test, STALL);
	hand_down(test, 2, MS(110));
	hand_down(test, 2, MS(110));
	expire(test, MS(210));
	more = hand_down(test, 1, MS(211));
	set_free(test, &first, MS(212));
	KUNIT_EXPECT_GT(test, account->doubted_limit, 0U);
	set_free(test, &more, MS(213));
	KUNIT_EXPECT_EQ(test, counted(test), 0U);
	KUNIT_EXPECT_EQ(test, account->doubted_limit, 0U);
}

/*
 * Nothing is handed down until nothing is below, to see how late the device is. A station falls
 * asleep just then, with one packet. It delays the sample, and does not prevent it.
 */
static void doubt_while_it_runs_dry(struct kunit *test)
{
	struct inflight_account *account = test->priv;
	struct inflight_ticket last, probe;
	u64 now = MS(20000);
	u32 i;

	inflight_account_init(account, TC_INFLIGHT_AUTO, STALL);
	last = hand_down(test, 2, now - MS(10));
	hand_down(test, 1, now);
	account->late.suspected = MS(150);
	account->late.learnt = 1;
	now += MS(140);
	set_free(test, &last, now);
	KUNIT_EXPECT_TRUE(test, account->runs_dry);
	for (i = 0; i < 3 && !account->late.samples.count; i++) {
		while (!has_room(test)) {
			now = inflight_account_deadline(account);
			expire(test, now);
		}
		probe = hand_down(test, 2, now);
		now += MS(150);
		set_free(test, &probe, now);
	}
	KUNIT_EXPECT_EQ(test, account->late.samples.count, 1U);
	KUNIT_EXPECT_LE(test, now, MS(20000 + 100 + 300 + 2 * 150));
}

static struct kunit_case doubt_cases[] = {
	KUNIT_CASE(doubt_on_a_busy_medium),
	KUNIT_CASE(doubt_after_a_pause),
	KUNIT_CASE(doubt_while_it_hangs),
	KUNIT_CASE(doubt_in_a_fifo),
	KUNIT_CASE(doubt_in_a_slow_queue),
	KUNIT_CASE(doubt_is_of_segments),
	KUNIT_CASE(doubt_has_a_limit),
	KUNIT_CASE(doubt_beside_a_drip),
	KUNIT_CASE(doubt_on_a_late_device),
	KUNIT_CASE(doubt_and_another_bound),
	KUNIT_CASE(doubt_within_a_smaller_bound),
	KUNIT_CASE(doubt_ends_when_one_sleeps),
	KUNIT_CASE(doubt_while_it_runs_dry),
	{}
};

static struct kunit_suite doubt_suite = {
	.name		= "doubt",
	.init		= device_by_hand_init,
	.test_cases	= doubt_cases,
};

kunit_test_suite(doubt_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of what may be out while nothing is freed");
