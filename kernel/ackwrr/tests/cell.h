/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A cell of uploads and downloads under "weights auto", for the KUnit suites of ackwrr.
 */
#ifndef LASACK_ACKWRR_TESTS_CELL_H
#define LASACK_ACKWRR_TESTS_CELL_H

#include <kunit/test.h>
#include "ackwrr/tests/connections.h"

#define MSS	1448
#define SETTLE	(2ULL * NSEC_PER_SEC)

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

/* Return: the bytes that it moved. */
static u32 sent(struct cell *cell, struct tcp_segment seg)
{
	struct ackwrr_flow *flow = seg.syn ? NULL : ackwrr_flows_find(&cell->flows, &seg);
	const struct ackwrr_moved moved = {
		.payload = seg.payload,
		.ack = flow && ackwrr_flow_believed(flow, &seg),
		.ack_seq = seg.ack_seq,
		.reversed = seg.reversed,
	};

	return ackwrr_flows_sent(&cell->flows, &cell->share, flow, &moved);
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
static inline void expect_estimates(struct kunit *test, u32 downs, u32 ups, u32 percent)
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

#endif
