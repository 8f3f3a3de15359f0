// SPDX-License-Identifier: GPL-2.0-only
/* The receiver against RFC 9000, section 13.2. */
#include <stdlib.h>

#include "loop.h"
#include "quic/receiver.h"
#include "quic/rtt.h"
#include "tap.h"

#define MS	QUIC_MS

static struct receiver *receiver_new(void)
{
	struct receiver *receiver = malloc(sizeof(*receiver));

	if (!receiver)
		abort();
	receiver_init(receiver);
	return receiver;
}

static void test_every_second(int *failures)
{
	struct receiver *receiver = receiver_new();

	EXPECT_EQ(receiver->ack_due, NEVER);
	EXPECT(receiver_take(receiver, MS, 0, 0));
	EXPECT_EQ(receiver->ack_due, 26 * MS);		/* max_ack_delay (13.2.1) */
	EXPECT(receiver_take(receiver, 5 * MS, 1, 1));
	EXPECT_EQ(receiver->ack_due, 5 * MS);		/* two (13.2.2) */
	EXPECT_EQ(receiver_acknowledge(receiver, 6 * MS), MS);
	EXPECT_EQ(receiver->ack_due, NEVER);
	EXPECT(receiver_take(receiver, 7 * MS, 2, 2));
	EXPECT_EQ(receiver->ack_due, 32 * MS);
	EXPECT_EQ(receiver->delivered, 3);
	free(receiver);
}

static void test_gap_at_once(int *failures)
{
	struct receiver *receiver = receiver_new();

	receiver_take(receiver, 0, 0, 0);
	receiver_acknowledge(receiver, 0);
	receiver_take(receiver, MS, 2, 2);		/* 1 is missing */
	EXPECT_EQ(receiver->ack_due, MS);
	receiver_acknowledge(receiver, MS);
	receiver_take(receiver, 2 * MS, 3, 3);		/* and still is, but that was said */
	EXPECT_EQ(receiver->ack_due, 27 * MS);
	receiver_acknowledge(receiver, 2 * MS);
	receiver_take(receiver, 3 * MS, 1, 1);		/* out of order */
	EXPECT_EQ(receiver->ack_due, 3 * MS);
	EXPECT_EQ(receiver_acknowledge(receiver, 4 * MS), 2 * MS);	/* since 3 came */
	EXPECT_EQ(receiver->delivered, 4);
	EXPECT_EQ(receiver->seen.count, 1);
	free(receiver);
}

static void test_delivered_once(int *failures)
{
	struct receiver *receiver = receiver_new();
	uint64_t chunk;

	receiver_take(receiver, 0, 0, 0);
	receiver_take(receiver, 0, 0, 0);		/* a duplicate */
	receiver_take(receiver, 0, 1, 0);		/* sent again without need */
	EXPECT_EQ(receiver->delivered, 1);
	EXPECT_EQ(receiver->packets, 3);
	receiver_take(receiver, 0, 2, 2);
	EXPECT_EQ(receiver->delivered, 1);		/* chunk 1 is missing */
	receiver_take(receiver, 0, 3, 1);
	EXPECT_EQ(receiver->delivered, 3);
	for (chunk = 3; chunk < STREAM_WINDOW; chunk++)	/* the second 0 is no chunk a window on */
		receiver_take(receiver, 0, chunk + 1, chunk);
	EXPECT_EQ(receiver->delivered, STREAM_WINDOW);
	free(receiver);
}

static void test_no_sender_sends_that(int *failures)
{
	struct receiver *receiver = receiver_new();

	EXPECT(!receiver_take(receiver, 0, 0, STREAM_WINDOW));
	EXPECT(!receiver_take(receiver, 0, 1ULL << 60, 0));
	EXPECT_EQ(receiver->seen.count, 0);
	EXPECT_EQ(receiver->ack_due, NEVER);
	EXPECT(receiver_take(receiver, 0, 0, STREAM_WINDOW - 1));
	free(receiver);
}

/* Against a set of all numbers: 1000 packets in an order that leaves up to 32 ranges. */
static void test_ranges(int *failures)
{
	struct ranges set = { };
	bool in[1000] = { };
	unsigned int i, at, number, held = 0;

	for (i = 0; i < 1000; i++) {
		number = i / 50 * 50 + i % 50 * 7 % 50;
		EXPECT_EQ(ranges_add(&set, number), !in[number]);
		in[number] = true;
	}
	EXPECT_EQ(set.count, 1);
	EXPECT_EQ(set.each[0].last, 999);
	set = (struct ranges) { };
	for (number = 0; number < 100; number += 2)
		EXPECT(ranges_add(&set, number));
	EXPECT_EQ(set.count, RANGES_MAX);		/* the newest */
	EXPECT_EQ(set.each[0].last, 98);
	EXPECT_EQ(set.each[RANGES_MAX - 1].first, 98 - 2 * (RANGES_MAX - 1));
	EXPECT(ranges_add(&set, 3));
	EXPECT_EQ(set.each[RANGES_MAX - 1].first, 98 - 2 * (RANGES_MAX - 1));
	for (at = 0; at < set.count; at++) {
		held += set.each[at].last - set.each[at].first + 1;
		EXPECT(!at || set.each[at].last + 1 < set.each[at - 1].first);
	}
	EXPECT_EQ(held, RANGES_MAX);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "every second packet", test_every_second },
		{ "at once on a gap", test_gap_at_once },
		{ "delivered once", test_delivered_once },
		{ "no sender sends that", test_no_sender_sends_that },
		{ "ranges", test_ranges },
		{ },
	};

	return tap_run(cases);
}
