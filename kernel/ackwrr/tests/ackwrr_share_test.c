// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of ackwrr's "weights auto": who counts, and who is behind.
 *
 * Principle: what is expected comes from the rule's promise (each connection the
 * same bytes, estimates settled within 2 s, no more than 10 % moved by a scan),
 * not from its constants.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include "ackwrr/tests/cell.h"

/*
 * Both classes always have packets; whatever an ACK acknowledges, each
 * connection moves as many bytes. A ratio of packets would be off by 20.
 */
static void share_is_of_bytes(struct kunit *test)
{
	static const u32 mixes[][2] = { {1, 1}, {4, 4}, {1, 3}, {3, 1}, {8, 2}, {2, 8} };
	u32 i, packets;

	for (i = 0; i < ARRAY_SIZE(mixes); i++) {
		struct ackwrr_share share = {};
		struct rnd_state rng;
		s64 each[2];

		prandom_seed_state(&rng, i);
		ackwrr_share_advance(&share, mixes[i], 1);
		for (packets = 0; packets < 10000; packets++) {
			int class = ackwrr_share_next(&share);
			u32 segments = class == ACKWRR_DATA ? 1 : prandom_u32_state(&rng) % 40 + 1;

			ackwrr_share_charge(&share, class, segments * MSS);
		}
		each[0] = div_u64(share.charged[0], mixes[i][0]);
		each[1] = div_u64(share.charged[1], mixes[i][1]);
		/* One packet of either, and rounding. */
		KUNIT_EXPECT_LE(test, abs(each[0] - each[1]), 41 * MSS + 10000);
	}
}

static void share_forgets_what_is_not_used(struct kunit *test)
{
	const u32 counts[] = { 1, 1 };
	struct ackwrr_share share = {};
	u32 packets;

	ackwrr_share_advance(&share, counts, 1);
	ackwrr_share_charge(&share, ACKWRR_DATA, 100 << 20);
	for (packets = 0; ackwrr_share_next(&share) == ACKWRR_ACK; packets++)
		ackwrr_share_charge(&share, ACKWRR_ACK, 2 * MSS);
	KUNIT_EXPECT_LE(test, packets * 2 * MSS, ACKWRR_LAG_MAX + 2 * MSS);
	KUNIT_EXPECT_GT(test, packets, 0);
}

/* A step is a quarter at most, and never beyond the count. */
static void estimates_are_smooth(struct kunit *test)
{
	static const u32 targets[] = { 1, 8, 2, 50, 1, 0, 3 };
	struct ackwrr_share share = {};
	u64 now = 1;
	u32 i, step;

	for (i = 0; i < ARRAY_SIZE(targets); i++) {
		const u32 counts[] = { targets[i], 1 };
		u32 exact = targets[i] * ACKWRR_ESTIMATE_ONE;

		for (step = 0; step < 20; step++) {
			u32 before = share.estimates[0], after;

			now += ACKWRR_STEP_NS;
			ackwrr_share_advance(&share, counts, now);
			after = share.estimates[0];
			KUNIT_EXPECT_GE(test, after, min(before, exact));
			KUNIT_EXPECT_LE(test, after, max(before, exact));
			if (before && exact)
				KUNIT_EXPECT_LE(test, 4 * abs((s32)(after - before)),
						max(before, exact));
		}
		KUNIT_EXPECT_EQ(test, share.estimates[0], exact);
	}
}

static void estimates_settle(struct kunit *test)
{
	struct cell *cell = test->priv;

	go_on(cell, 2, 2, SETTLE);
	expect_estimates(test, 2, 2, 0);
	go_on(cell, 8, 1, SETTLE);	/* one upload fell silent, six downloads came */
	expect_estimates(test, 8, 1, 5);
	go_on(cell, 1, 8, SETTLE);
	expect_estimates(test, 1, 8, 5);
	go_on(cell, 0, 8, SETTLE);
	expect_estimates(test, 0, 8, 0);
}

