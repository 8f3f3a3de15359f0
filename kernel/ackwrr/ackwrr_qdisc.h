/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an ackwrr discipline holds, for its packets (sch_ackwrr.c), its FIFOs
 * (ackwrr_fifo.c) and its classes (ackwrr_class.c).
 *
 * Principle: a class has a FIFO of ours, which counts its limit and its drops,
 * or a child that somebody attached, which does as it likes.
 */
#ifndef LASACK_ACKWRR_QDISC_H
#define LASACK_ACKWRR_QDISC_H

#include <linux/types.h>
#include <net/pkt_cls.h>
#include <net/sch_generic.h>
#include "ackwrr/ackwrr_flows.h"
#include "ackwrr/ackwrr_round.h"
#include "ackwrr/ackwrr_share.h"
#include "common/tcp_segment.h"
#include "inflight/inflight.h"

struct ackwrr_class {
	struct Qdisc	*child;
	bool		own_child;	/* the FIFO of default: "limit" is for it */
};

struct ackwrr_sched_data {
	struct tcf_proto __rcu	*filter_list;
	struct tcf_block	*block;

	struct ackwrr_class	classes[ACKWRR_CLASSES];
	struct ackwrr_round	round;	/* with weights of 0: auto */
	struct ackwrr_flows	flows;	/* there once it was auto */
	struct ackwrr_share	share;
	bool			timed;	/* a packet came since the last one went */
	u32			arrivals;
	u32			limit;	/* packets, of each FIFO of default */
	struct inflight		*below;
	u64			packets[__SEGMENT_CLASSES];	/* that came, by class of segment */
	u64			purged;	/* packets given up by a reset */
};

static inline bool ackwrr_is_auto(const struct ackwrr_sched_data *q)
{
	return q->round.weights[ACKWRR_DATA] == TC_ACKWRR_AUTO;
}

/* With auto the FIFO of ACKs is kept short, connection by connection. */
static inline bool ackwrr_is_counted(const struct ackwrr_sched_data *q, int class)
{
	return class == ACKWRR_ACK && ackwrr_is_auto(q) && q->classes[class].own_child;
}

#endif
