// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of how a driver is told apart by when it frees its packets.
 *
 * Principle: each kind of driver there is, made up packet by packet over one
 * link, 65 Mb/s, of which a quarter is lost to what stands between packets. What
 * must come out follows from what the driver is, not from the code.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include "inflight/backpressure.c"

#define US(us)		((u64)(us) * NSEC_PER_USEC)
#define RATE		65000000ULL	/* bits/s, the highest */
#define BYTES		1514U
#define LEAST_NS	US(58)
#define AIR_NS		US(250)		/* for a packet: 186 us of it its bytes */
#define BUS_NS		US(40)		/* 300 Mb/s */
#define BULK		9U		/* packets dequeued before one is transmitted */

/*
 * A driver over the link. A packet is freed when it is: transmitted, or @late
 * after that; or with a @chip, when the chip has it, which has room for so many.
 */
struct driver {
	struct inflight_backpressure bp;
	u64	chip;		/* packets; 0: the driver keeps them until the air */
	u64	late;		/* ns */
	u64	air_free;	/* ns: when what was given to the air has been sent */
	u64	bus_free;
	u64	sent[1024];	/* ns: when the last ones will have been, by number */
	u64	number;
};

static struct driver *driver_create(struct kunit *test)
{
	struct driver *driver = kunit_kzalloc(test, sizeof(*driver), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, driver);
	inflight_backpressure_set_link(&driver->bp, RATE, LEAST_NS);
	return driver;
}

/* A packet is handed down. Returns when it is freed, ns. */
static u64 hand_down(struct driver *driver, u64 at)
{
	u64 freed = at, i = driver->number++;

	if (driver->chip) {
		/* The bus waits until the chip has sent what was @chip before. */
		if (i >= driver->chip)
			freed = max(freed, driver->sent[(i - driver->chip) % 1024]);
		driver->bus_free = max(driver->bus_free, freed) + BUS_NS;
		freed = driver->bus_free;
	}
	driver->air_free = max(driver->air_free, freed) + AIR_NS;
	driver->sent[i % 1024] = driver->air_free;
	return driver->chip ? freed : driver->air_free + driver->late;
}

/* @count packets, @burst of them at a time, every @every ns. */
static u64 offer(struct driver *driver, u64 begin, u32 count, u32 burst, u64 every)
{
	u64 now = begin, freed;
	u32 i, j;

	for (i = 0; i < count; i += burst, now += every) {
		for (j = 0; j < burst; j++) {
			freed = hand_down(driver, now);
			inflight_backpressure_note(&driver->bp, now, BYTES, freed, false);
		}
	}
	return now;
}

static void untried(struct kunit *test)
{
	struct driver *driver = driver_create(test);

	offer(driver, US(1000), 63, 1, US(1000));
	KUNIT_EXPECT_EQ(test, inflight_backpressure_state(&driver->bp), TC_INFLIGHT_UNTRIED);
	offer(driver, US(100000), 1, 1, US(1000));
	KUNIT_EXPECT_EQ(test, inflight_backpressure_state(&driver->bp), TC_INFLIGHT_AIR);
}

/* ath9k, ath10k, mt7915, iwlwifi: one by one, in bulk, and with a long queue. */
static void kept_until_the_air(struct kunit *test)
{
	struct driver *driver = driver_create(test);
	u64 now = offer(driver, US(1000), 640, 1, US(1000));

	KUNIT_EXPECT_EQ(test, inflight_backpressure_state(&driver->bp), TC_INFLIGHT_AIR);
	now = offer(driver, now, 640, BULK, BULK * AIR_NS);
	KUNIT_EXPECT_EQ(test, inflight_backpressure_state(&driver->bp), TC_INFLIGHT_AIR);
	offer(driver, now, 6400, 64, 64 * AIR_NS);
	KUNIT_EXPECT_EQ(test, inflight_backpressure_state(&driver->bp), TC_INFLIGHT_AIR);
}

/* An aggregate of 28 is freed at once, when it has been acknowledged: 5.4 ms. */
static void kept_until_the_aggregate_is_over(struct kunit *test)
{
	struct driver *driver = driver_create(test);
	u64 now = US(1000);
	u32 i, j;

	for (i = 0; i < 100; i++) {
		for (j = 0; j < 28; j++)
			inflight_backpressure_note(&driver->bp, now, BYTES,
						   now + US(190 + 28 * 187), false);
		now += US(190 + 28 * 187);
	}
	KUNIT_EXPECT_EQ(test, inflight_backpressure_state(&driver->bp), TC_INFLIGHT_AIR);
}

/* mt76, rtw88: TX status may be withheld for 250 to 500 ms. */
static void late_by_half_a_second(struct kunit *test)
{
	struct driver *driver = driver_create(test);
	u64 now;

	driver->late = US(500000);
	now = offer(driver, US(1000), 640, 1, US(1000));
	offer(driver, now, 640, 64, 64 * AIR_NS);
	KUNIT_EXPECT_EQ(test, inflight_backpressure_state(&driver->bp), TC_INFLIGHT_AIR);
}

/* Of two stations in turn one sleeps for a second, with its packets. */
static void kept_for_a_sleeper(struct kunit *test)
{
	struct driver *driver = driver_create(test);
	u64 now = US(2000000);
	u32 i;

	for (i = 0; i < 640; i++, now += US(1000)) {
		inflight_backpressure_note(&driver->bp, now, BYTES, now + AIR_NS, false);
		if (i % 10 == 0)
			inflight_backpressure_note(&driver->bp, now - US(1000000), BYTES,
						   now + AIR_NS, false);
	}
	KUNIT_EXPECT_EQ(test, inflight_backpressure_state(&driver->bp), TC_INFLIGHT_AIR);
}

