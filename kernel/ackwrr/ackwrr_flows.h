/* SPDX-License-Identifier: GPL-2.0-only */
/* The connections that "weights auto" knows: ackwrr_flows.c. */
#ifndef LASACK_ACKWRR_FLOWS_H
#define LASACK_ACKWRR_FLOWS_H

#include <linux/list.h>
#include <linux/siphash.h>
#include <linux/types.h>
#include "ackwrr/ackwrr_activity.h"
#include "ackwrr/ackwrr_round.h"
#include "ackwrr/ackwrr_share.h"
#include "common/tcp_segment.h"

#define ACKWRR_FLOWS	1024

struct sk_buff;

struct ackwrr_flow {
	struct hlist_node	hash_node;
	struct list_head	line;		/* of ackwrr_flows, or none while packets wait */
	struct segment_key	key;
	u32			waiting;	/* packets that wait in our FIFOs */

	u32			acks;		/* of these, pure ACKs in the FIFO of ACKs */
	struct sk_buff		*oldest_ack;	/* if there are any */
	struct sk_buff		*newest_ack;

	u32			last_ack[2];	/* by direction of the ACK */
	u8			ack_seen;	/* bit: last_ack[direction] is valid */
	bool			sent;		/* last_sent is valid */
	u32			last_sent;	/* the last ACK number sent */
	u32			released;	/* bytes on their way */
	u64			released_at;	/* ns: of released */
	struct ackwrr_activity	activity[ACKWRR_CLASSES];
};

struct ackwrr_flows {
	struct ackwrr_flow	*places;	/* ACKWRR_FLOWS of them */
	struct hlist_head	*buckets;
	siphash_key_t		hash_key;
	struct ackwrr_active	active[ACKWRR_CLASSES];

	struct list_head	unused;		/* places that are nobody's */
	struct list_head	uncounted;	/* reused next, by the time of their last packet */
	struct list_head	counted;	/* reused last, by that time */

	u32			known;
	u64			evicted;	/* connections that made room */
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

struct ackwrr_flow *ackwrr_flows_find(struct ackwrr_flows *flows,
				      const struct tcp_segment *seg);
struct ackwrr_flow *ackwrr_flows_arrive(struct ackwrr_flows *flows,
					struct ackwrr_share *share,
					const struct tcp_segment *seg, u64 now);
void ackwrr_flows_advance(struct ackwrr_flows *flows, struct ackwrr_share *share, u64 now);
void ackwrr_flows_sent(struct ackwrr_flows *flows, struct ackwrr_share *share,
		       struct ackwrr_flow *flow, const struct ackwrr_moved *moved, u64 now);
void ackwrr_flow_waits(struct ackwrr_flow *flow);
void ackwrr_flow_left(struct ackwrr_flows *flows, struct ackwrr_flow *flow);

#endif
