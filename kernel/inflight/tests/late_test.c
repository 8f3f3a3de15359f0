// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of devices that free packets late.
 *
 * Principle: a device sends its packets one by one, 2 ms each (802.11b), and frees each a delay
 * later. It is given packets as long as there is room. What it must send follows from its times
 * alone; what may wait in it at most, from the rules at the head of late.c.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include "inflight/account.c"
#include "inflight/haste.c"
#include "inflight/late.c"
#include "inflight/pace.c"
#include "inflight/sleep.c"

#define MS(ms)		((u64)(ms) * NSEC_PER_MSEC)
#define SECONDS(s)	((u64)(s) * NSEC_PER_SEC)
#define FRAME		MS(2)
#define ROOM		1024	/* packets, in the device */

struct late_device {
	struct inflight_account	account;
	u64	frame;		/* ns: of a packet on the air */
	u64	delay;		/* ns */
	u32	others;		/* stations that want to send too; one of them or the device does */
	u32	random;
	u64	now;
	u64	sends_until;
	u64	dry_longest;	/* ns: for so long nothing was handed down, to make a sample */
	u32	dry;		/* packets freed meanwhile, of all such times */
	u64	most;		/* ns: so late the device may have been, as far as it was known */
	u32	head, tail;	/* of the ring: to be freed next, to be handed down next */
	u64	freed_at[ROOM];
	struct inflight_ticket	tickets[ROOM];
	/* A phone in power save: the device frees its packets only when it wakes. */
	u32	phone_wants;	/* packets each time; 0: there is no phone */
	u64	phone_period;	/* ns */
	u64	phone_wakes;	/* ns */
	u32	phone_fetches;	/* packets, when it wakes */
	u32	phone_has;	/* packets, in the device */
	struct inflight_ticket	phone[ROOM];
};

static void late_test_reset(struct late_device *device)
{
	device->now = SECONDS(5);
	device->frame = FRAME;
	inflight_account_init(&device->account, TC_INFLIGHT_AUTO, MS(100));
}

static int late_test_init(struct kunit *test)
{
	struct late_device *device = kunit_kzalloc(test, sizeof(*device), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, device);
	late_test_reset(device);
	test->priv = device;
	return 0;
}

static u32 late_below(const struct late_device *device)
{
	return device->tail - device->head;
}

/* Numerical Recipes' generator: the same numbers in each run. */
static u32 late_random(struct late_device *device, u32 most)
{
	device->random = device->random * 1664525 + 1013904223;
	return (device->random >> 8) % (most + 1);
}

/* A frame goes after those before it, and after up to twice as many of others as there are. */
static void late_hand_down(struct late_device *device)
{
	u32 place = device->tail++ % ROOM;
	u64 waits = device->frame * late_random(device, 2 * device->others);

	inflight_account_add(&device->account, device->tail % 2, 1, 1514, device->now,
			     &device->tickets[place]);
	device->sends_until = max(device->sends_until, device->now) + waits + device->frame;
	device->freed_at[place] = device->sends_until + device->delay;
}

static void late_phone_wakes(struct late_device *device)
{
	u32 i, fetches = min(device->phone_fetches, device->phone_has);

	for (i = 0; i < fetches; i++)
		inflight_account_remove(&device->account, &device->phone[i], device->now, false);
	device->phone_has -= fetches;
	memmove(device->phone, device->phone + fetches,
		device->phone_has * sizeof(device->phone[0]));
	device->phone_wakes += device->phone_period;
}

/* From now on there is a phone, which wakes each @period_ms. */
static void late_add_phone(struct late_device *device, u32 wants, u32 fetches, u32 period_ms)
{
	device->phone_wants = wants;
	device->phone_fetches = fetches;
	device->phone_period = MS(period_ms);
	device->phone_wakes = device->now;
}

/* The phone's packets are handed down first: it has got the least. */
static void late_serve_phone(struct late_device *device)
{
	if (device->phone_has < device->phone_wants)
		inflight_account_add(&device->account, 9, 1, 1514, device->now,
				     &device->phone[device->phone_has++]);
	else
		late_hand_down(device);
}

