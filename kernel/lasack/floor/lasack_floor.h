/* SPDX-License-Identifier: GPL-2.0-only */
/* A share of the service for flows that starve. See lasack_floor.c. */
#ifndef LASACK_FLOOR_H
#define LASACK_FLOOR_H

#include "lasack/lasack_state.h"

/*
 * A flow starves if its last packet has waited for so long when another one comes: 0.3 s, in units
 * of a packet's arrival. TCP times out after 0.2 s and the round-trip time (RFC 6298 and Linux).
 */
#define LASACK_FLOOR_WAIT	((u32)(300ULL * NSEC_PER_MSEC >> LASACK_ARRIVAL_SHIFT))

u32 lasack_service(const struct sk_buff *skb);
void lasack_floor_ask(struct lasack_queue *q, struct lasack_flow *flow);
void lasack_floor_began(struct lasack_queue *q, const struct lasack_flow *flow);
void lasack_floor_ended(struct lasack_queue *q, const struct lasack_flow *flow);
void lasack_floor_back(const struct lasack_queue *q, struct lasack_flow *flow);
struct lasack_flow *lasack_floor_first(struct lasack_queue *q, const struct lasack_flow *least);
void lasack_floor_note(struct lasack_queue *q, struct lasack_flow *flow, bool by_floor);
void lasack_floor_clear(struct lasack_queue *q);

/**
 * lasack_floor_before() - the flow that is served though others have had less
 * @q: the queue
 * @least: the flow with the least sum
 *
 * Return: the flow, which has packets, or NULL: none starves, or nothing is left to serve it with.
 */
static inline struct lasack_flow *lasack_floor_before(struct lasack_queue *q,
						      const struct lasack_flow *least)
{
	if (likely(!lasack_flow_level(q, least)->floor.count))
		return NULL;
	return lasack_floor_first(q, least);
}

/* A packet is about to join the flow. */
static inline void lasack_floor_came(struct lasack_queue *q, struct lasack_flow *flow)
{
	u32 now = q->now >> LASACK_ARRIVAL_SHIFT;

	if (!flow->head) {
		if (unlikely(!flow->served))
			lasack_floor_began(q, flow);
	} else if (unlikely(now - lasack_cb(flow->tail)->arrival >= LASACK_FLOOR_WAIT)) {
		lasack_floor_ask(q, flow);
	}
}

#endif
