/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flows that starve, for the KUnit suites of the floor and of its line. All are of station 1.
 */
#ifndef LASACK_FLOOR_TESTS_LASACK_STARVING_H
#define LASACK_FLOOR_TESTS_LASACK_STARVING_H

#include "lasack/tests/lasack_packets.h"

#define LARGE	10000000	/* bytes that an old flow has had */
#define OTHER	99		/* the mark of new flows' packets */

static inline struct lasack_queue *begin(struct kunit *test, bool by_station, u32 floor)
{
	struct lasack_queue *q = lasack_test_reshape(test, (struct lasack_shape) {
		.by_station = by_station,
	});

	lasack_queue_set_floor(q, floor);
	return q;
}

static inline int floor_test_init(struct kunit *test)
{
	test->priv = NULL;
	begin(test, true, 25);
	return 0;
}

static inline void wait(struct kunit *test, u32 ms)
{
	struct lasack_queue *q = test->priv;

	lasack_queue_advance(q, q->now + (u64)ms * NSEC_PER_MSEC);
}

/* Flow @id of station 1 has had much. */
static inline void grow(struct kunit *test, u32 id)
{
	add_to(test, 1, data(id, LARGE), id);
	while (serve(test))
		;
}

/* Flows 1 and 2 have had as much as each other, but for a byte. */
static inline void grow_both(struct kunit *test)
{
	grow(test, 1);
	grow(test, 2);
	known(test->priv, 1)->account.sum = known(test->priv, 2)->account.sum + 1;
}

/* Flow @id of station 1 sends, and sends again: its packets are marked with @id. */
static inline void starve(struct kunit *test, u32 id)
{
	add_to(test, 1, data(id, 1000), id);
	wait(test, 301);
	add_to(test, 1, data(id, 1000), id);
}

/* A packet that is all of a new flow's. */
static inline struct tcp_segment transfer(u32 id, u32 length)
{
	struct tcp_segment seg = data(id, length);

	seg.fin = true;
	return seg;
}

/*
 * Serves @count packets, and queues another of the same flow for each; instead of a transfer's, one
 * of another transfer of station 1, of @length bytes. Return: how many flow @id had.
 */
static inline u32 had_among(struct kunit *test, u32 id, u32 count, u32 length)
{
	static u32 next = 1000;
	u32 i, mark = OTHER, had = 0;

	for (i = 0; i < count; i++) {
		if (mark == OTHER)
			add_to(test, 1, transfer(next++ % 50000 + 1000, length), OTHER);
		else
			add_to(test, 1, data(mark, 1000), mark);
		mark = serve(test);
		had += mark == id;
	}
	if (mark != OTHER)
		add_to(test, 1, data(mark, 1000), mark);
	return had;
}

static inline void opened(struct lasack_flow *flow)
{
	flow->opened = 1;
}

/* All packets of flow @id are served by the floor. */
static inline void drain(struct kunit *test, u32 id)
{
	u32 i;

	for (i = 0; known(test->priv, id)->head; i++) {
		KUNIT_ASSERT_LT(test, i, 1000);
		add_to(test, 1, transfer(60000 + i, 1000), OTHER);
		serve(test);
	}
}

#endif