/* mt7603, rtw88, SDIO and USB: a chip's queue of 64 packets on top. */
static void freed_at_the_bus(struct kunit *test)
{
	struct driver *driver = driver_create(test);
	u64 now;

	driver->chip = 64;
	now = offer(driver, US(1000), 128, 1, US(1000));
	KUNIT_EXPECT_EQ(test, inflight_backpressure_state(&driver->bp), TC_INFLIGHT_BUS);
	/* Full, the chip takes packets at the pace of the air. */
	now = offer(driver, now, 6400, 64, 64 * AIR_NS);
	KUNIT_EXPECT_EQ(test, inflight_backpressure_state(&driver->bp), TC_INFLIGHT_BUS);
	/* And again from the beginning, in bulk. */
	now = offer(driver, now + US(100000), 640, BULK, US(3000));
	KUNIT_EXPECT_EQ(test, inflight_backpressure_state(&driver->bp), TC_INFLIGHT_BUS);
}

/* dummy, hwsim without a medium; mwifiex, which copies: before it is asked again. */
static void orphaned_or_copied_in_transmit(struct kunit *test)
{
	struct driver *driver = driver_create(test);
	u64 now = US(1000);
	u32 i;

	for (i = 0; i < 64; i++, now += US(1000))
		inflight_backpressure_note(&driver->bp, now, BYTES, now, true);
	KUNIT_EXPECT_EQ(test, inflight_backpressure_state(&driver->bp), TC_INFLIGHT_NONE);
}

/* The same where no rate is known. */
static void orphaned_over_an_unknown_link(struct kunit *test)
{
	struct driver *driver = driver_create(test);
	u64 now = US(1000);
	u32 i;

	inflight_backpressure_set_link(&driver->bp, 0, LEAST_NS);
	for (i = 0; i < 64; i++, now += US(1000))
		inflight_backpressure_note(&driver->bp, now, BYTES, now, false);
	KUNIT_EXPECT_EQ(test, inflight_backpressure_state(&driver->bp), TC_INFLIGHT_AIR);
	for (i = 0; i < 64; i++, now += US(1000))
		inflight_backpressure_note(&driver->bp, now, BYTES, now, true);
	KUNIT_EXPECT_EQ(test, inflight_backpressure_state(&driver->bp), TC_INFLIGHT_NONE);
}

/*
 * brcmfmac over PCIe: a worker orphans all there is 20 us later, up to the 1024
 * packets of the driver's queue.
 */
static void orphaned_in_a_worker(struct kunit *test)
{
	struct driver *driver = driver_create(test);
	u64 now = US(1000);
	u32 i, j;

	for (i = 0; i < 1024; i += 16, now += US(40)) {
		for (j = 0; j < 16; j++)
			inflight_backpressure_note(&driver->bp, now, BYTES, now + US(20),
						   false);
	}
	KUNIT_EXPECT_EQ(test, inflight_backpressure_state(&driver->bp), TC_INFLIGHT_NONE);
}

/* A worse state is believed at once, a better one after 16 packets after a rest. */
static void better_takes_longer(struct kunit *test)
{
	struct driver *driver = driver_create(test);
	u64 now;

	driver->chip = 64;
	now = offer(driver, US(1000), 64, 1, US(1000));
	KUNIT_EXPECT_EQ(test, inflight_backpressure_state(&driver->bp), TC_INFLIGHT_BUS);
	driver->chip = 0;
	now = offer(driver, now, 6400, 1, US(1000));
	now = offer(driver, now, 15, 1, US(1000000));
	KUNIT_EXPECT_EQ(test, inflight_backpressure_state(&driver->bp), TC_INFLIGHT_BUS);
	offer(driver, now, 2, 1, US(1000000));
	KUNIT_EXPECT_EQ(test, inflight_backpressure_state(&driver->bp), TC_INFLIGHT_AIR);
}

/* While a device goes down it drops what it is given: that is soon forgotten. */
static void dropped_for_a_while(struct kunit *test)
{
	struct driver *driver = driver_create(test);
	u64 now = offer(driver, US(1000), 64, 1, US(1000));
	u32 i;

	for (i = 0; i < 64; i++)
		inflight_backpressure_note(&driver->bp, now, BYTES, now, true);
	KUNIT_EXPECT_EQ(test, inflight_backpressure_state(&driver->bp), TC_INFLIGHT_NONE);
	offer(driver, now + US(100000), 64, 1, US(1000));
	KUNIT_EXPECT_EQ(test, inflight_backpressure_state(&driver->bp), TC_INFLIGHT_AIR);
}

static struct kunit_case backpressure_cases[] = {
	KUNIT_CASE(untried),
	KUNIT_CASE(kept_until_the_air),
	KUNIT_CASE(kept_until_the_aggregate_is_over),
	KUNIT_CASE(late_by_half_a_second),
	KUNIT_CASE(kept_for_a_sleeper),
	KUNIT_CASE(freed_at_the_bus),
	KUNIT_CASE(orphaned_or_copied_in_transmit),
	KUNIT_CASE(orphaned_over_an_unknown_link),
	KUNIT_CASE(orphaned_in_a_worker),
	KUNIT_CASE(better_takes_longer),
	KUNIT_CASE(dropped_for_a_while),
	{}
};

static struct kunit_suite backpressure_suite = {
	.name		= "backpressure",
	.test_cases	= backpressure_cases,
};

kunit_test_suite(backpressure_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of what a driver does with its packets");
