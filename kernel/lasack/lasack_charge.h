/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many bytes a packet is charged, and to which flow and station. See lasack_charge.c.
 */
#ifndef LASACK_CHARGE_H
#define LASACK_CHARGE_H

#include "lasack/lasack_state.h"

/* The credit of all newcomers together: their sum is less by so many bytes. */
#define LASACK_CREDIT	65535U
/* A flow that has paused: its sum is at most so many bytes below the largest. */
#define LASACK_LAG	(1024U << 10)
/* An ACK is believed if its number is at most so many bytes ahead of the last, or behind. */
#define LASACK_BELIEVED	(192U << 10)
/* And if all ACKs of its flow that wait acknowledge at most so many bytes together. */
#define LASACK_PENDING	(1024U << 10)
/* After a pause this long a SYN begins a new life; in the table's time. */
#define LASACK_PAUSE	(NSEC_PER_SEC >> FLOW_TIME_SHIFT)
/*
 * The paper's rules believe whatever the largest window that TCP can offer allows
 * (RFC 7323, 2.3: 65535 << 14 bytes).
 */
#define LASACK_MAX_ACKED	(65535U << 14)

struct lasack_level *lasack_flow_level(struct lasack_queue *q, const struct lasack_flow *flow);
void lasack_flow_begin(struct lasack_queue *q, struct lasack_flow *flow,
		       const struct sk_buff *skb);
void lasack_flow_new_life(struct lasack_queue *q, struct lasack_flow *flow);
u32 lasack_flow_acked(struct lasack_queue *q, struct lasack_flow *flow,
		      const struct tcp_segment *seg);
u32 lasack_flow_cost(const struct lasack_queue *q, struct lasack_flow *flow,
		     const struct sk_buff *skb, u32 payload, u32 acked);
void lasack_flow_admit_newcomer(struct lasack_queue *q, struct lasack_flow *flow, u32 bytes);
void lasack_flow_readmit(struct lasack_queue *q, struct lasack_flow *flow, u32 bytes);
void lasack_flow_charge_acked(struct lasack_queue *q, struct lasack_flow *flow, u32 bytes);
void lasack_flow_charge_sent(struct lasack_queue *q, struct lasack_flow *flow, u32 bytes);

/* The packet waits from now on: @bytes is what it is charged with in all. */
static inline void lasack_flow_admit(struct lasack_queue *q, struct lasack_flow *flow, u32 bytes)
{
	if (flow->account.credit || q->shape.by_station)
		lasack_flow_admit_newcomer(q, flow, bytes);
}

#endif