/* Fifty connections of an 802.11b cell, which has some 5 Mb/s: each has two segments in 250 ms. */
static void estimates_settle_in_a_full_cell(struct kunit *test)
{
	struct cell *cell = test->priv;
	u64 every = 250 * NSEC_PER_MSEC;

	go_on_every(cell, every, 24, 26, SETTLE);
	go_on_every(cell, every, 24, 26, SETTLE);
	go_on_every(cell, every, 30, 20, SETTLE);
	expect_estimates(test, 30, 20, 5);
}

static void fin_ends_at_once(struct kunit *test)
{
	struct cell *cell = test->priv;
	struct tcp_segment fin = data(100, 0);

	go_on(cell, 3, 0, SETTLE);
	fin.fin = 1;
	arrive(cell, fin);
	KUNIT_EXPECT_EQ(test, cell->flows.active[ACKWRR_DATA].count, 2);
}

/* An upload whose ACK waits here is held up by us, not silent. */
static void a_held_ack_is_activity(struct kunit *test)
{
	struct cell *cell = test->priv;
	struct ackwrr_flow *flow;
	struct tcp_segment seg;

	go_on(cell, 1, 1, SETTLE);
	seg = next_ack(cell, 0, 2 * MSS);
	flow = ackwrr_flows_arrive(&cell->flows, &cell->share, &seg);
	flow->waiting++;
	flow->acks++;
	go_on(cell, 1, 0, SETTLE);
	expect_estimates(test, 1, 1, 0);
	flow->acks--;
	ackwrr_flow_left(&cell->flows, flow);
	sent(cell, seg);
	go_on(cell, 1, 0, SETTLE);
	expect_estimates(test, 1, 0, 0);
}

/* 10,000 of each: never answered, refused, and left open after the handshake. */
static void a_scan_moves_nothing(struct kunit *test)
{
	struct cell *cell = test->priv;
	u32 id;

	go_on(cell, 2, 2, SETTLE);
	for (id = 1000; id < 11000; id++) {
		struct tcp_segment syn = ack(id, 1), rst = ack(id + 10000, 1);

		syn.syn = 1;
		syn.pure_ack = 0;
		arrive(cell, syn);
		sent(cell, syn);
		rst.rst = 1;
		rst.pure_ack = 0;
		arrive(cell, rst);
		sent(cell, rst);
		arrive(cell, ack(id + 20000, 1));
		sent(cell, ack(id + 20000, 1));
		if (id % 2000 == 0)	/* or they would fall silent */
			go_on(cell, 2, 2, 50 * NSEC_PER_MSEC);
		expect_estimates(test, 2, 2, 10);
	}
	KUNIT_EXPECT_LE(test, cell->flows.table->flows, ACKWRR_FLOWS);
	KUNIT_EXPECT_EQ(test, cell->flows.active[ACKWRR_DATA].count, 2);
	KUNIT_EXPECT_EQ(test, cell->flows.active[ACKWRR_ACK].count, 2);
}

/* More active connections than places: the rest is not counted, nothing breaks. */
static void more_than_there_is_room_for(struct kunit *test)
{
	struct cell *cell = test->priv;
	u32 second, id;

	for (second = 0; second < 3; second++) {
		for (id = 0; id < (second < 2 ? 1 : 3) * ACKWRR_FLOWS; id++)
			arrive(cell, data(1000 + id, 50 * MSS));
		cell->now += NSEC_PER_SEC;
	}
	/* Those that count keep their places; the newcomers take each other's. */
	KUNIT_EXPECT_EQ(test, cell->flows.active[ACKWRR_DATA].count, TC_ACKWRR_WEIGHT_MAX);
	KUNIT_EXPECT_EQ(test, cell->flows.table->flows, ACKWRR_FLOWS);
	KUNIT_EXPECT_EQ(test, cell->flows.overflow, 0);
}

static u64 charged(struct kunit *test)
{
	struct cell *cell = test->priv;

	return cell->share.charged[ACKWRR_ACK];
}

