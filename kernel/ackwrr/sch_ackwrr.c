// SPDX-License-Identifier: GPL-2.0-only
/*
 * ackwrr: weighted round robin of data and of TCP acknowledgements.
 *
 * Principle: at an access point the ACKs of uploads wait in one queue with the data of
 * downloads. They take room that the data needs. Here each has a queue of its own: class :1 is
 * data, class :2 is pure ACKs. The classes are served in turn, by packets. So the rate of ACKs
 * follows the rate of data, and the rate of uploads follows the rate of their ACKs.
 *
 * Source: up-down-fairness (Documentation/papers.md), section IV and its Fig. 5.
 *
 * Any discipline can be the child of a class. skb->priority or a filter may say to which class
 * a packet belongs. If they do not, what the packet is decides.
 */
#include <linux/errno.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/skbuff.h>
#include <linux/types.h>
#include <net/netlink.h>
#include <net/pkt_cls.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>
#include "ackwrr/ackwrr_class.h"
#include "ackwrr/ackwrr_config.h"
#include "ackwrr/ackwrr_fifo.h"
#include "ackwrr/ackwrr_flows.h"
#include "ackwrr/ackwrr_qdisc.h"
#include "ackwrr/ackwrr_share.h"
#include "common/fifo_child.h"
#include "common/gso_enqueue.h"

/*
 * What a filter or skb->priority says, or -1: the packet decides. *ret is set
 * if a filter takes the packet away, and the result is ACKWRR_CLASSES.
 */
static int ackwrr_chosen_class(struct sk_buff *skb, struct Qdisc *sch, int *ret)
{
	struct ackwrr_sched_data *q = qdisc_priv(sch);
	u32 minor = TC_H_MIN(skb->priority);
	struct tcf_proto *filters;
	struct tcf_result res;
	int verdict;

	/* A default qdisc has no handle: then no priority is a class of it. */
	if (!sch->handle || TC_H_MAJ(skb->priority) != sch->handle) {
		filters = rcu_dereference_bh(q->filter_list);
		if (!filters)
			return -1;
		verdict = tcf_classify(skb, NULL, filters, &res, false);
#ifdef CONFIG_NET_CLS_ACT
		switch (verdict) {
		case TC_ACT_STOLEN:
		case TC_ACT_QUEUED:
		case TC_ACT_TRAP:
			*ret = NET_XMIT_SUCCESS | __NET_XMIT_STOLEN;
			return ACKWRR_CLASSES;
		case TC_ACT_SHOT:
			*ret = NET_XMIT_SUCCESS | __NET_XMIT_BYPASS;
			return ACKWRR_CLASSES;
		}
#endif
		if (verdict < 0)
			return -1;
		minor = TC_H_MIN(res.classid);
	}
	if (minor < TC_ACKWRR_DATA || minor > TC_ACKWRR_ACK)
		return -1;
	return minor - 1;
}

/* @flow is the packet's connection, or NULL. Return: NET_XMIT_*, as Qdisc_ops.enqueue. */
static int ackwrr_enqueue_segment(struct sk_buff *skb, struct Qdisc *sch,
				  struct ackwrr_flow *flow, const struct tcp_segment *seg,
				  struct sk_buff **to_free)
{
	struct ackwrr_sched_data *q = qdisc_priv(sch);
	int ret = NET_XMIT_SUCCESS, class;

	class = ackwrr_chosen_class(skb, sch, &ret);
	if (class == ACKWRR_CLASSES) {
		if (ret & __NET_XMIT_BYPASS)
			__qdisc_qstats_drop(sch, gso_segments(skb));
		__qdisc_drop(skb, to_free);
		return ret;
	}
	if (class < 0)
		class = seg->pure_ack ? ACKWRR_ACK : ACKWRR_DATA;

	if (q->classes[class].own_child)
		return ackwrr_fifo_enqueue(skb, sch, class, flow, seg, to_free);
	return child_enqueue(skb, sch, q->classes[class].child, to_free);
}

