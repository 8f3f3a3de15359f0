/* SPDX-License-Identifier: GPL-2.0-only */
/* A call goes before what its station asks for meanwhile. See lasack_call.c. */
#ifndef LASACK_CALL_H
#define LASACK_CALL_H

#include <linux/in.h>
#include <linux/minmax.h>
#include "lasack/lasack_state.h"

/* A flow that has had a queue for so long is no call: four seconds. */
#define LASACK_CALL_BACKLOG	((u32)(4ULL * NSEC_PER_SEC >> FLOW_TIME_SHIFT))
/*
 * A flow that is new, or that nobody asked for, is a call only if its station has sent so many
 * bytes, and this part of what sending to it was charged. A client begins a page over QUIC with one
 * or two packets of 1200 bytes.
 */
#define LASACK_CALL_LEAST	3000
#define LASACK_CALL_PART	24
/* If its station sends so many times what it gets, it is an upload. */
#define LASACK_CALL_UPLOAD	16
/* Of what their station gets, calls may have one byte in so many before others, */
#define LASACK_CALL_SHARE	4
/* and so many at once. */
#define LASACK_CALL_MOST	(128 << 10)

/*
 * Without a quantum: bytes that a station may be ahead of others for a packet that comes out of
 * turn, and that the packet's flow must have had less than its station's others. An upload is
 * charged for its ACKs when they come. At 4 Mb/s with a target of 100 ms, that puts its station 50
 * kB ahead of others, and it waits until they have had as much.
 */
#define LASACK_CALL_AHEAD	(64U << 10)
#define LASACK_CALL_LESS	(16U << 10)

void lasack_call_joined_station(struct lasack_queue *q, struct lasack_flow *flow);
bool lasack_datagram_came(struct lasack_queue *q, struct lasack_flow *flow);
bool lasack_datagram_sent(struct lasack_queue *q, struct lasack_flow *flow, u32 cost);

/* Old downloads of TCP are often empty, as calls are. So only datagrams are a call. */
static inline bool lasack_is_datagrams(const struct lasack_flow *flow)
{
	return flow->entry.key.protocol != IPPROTO_TCP;
}

/* The flow has its first packet, and is in the order. It is not of control packets. */
static inline void lasack_call_joined(struct lasack_queue *q, struct lasack_flow *flow)
{
	if (q->shape.by_station)
		lasack_call_joined_station(q, flow);
}

/* A packet of the flow has come. Return: whether its sum is less now. */
static inline bool lasack_call_came(struct lasack_queue *q, struct lasack_flow *flow)
{
	return unlikely(lasack_is_datagrams(flow)) && lasack_has_station(q, flow) &&
	       lasack_datagram_came(q, flow);
}

/* A packet of the flow was sent and charged, @cost bytes. Return: whether its sum is less now. */
static inline bool lasack_call_sent(struct lasack_queue *q, struct lasack_flow *flow, u32 cost)
{
	struct lasack_level *level;

	if (!lasack_has_station(q, flow))
		return false;
	level = lasack_flow_level(q, flow);
	level->call_left = min_t(s32, level->call_left + cost / LASACK_CALL_SHARE,
				 LASACK_CALL_MOST);
	return unlikely(lasack_is_datagrams(flow)) && lasack_datagram_sent(q, flow, cost);
}

#endif
