/* SPDX-License-Identifier: GPL-2.0-only */
/* Which ACKs are believed. See lasack_ack.c. */
#ifndef LASACK_ACK_H
#define LASACK_ACK_H

#include "lasack/lasack_state.h"

/* An ACK that is so far behind the position was overtaken by another. */
#define LASACK_OVERTAKEN	(64U << 10)
/* So many more ACKs elsewhere than near the position move it, if there were many near it. */
#define LASACK_VOTES	63

u32 lasack_flow_acked(struct lasack_queue *q, struct lasack_flow *flow,
		      const struct tcp_segment *seg, u64 station);

#endif