/* Nothing here needs a finer time than that of the last tick, so no clock is read. */
static void ackwrr_advance(struct ackwrr_sched_data *q)
{
	u64 now = ktime_get_coarse_ns();

	if (now != q->flows.now)
		ackwrr_flows_advance(&q->flows, &q->share, now);
}

static int ackwrr_enqueue_one(struct sk_buff *skb, struct Qdisc *sch,
			      struct sk_buff **to_free)
{
	struct ackwrr_sched_data *q = qdisc_priv(sch);
	struct ackwrr_flow *flow;
	struct tcp_segment seg;
	int ret;

	q->packets[tcp_segment_parse(skb, &seg)] += gso_segments(skb);
	if (!ackwrr_is_auto(q))
		return ackwrr_enqueue_segment(skb, sch, NULL, &seg, to_free);
	ackwrr_advance(q);
	q->timed = true;
	flow = ackwrr_flows_arrive(&q->flows, &q->share, &seg);
	ret = ackwrr_enqueue_segment(skb, sch, flow, &seg, to_free);
	if (flow)
		ackwrr_flow_settle(&q->flows, flow);
	return ret;
}

static int ackwrr_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			  struct sk_buff **to_free)
{
	const struct ackwrr_sched_data *q = qdisc_priv(sch);

	if (unlikely(skb_is_gso(skb)) && inflight_must_segment(q->below, skb))
		return gso_enqueue_segments(skb, sch, to_free, ackwrr_enqueue_one);
	return ackwrr_enqueue_one(skb, sch, to_free);
}

/* Both FIFOs are ours, so that their first packets can be looked at. */
static bool ackwrr_is_fifo(const struct ackwrr_sched_data *q)
{
	return q->classes[ACKWRR_DATA].own_child && q->classes[ACKWRR_ACK].own_child;
}

static int ackwrr_next(struct ackwrr_sched_data *q, const bool *waiting)
{
	int class;

	if (!ackwrr_is_auto(q))
		return ackwrr_round_next(&q->round, waiting);
	if (waiting[ACKWRR_DATA] && waiting[ACKWRR_ACK] &&
	    !ackwrr_share_is_shared(&q->share) && ackwrr_is_fifo(q))
		return ackwrr_fifo_first_come(q);
	class = ackwrr_share_next(&q->share);
	if (waiting[class])
		return class;
	return waiting[!class] ? !class : -1;
}

static void ackwrr_served(struct ackwrr_sched_data *q, int class, struct sk_buff *skb,
			  bool other_waits)
{
	struct ackwrr_moved moved;
	struct ackwrr_flow *flow;
	struct tcp_segment seg;
	u32 acked;

	if (!ackwrr_is_auto(q)) {
		ackwrr_round_served(&q->round, class, gso_segments(skb));
		return;
	}
	if (q->classes[class].own_child) {
		flow = ackwrr_fifo_taken(q, class, skb, &moved);
	} else {
		/* Again: its cb[] is the child's. */
		tcp_segment_parse(skb, &seg);
		flow = seg.syn ? NULL : ackwrr_flows_find(&q->flows, &seg);
		moved = (struct ackwrr_moved) {
			.payload = seg.payload,
			.ack = flow && ackwrr_flow_believed(flow, &seg),
			.ack_seq = seg.ack_seq,
			.reversed = seg.reversed,
		};
	}
	acked = ackwrr_flows_sent(&q->flows, &q->share, flow, &moved);
	ackwrr_share_served(&q->share, class, class == ACKWRR_ACK ? acked : moved.payload,
			    other_waits);
}

/* A child may have packets and still give none. Then the other class is served. */
static struct sk_buff *ackwrr_choose(struct Qdisc *sch)
{
	struct ackwrr_sched_data *q = qdisc_priv(sch);
	bool waiting[ACKWRR_CLASSES];
	struct sk_buff *skb;
	int class, i;

