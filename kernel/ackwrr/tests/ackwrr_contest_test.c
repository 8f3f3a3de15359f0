// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of ackwrr's "weights auto": what a class keeps while somebody lies.
 *
 * Principle: each packet is the one that the rule says is next. The bounds are the promises of
 * Documentation/reference/ackwrr.md: equal shares, and a quarter of one's share under attack.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include "ackwrr/tests/cell.h"

struct contest {
	u64	down, up;	/* bytes that moved */
	u32	forged;		/* ACKs of the attacker that were sent */
};

struct attacker {
	u32	every;	/* packets: then an ACK arrives that is @ahead of the last */
	u32	ahead;	/* bytes */
	u32	lie;	/* the last one's number */
	bool	floods;	/* the last one is sent again by turns with the upload's */
	bool	anew;	/* two ACKs of a new connection, @ahead apart, before six of the upload */
	u32	id;	/* its connection */
	u32	turn;	/* packets of ACKs that have gone */
};

/* The attacker's next ACK to be sent, if it is its turn. */
static bool attack(struct attacker *attacker, struct tcp_segment *seg)
{
	u32 turn = attacker->turn++;

	if (attacker->floods && turn % 2 == 0) {
		*seg = ack(attacker->id, attacker->lie);
		return true;
	}
	if (!attacker->anew || turn % 8 > 1)
		return false;
	if (turn % 8 == 0)
		attacker->id++;
	*seg = ack(attacker->id, 5000 + turn % 8 * attacker->ahead);
	return true;
}

/*
 * A download and an upload always have packets that wait; each packet takes 0.6 ms, as at 20 Mb/s.
 * A packet of data has @payload bytes.
 */
static struct contest contend(struct cell *cell, struct attacker *attacker, u32 payload,
			      u32 packets)
{
	struct contest contest = {};
	u32 i;

	for (i = 0; i < packets; i++, cell->now += 600 * NSEC_PER_USEC) {
		struct tcp_segment seg = data(100, payload);
		int class = ackwrr_share_next(&cell->share);
		u32 acked;

		if (attacker->every && i % attacker->every == 0)
			arrive(cell, ack(attacker->id, attacker->lie += attacker->ahead));
		if (class == ACKWRR_DATA) {
			contest.down += payload;
		} else if (attack(attacker, &seg)) {
			contest.forged++;
		} else {
			seg = next_ack(cell, 0, 2 * MSS);
			contest.up += 2 * MSS;
		}
		arrive(cell, seg);
		acked = sent(cell, seg);
		ackwrr_share_served(&cell->share, class,
				    class == ACKWRR_ACK ? acked : payload, true);
	}
	return contest;
}

/* With nobody who lies both have the same, whatever a packet of data has. */
static void honest_ones_share_equally(struct kunit *test)
{
	static const u32 payloads[] = { MSS, 65160, 400 };
	struct cell *cell = test->priv;
	u32 i;

	go_on(cell, 1, 1, SETTLE);
	for (i = 0; i < ARRAY_SIZE(payloads); i++) {
		struct attacker nobody = {};
		struct contest contest = contend(cell, &nobody, payloads[i], 20000);

		KUNIT_EXPECT_GE_MSG(test, contest.up * 100, contest.down * 97, "%u", payloads[i]);
		KUNIT_EXPECT_LE_MSG(test, contest.up * 100, contest.down * 103, "%u", payloads[i]);
	}
}

/*
 * ACKs that are believed and that nobody ever sends on, 190,000 bytes each, 26 in a second: so
 * much no air carries. The attacker counts as an upload too, so half of what the download has is
 * the upload's share; it keeps a quarter of the class's.
 */
static void a_trickle_of_acks_locks_nobody_out(struct kunit *test)
{
	static const u32 payloads[] = { MSS, 65160 };
	struct cell *cell = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(payloads); i++) {
		struct attacker trickle = { .every = 64, .ahead = 190000, .id = 40 };
		struct contest contest;

		go_on(cell, 1, 1, SETTLE);
		contest = contend(cell, &trickle, payloads[i], 20000);
		/* Two uploads count, each a quarter of the download's bytes: half of them. */
		KUNIT_EXPECT_GE_MSG(test, contest.up * 100, contest.down * 45, "%u", payloads[i]);
	}
}

/*
 * New connections that say at once that they moved 190,000 bytes, and whose ACKs are sent by turns
 * with the upload's, two for six. What they say is not what they send: the class keeps a quarter
 * in ordinary ACKs, and the upload six of eight of these.
 */
static void new_ones_that_lie_lock_nobody_out(struct kunit *test)
{
	struct attacker attacker = { .anew = true, .ahead = 190000, .id = 1000,
				     .every = 64, .lie = 7000 };
	struct cell *cell = test->priv;
	struct contest contest;

	go_on(cell, 1, 1, SETTLE);
	contest = contend(cell, &attacker, MSS, 20000);
	KUNIT_EXPECT_GT(test, contest.forged, 100);
	KUNIT_EXPECT_GE(test, contest.up * 100, contest.down * 25 * 6 / 8);
}

/*
 * Duplicate ACKs that always wait, sent by turns with the upload's. In the air each is about as
 * long as 640 bytes, so the download has as many bytes as the upload and these.
 */
static void a_flood_of_acks_stops_no_download(struct kunit *test)
{
	struct attacker flood = { .floods = true, .id = 40, .lie = 5000 };
	struct cell *cell = test->priv;
	struct contest contest;
	u64 air;

	go_on(cell, 1, 1, SETTLE);
	contest = contend(cell, &flood, MSS, 20000);
	air = contest.up + contest.forged * 640ULL;
	KUNIT_EXPECT_GT(test, contest.forged, 2000);
	KUNIT_EXPECT_GE(test, contest.down * 100, air * 97);
	KUNIT_EXPECT_LE(test, contest.down * 100, air * 103);
}

/* Who has no packets that wait is not passed over: when it comes back, it is one packet early. */
static void who_does_not_wait_is_not_passed_over(struct kunit *test)
{
	struct ackwrr_share share = {};
	u32 i;

	for (i = 0; i < 100; i++)
		ackwrr_share_served(&share, ACKWRR_DATA, MSS, false);
	KUNIT_EXPECT_EQ(test, ackwrr_share_next(&share), ACKWRR_DATA);
	ackwrr_share_served(&share, ACKWRR_DATA, MSS, true);
	KUNIT_EXPECT_EQ(test, ackwrr_share_next(&share), ACKWRR_ACK);
	ackwrr_share_served(&share, ACKWRR_ACK, 2 * MSS, true);
	share.lag = -1;
	for (i = 0; i < 100 && ackwrr_share_next(&share) == ACKWRR_DATA; i++)
		ackwrr_share_served(&share, ACKWRR_DATA, MSS, true);
	KUNIT_EXPECT_EQ(test, i, 2 * 4);
}

static struct kunit_case ackwrr_contest_cases[] = {
	KUNIT_CASE(honest_ones_share_equally),
	KUNIT_CASE(a_trickle_of_acks_locks_nobody_out),
	KUNIT_CASE(new_ones_that_lie_lock_nobody_out),
	KUNIT_CASE(a_flood_of_acks_stops_no_download),
	KUNIT_CASE(who_does_not_wait_is_not_passed_over),
	{}
};

static struct kunit_suite ackwrr_contest_suite = {
	.name = "ackwrr_contest",
	.init = cell_init,
	.exit = cell_exit,
	.test_cases = ackwrr_contest_cases,
};

kunit_test_suite(ackwrr_contest_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of ackwrr, two classes that contend");
