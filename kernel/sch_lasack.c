// SPDX-License-Identifier: GPL-2.0-only
/*
 * lasack: least attained service, acknowledgements charged with what they
 * acknowledge.
 *
 * Principle: on a half-duplex Wi-Fi cell an access point queues the data of
 * downloads and the ACKs of uploads. Bytes of ACKs are few, so any discipline
 * that counts bytes lets uploads win. Here a connection's sum counts the data
 * it sent through this queue and the data its ACKs acknowledged: the connection
 * with the least sum is served first, and when the queue is full a packet of
 * the one with the largest sum goes.
 *
 * Source: M. Heusse, G. Urvoy-Keller, A. Duda, "Layer 2 vs. Layer 3 Mechanisms
 * for Improving TCP Performance in 802.11 Wireless LANs", section III.
 * lasack_flow.h has the arithmetic, lasack_queue.h the order.
 */
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <linux/types.h>
#include <net/netlink.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>
#include "gso_enqueue.h"
#include "inflight.h"
#include "lasack_queue.h"
#include "tcp_segment.h"
#include "uapi/pkt_sch_lasack.h"

struct lasack_sched_data {
	struct lasack_queue	queue;
	struct inflight		*below;
	u64			pushed_out;
	u64			packets[__SEGMENT_CLASSES];	/* by class */
};

/* Takes the packet to be pushed out off the books; the caller frees it. */
static struct sk_buff *lasack_push_out(struct Qdisc *sch)
{
	struct lasack_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = lasack_queue_push_out(&q->queue);

	if (!skb)
		return NULL;
	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_qlen_dec(sch);
	q->pushed_out++;
	return skb;
}

static int lasack_enqueue_one(struct sk_buff *skb, struct Qdisc *sch,
			      struct sk_buff **to_free)
{
	struct lasack_sched_data *q = qdisc_priv(sch);
	struct tcp_segment seg;
	struct sk_buff *worst;
	unsigned int len;

	q->packets[tcp_segment_parse(skb, &seg)]++;
	lasack_queue_add(&q->queue, skb, &seg);
	qdisc_qstats_backlog_inc(sch, skb);
	qdisc_qlen_inc(sch);
	if (likely(sch->q.qlen <= sch->limit))
		return NET_XMIT_SUCCESS;

	worst = lasack_push_out(sch);
	len = qdisc_pkt_len(worst);
	qdisc_drop(worst, sch, to_free);
	/* The parents never counted the arriving packet: tell them nothing. */
	if (worst == skb)
		return NET_XMIT_CN;
	qdisc_tree_reduce_backlog(sch, 1, len);
	return NET_XMIT_SUCCESS;
}

static int lasack_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			  struct sk_buff **to_free)
{
	return gso_enqueue(skb, sch, to_free, lasack_enqueue_one);
}

static struct sk_buff *lasack_dequeue(struct Qdisc *sch)
{
	struct lasack_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb;

	if (!sch->q.qlen)
		return NULL;
	if (!inflight_has_room(q->below)) {
		qdisc_qstats_overlimit(sch);
		return NULL;
	}

	skb = lasack_queue_serve(&q->queue);
	if (!skb)
		return NULL;
	qdisc_bstats_update(sch, skb);
	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_qlen_dec(sch);
	inflight_track(q->below, skb);
	return skb;
}

static void lasack_reset(struct Qdisc *sch)
{
	struct lasack_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb;

	while ((skb = lasack_queue_serve(&q->queue)))
		rtnl_kfree_skbs(skb, skb);
	lasack_queue_forget(&q->queue);
}

static const struct nla_policy lasack_policy[TCA_LASACK_MAX + 1] = {
	[TCA_LASACK_LIMIT]	= { .type = NLA_U32 },
	[TCA_LASACK_INFLIGHT]	= { .type = NLA_U32 },
};

/* The parents are told once, of all packets that had to go. */
static void lasack_trim(struct Qdisc *sch)
{
	unsigned int packets = 0, bytes = 0;
	struct sk_buff *skb;

	while (sch->q.qlen > sch->limit) {
		skb = lasack_push_out(sch);
		if (!skb)
			break;
		packets++;
		bytes += qdisc_pkt_len(skb);
		qdisc_qstats_drop(sch);
		rtnl_kfree_skbs(skb, skb);
	}
	qdisc_tree_reduce_backlog(sch, packets, bytes);
}