	/* The packet that came before this one goes has just told the time. */
	if (ackwrr_is_auto(q) && !q->timed)
		ackwrr_advance(q);
	q->timed = false;
	for (i = 0; i < ACKWRR_CLASSES; i++)
		waiting[i] = q->classes[i].child->q.qlen;
	while ((class = ackwrr_next(q, waiting)) >= 0) {
		skb = q->classes[class].own_child ? ackwrr_fifo_dequeue(q, class) :
						    qdisc_dequeue_peeked(q->classes[class].child);
		if (skb) {
			if (q->classes[class].own_child)
				fifo_child_prefetch(q->classes[class].child);
			ackwrr_served(q, class, skb, waiting[!class]);
			return skb;
		}
		waiting[class] = false;
	}
	return NULL;
}

static struct sk_buff *ackwrr_dequeue(struct Qdisc *sch)
{
	struct ackwrr_sched_data *q = qdisc_priv(sch);

	return inflight_serve(sch, q->below, ackwrr_choose, NULL);
}

/* A new round, or nothing known and nothing charged. */
static void ackwrr_start(struct ackwrr_sched_data *q)
{
	ackwrr_round_start(&q->round);
	q->share = (struct ackwrr_share) {};
	if (!q->flows.table)
		return;
	ackwrr_flows_clear(&q->flows);
	ackwrr_fifo_forget_flows(q);
}

static void ackwrr_reset(struct Qdisc *sch)
{
	struct ackwrr_sched_data *q = qdisc_priv(sch);
	int i;

	for (i = 0; i < ACKWRR_CLASSES; i++) {
		if (!q->classes[i].child)
			continue;
		q->purged += ackwrr_fifo_segments(q, i);
		qdisc_reset(q->classes[i].child);
	}
	ackwrr_start(q);
}

static int ackwrr_change(struct Qdisc *sch, struct nlattr *opt,
			 struct netlink_ext_ack *extack)
{
	struct ackwrr_sched_data *q = qdisc_priv(sch);
	struct ackwrr_config config = {
		.limit = q->limit,
		.inflight = inflight_limit(q->below),
	};
	bool smaller;
	int err;

	memcpy(config.weights, q->round.weights, sizeof(config.weights));
	err = ackwrr_config_parse(&config, opt, extack);
	if (err)
		return err;
	if (config.weights[ACKWRR_DATA] == TC_ACKWRR_AUTO && !q->flows.table) {
		err = ackwrr_flows_init(&q->flows);
		if (err)
			return err;
	}

	sch_tree_lock(sch);
	if (memcmp(q->round.weights, config.weights, sizeof(config.weights))) {
		memcpy(q->round.weights, config.weights, sizeof(config.weights));
		ackwrr_start(q);
	}
	smaller = config.limit < q->limit;
	q->limit = config.limit;
	WRITE_ONCE(sch->limit, config.limit);
	ackwrr_fifo_set_limits(q);
	inflight_set_limit(q->below, config.inflight);
	if (smaller)
		ackwrr_fifo_trim(sch);
	sch_tree_unlock(sch);
	return 0;
}

static int ackwrr_init(struct Qdisc *sch, struct nlattr *opt,
		       struct netlink_ext_ack *extack)
{
	struct ackwrr_sched_data *q = qdisc_priv(sch);
	struct net_device *dev = qdisc_dev(sch);
	struct Qdisc *child;
	int err, i;

	q->limit = clamp_t(u32, dev->tx_queue_len ?: DEFAULT_TX_QUEUE_LEN,
			   1, TC_ACKWRR_LIMIT_MAX);
	sch->limit = q->limit;
	q->round.weights[ACKWRR_DATA] = 2;
	q->round.weights[ACKWRR_ACK] = 1;
	ackwrr_round_start(&q->round);
	q->below = inflight_create(sch, inflight_default_limit(sch));
	if (!q->below)
		return -ENOMEM;
	err = tcf_block_get(&q->block, &q->filter_list, sch, extack);
	if (err)
		return err;
	for (i = 0; i < ACKWRR_CLASSES; i++) {
		child = fifo_child_create(sch, i + 1, q->limit, extack);
		if (IS_ERR(child))
			return PTR_ERR(child);
		q->classes[i].child = child;
		q->classes[i].own_child = true;
	}
	return opt ? ackwrr_change(sch, opt, extack) : 0;
}

