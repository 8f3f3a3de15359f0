/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A class has a child discipline: a bounded FIFO until the user attaches
 * another.
 *
 * Principle: a class is never without a child. Where not even a FIFO can be
 * had it is noop_qdisc, which drops. A child may push out its only packet for
 * the one that arrives: its parent must not look empty meanwhile.
 */
#ifndef LASACK_FIFO_CHILD_H
#define LASACK_FIFO_CHILD_H

#include <linux/err.h>
#include <linux/prefetch.h>
#include <linux/skbuff.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>
#include "common/gso_enqueue.h"

/**
 * fifo_child_create() - the FIFO a class has by default
 * @sch: the parent
 * @class: minor number of the class
 * @limit: packets, at least 1
 * @extack: says why it cannot be had
 *
 * Return: the FIFO, to be given to qdisc_put(), or an ERR_PTR.
 */
static inline struct Qdisc *fifo_child_create(struct Qdisc *sch, u32 class, u32 limit,
					      struct netlink_ext_ack *extack)
{
	struct Qdisc *child = qdisc_create_dflt(sch->dev_queue, &pfifo_qdisc_ops,
						TC_H_MAKE(sch->handle, class), extack);

	if (!child)
		return ERR_PTR(-ENOMEM);
	/* What its change() would do, but that cannot fail. */
	WRITE_ONCE(child->limit, limit);
	qdisc_hash_add(child, true);
	return child;
}

/**
 * fifo_child_graft() - another child for a class
 * @sch: the parent
 * @class: minor number of the class
 * @limit: packets of the FIFO there is without a child
 * @new: the child, or NULL: a FIFO again
 * @child: where it goes
 *
 * Return: the child it had, for the caller to put.
 */
static inline struct Qdisc *fifo_child_graft(struct Qdisc *sch, u32 class, u32 limit,
					     struct Qdisc *new, struct Qdisc **child)
{
	if (!new)
		new = fifo_child_create(sch, class, limit, NULL);
	if (IS_ERR(new))
		new = &noop_qdisc;
	return qdisc_replace(sch, new, child);
}

/**
 * child_enqueue() - a packet for a child, and the parent's counts of it
 * @skb: the packet
 * @sch: the parent
 * @child: the child
 * @to_free: list of packets to free after the lock is released
 *
 * Return: NET_XMIT_*, as Qdisc_ops.enqueue.
 */
static inline int child_enqueue(struct sk_buff *skb, struct Qdisc *sch,
				struct Qdisc *child, struct sk_buff **to_free)
{
	unsigned int len = qdisc_pkt_len(skb);
	bool was_empty = !sch->q.qlen;
	u32 segs = gso_segments(skb);
	int ret;

	qdisc_qlen_inc(sch);
	qstats_backlog_add(sch, len);
	ret = qdisc_enqueue(skb, child, to_free);
	if (likely(ret == NET_XMIT_SUCCESS))
		return ret;

	qdisc_qlen_dec(sch);
	qstats_backlog_sub(sch, len);
	if (net_xmit_drop_count(ret))
		__qdisc_qstats_drop(sch, segs);
	/* Nothing left of what was there: the parent has not heard of that yet. */
	if (!was_empty && !sch->q.qlen)
		qdisc_tree_reduce_backlog(sch, 0, 0);
	return ret;
}

/**
 * fifo_child_prefetch() - fetch what the next packets' way out will touch
 * @fifo: a FIFO of fifo_child_create(), a packet of which has just been taken
 *
 * Many packets wait longer than the cache remembers them. What is fetched for the next but one
 * is the packet itself, so that for the next the packet can tell where its data are. Always inline:
 * GCC drops a call that does nothing but prefetch.
 */
static __always_inline void fifo_child_prefetch(const struct Qdisc *fifo)
{
	const struct sk_buff *skb = fifo->q.head;

	if (!skb)
		return;
	prefetch(skb->data);
	prefetch(skb_shinfo(skb));
	skb = skb->next;
	if (!skb)
		return;
	prefetchw(skb);
	prefetchw(&skb->destructor);
	prefetch(&skb->head);
	prefetch(&skb->data);
}

#endif
