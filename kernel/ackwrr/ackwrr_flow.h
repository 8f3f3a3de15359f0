/* SPDX-License-Identifier: GPL-2.0-only */
/* A connection that "weights auto" knows, and the table of them: ackwrr_flow.c. */
#ifndef LASACK_ACKWRR_FLOW_H
#define LASACK_ACKWRR_FLOW_H

#include <linux/build_bug.h>
#include <linux/types.h>
#include "ackwrr/ackwrr_activity.h"
#include "ackwrr/ackwrr_round.h"
#include "common/flow_table.h"

struct sk_buff;

/* More than can count: those of both classes never take every place. */
#define ACKWRR_FLOWS	1024

/*
 * ackwrr_fifo.c alone writes acks and the three packets, and counts waiting: of a packet that
 * has left the FIFO, no pointer is kept. ackwrr_turn.c writes credit, next_turn and in_turns,
 * ackwrr_flows.c the rest. Before a place is given away, ackwrr_flow_settle() asks them all.
 */
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
	u32			last_sent[2];	/* the last ACK number sent, by direction */
	u32			released;	/* bytes on their way */
	u64			released_at;	/* ns: of released */
	s32			credit;		/* bytes of its turn, see ackwrr_turn.c */
	u32			next_turn:18,	/* the place, from 1, of whose turn is next */
				in_turns:1,
				ack_seen:2,	/* bit: last_ack[direction] is valid */
				doubted:2,	/* bit: the candidate is of that direction */
				strangers:3,	/* ACKs near the candidate before it */
				sent:2;		/* bit: last_sent[direction] is valid */
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

/* The flow in a place, counted from 0. */
static inline struct ackwrr_flow *ackwrr_flow_at(const struct ackwrr_flows *flows, u32 number)
{
	return (struct ackwrr_flow *)flow_table_place(flows->table, number);
}

void ackwrr_flow_settle(struct ackwrr_flows *flows, struct ackwrr_flow *flow);
void ackwrr_flow_left(struct ackwrr_flows *flows, struct ackwrr_flow *flow);

#endif
