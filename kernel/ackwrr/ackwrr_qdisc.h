/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an ackwrr discipline holds, for its packets (sch_ackwrr.c) and for its
 * classes (ackwrr_class.h).
 *
 * Principle: a class has a FIFO of ours, which counts its limit and its drops,
 * or a child that somebody attached, which does as it likes.
 */
#ifndef LASACK_ACKWRR_QDISC_H
#define LASACK_ACKWRR_QDISC_H

#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <linux/types.h>
#include <net/pkt_cls.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>
#include "ackwrr/ackwrr_flows.h"
#include "ackwrr/ackwrr_round.h"
#include "ackwrr/ackwrr_share.h"
#include "common/fifo_child.h"
#include "inflight/inflight.h"
#include "common/tcp_segment.h"

struct ackwrr_class {
	struct Qdisc	*child;
	bool		own_child;	/* the FIFO of default: "limit" is for it */
};

/* In a FIFO of default, which uses none of it. */
struct ackwrr_skb_cb {
	u64	arrival;	/* no two the same */
};

struct ackwrr_sched_data {
	struct tcf_proto __rcu	*filter_list;
	struct tcf_block	*block;

	struct ackwrr_class	classes[ACKWRR_CLASSES];
	struct ackwrr_round	round;	/* with weights of 0: auto */
	struct ackwrr_flows	flows;	/* there once it was auto */
	struct ackwrr_share	share;
	u64			arrivals;
	u32			limit;	/* packets, of each FIFO of default */
	struct inflight		*below;
	u64			packets[__SEGMENT_CLASSES];	/* that came, by class of segment */
	u64			purged;	/* packets given up by a reset */
};

static inline struct ackwrr_skb_cb *ackwrr_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct ackwrr_skb_cb));
	return (struct ackwrr_skb_cb *)qdisc_skb_cb(skb)->data;
}

static inline bool ackwrr_is_auto(const struct ackwrr_sched_data *q)
{
	return q->round.weights[ACKWRR_DATA] == TC_ACKWRR_AUTO;
}

/* With auto the FIFO of ACKs is kept short, connection by connection. */
static inline bool ackwrr_is_counted(const struct ackwrr_sched_data *q, int class)
{
	return class == ACKWRR_ACK && ackwrr_is_auto(q) && q->classes[class].own_child;
}

/* Are both children ours? Then their heads can be looked at, and were numbered. */
static inline bool ackwrr_is_fifo(const struct ackwrr_sched_data *q)
{
	return q->classes[ACKWRR_DATA].own_child && q->classes[ACKWRR_ACK].own_child;
}

static inline void ackwrr_set_limits(struct ackwrr_sched_data *q)
{
	int i;

	for (i = 0; i < ACKWRR_CLASSES; i++) {
		if (q->classes[i].own_child)
			WRITE_ONCE(q->classes[i].child->limit,
				   q->limit + (ackwrr_is_counted(q, i) ? ACKWRR_FLOWS : 0));
	}
}

/* A smaller limit takes the oldest packets. The parents are told once. */
static inline void ackwrr_trim(struct Qdisc *sch)
{
	struct ackwrr_sched_data *q = qdisc_priv(sch);
	unsigned int packets = 0, bytes = 0;
	struct sk_buff *skb;
	int i;

	for (i = 0; i < ACKWRR_CLASSES; i++) {
		struct Qdisc *child = q->classes[i].child;

		while (q->classes[i].own_child && child->q.qlen > q->limit) {
			skb = qdisc_dequeue_peeked(child);
			if (!skb)
				break;
			packets++;
			bytes += qdisc_pkt_len(skb);
			qdisc_qstats_drop(child);
			qdisc_qstats_drop(sch);
			rtnl_kfree_skbs(skb, skb);
		}
	}
	if (!packets)
		return;
	sch->q.qlen -= packets;
	sch->qstats.backlog -= bytes;
	qdisc_tree_reduce_backlog(sch, packets, bytes);
}

#endif
