/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is known of a flow, of a station and of a packet in the queue.
 */
#ifndef LASACK_FLOW_H
#define LASACK_FLOW_H

#include <linux/build_bug.h>
#include <linux/rbtree.h>
#include <linux/skbuff.h>
#include <net/sch_generic.h>
#include "common/flow_table.h"

/* Attained service. Flows and stations have one each. */
struct lasack_account {
	u64	sum;		/* bytes, see lasack_sum.c */
	u32	packets;	/* queued */
	u16	credit;		/* bytes until it is not a newcomer any more */
	u16	surplus;	/* charged by ACKs beyond what they cost, in units of 4 bytes */
};

/* Flows that starve, of those that compete with each other. See lasack_floor.c. */
#define LASACK_FLOOR_LINE	16

/* Flows that began lately, of those that compete with each other. */
#define LASACK_FLOOR_SAMPLES	16

struct lasack_floor {
	s64	credit;		/* bytes of who pays * percent; a byte costs 100 - percent */
	u32	count;
	struct {
		u32	flow;	/* its number */
		u32	had;	/* bytes of service in this turn */
		u32	since;	/* it has waited for its turn, as a packet's arrival */
	} line[LASACK_FLOOR_LINE]; /* but for the first, whoever has waited longest comes first */
	u32	in_full;	/* bytes that new flows will pay for in full */
	u32	samples;
	u32	missed;		/* so many have begun since the last of these */
	struct {
		u32	flow;	/* its number */
		u32	at;	/* it began, the queue's time */
		u32	stands_for; /* flows that began since the sample before */
	} sample[LASACK_FLOOR_SAMPLES]; /* the oldest comes first */
};

/* What accounts that compete with each other share: all stations, or the flows of one. */
struct lasack_level {
	u64	current_sum;	/* of the one that was served last */
	u64	high;		/* the largest that was */
	u64	high_was[2];	/* high, when it was looked at last, and the time before; or 0 */
	u32	looked_at;	/* the queue's time */
	bool	sparse;		/* the one that was served last had but one packet */
	s32	call_left;	/* bytes that calls may go ahead; if less than 0, they are none */
	u32	call_at;	/* when the call below was served last: the queue's time */
	u64	call;		/* the sum of a call, the largest that one had lately */
	u64	newcomers;	/* the sum that all newcomers together have attained */
	u64	opened;		/* likewise, in thirds, of connections that were opened lately */
	u64	solicited;	/* and in still smaller parts, of what a station asked for */
	struct lasack_floor	floor;
};

/* Two cache lines: the first finds the flow and its next packet. */
struct lasack_flow {
	struct flow_entry	entry;
	struct sk_buff		*head;		/* in order of arrival */

	struct sk_buff		*tail;
	struct lasack_account	account;
	u64			sent;		/* bytes charged, without decay: data */
	u64			received;	/* and what the other end had sent */
	u32			last_ack[2];	/* by direction; but see lasack_ack.c */
	u32			pending;	/* bytes, see lasack_charge.c */
	/* in units of 256 bytes */
	u16			refundable;	/* may be given back */
	u16			returned;	/* the position moved back by so much, */
	u16			prepaid;	/* of which so much was not given back */
	u8			ack_scale:3,	/* its ordinary ACKs: twice as large for each one */
				ack_score:5;	/* how many are larger than that, or much smaller */
	u8			votes;		/* for the position */
	u16			station:9,
				refunds:6,	/* modulo 2^6 */
				opened:1;	/* its credit is that of an opened connection */
	u8			ack_seen:2,	/* bit: this last_ack is valid */
				ack_reversed:1,	/* the position's direction */
				doubt_reversed:1, /* the candidate's */
				opening:1,	/* all it had in this life was a SYN */
				solicited:1;	/* its station asked for it */
	u8			shared:1,	/* not one connection: no ACK arithmetic */
				reversed:1,	/* the last packet came from key.addr[1] */
				starved:1,	/* stands in line for the floor */
				served:1,	/* in this life */
				is_new:1,	/* its sum is not set yet */
				spare:1,	/* counted as such by its station */
				aborted:1,	/* RST: forgotten once idle */
				control:1;	/* the shared one that comes first */
} __aligned(128);

#define LASACK_FLOW_BITS	7	/* its size as a power of two */
static_assert(sizeof(struct lasack_flow) == 1 << LASACK_FLOW_BITS);

/*
 * The paper's rules believe whatever the largest window that TCP can offer allows
 * (RFC 7323, 2.3: 65535 << 14 bytes).
 */
#define LASACK_MAX_ACKED	(65535U << 14)

/*
 * Payload of a datagram that has hardly anything in it but what QUIC acknowledges: less than this.
 * A WireGuard packet with a packet inside has 80 bytes or more, an OpenVPN one at least 64.
 */
#define LASACK_BRIEF		64

/* A packet's time of arrival, in units of 2^10 ns. */
#define LASACK_ARRIVAL_SHIFT	10

/* No packet costs more, bytes. */
#define LASACK_COST_MAX		((1U << 22) - 1)

/* What is kept with a packet until it is sent, in at most 20 bytes. */
struct lasack_skb_cb {
	u32	seq;		/* the order of arrival, modulo 2^32 */
	u32	arrival;	/* the queue's time in units of 2^10 ns */
	u32	memory;		/* truesize, bytes */
	u32	acked:31,	/* bytes it was the first to acknowledge */
		brief:1;	/* it hardly does anything but acknowledge */
	u32	cost:22,	/* bytes to charge when it is sent */
		refunds:6,	/* of its flow when it came */
		gso:1,		/* it has several segments */
		fin:1,
		rst:1,
		pure_ack:1;
};

static inline struct lasack_skb_cb *lasack_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct lasack_skb_cb));
	return (struct lasack_skb_cb *)qdisc_skb_cb(skb)->data;
}

/* Is it the flow of what other traffic cannot do without? */
static inline bool lasack_is_control(const struct lasack_flow *flow)
{
	return flow->control;
}

/* Bytes charged in this life. */
static inline u64 lasack_flow_bytes(const struct lasack_flow *flow)
{
	return flow->sent + flow->received;
}

#endif
