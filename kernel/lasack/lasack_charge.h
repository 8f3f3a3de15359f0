/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many bytes a packet is charged, and to which flow and station. See lasack_charge.c.
 */
#ifndef LASACK_CHARGE_H
#define LASACK_CHARGE_H

#include "lasack/lasack_state.h"

/* An ACK is believed at once if it acknowledges so many bytes at most. */
#define LASACK_BELIEVED	(128U << 10)
/* One that is so far behind was overtaken by another. */
#define LASACK_OVERTAKEN	(64U << 10)
/* With another near it, one is believed that acknowledges so much: a window, after a loss. */
#define LASACK_WINDOW	(8U << 20)
/* After so many more that are near each other, counting begins anew there. */
#define LASACK_STRANGERS	7
/* An ordinary ACK acknowledges no more. */
#define LASACK_ORDINARY	(8U << 10)
/* So much of what waiting ACKs acknowledge beyond that, is charged at once; the rest when sent. */
#define LASACK_PENDING	(96U << 10)
/* After a pause this long a SYN begins a new life; in the table's time. */
#define LASACK_PAUSE	(NSEC_PER_SEC >> FLOW_TIME_SHIFT)
/*
 * The paper's rules believe whatever the largest window that TCP can offer allows
 * (RFC 7323, 2.3: 65535 << 14 bytes).
 */
#define LASACK_MAX_ACKED	(65535U << 14)

u64 lasack_flow_sum_in_all(const struct lasack_queue *q, const struct lasack_flow *flow);
void lasack_flow_new_life(struct lasack_queue *q, struct lasack_flow *flow);
u32 lasack_flow_acked(struct lasack_queue *q, struct lasack_flow *flow,
		      const struct tcp_segment *seg);
u32 lasack_flow_cost(const struct lasack_queue *q, struct lasack_flow *flow,
		     const struct sk_buff *skb, u32 payload, u32 acked);
void lasack_flow_charge_acked(struct lasack_queue *q, struct lasack_flow *flow, u32 bytes);
void lasack_flow_charge_sent(struct lasack_queue *q, struct lasack_flow *flow,
			     const struct lasack_skb_cb *cb);
void lasack_flow_lost_last(struct lasack_queue *q, struct lasack_flow *flow);

#endif