/* Until the next packet is freed, it is time to look for sleepers or the phone wakes. */
static void late_step(struct kunit *test)
{
	struct late_device *device = test->priv;
	struct inflight_account *account = &device->account;
	u32 place = device->head % ROOM;
	u64 stall = inflight_account_deadline(account);

	if (device->phone_wants &&
	    device->phone_wakes <= min(stall, late_below(device) ?
				       device->freed_at[place] : U64_MAX)) {
		device->now = max(device->now, device->phone_wakes);
		late_phone_wakes(device);
	} else if (late_below(device) && device->freed_at[place] <= stall) {
		device->now = max(device->now, device->freed_at[place]);
		device->head++;
		inflight_account_remove(account, &device->tickets[place], device->now, false);
	} else {
		device->now = stall;
		inflight_account_expire(account, stall);
	}
}

/* Packets that a saturated device frees in so many seconds. */
static u32 late_saturate(struct kunit *test, u32 seconds)
{
	struct late_device *device = test->priv;
	u64 end = device->now + SECONDS(seconds);
	u32 begin = device->head;

	while (device->now < end) {
		while (late_below(device) < ROOM && inflight_account_has_room(&device->account))
			late_serve_phone(device);
		KUNIT_ASSERT_GT(test, late_below(device) + device->phone_has, 0U);
		late_step(test);
		device->most = max(device->most, inflight_late_at_most(&device->account.late));
		device->dry += device->account.runs_dry;
		if (device->account.runs_dry)
			device->dry_longest = max(device->dry_longest,
						  device->now - device->account.dry_since);
	}
	return device->head - begin;
}

/* How late the account thinks that the device is, ms. */
static u32 late_learnt(const struct kunit *test)
{
	const struct late_device *device = test->priv;

	return div_u64(device->account.late.ns, NSEC_PER_MSEC);
}

/* As many packets leave as from a device that frees them at once: 500 in a second. */
static void late_is_full(struct kunit *test, u32 delay_ms, u32 learning_s)
{
	struct late_device *device = test->priv;

	device->delay = MS(delay_ms);
	late_saturate(test, learning_s);
	/* One sample in 10 s: nothing leaves until it is freed. */
	KUNIT_EXPECT_GE(test, late_saturate(test, 20), 500U * 20 * 97 / 100 - delay_ms);
	KUNIT_EXPECT_GE(test, late_learnt(test), delay_ms);
	KUNIT_EXPECT_LE(test, late_learnt(test), delay_ms + 4);
	/* What was sent, a quarter more in two rounds of eight, and what is allowed anyway. */
	KUNIT_EXPECT_LE(test, late_below(device), delay_ms / 2 * 5 / 4 + 8);
}

static void late_by_10_ms(struct kunit *test)
{
	late_is_full(test, 10, 4);
}

static void late_by_100_ms(struct kunit *test)
{
	late_is_full(test, 100, 6);
}

static void late_by_500_ms(struct kunit *test)
{
	late_is_full(test, 500, 15);
}

/*
 * 20 stations want to send: a packet waits for up to 80 ms, and with two below for 42 ms each. More
 * below would wait as well. If several samples in a row were unlucky, what is freed in such a time
 * may be below besides, one packet, at first twice: six with the four that are allowed anyway.
 */
static void late_is_no_busy_medium(struct kunit *test)
{
	struct late_device *device = test->priv;
	u32 seed, second;

	for (seed = 0; seed < 20; seed++) {
		memset(device, 0, sizeof(*device));
		late_test_reset(device);
		device->others = 20;
		device->random = seed * 7919;
		for (second = 0; second < 60; second++) {
			late_saturate(test, 1);
			KUNIT_EXPECT_LE(test, late_below(device), 6U);
		}
	}
}

/* If a second's packets take 5 to 50 ms, no sample is needed to see that the medium was busy. */
static void late_unlike_delays(struct kunit *test)
{
	struct inflight_late late = {};
	u32 i;

	for (i = 0; i < 110; i++)
		inflight_late_suspect(&late, MS(5 + i % 46), SECONDS(5) + i * MS(10));
	KUNIT_EXPECT_EQ(test, late.suspected, 0ULL);
	for (i = 0; i < 110; i++)
		inflight_late_suspect(&late, MS(30 + i % 21), SECONDS(9) + i * MS(10));
	KUNIT_EXPECT_EQ(test, late.suspected, MS(30));
}

/* 30 ms late, and six stations want to send. The device has a seventh of the air: 71 packets. */
static void late_on_a_busy_medium(struct kunit *test)
{
	struct late_device *device = test->priv;

	device->delay = MS(30);
	device->others = 6;
	late_saturate(test, 30);
	KUNIT_EXPECT_GE(test, late_saturate(test, 20), 20U * 500 / 7 * 95 / 100);
	KUNIT_EXPECT_LE(test, late_below(device), 12U);
}

