// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of ackwrr's "weights auto" under attack: floods, forged ACKs and ends, and whose
 * ACK goes next.
 *
 * Principle: nobody gains by what it says, and nobody is hurt for longer than it takes real
 * packets to come. The bounds are the promises of Documentation/reference/ackwrr.md.
 */
#include <kunit/test.h>
#include <linux/if_ether.h>
#include <linux/module.h>
#include "ackwrr/tests/cell.h"

/* The endpoints of an attack's packets, by address family; else every connection's are alike. */
static struct tcp_segment of_family(struct tcp_segment seg, u16 family)
{
	seg.key.family = family;
	seg.key.addr[1].s6_addr32[3] = cpu_to_be32(1);
	if (family == ETH_P_IPV6)
		seg.key.addr[0].s6_addr32[0] = cpu_to_be32(0x20010db8);
	else
		seg.key.addr[0].s6_addr32[2] = cpu_to_be32(0xffff);
	return seg;
}

static const u16 families[] = { ETH_P_IP, ETH_P_IPV6 };

enum flood { FLOOD_SYNS, FLOOD_ACKS, FLOOD_PAIRS, __FLOODS };

/* Packets of a connection that nobody has seen before, with any ACK number. */
static void flood_one(struct cell *cell, enum flood flood, u32 id, u16 family)
{
	struct tcp_segment seg = of_family(ack(id, id * 0x9e3779b9), family);

	if (flood == FLOOD_SYNS) {
		seg.ack = 0;
		seg.pure_ack = 0;
		seg.syn = 1;
	}
	arrive(cell, seg);
	sent(cell, seg);
	if (flood != FLOOD_PAIRS)
		return;
	seg.ack_seq += 100000;	/* and says at once that it moved something */
	arrive(cell, seg);
	sent(cell, seg);
}

/* 10,000 new ones a second, and meanwhile two each way begin and go on: only these count. */
static void flood_hides_nobody(struct kunit *test, enum flood flood, u16 family)
{
	struct cell *cell = test->priv;
	u32 id = 1000, i, step;

	ackwrr_flows_clear(&cell->flows);
	cell->share = (struct ackwrr_share) {};
	for (step = 0; step < 80; step++) {
		for (i = 0; i < 500; i++)
			flood_one(cell, flood, id++, family);
		go_on(cell, 2, 2, 50 * NSEC_PER_MSEC);
	}
	expect_estimates(test, 2, 2, 0);
	KUNIT_EXPECT_LE_MSG(test, cell->flows.table->flows, ACKWRR_FLOWS, "flood %d", flood);
	KUNIT_EXPECT_EQ_MSG(test, cell->flows.overflow, 0, "flood %d", flood);
}

static void floods_hide_nobody(struct kunit *test)
{
	enum flood flood;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(families); i++) {
		for (flood = 0; flood < __FLOODS; flood++)
			flood_hides_nobody(test, flood, families[i]);
	}
}

/*
 * Three times as many forged connections as may count go on as real ones do: no weight is beyond
 * the largest fixed one, and those that counted before count on.
 */
static void forged_ones_are_bounded(struct kunit *test)
{
	struct cell *cell = test->priv;
	u32 most = TC_ACKWRR_WEIGHT_MAX * ACKWRR_ESTIMATE_ONE, family, id, step;

	for (family = 0; family < ARRAY_SIZE(families); family++) {
		ackwrr_flows_clear(&cell->flows);
		cell->share = (struct ackwrr_share) {};
		go_on(cell, 2, 2, SETTLE);
		for (step = 0; step < 60; step++) {
			for (id = 1000; id < 1800; id++)
				arrive(cell, of_family(ack(id, step * 60000), families[family]));
			go_on(cell, 2, 2, 50 * NSEC_PER_MSEC);
			KUNIT_EXPECT_LE(test, cell->share.estimates[ACKWRR_ACK], most);
		}
		KUNIT_EXPECT_EQ(test, cell->share.estimates[ACKWRR_DATA], 2 * ACKWRR_ESTIMATE_ONE);
	}
}