/* Upload 1 moved 200,000 bytes, which all came; nothing is on its way. */
static u64 charged_to_begin_with(struct kunit *test)
{
	struct cell *cell = test->priv;

	arrive(cell, ack(1, 1000));	/* counting starts */
	sent(cell, ack(1, 1000));
	KUNIT_EXPECT_EQ(test, charged(test), 0);
	arrive(cell, ack(1, 101000));
	sent(cell, ack(1, 101000));
	cell->now += NSEC_PER_SEC;	/* it counts from here on */
	arrive(cell, ack(1, 151000));
	arrive(cell, ack(1, 201000));
	KUNIT_EXPECT_EQ(test, charged(test), 200000);
	sent(cell, ack(1, 101000));	/* an old one: makes no room */
	return charged(test);
}

/* Bytes are charged once: when an ACK lets them go, or when they come unasked. */
static void bytes_are_charged_once(struct kunit *test)
{
	struct cell *cell = test->priv;
	u64 begin = charged_to_begin_with(test);

	arrive(cell, ack(1, 211000));	/* came unasked */
	KUNIT_EXPECT_EQ(test, charged(test) - begin, 10000);
	sent(cell, ack(1, 211000));	/* makes room for what came since the last */
	KUNIT_EXPECT_EQ(test, charged(test) - begin, 120000);
	arrive(cell, ack(1, 317000));
	KUNIT_EXPECT_EQ(test, charged(test) - begin, 120000);
	arrive(cell, ack(1, 323000));	/* and 2000 more */
	KUNIT_EXPECT_EQ(test, charged(test) - begin, 122000);
	arrive(cell, ack(1, 323000));	/* a duplicate */
	arrive(cell, ack(1, 315000));	/* one that was overtaken */
	sent(cell, ack(1, 211000));
	KUNIT_EXPECT_EQ(test, charged(test) - begin, 122000);
}

static void what_does_not_come_is_given_back(struct kunit *test)
{
	struct cell *cell = test->priv;
	u64 begin = charged_to_begin_with(test);

	sent(cell, ack(1, 201000));
	KUNIT_EXPECT_EQ(test, charged(test) - begin, 100000);
	cell->now += 2 * NSEC_PER_SEC;
	arrive(cell, ack(1, 201000));
	KUNIT_EXPECT_EQ(test, charged(test), begin);
}

/* A short connection moves @bytes one way, at once, and goes without a word. */
static void short_one(struct cell *cell, int class, u32 id, u32 bytes)
{
	if (class == ACKWRR_DATA) {
		arrive(cell, data(id, bytes));
		sent(cell, data(id, bytes));
		return;
	}
	arrive(cell, ack(id, 1));
	sent(cell, ack(id, 1));
	arrive(cell, ack(id, 1 + bytes));
}

/* Short transfers of a third of a share change neither what counts nor what is charged. */
static void short_ones_are_free(struct kunit *test)
{
	struct cell *cell = test->priv;
	u64 moved = 2 * 20 * 2 * MSS;	/* by two, in a second */
	u64 before[ACKWRR_CLASSES];
	u32 id = 1000;
	int class, i;

	go_on(cell, 2, 2, SETTLE);
	for (i = 0; i < 20; i++) {
		memcpy(before, cell->share.charged, sizeof(before));
		for (class = 0; class < ACKWRR_CLASSES; class++)
			short_one(cell, class, id++, div_u64(moved, 6));
		go_on(cell, 2, 2, NSEC_PER_SEC);
		for (class = 0; class < ACKWRR_CLASSES; class++)
			KUNIT_EXPECT_EQ(test, cell->share.charged[class] - before[class], moved);
		expect_estimates(test, 2, 2, 0);
	}
}

/* Two each way go on, and beside them one each way that moves so much of what they do. */
static void newcomers_go_on(struct cell *cell, u32 percent, u64 ns)
{
	u32 bytes = 2 * MSS * percent / 100;
	u64 end = cell->now + ns;

	while (cell->now < end) {
		struct tcp_segment seg = next_ack(cell, 50, bytes);

		arrive(cell, data(150, bytes));
		sent(cell, data(150, bytes));
		arrive(cell, seg);
		sent(cell, seg);
		go_on(cell, 2, 2, 50 * NSEC_PER_MSEC);
	}
}

