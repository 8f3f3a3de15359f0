// SPDX-License-Identifier: GPL-2.0-only
/* KUnit: whose turn it is in ackwrr's weighted round robin. */
#include <kunit/test.h>
#include <linux/module.h>
#include "ackwrr/ackwrr_round.c"

static struct ackwrr_round round_of(u8 data, u8 ack)
{
	struct ackwrr_round round = { .weights = { data, ack } };

	ackwrr_round_start(&round);
	return round;
}

/* Serve @count packets with both classes as given; D or A for each in @order. */
static void serve(struct ackwrr_round *round, bool data, bool ack, int count, char *order)
{
	const bool waiting[] = { data, ack };
	int i, class;

	for (i = 0; i < count; i++) {
		class = ackwrr_round_next(round, waiting);
		if (class < 0)
			break;
		order[i] = class == ACKWRR_DATA ? 'D' : 'A';
		ackwrr_round_served(round, class, 1);
	}
	order[i] = 0;
}

/* up-down-fairness, Fig. 5: two of three packets are data, one is an ACK. */
static void test_two_to_one(struct kunit *test)
{
	struct ackwrr_round round = round_of(2, 1);
	char order[16];

	serve(&round, true, true, 9, order);
	KUNIT_EXPECT_STREQ(test, order, "DDADDADDA");
}

static void test_largest_weights(struct kunit *test)
{
	struct ackwrr_round round = round_of(255, 255);
	int i, count[ACKWRR_CLASSES] = {}, runs = 0, class, last = -1;
	const bool waiting[] = { true, true };

	for (i = 0; i < 4 * 255; i++) {
		class = ackwrr_round_next(&round, waiting);
		runs += class != last;
		last = class;
		count[class]++;
		ackwrr_round_served(&round, class, 1);
	}
	KUNIT_EXPECT_EQ(test, count[ACKWRR_DATA], 2 * 255);
	KUNIT_EXPECT_EQ(test, count[ACKWRR_ACK], 2 * 255);
	KUNIT_EXPECT_EQ(test, runs, 4);
}

static void test_work_conserving(struct kunit *test)
{
	struct ackwrr_round round = round_of(2, 1);
	char order[16];

	serve(&round, false, true, 5, order);
	KUNIT_EXPECT_STREQ(test, order, "AAAAA");
	serve(&round, true, false, 5, order);
	KUNIT_EXPECT_STREQ(test, order, "DDDDD");
	serve(&round, false, false, 5, order);
	KUNIT_EXPECT_STREQ(test, order, "");
}

/* What a class did not use is gone: no debt, no credit. */
static void test_nothing_is_saved(struct kunit *test)
{
	struct ackwrr_round round = round_of(2, 1);
	char order[16];

	serve(&round, true, false, 7, order);
	serve(&round, true, true, 6, order);
	KUNIT_EXPECT_TRUE(test, !strcmp(order, "DADDAD") || !strcmp(order, "ADDADD"));
}

/* A GSO packet of 16 segments is 16 packets: half as many ACKs go with them, whatever the turn. */
static void test_gso_keeps_the_ratio(struct kunit *test)
{
	struct ackwrr_round round = round_of(2, 1);
	u32 count[ACKWRR_CLASSES] = {}, packets;
	const bool waiting[] = { true, true };
	int i, class;

	for (i = 0; i < 900; i++) {
		class = ackwrr_round_next(&round, waiting);
		packets = class == ACKWRR_DATA ? 16 : 1;
		count[class] += packets;
		ackwrr_round_served(&round, class, packets);
	}
	KUNIT_EXPECT_LE(test, abs((s32)(count[ACKWRR_DATA] - 2 * count[ACKWRR_ACK])), 16);
}

/* What a class sent alone, it does not owe: at most the rest of its last packet. */
static void test_nothing_is_owed(struct kunit *test)
{
	const bool alone[] = { true, false }, both[] = { true, true };
	struct ackwrr_round round = round_of(2, 1);
	int i, acks = 0;

	for (i = 0; i < 50; i++)
		ackwrr_round_served(&round, ackwrr_round_next(&round, alone), 16);
	while (ackwrr_round_next(&round, both) == ACKWRR_ACK) {
		ackwrr_round_served(&round, ACKWRR_ACK, 1);
		acks++;
	}
	KUNIT_EXPECT_LE(test, acks, 8);
}

static struct kunit_case ackwrr_round_cases[] = {
	KUNIT_CASE(test_two_to_one),
	KUNIT_CASE(test_largest_weights),
	KUNIT_CASE(test_work_conserving),
	KUNIT_CASE(test_nothing_is_saved),
	KUNIT_CASE(test_gso_keeps_the_ratio),
	KUNIT_CASE(test_nothing_is_owed),
	{}
};

static struct kunit_suite ackwrr_round_suite = {
	.name = "ackwrr_round",
	.test_cases = ackwrr_round_cases,
};

kunit_test_suite(ackwrr_round_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of ackwrr's round robin");