/* For four seconds @jump is acknowledged ten times a second, twice, beside what upload @id does. */
static void forge_acks(struct cell *cell, u32 id, u32 jump, u16 family, bool forged, u32 *real)
{
	u32 step;

	for (step = 0; step < 80; step++) {
		struct tcp_segment seg;

		*real += 2 * MSS;
		seg = of_family(ack(id, *real), family);
		arrive(cell, seg);
		sent(cell, seg);
		if (forged && step % 2) {
			seg.ack_seq += jump;
			arrive(cell, seg);
			sent(cell, seg);
			seg.ack_seq += MSS;	/* and another beside it */
			arrive(cell, seg);
			sent(cell, seg);
		}
		go_on(cell, 2, 1, 50 * NSEC_PER_MSEC);
	}
}

/*
 * What forged ACKs claim delays the real ones by 256 kB of others' data at most, in all; and
 * the upload counts on.
 */
static void forged_acks_are_undone(struct kunit *test)
{
	static const u32 jumps[] = { 64 << 10, 256 << 10, 1 << 20, 1 << 24, 1U << 31 };
	struct cell *cell = test->priv;
	u32 i, real;

	for (i = 0; i < 2 * ARRAY_SIZE(jumps); i++) {
		u16 family = families[i % 2];
		u64 before;

		ackwrr_flows_clear(&cell->flows);
		cell->share = (struct ackwrr_share) {};
		real = 1000;
		forge_acks(cell, 50, 0, family, false, &real);
		before = cell->share.charged[ACKWRR_ACK];
		forge_acks(cell, 50, jumps[i / 2], family, true, &real);
		/* Two uploads moved two segments in each of 80 steps. */
		KUNIT_EXPECT_LE_MSG(test, cell->share.charged[ACKWRR_ACK] - before,
				    2 * 80 * 2 * MSS + 256000, "jump %u", jumps[i / 2]);
		KUNIT_EXPECT_EQ_MSG(test, cell->flows.active[ACKWRR_ACK].count, 2,
				    "jump %u", jumps[i / 2]);
	}
}

/* A forged RST or FIN ends nobody who goes on. */
static void a_forged_end_ends_nobody(struct kunit *test)
{
	struct cell *cell = test->priv;
	u32 step;

	go_on(cell, 2, 2, SETTLE);
	for (step = 0; step < 40; step++) {
		struct tcp_segment rst = ack(0, cell->acked[0]);

		rst.rst = 1;
		rst.pure_ack = 0;
		arrive(cell, rst);
		go_on(cell, 2, 2, 150 * NSEC_PER_MSEC);
		expect_estimates(test, 2, 2, 25);
	}
	KUNIT_EXPECT_EQ(test, cell->flows.active[ACKWRR_ACK].count, 2);
}

/* Upload @id always has ACKs that wait. */
static struct ackwrr_flow *waiting_upload(struct cell *cell, u32 id)
{
	struct tcp_segment seg = ack(id, 1);
	struct ackwrr_flow *flow = ackwrr_flows_arrive(&cell->flows, &cell->share, &seg);

	flow->waiting = 1;
	flow->acks = 1;
	ackwrr_turn_join(&cell->flows, flow);
	return flow;
}

/* The next ACK goes, and allows for @bytes if it is of @flow, else for @others. */
static u32 take_turn(struct cell *cell, const struct ackwrr_flow *flow, u32 bytes, u32 others)
{
	struct ackwrr_flow *next = ackwrr_turn_next(&cell->flows);
	u32 moved = next == flow ? bytes : others;

	ackwrr_turn_taken(next);
	ackwrr_turn_charge(next, moved);
	return next == flow ? bytes : 0;
}

