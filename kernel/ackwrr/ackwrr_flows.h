/* SPDX-License-Identifier: GPL-2.0-only */
/* The connections that "weights auto" knows: ackwrr_flows.c. */
#ifndef LASACK_ACKWRR_FLOWS_H
#define LASACK_ACKWRR_FLOWS_H

#include <linux/build_bug.h>
#include <linux/types.h>
#include "ackwrr/ackwrr_activity.h"
#include "ackwrr/ackwrr_round.h"
#include "ackwrr/ackwrr_share.h"
#include "common/flow_table.h"
#include "common/tcp_segment.h"

/* More than can count: those of both classes never take every place. */
#define ACKWRR_FLOWS	1024

struct sk_buff;

struct ackwrr_flow {
	struct flow_entry	entry;	/* busy while packets wait, it counts or is in turns */
	u32			waiting;	/* packets that wait in our FIFOs */
	u32			acks;		/* of these, pure ACKs in the FIFO of ACKs */

	struct sk_buff		*oldest_ack;	/* if there are any */
	struct sk_buff		*newest_ack;
	struct sk_buff		*before_newest;	/* if there are two */
	u32			last_ack[2];	/* by direction of the ACK */
	u32			candidate;	/* an ACK number that was not believed */
	u32			unproven;	/* bytes its ACKs acknowledged, to be given back */
	u32			last_sent;	/* the last ACK number sent */
	u32			released;	/* bytes on their way */
	u64			released_at;	/* ns: of released */
	s32			credit;		/* bytes of its turn, see ackwrr_turn.c */
	u32			next_turn:18,	/* the place, from 1, of whose turn is next */
				in_turns:1,
				ack_seen:2,	/* bit: last_ack[direction] is valid */
				doubted:2,	/* bit: the candidate is of that direction */
				strangers:3,	/* ACKs near the candidate before it */
				sent:1;		/* last_sent is valid */
	struct ackwrr_activity	activity[ACKWRR_CLASSES];
} __aligned(256);

#define ACKWRR_FLOW_BITS	8	/* its size as a power of two */
static_assert(sizeof(struct ackwrr_flow) == 1 << ACKWRR_FLOW_BITS);
static_assert(ACKWRR_CLASSES * ACKWRR_COUNTED < ACKWRR_FLOWS);

struct ackwrr_flows {
	struct flow_table	*table;	/* there once it was auto */
	u64			now;	/* ns: of the latest packet */
	struct ackwrr_active	active[ACKWRR_CLASSES];
	struct flow_line	turns;	/* those whose ACKs wait */
	u64			overflow;	/* packets of connections there was no place for */
};

/* What a packet moves when it is sent. */
struct ackwrr_moved {
	u32	payload;	/* bytes */
	u32	ack_seq;	/* valid if ack */
	bool	ack;
};

int ackwrr_flows_init(struct ackwrr_flows *flows);
void ackwrr_flows_free(struct ackwrr_flows *flows);
void ackwrr_flows_clear(struct ackwrr_flows *flows);
void ackwrr_flows_advance(struct ackwrr_flows *flows, struct ackwrr_share *share, u64 now);

struct ackwrr_flow *ackwrr_flows_find(const struct ackwrr_flows *flows,
				      const struct tcp_segment *seg);
struct ackwrr_flow *ackwrr_flows_arrive(struct ackwrr_flows *flows,
					struct ackwrr_share *share, struct tcp_segment *seg);
void ackwrr_flows_sent(struct ackwrr_flows *flows, struct ackwrr_share *share,
		       struct ackwrr_flow *flow, const struct ackwrr_moved *moved);
void ackwrr_flow_settle(struct ackwrr_flows *flows, struct ackwrr_flow *flow);
void ackwrr_flow_left(struct ackwrr_flows *flows, struct ackwrr_flow *flow);

/* Was the ACK believed when the packet came? Else it would be further than the last that was. */
static inline bool ackwrr_flow_believed(const struct ackwrr_flow *flow,
					const struct tcp_segment *seg)
{
	return seg->ack && (s32)(seg->ack_seq - flow->last_ack[seg->reversed]) <= 0;
}

/* The flow in a place, counted from 0. */
static inline struct ackwrr_flow *ackwrr_flow_at(const struct ackwrr_flows *flows, u32 number)
{
	return (struct ackwrr_flow *)flow_table_place(flows->table, number);
}

#endif
