/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who is served next, and who loses a packet. See lasack_order.c.
 */
#ifndef LASACK_ORDER_H
#define LASACK_ORDER_H

#include "lasack/lasack_state.h"

void lasack_order_join(struct lasack_queue *q, struct lasack_flow *flow);
void lasack_order_leave(struct lasack_queue *q, struct lasack_flow *flow);
void lasack_order_changed_slow(struct lasack_queue *q, struct lasack_flow *flow);
void lasack_order_lowered(struct lasack_queue *q, struct lasack_flow *flow);

struct lasack_flow *lasack_order_next(struct lasack_queue *q, bool *by_floor);
struct lasack_flow *lasack_order_first(struct lasack_queue *q);
struct lasack_flow *lasack_order_worst(struct lasack_queue *q);

bool lasack_station_mend(struct lasack_queue *q, struct lasack_station *station,
			 struct lasack_flow *flow);

void lasack_order_drop(struct lasack_queue *q);
void lasack_order_drop_no_more(struct lasack_queue *q);

static inline struct lasack_node *lasack_node_of(struct rb_node *node)
{
	return rb_entry(node, struct lasack_node, node);
}

/* The flow whose place in its station's order @node is. */
static inline struct lasack_flow *lasack_flow_of(const struct lasack_queue *q,
						 struct rb_node *node)
{
	return lasack_flow_at(q, lasack_node_of(node)->flow);
}

/* The order to lose packets: who can spare one comes first; of these the largest sum. */
static inline u64 lasack_drop_key(bool can_spare, u64 sum)
{
	return LASACK_SUM_MAX - sum + (can_spare ? 0 : LASACK_SUM_MAX + 1);
}

/*
 * A flow with packets has a larger sum, or other packets. The order to serve is mended when it
 * matters.
 */
static inline void lasack_order_changed(struct lasack_queue *q, struct lasack_flow *flow)
{
	if (q->dropping)
		lasack_order_changed_slow(q, flow);
}

#endif
