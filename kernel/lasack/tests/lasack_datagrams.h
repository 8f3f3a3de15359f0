/* SPDX-License-Identifier: GPL-2.0-only */
/* What the KUnit suites of what stations send share: an observer, what it hears, and datagrams. */
#ifndef LASACK_DATAGRAMS_H
#define LASACK_DATAGRAMS_H

#include <linux/etherdevice.h>
#include <linux/udp.h>
#include "lasack/tests/lasack_packets.h"

/* Where add() sends the packets of flows 1 and 9, and of flow 2. */
#define STATION	MAC_OF(1)
#define OTHER	MAC_OF(2)

static inline int observe_test_init(struct kunit *test)
{
	int err = lasack_test_init(test);
	struct lasack_queue *q = test->priv;

	if (err)
		return err;
	q->observer = lasack_observer_alloc();
	KUNIT_ASSERT_NOT_NULL(test, q->observer);
	return 0;
}

/* Another queue, which has not heard anything yet, with a floor of @percent, or 0. */
static inline struct lasack_queue *begin_hearing_with(struct kunit *test, u32 percent)
{
	struct lasack_shape shape = { .by_station = true };
	struct lasack_queue *q = test->priv;

	if (q)
		lasack_observer_free(q->observer);
	q = lasack_test_reshape(test, shape);
	q->observer = lasack_observer_alloc();
	KUNIT_ASSERT_NOT_NULL(test, q->observer);
	lasack_queue_set_floor(q, percent);
	return q;
}

static inline void begin_hearing(struct kunit *test)
{
	begin_hearing_with(test, 0);
}

static inline void hear(struct kunit *test, struct tcp_segment seg, u64 station)
{
	struct lasack_queue *q = test->priv;

	lasack_observer_note_tcp(q->observer, &seg, station, seg.payload, NULL);
}

/* Somebody is there, or all ACKs are believed. */
static inline void hear_anything(struct kunit *test)
{
	hear(test, ack(3, 1), OTHER);
}

/* The station begins connection @id. */
static inline void ask(struct kunit *test, u32 id)
{
	struct tcp_segment syn = data(id, 0);

	syn.syn = 1;
	hear(test, syn, STATION);
}

/* A datagram of flow @id, up or down. */
static inline struct tcp_segment datagram(u32 id, u32 payload)
{
	struct tcp_segment seg = data(id, payload);

	seg.class = SEGMENT_PORTS;
	seg.key.class = SEGMENT_PORTS;
	seg.key.protocol = IPPROTO_UDP;
	return seg;
}

/* The station that add() sends its packets to. Return: whether it is told to send less. */
static inline bool comes_in(struct kunit *test, struct tcp_segment seg)
{
	struct lasack_queue *q = test->priv;
	const u8 address[ETH_ALEN] = { 2, [5] = be16_to_cpu(seg.key.port[0]) % 8 };

	return lasack_observer_note(q->observer, &seg, ether_addr_to_u64(address));
}

#endif