/* One that TCP has not brought to its share yet would leave the rest of it to the others. */
static void a_newcomer_counts_at_its_share(struct kunit *test)
{
	struct cell *cell = test->priv;

	go_on(cell, 2, 2, SETTLE);
	newcomers_go_on(cell, 50, 5ULL * NSEC_PER_SEC);
	expect_estimates(test, 2, 2, 0);
	newcomers_go_on(cell, 90, SETTLE + NSEC_PER_SEC / 2);	/* the window, and the steps */
	expect_estimates(test, 3, 3, 5);
	newcomers_go_on(cell, 50, 5ULL * NSEC_PER_SEC);	/* slower again: its share stays */
	expect_estimates(test, 3, 3, 0);
}

/* Who is served next: one of those that last, or now and then a short one. */
static u32 serve_any(struct cell *cell, struct rnd_state *rng, u32 lasting, bool attacked,
		     int class, u32 packet)
{
	u32 one = prandom_u32_state(rng) % (lasting + 10 * attacked), bytes = MSS;

	if (one >= lasting) {
		bytes = 3000 + prandom_u32_state(rng) % 60000;
		short_one(cell, class, 1000 + packet, bytes);
	} else if (class == ACKWRR_DATA) {
		arrive(cell, data(100 + one, bytes));
		sent(cell, data(100 + one, bytes));
	} else {
		struct tcp_segment seg = next_ack(cell, one, bytes);

		arrive(cell, seg);
		sent(cell, seg);
	}
	return bytes;
}

/*
 * Both classes always have packets, but most of one's are of short connections
 * without end: all these together get no more than a connection of the other class.
 */
static void a_stream_of_short_ones(struct kunit *test, int attacked, u32 lasting)
{
	const u32 others = 4;
	struct cell *cell = test->priv;
	struct rnd_state rng;
	u64 moved[ACKWRR_CLASSES] = {};
	u32 packet;
	int class;

	prandom_seed_state(&rng, 4 * lasting + attacked);
	ackwrr_flows_clear(&cell->flows);
	cell->share = (struct ackwrr_share) {};
	for (packet = 0; packet < 20000; packet++) {
		class = ackwrr_share_next(&cell->share);
		if (packet == 2000)	/* the estimates are there */
			memset(moved, 0, sizeof(moved));
		moved[class] += serve_any(cell, &rng, class == attacked ? lasting : others,
					  class == attacked, class, packet);
		cell->now += 2 * NSEC_PER_MSEC;
	}
	/* As a connection each, within the 10 % that is promised. */
	KUNIT_EXPECT_LE_MSG(test, 10 * moved[attacked] * others,
			    11 * moved[!attacked] * (lasting + 1),
			    "class %d, %u last", attacked, lasting);
}

static void an_endless_stream_of_short_ones(struct kunit *test)
{
	u32 lasting;

	for (lasting = 0; lasting <= 4; lasting += 2) {
		a_stream_of_short_ones(test, ACKWRR_DATA, lasting);
		a_stream_of_short_ones(test, ACKWRR_ACK, lasting);
	}
}

static struct kunit_case ackwrr_share_cases[] = {
	KUNIT_CASE(share_is_of_bytes),
	KUNIT_CASE(share_forgets_what_is_not_used),
	KUNIT_CASE(estimates_are_smooth),
	KUNIT_CASE(estimates_settle),
	KUNIT_CASE(estimates_settle_in_a_full_cell),
	KUNIT_CASE(fin_ends_at_once),
	KUNIT_CASE(a_held_ack_is_activity),
	KUNIT_CASE(a_scan_moves_nothing),
	KUNIT_CASE(more_than_there_is_room_for),
	KUNIT_CASE(bytes_are_charged_once),
	KUNIT_CASE(what_does_not_come_is_given_back),
	KUNIT_CASE(short_ones_are_free),
	KUNIT_CASE(a_newcomer_counts_at_its_share),
	KUNIT_CASE(an_endless_stream_of_short_ones),
	{}
};

static struct kunit_suite ackwrr_share_suite = {
	.name = "ackwrr_share",
	.init = cell_init,
	.exit = cell_exit,
	.test_cases = ackwrr_share_cases,
};

kunit_test_suite(ackwrr_share_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of ackwrr's shares and counts");