static int lasack_change(struct Qdisc *sch, struct nlattr *opt,
			 struct netlink_ext_ack *extack)
{
	struct lasack_sched_data *q = qdisc_priv(sch);
	struct nlattr *tb[TCA_LASACK_MAX + 1];
	u32 limit = sch->limit, inflight = inflight_limit(q->below);
	int err;

	err = nla_parse_nested(tb, TCA_LASACK_MAX, opt, lasack_policy, extack);
	if (err < 0)
		return err;
	if (tb[TCA_LASACK_LIMIT]) {
		limit = nla_get_u32(tb[TCA_LASACK_LIMIT]);
		if (!limit || limit > TC_LASACK_LIMIT_MAX) {
			NL_SET_ERR_MSG_ATTR(extack, tb[TCA_LASACK_LIMIT],
					    "limit: give 1 to 1048576 packets");
			return -ERANGE;
		}
	}
	if (tb[TCA_LASACK_INFLIGHT]) {
		err = inflight_limit_from_attr(tb[TCA_LASACK_INFLIGHT], true,
					       &inflight, extack);
		if (err)
			return err;
	}

	sch_tree_lock(sch);
	WRITE_ONCE(sch->limit, limit);
	inflight_set_limit(q->below, inflight);
	lasack_trim(sch);
	sch_tree_unlock(sch);
	return 0;
}

static int lasack_init(struct Qdisc *sch, struct nlattr *opt,
		       struct netlink_ext_ack *extack)
{
	struct lasack_sched_data *q = qdisc_priv(sch);
	struct net_device *dev = qdisc_dev(sch);
	int err;

	sch->limit = clamp_t(u32, dev->tx_queue_len ?: DEFAULT_TX_QUEUE_LEN,
			     1, TC_LASACK_LIMIT_MAX);
	err = lasack_queue_init(&q->queue);
	if (err)
		return err;
	q->below = inflight_create(sch, inflight_default_limit(dev));
	if (!q->below)
		return -ENOMEM;
	return opt ? lasack_change(sch, opt, extack) : 0;
}

/* Also called after a failed init. */
static void lasack_destroy(struct Qdisc *sch)
{
	struct lasack_sched_data *q = qdisc_priv(sch);

	inflight_release(q->below);
	lasack_queue_free(&q->queue);
}

static int lasack_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct lasack_sched_data *q = qdisc_priv(sch);
	struct nlattr *opts;

	opts = nla_nest_start(skb, TCA_OPTIONS);
	if (!opts)
		return -EMSGSIZE;
	if (nla_put_u32(skb, TCA_LASACK_LIMIT, READ_ONCE(sch->limit)) ||
	    nla_put_u32(skb, TCA_LASACK_INFLIGHT, inflight_limit(q->below))) {
		nla_nest_cancel(skb, opts);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, opts);
}

static int lasack_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct lasack_sched_data *q = qdisc_priv(sch);
	struct tc_inflight_xstats below;
	struct tc_lasack_xstats st = {};

	sch_tree_lock(sch);
	st.flows = q->queue.flows;
	st.pushed_out = q->pushed_out;
	st.evicted = q->queue.evicted;
	st.overflow = q->queue.overflow;
	st.not_ip = q->packets[SEGMENT_NOT_IP];
	st.portless = q->packets[SEGMENT_PORTLESS];
	st.fragment = q->packets[SEGMENT_FRAGMENT];
	st.truncated = q->packets[SEGMENT_TRUNCATED];
	st.malformed = q->packets[SEGMENT_MALFORMED];
	inflight_read(q->below, &below);
	sch_tree_unlock(sch);

	st.in_flight = below.packets;
	st.throttled = below.throttled;
	st.untracked = below.untracked;
	return gnet_stats_copy_app(d, &st, sizeof(st));
}

static struct Qdisc_ops lasack_qdisc_ops __read_mostly = {
	.id		= "lasack",
	.priv_size	= sizeof(struct lasack_sched_data),
	.enqueue	= lasack_enqueue,
	.dequeue	= lasack_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= lasack_init,
	.reset		= lasack_reset,
	.destroy	= lasack_destroy,
	.change		= lasack_change,
	.dump		= lasack_dump,
	.dump_stats	= lasack_dump_stats,
	.owner		= THIS_MODULE,
};
MODULE_ALIAS_NET_SCH("lasack");

static int __init lasack_module_init(void)
{
	return register_qdisc(&lasack_qdisc_ops);
}

static void __exit lasack_module_exit(void)
{
	unregister_qdisc(&lasack_qdisc_ops);
}

module_init(lasack_module_init)
module_exit(lasack_module_exit)
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Least attained service queue discipline with charged ACKs");
