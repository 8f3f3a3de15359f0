/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Follow the packets below a queue discipline until they are freed, and hold
 * the discipline back while there are too many of them. See tracker.c.
 */
#ifndef LASACK_INFLIGHT_H
#define LASACK_INFLIGHT_H

#include <linux/netdevice.h>
#include <linux/types.h>
#include <net/netlink.h>
#include <net/sch_generic.h>
#include "uapi/pkt_sch_inflight.h"

struct inflight;

struct inflight *inflight_create(struct Qdisc *sch, u32 limit);
void inflight_release(struct inflight *inf);
void inflight_set_limit(struct inflight *inf, u32 limit);
u32 inflight_limit(const struct inflight *inf);
u32 inflight_default_limit(const struct Qdisc *sch);
void inflight_set_stall(struct inflight *inf, u32 ms);
u32 inflight_stall(const struct inflight *inf);
void inflight_read(struct inflight *inf, struct tc_inflight_xstats *st);

int inflight_parse_bound(const struct nlattr *attr, u32 *limit,
			 struct netlink_ext_ack *extack);

bool inflight_has_room(struct inflight *inf);
bool inflight_passes(struct inflight *inf, const struct sk_buff *skb);
void inflight_track(struct inflight *inf, struct sk_buff *skb);
u32 inflight_run_bytes(const struct inflight *inf);
bool inflight_must_segment(const struct inflight *inf, struct sk_buff *skb);

/* Is the next packet one that needs no room? */
static inline bool inflight_next_passes(struct Qdisc *sch, struct inflight *inf,
					const struct sk_buff *(*next)(struct Qdisc *sch))
{
	const struct sk_buff *skb = next ? next(sch) : NULL;

	return skb && inflight_passes(inf, skb);
}

/**
 * inflight_serve() - the dequeue of a qdisc with a bound
 * @sch: the qdisc
 * @inf: its tracker
 * @choose: takes the next packet out of the qdisc's own queue, or finds none;
 *	    the counts of @sch are kept here
 * @next: finds the same packet, or NULL, and leaves it there. With it urgent packets are
 *	  served also when there is no room. May be NULL.
 *
 * Return: the packet, or NULL: none, or no room below.
 */
static inline struct sk_buff *inflight_serve(struct Qdisc *sch, struct inflight *inf,
					     struct sk_buff *(*choose)(struct Qdisc *sch),
					     const struct sk_buff *(*next)(struct Qdisc *sch))
{
	struct sk_buff *skb;

	if (!sch->q.qlen)
		return NULL;
	if (!inflight_has_room(inf) && !inflight_next_passes(sch, inf, next)) {
		qdisc_qstats_overlimit(sch);
		return NULL;
	}
	skb = choose(sch);
	if (!skb)
		return NULL;
	qdisc_bstats_update(sch, skb);
	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_qlen_dec(sch);
	inflight_track(inf, skb);
	return skb;
}

#endif
