/* SPDX-License-Identifier: GPL-2.0-only */
/* The FIFOs that the classes of ackwrr have by default: ackwrr_fifo.c. */
#ifndef LASACK_ACKWRR_FIFO_H
#define LASACK_ACKWRR_FIFO_H

#include <linux/types.h>

struct Qdisc;
struct ackwrr_flow;
struct ackwrr_moved;
struct ackwrr_sched_data;
struct sk_buff;
struct tcp_segment;

int ackwrr_fifo_enqueue(struct sk_buff *skb, struct Qdisc *sch, int class,
			struct ackwrr_flow *flow, const struct tcp_segment *seg,
			struct sk_buff **to_free);
struct sk_buff *ackwrr_fifo_dequeue(struct ackwrr_sched_data *q, int class);
struct ackwrr_flow *ackwrr_fifo_taken(struct ackwrr_sched_data *q, int class,
				      struct sk_buff *skb, struct ackwrr_moved *moved);
int ackwrr_fifo_first_come(struct ackwrr_sched_data *q);
void ackwrr_fifo_forget_flows(struct ackwrr_sched_data *q);
void ackwrr_fifo_set_limits(struct ackwrr_sched_data *q);
u32 ackwrr_fifo_segments(const struct ackwrr_sched_data *q, int class);
void ackwrr_fifo_trim(struct Qdisc *sch);

#endif
