/* SPDX-License-Identifier: GPL-2.0-only */
/* What packets of numbered connections are, for the KUnit suites. */
#ifndef LASACK_TESTS_SEGMENTS_H
#define LASACK_TESTS_SEGMENTS_H

#include <linux/in.h>
#include "common/tcp_segment.h"

/* A segment of connection @id, in the direction of its data or of its ACKs. */
static inline struct tcp_segment data(u32 id, u32 payload)
{
	return (struct tcp_segment) {
		.key.port = { cpu_to_be16(id), cpu_to_be16(id >> 16) },
		.key.protocol = IPPROTO_TCP,
		.class = SEGMENT_TCP,
		.payload = payload,
	};
}

static inline struct tcp_segment ack(u32 id, u32 ack_seq)
{
	struct tcp_segment seg = data(id, 0);

	seg.ack = 1;
	seg.pure_ack = 1;
	seg.ack_seq = ack_seq;
	return seg;
}

#endif
