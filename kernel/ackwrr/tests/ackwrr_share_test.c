// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of ackwrr's "weights auto": who counts, and who is behind.
 *
 * Principle: what is expected comes from the rule's promise (each connection the
 * same bytes, estimates settled within 2 s, no more than 10 % moved by a scan),
 * not from its constants.
 */
#include <kunit/test.h>
#include <linux/if_ether.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include "ackwrr/ackwrr_activity.c"
#include "ackwrr/ackwrr_flows.c"
#include "ackwrr/ackwrr_share.c"
#include "ackwrr/ackwrr_turn.c"
#include "common/flow_table.c"
#include "common/tests/segments.h"

#define MSS	1448
#define SETTLE	(2 * NSEC_PER_SEC)

struct cell {
	struct ackwrr_flows	flows;
	struct ackwrr_share	share;
	u64			now;	/* ns */
	u32			acked[64];	/* by upload: the number of its next ACK */
};

static int cell_init(struct kunit *test)
{
	struct cell *cell = kunit_kzalloc(test, sizeof(*cell), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, cell);
	KUNIT_ASSERT_EQ(test, ackwrr_flows_init(&cell->flows), 0);
	cell->now = NSEC_PER_SEC;
	test->priv = cell;
	return 0;
}

static void cell_exit(struct kunit *test)
{
	struct cell *cell = test->priv;

	ackwrr_flows_free(&cell->flows);
}

static void arrive(struct cell *cell, struct tcp_segment seg)
{
	struct ackwrr_flow *flow;

	ackwrr_flows_advance(&cell->flows, &cell->share, cell->now);
	flow = ackwrr_flows_arrive(&cell->flows, &cell->share, &seg);
	if (flow)
		ackwrr_flow_settle(&cell->flows, flow);
}

static void sent(struct cell *cell, struct tcp_segment seg)
{
	struct ackwrr_flow *flow = seg.syn ? NULL : ackwrr_flows_find(&cell->flows, &seg);
	const struct ackwrr_moved moved = {
		.payload = seg.payload,
		.ack = flow && ackwrr_flow_believed(flow, &seg),
		.ack_seq = seg.ack_seq,
	};

	ackwrr_flows_sent(&cell->flows, &cell->share, flow, &moved);
}

/* The next ACK of upload @id, for @bytes more. */
static struct tcp_segment next_ack(struct cell *cell, u32 id, u32 bytes)
{
	cell->acked[id] += bytes;
	return ack(id, cell->acked[id]);
}

/* For so long, each of the connections moves two segments in every so many ns. */
static void go_on_every(struct cell *cell, u64 every, u32 downs, u32 ups, u64 ns)
{
	u64 end = cell->now + ns;
	u32 id;

	for (; cell->now < end; cell->now += every) {
		for (id = 0; id < downs; id++) {
			arrive(cell, data(100 + id, 2 * MSS));
			sent(cell, data(100 + id, 2 * MSS));
		}
		for (id = 0; id < ups; id++) {
			struct tcp_segment seg = next_ack(cell, id, 2 * MSS);

			arrive(cell, seg);
			sent(cell, seg);
		}
		arrive(cell, data(99, 0));	/* somebody is always there */
	}
}

static void go_on(struct cell *cell, u32 downs, u32 ups, u64 ns)
{
	go_on_every(cell, 50 * NSEC_PER_MSEC, downs, ups, ns);
}

/* Within @percent of so many connections. */
static void expect_estimates(struct kunit *test, u32 downs, u32 ups, u32 percent)
{
	struct cell *cell = test->priv;
	const u32 expected[] = { downs, ups };
	int class;

	for (class = 0; class < ACKWRR_CLASSES; class++) {
		u32 exact = expected[class] * ACKWRR_ESTIMATE_ONE;

		KUNIT_EXPECT_GE(test, cell->share.estimates[class] * 100, exact * (100 - percent));
		KUNIT_EXPECT_LE(test, cell->share.estimates[class] * 100, exact * (100 + percent));
	}
}

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
		each[0] = share.charged[0] / mixes[i][0];
		each[1] = share.charged[1] / mixes[i][1];
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
			short_one(cell, class, id++, moved / 6);
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
	newcomers_go_on(cell, 50, 5 * NSEC_PER_SEC);
	expect_estimates(test, 2, 2, 0);
	newcomers_go_on(cell, 90, SETTLE + NSEC_PER_SEC / 2);	/* the window, and the steps */
	expect_estimates(test, 3, 3, 5);
	newcomers_go_on(cell, 50, 5 * NSEC_PER_SEC);	/* slower again: its share stays */
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
		KUNIT_EXPECT_GE_MSG(test, moved[i] * 100, all / 4 * 98, "%u segments", segments[i]);
		KUNIT_EXPECT_LE_MSG(test, moved[i] * 100, all / 4 * 102, "%u segments", segments[i]);
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

/* An ACK that claims a gigabyte delays the next one of its connection by 256 kB of another's data. */
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
	KUNIT_CASE(floods_hide_nobody),
	KUNIT_CASE(forged_ones_are_bounded),
	KUNIT_CASE(forged_acks_are_undone),
	KUNIT_CASE(a_forged_end_ends_nobody),
	KUNIT_CASE(turns_are_of_bytes),
	KUNIT_CASE(acks_of_nothing_take_turns),
	KUNIT_CASE(a_debt_is_bounded),
	KUNIT_CASE(forged_acks_cost_no_turns),
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