/* On time again, the device has few packets 12 s later: 10 s to the next sample. */
static void late_is_over(struct kunit *test, u32 delay_ms)
{
	struct late_device *device = test->priv;

	device->delay = MS(delay_ms);
	late_saturate(test, 12);
	KUNIT_EXPECT_GE(test, late_below(device), delay_ms / 2);
	device->delay = 0;
	late_saturate(test, 12);
	KUNIT_EXPECT_EQ(test, late_learnt(test), 0U);
	KUNIT_EXPECT_LE(test, late_below(device), 4U);
}

static void late_by_20_ms_no_more(struct kunit *test)
{
	late_is_over(test, 20);
}

static void late_by_100_ms_no_more(struct kunit *test)
{
	late_is_over(test, 100);
}

/* Later than before, the device is full again after 15 s: 10 s to the next sample. */
static void late_and_later(struct kunit *test)
{
	struct late_device *device = test->priv;

	device->delay = MS(20);
	late_saturate(test, 8);
	device->delay = MS(100);
	late_saturate(test, 15);
	KUNIT_EXPECT_GE(test, late_saturate(test, 20), 500U * 20 * 95 / 100);
}

/* The stall time of a late device is longer by the delay, during a sample by twice that. */
static void late_stall_time(struct kunit *test)
{
	struct late_device *device = test->priv;
	u64 sum = 0;
	u32 second;

	device->delay = MS(20);
	late_saturate(test, 5);
	device->most = 0;
	for (second = 0; second < 60; second++) {
		late_saturate(test, 1);
		sum += inflight_late_at_most(&device->account.late);
	}
	/* A sample takes 22 ms, any other packet 26: two may be below besides. */
	KUNIT_EXPECT_LE(test, device->most, 2 * MS(26));
	KUNIT_EXPECT_LE(test, sum, 60 * MS(22) * 11 / 10);
}

/*
 * A phone fetches two packets each 900 ms. It always gets what is to be a sample, and the device is
 * in time. A frame of 5 ms takes longer than a delay that does not matter.
 */
static void late_is_no_sleeper(struct kunit *test)
{
	struct late_device *device = test->priv;
	u32 frame_ms, second, slow;

	for (frame_ms = 2; frame_ms <= 5; frame_ms += 3) {
		memset(device, 0, sizeof(*device));
		late_test_reset(device);
		device->frame = MS(frame_ms);
		late_add_phone(device, 2, 2, 900);
		slow = 0;
		for (second = 0; second < 60; second++) {
			slow += late_saturate(test, 1) < 800 / frame_ms;
			KUNIT_EXPECT_LE(test, late_learnt(test), frame_ms);
			KUNIT_EXPECT_LE(test, late_below(device), 6U);
		}
		KUNIT_EXPECT_LE(test, slow, 6U);
	}
}

/* The same, and nobody else has packets for 20 s. So it looks late, but not for long after that. */
static void late_is_no_lone_sleeper(struct kunit *test)
{
	struct late_device *device = test->priv;
	u64 until = device->now + SECONDS(20);

	late_add_phone(device, 2, 2, 900);
	while (device->now < until) {
		while (device->phone_has < 2 && inflight_account_has_room(&device->account))
			late_serve_phone(device);
		late_step(test);
	}
	late_saturate(test, 14);
	KUNIT_EXPECT_EQ(test, late_learnt(test), 0U);
	KUNIT_EXPECT_GE(test, late_saturate(test, 20), 500U * 20 * 90 / 100);
}

/* It fetches one of four packets each 110 ms: nobody waits until it has fetched all. */
static void late_beside_a_trickle(struct kunit *test)
{
	struct late_device *device = test->priv;

	device->delay = MS(20);
	late_saturate(test, 5);
	late_add_phone(device, 4, 1, 110);
	KUNIT_EXPECT_GE(test, late_saturate(test, 60), 500U * 60 * 80 / 100);
	/* The stall time, the delay twice, and what comes until it is noticed. */
	KUNIT_EXPECT_LE(test, device->dry_longest, MS(100 + 2 * 22 + 110));
}

/* It fetches 64 packets each 2 s. They were not sent in the time in which they are freed. */
static void late_sleeper_wakes(struct kunit *test)
{
	struct late_device *device = test->priv;
	u32 second;

	device->delay = MS(20);
	late_saturate(test, 12);
	late_add_phone(device, 64, 64, 2000);
	for (second = 0; second < 20; second++) {
		late_saturate(test, 1);
		KUNIT_EXPECT_LE(test, late_below(device), 22U / 2 * 5 / 4 + 8);
	}
}