/* Also called after a failed init. */
static void ackwrr_destroy(struct Qdisc *sch)
{
	struct ackwrr_sched_data *q = qdisc_priv(sch);
	int i;

	tcf_block_put(q->block);
	inflight_release(q->below);
	ackwrr_flows_free(&q->flows);
	for (i = 0; i < ACKWRR_CLASSES; i++) {
		if (q->classes[i].child)
			qdisc_put(q->classes[i].child);
	}
}

static int ackwrr_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct ackwrr_sched_data *q = qdisc_priv(sch);
	struct nlattr *opts;

	opts = nla_nest_start(skb, TCA_OPTIONS);
	if (!opts)
		return -EMSGSIZE;
	if (nla_put_u32(skb, TCA_ACKWRR_LIMIT, q->limit) ||
	    nla_put_u32(skb, TCA_ACKWRR_INFLIGHT, inflight_limit(q->below)) ||
	    nla_put_u32(skb, TCA_ACKWRR_WEIGHT_DATA, q->round.weights[ACKWRR_DATA]) ||
	    (!ackwrr_is_auto(q) &&
	     nla_put_u32(skb, TCA_ACKWRR_WEIGHT_ACK, q->round.weights[ACKWRR_ACK]))) {
		nla_nest_cancel(skb, opts);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, opts);
}

static int ackwrr_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct ackwrr_sched_data *q = qdisc_priv(sch);
	struct tc_ackwrr_xstats st = {};
	int i;

	sch_tree_lock(sch);
	for (i = 0; i < __SEGMENT_CLASSES; i++)
		st.enqueued += q->packets[i];
	st.purged = q->purged;
	st.not_ip = q->packets[SEGMENT_NOT_IP];
	st.portless = q->packets[SEGMENT_PORTLESS];
	st.fragment = q->packets[SEGMENT_FRAGMENT];
	st.truncated = q->packets[SEGMENT_TRUNCATED];
	st.malformed = q->packets[SEGMENT_MALFORMED];
	inflight_read(q->below, &st.below);
	if (ackwrr_is_auto(q)) {
		st.flows = q->flows.table->flows;
		st.evicted = q->flows.table->counts.evicted;
		st.overflow = q->flows.overflow;
		st.downloads = q->flows.active[ACKWRR_DATA].count;
		st.uploads = q->flows.active[ACKWRR_ACK].count;
		st.down_estimate = q->share.estimates[ACKWRR_DATA];
		st.up_estimate = q->share.estimates[ACKWRR_ACK];
		st.down_charged = q->share.charged[ACKWRR_DATA];
		st.up_charged = q->share.charged[ACKWRR_ACK];
		st.lag = q->share.lag;
		st.down_free = q->share.free[ACKWRR_DATA];
		st.up_free = q->share.free[ACKWRR_ACK];
	}
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(d, &st, sizeof(st));
}

static struct Qdisc_ops ackwrr_qdisc_ops __read_mostly = {
	.cl_ops		= &ackwrr_class_ops,
	.id		= "ackwrr",
	.priv_size	= sizeof(struct ackwrr_sched_data),
	.enqueue	= ackwrr_enqueue,
	.dequeue	= ackwrr_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= ackwrr_init,
	.reset		= ackwrr_reset,
	.destroy	= ackwrr_destroy,
	.change		= ackwrr_change,
	.dump		= ackwrr_dump,
	.dump_stats	= ackwrr_dump_stats,
	.owner		= THIS_MODULE,
};
MODULE_ALIAS_NET_SCH("ackwrr");

static int __init ackwrr_module_init(void)
{
	return register_qdisc(&ackwrr_qdisc_ops);
}

static void __exit ackwrr_module_exit(void)
{
	unregister_qdisc(&ackwrr_qdisc_ops);
}

module_init(ackwrr_module_init)
module_exit(ackwrr_module_exit)
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Weighted round robin of data and TCP ACKs");
