/* SPDX-License-Identifier: GPL-2.0-only */
/* What the KUnit suites of traffic that is not TCP share: an observer, and datagrams. */
#ifndef LASACK_DATAGRAMS_H
#define LASACK_DATAGRAMS_H

#include <linux/etherdevice.h>
#include <linux/udp.h>
#include "lasack/tests/lasack_packets.h"

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

static inline void observe_test_exit(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	lasack_observer_free(q->observer);
	lasack_test_exit(test);
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
