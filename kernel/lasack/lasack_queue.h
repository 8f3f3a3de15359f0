/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queue of LAS-ACK. See lasack_queue.c; creating and rebuilding it is in
 * lasack_rebuild.c.
 */
#ifndef LASACK_QUEUE_H
#define LASACK_QUEUE_H

#include "lasack/lasack_state.h"

struct tcp_segment;

struct lasack_queue *lasack_queue_create(const struct lasack_shape *shape);
void lasack_queue_forget(struct lasack_queue *q);
void lasack_queue_free(struct lasack_queue *q);
void lasack_queue_take_over(struct lasack_queue *q, struct lasack_queue *from);

void lasack_queue_advance(struct lasack_queue *q, u64 now);
void lasack_queue_set_halflife(struct lasack_queue *q, u64 halflife);
void lasack_queue_set_floor(struct lasack_queue *q, u32 percent);

struct lasack_flow *lasack_queue_flow(struct lasack_queue *q, const struct tcp_segment *seg,
				      u64 station);
struct lasack_flow *lasack_queue_add(struct lasack_queue *q, struct sk_buff *skb,
				     const struct tcp_segment *seg);
void lasack_queue_add_more(struct lasack_queue *q, struct lasack_flow *flow,
			   struct sk_buff *skb, const struct tcp_segment *seg, u32 payload);
struct sk_buff *lasack_queue_serve(struct lasack_queue *q);
const struct sk_buff *lasack_queue_next(struct lasack_queue *q);
struct sk_buff *lasack_queue_push_out(struct lasack_queue *q);

u64 lasack_queue_percentile(const struct lasack_queue *q, u32 percent);

#endif