/* Whatever its ACKs acknowledge, each upload is allowed to send as many bytes. */
static void turns_are_of_bytes(struct kunit *test)
{
	static const u32 segments[] = { 2, 10, 40, 150 };
	struct ackwrr_flow *flows[ARRAY_SIZE(segments)];
	u64 moved[ARRAY_SIZE(segments)] = {}, all = 0;
	struct cell *cell = test->priv;
	u32 i, packets;

	for (i = 0; i < ARRAY_SIZE(segments); i++)
		flows[i] = waiting_upload(cell, i);
	for (packets = 0; packets < 20000; packets++) {
		struct ackwrr_flow *next = ackwrr_turn_next(&cell->flows);

		for (i = 0; flows[i] != next; i++)
			;
		ackwrr_turn_taken(next);
		ackwrr_turn_charge(next, segments[i] * MSS);
		moved[i] += segments[i] * MSS;
		all += segments[i] * MSS;
	}
	for (i = 0; i < ARRAY_SIZE(segments); i++) {
		KUNIT_EXPECT_GE_MSG(test, moved[i] * 100, all / 4 * 98, "%u", segments[i]);
		KUNIT_EXPECT_LE_MSG(test, moved[i] * 100, all / 4 * 102, "%u", segments[i]);
	}
}

/* Each ACK takes part of a turn, so those that acknowledge nothing are no way to keep it. */
static void acks_of_nothing_take_turns(struct kunit *test)
{
	struct cell *cell = test->priv;
	struct ackwrr_flow *real = waiting_upload(cell, 1);
	const u32 forged = 500, rounds = 20;
	u32 i, moved = 0;

	for (i = 0; i < forged; i++)
		waiting_upload(cell, 1000 + i);
	/* In the air an ordinary ACK is no cheaper: real ones are one in 501 at least. */
	for (i = 0; i < rounds * (forged + 1); i++)
		moved += take_turn(cell, real, 2 * MSS, 0);
	KUNIT_EXPECT_GE(test, moved, (rounds - 6) * 2 * MSS);
}

/* A new upload waits for one turn of each that is there, which is 16 KiB. */
static void who_comes_waits_for_one_turn(struct kunit *test)
{
	struct cell *cell = test->priv;
	struct ackwrr_flow *flow;
	u32 others;

	waiting_upload(cell, 1);
	waiting_upload(cell, 2);
	take_turn(cell, NULL, 0, 2 * MSS);
	flow = waiting_upload(cell, 3);
	for (others = 0; !take_turn(cell, flow, 1, 2 * MSS); others += 2 * MSS)
		KUNIT_ASSERT_LE(test, others, 4 * 16384);
	KUNIT_EXPECT_LE(test, others, 2 * (16384 + 2 * MSS));
}

/* An ACK that claims a gigabyte delays its connection's next one by 256 kB of another's data. */
static void a_debt_is_bounded(struct kunit *test)
{
	struct cell *cell = test->priv;
	struct ackwrr_flow *flow = waiting_upload(cell, 1);
	u32 others;

	while (!take_turn(cell, flow, 1 << 30, 2 * MSS))
		;
	waiting_upload(cell, 2);
	for (others = 0; !take_turn(cell, flow, 1, 2 * MSS); others += 2 * MSS)
		KUNIT_ASSERT_LE(test, others, 2 * 256000);
	KUNIT_EXPECT_LE(test, others, 256 * 1024 + 2 * 16384);
	KUNIT_EXPECT_GT(test, others, 0);
}

