/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many bytes a packet is charged, and to which flow and station. See lasack_charge.c.
 */
#ifndef LASACK_CHARGE_H
#define LASACK_CHARGE_H

#include "lasack/lasack_state.h"

/* An ACK is believed at once if it acknowledges so many bytes at most. */
#define LASACK_BELIEVED	(128U << 10)
/* An ordinary ACK acknowledges no more. */
#define LASACK_ORDINARY	(8U << 10)
/* So much of what waiting ACKs acknowledge beyond that, is charged at once; the rest when sent. */
#define LASACK_PENDING	(96U << 10)
/*
 * While they acknowledge more than so much beyond that, larger ones are not believed. 802.11n needs
 * more than half of it. With twice as much, a burst of forged ACKs would delay its victim by 380 kB
 * of others' data.
 */
#define LASACK_PENDING_MOST	(2048U << 10)
/* After a pause this long a SYN begins a new life; in the table's time. */
#define LASACK_PAUSE	(NSEC_PER_SEC >> FLOW_TIME_SHIFT)
/* What may be given back is counted in units of so many bytes. */
#define LASACK_REFUND_UNIT	256U

/* An ordinary ACK of the flow acknowledges no more bytes. */
static inline u32 lasack_flow_ordinary(const struct lasack_flow *flow)
{
	return LASACK_ORDINARY << flow->ack_scale;
}

u64 lasack_flow_sum_in_all(const struct lasack_queue *q, const struct lasack_flow *flow);
void lasack_flow_new_life(struct lasack_queue *q, struct lasack_flow *flow);
u32 lasack_flow_cost(const struct lasack_queue *q, struct lasack_flow *flow,
		     const struct sk_buff *skb, u32 payload, u32 acked);
void lasack_flow_charge_acked(struct lasack_queue *q, struct lasack_flow *flow, u32 bytes);
void lasack_flow_charge_sent(struct lasack_queue *q, struct lasack_flow *flow,
			     const struct lasack_skb_cb *cb);
void lasack_flow_settle_all(struct lasack_queue *q, struct lasack_flow *flow);
void lasack_flow_take_back(struct lasack_queue *q, struct lasack_flow *flow, u32 bytes);
bool lasack_flow_may_take_back(struct lasack_queue *q, const struct lasack_flow *flow, u32 bytes);
void lasack_flow_lost_last(struct lasack_queue *q, struct lasack_flow *flow);

#endif