/* The device frees 30 packets at once, 50 ms after they were handed down: their station left. */
static void late_station_leaves(struct kunit *test)
{
	struct late_device *device = test->priv;

	device->delay = MS(100);
	late_saturate(test, 8);
	late_add_phone(device, 30, 30, 1000 * 1000);
	device->phone_wakes += MS(50);
	late_saturate(test, 1);
	device->phone_wants = 0;
	KUNIT_EXPECT_GE(test, late_learnt(test), 100U);
	KUNIT_EXPECT_GE(test, late_saturate(test, 5), 500U * 5 * 90 / 100);
}

/* A device later than half the stall time: a station that slept once is forgiven, too. */
static void late_and_forgiven(struct kunit *test)
{
	struct late_device *device = test->priv;
	u32 i;

	device->delay = MS(80);
	late_saturate(test, 8);
	for (i = 0; i < ARRAY_SIZE(device->account.stations); i++)
		device->account.stations[i].dozes = 1;
	late_saturate(test, 2);
	for (i = 0; i < ARRAY_SIZE(device->account.stations); i++)
		if (device->account.stations[i].packets)
			KUNIT_EXPECT_EQ(test, device->account.stations[i].dozes, 0);
}

/* Two packets below take 4 ms each, every second long. The first sample says that none is late. */
static void late_in_time(struct kunit *test)
{
	struct late_device *device = test->priv;

	KUNIT_EXPECT_GE(test, late_saturate(test, 60), 60U * 500 - 20);
	KUNIT_EXPECT_LE(test, device->dry, 60U / 10 * 3);
}

/* At 1 Mb/s each sample takes 12 ms. For it one packet more is allowed, at first two. */
static void late_is_no_slow_device(struct kunit *test)
{
	struct late_device *device = test->priv;
	u32 second;

	device->frame = MS(12);
	for (second = 0; second < 60; second++) {
		late_saturate(test, 1);
		KUNIT_EXPECT_LE(test, late_below(device), 4U);
	}
}

/* With another bound nothing is learnt, and nothing of what was learnt remains. */
static void late_of_auto_alone(struct kunit *test)
{
	struct late_device *device = test->priv;

	device->delay = MS(100);
	late_saturate(test, 6);
	inflight_account_set_limit(&device->account, 8);
	late_saturate(test, 6);
	KUNIT_EXPECT_EQ(test, late_learnt(test), 0U);
	KUNIT_EXPECT_LE(test, late_below(device), 8U);
}

/* Any other option may be changed: what was learnt remains. */
static void late_option_is_changed(struct kunit *test)
{
	struct late_device *device = test->priv;

	device->delay = MS(100);
	late_saturate(test, 6);
	inflight_account_set_limit(&device->account, TC_INFLIGHT_AUTO);
	KUNIT_EXPECT_GE(test, late_learnt(test), 100U);
	KUNIT_EXPECT_GE(test, late_saturate(test, 5), 500U * 5 * 95 / 100);
}

static struct kunit_case late_cases[] = {
	KUNIT_CASE(late_by_10_ms),
	KUNIT_CASE(late_by_100_ms),
	KUNIT_CASE(late_by_500_ms),
	KUNIT_CASE(late_is_no_busy_medium),
	KUNIT_CASE(late_unlike_delays),
	KUNIT_CASE(late_on_a_busy_medium),
	KUNIT_CASE(late_by_20_ms_no_more),
	KUNIT_CASE(late_by_100_ms_no_more),
	KUNIT_CASE(late_and_later),
	KUNIT_CASE(late_stall_time),
	KUNIT_CASE(late_is_no_sleeper),
	KUNIT_CASE(late_is_no_lone_sleeper),
	KUNIT_CASE(late_beside_a_trickle),
	KUNIT_CASE(late_sleeper_wakes),
	KUNIT_CASE(late_station_leaves),
	KUNIT_CASE(late_and_forgiven),
	KUNIT_CASE(late_in_time),
	KUNIT_CASE(late_is_no_slow_device),
	KUNIT_CASE(late_of_auto_alone),
	KUNIT_CASE(late_option_is_changed),
	{}
};

static struct kunit_suite late_suite = {
	.name = "late",
	.init = late_test_init,
	.test_cases = late_cases,
};

kunit_test_suite(late_suite);

MODULE_DESCRIPTION("KUnit suite of devices that free packets late");
MODULE_LICENSE("GPL");