/* Forged ACKs that were sent cost their upload no turns, once the next real ones come. */
static void forged_acks_cost_no_turns(struct kunit *test)
{
	static const u32 jump = 150000;	/* which is believed at once */
	struct cell *cell = test->priv;
	u32 real = 1000, step, forged, next, i;

	for (i = 0; i < ARRAY_SIZE(families); i++) {
		struct tcp_segment seg = of_family(ack(50, real), families[i]);
		struct ackwrr_flow *flow;

		ackwrr_flows_clear(&cell->flows);
		arrive(cell, seg);
		sent(cell, seg);
		flow = ackwrr_flows_find(&cell->flows, &seg);
		for (step = 0; step < 10; step++) {
			for (forged = 1; forged <= 2; forged++) {
				seg = of_family(ack(50, real + forged * jump), families[i]);
				arrive(cell, seg);
				sent(cell, seg);
			}
			cell->now += 50 * NSEC_PER_MSEC;
			for (next = 0; next < 3; next++) {
				seg = of_family(ack(50, real += 2 * MSS), families[i]);
				arrive(cell, seg);
				sent(cell, seg);
			}
			cell->now += 50 * NSEC_PER_MSEC;
		}
		/* What it owes is for what really moved, 3 * 2 segments in each of 10 steps. */
		KUNIT_EXPECT_GE(test, flow->credit, -(s32)(10 * 3 * 2 * MSS));
	}
}

/*
 * Invented connections move ahead, which is free while they are new, and back: that gives back
 * nothing. Beside them an upload and a download are charged with as much as they move.
 */
static void what_was_free_is_not_given_back(struct kunit *test)
{
	static const u32 numbers[] = { 0, 190000, 380000, 0, 1 };
	struct cell *cell = test->priv;
	u32 step, id = 1000, i;
	u64 up, down;

	go_on(cell, 1, 1, SETTLE);
	up = cell->share.charged[ACKWRR_ACK];
	down = cell->share.charged[ACKWRR_DATA];
	for (step = 0; step < 400; step++, id++) {
		for (i = 0; i < ARRAY_SIZE(numbers); i++) {
			arrive(cell, ack(id, numbers[i]));
			sent(cell, ack(id, numbers[i]));
		}
		go_on(cell, 1, 1, 50 * NSEC_PER_MSEC);
	}
	KUNIT_EXPECT_EQ(test, cell->share.charged[ACKWRR_DATA] - down, 400 * 2 * MSS);
	KUNIT_EXPECT_GE(test, cell->share.charged[ACKWRR_ACK] - up, 400 * 2 * MSS);
	KUNIT_EXPECT_LE(test, cell->share.lag, 256000);
}

/* An ACK of the other direction says nothing of this one, however far its number is. */
static void directions_are_apart(struct kunit *test)
{
	struct cell *cell = test->priv;
	struct tcp_segment other;
	u64 before;

	go_on(cell, 1, 1, SETTLE);
	before = cell->share.charged[ACKWRR_ACK];
	other = ack(0, cell->acked[0] + 0x7fffffff);
	other.reversed = !other.reversed;
	arrive(cell, other);
	KUNIT_EXPECT_EQ(test, sent(cell, other), 0);
	go_on(cell, 1, 1, 50 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, cell->share.charged[ACKWRR_ACK] - before, 2 * MSS);
	other.ack_seq += 100;
	arrive(cell, other);
	KUNIT_EXPECT_EQ(test, sent(cell, other), 100);
}

static struct kunit_case ackwrr_attacks_cases[] = {
	KUNIT_CASE(floods_hide_nobody),
	KUNIT_CASE(forged_ones_are_bounded),
	KUNIT_CASE(forged_acks_are_undone),
	KUNIT_CASE(a_forged_end_ends_nobody),
	KUNIT_CASE(turns_are_of_bytes),
	KUNIT_CASE(acks_of_nothing_take_turns),
	KUNIT_CASE(who_comes_waits_for_one_turn),
	KUNIT_CASE(a_debt_is_bounded),
	KUNIT_CASE(forged_acks_cost_no_turns),
	KUNIT_CASE(what_was_free_is_not_given_back),
	KUNIT_CASE(directions_are_apart),
	{}
};

static struct kunit_suite ackwrr_attacks_suite = {
	.name = "ackwrr_attacks",
	.init = cell_init,
	.exit = cell_exit,
	.test_cases = ackwrr_attacks_cases,
};

kunit_test_suite(ackwrr_attacks_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of ackwrr under attack");
