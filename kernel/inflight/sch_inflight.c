// SPDX-License-Identifier: GPL-2.0-only
/*
 * inflight: a queue discipline with one child. It lets its packets wait in the child while too
 * many are in flight.
 *
 * Principle: if a device takes every packet at once, a scheduler above it has nothing to
 * order. Here the packets wait in the child, in the child's order. tracker.c counts the
 * packets in flight.
 *
 * The child is never peeked. A peek would fix its choice long before there is room for the
 * packet, and a better packet could arrive in between.
 */
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/skbuff.h>
#include <linux/types.h>
#include <net/netlink.h>
#include <net/pkt_cls.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>
#include "common/fifo_child.h"
#include "common/gso_enqueue.h"
#include "inflight/inflight.h"

#define INFLIGHT_CLASS	1	/* the only class, :1 */

struct inflight_sched_data {
	struct Qdisc	*child;
	struct inflight	*below;
};

/*
 * The packet counts before the child has it: a child that pushes out its only
 * other packet says so at once, and must not make us look empty to our parent,
 * which would take our class for idle.
 */
static int inflight_enqueue_one(struct sk_buff *skb, struct Qdisc *sch,
				struct sk_buff **to_free)
{
	struct inflight_sched_data *q = qdisc_priv(sch);

	return child_enqueue(skb, sch, q->child, to_free);
}

static int inflight_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			    struct sk_buff **to_free)
{
	return gso_enqueue(skb, sch, to_free, inflight_enqueue_one);
}

static struct sk_buff *inflight_choose(struct Qdisc *sch)
{
	struct inflight_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = qdisc_dequeue_peeked(q->child);

	if (q->child->ops == &pfifo_qdisc_ops)
		fifo_child_prefetch(q->child);
	return skb;
}

static struct sk_buff *inflight_dequeue(struct Qdisc *sch)
{
	struct inflight_sched_data *q = qdisc_priv(sch);

	return inflight_serve(sch, q->below, inflight_choose, NULL);
}

static void inflight_reset(struct Qdisc *sch)
{
	struct inflight_sched_data *q = qdisc_priv(sch);

	if (q->child)
		qdisc_reset(q->child);
}

/* As bounds elsewhere, but it cannot be off: it is all the qdisc is for. */
static int inflight_parse_limit(const struct nlattr *attr, u32 *limit,
				struct netlink_ext_ack *extack)
{
	u32 value = attr ? nla_get_u32(attr) : *limit;

	if (value == TC_INFLIGHT_AUTO || (value && value <= TC_INFLIGHT_MAX)) {
		*limit = value;
		return 0;
	}
	NL_SET_ERR_MSG_ATTR(extack, attr, "limit: give 1 to 65535 packets, or auto");
	return -ERANGE;
}

static struct netlink_range_validation inflight_stall_range = {
	.min = TC_INFLIGHT_STALL_MIN,
	.max = TC_INFLIGHT_STALL_MAX,
};

static const struct nla_policy inflight_policy[TCA_INFLIGHT_MAX + 1] = {
	[TCA_INFLIGHT_LIMIT]	= { .type = NLA_U32 },
	[TCA_INFLIGHT_STALL]	= NLA_POLICY_FULL_RANGE(NLA_U32, &inflight_stall_range),
};

static int inflight_change(struct Qdisc *sch, struct nlattr *opt,
			   struct netlink_ext_ack *extack)
{
	struct inflight_sched_data *q = qdisc_priv(sch);
	struct nlattr *tb[TCA_INFLIGHT_MAX + 1];
	u32 limit = inflight_limit(q->below), stall = inflight_stall(q->below);
	int err;

	err = nla_parse_nested(tb, TCA_INFLIGHT_MAX, opt, inflight_policy, extack);
	if (err < 0)
		return err;
	err = inflight_parse_limit(tb[TCA_INFLIGHT_LIMIT], &limit, extack);
	if (err)
		return err;
	if (tb[TCA_INFLIGHT_STALL])
		stall = nla_get_u32(tb[TCA_INFLIGHT_STALL]);

	sch_tree_lock(sch);
	inflight_set_stall(q->below, stall);
	inflight_set_limit(q->below, limit);
	sch_tree_unlock(sch);
	return 0;
}

/* Packets of the FIFO a class has without a child of the user's own. */
static u32 inflight_fifo_limit(const struct Qdisc *sch)
{
	return qdisc_dev(sch)->tx_queue_len ?: DEFAULT_TX_QUEUE_LEN;
}

static int inflight_init(struct Qdisc *sch, struct nlattr *opt,
			 struct netlink_ext_ack *extack)
{
	struct inflight_sched_data *q = qdisc_priv(sch);
	struct Qdisc *child;
	int err;

	q->below = inflight_create(sch, TC_INFLIGHT_AUTO);
	if (!q->below)
		return -ENOMEM;
	if (opt) {
		err = inflight_change(sch, opt, extack);
		if (err)
			return err;
	}

	child = fifo_child_create(sch, INFLIGHT_CLASS, inflight_fifo_limit(sch), extack);
	if (IS_ERR(child))
		return PTR_ERR(child);
	q->child = child;
	return 0;
}

/* Also called after a failed init. */
static void inflight_destroy(struct Qdisc *sch)
{
	struct inflight_sched_data *q = qdisc_priv(sch);

	inflight_release(q->below);
	if (q->child)
		qdisc_put(q->child);
}

static int inflight_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct inflight_sched_data *q = qdisc_priv(sch);
	struct nlattr *opts;

	opts = nla_nest_start(skb, TCA_OPTIONS);
	if (!opts)
		return -EMSGSIZE;
	if (nla_put_u32(skb, TCA_INFLIGHT_LIMIT, inflight_limit(q->below)) ||
	    nla_put_u32(skb, TCA_INFLIGHT_STALL, inflight_stall(q->below))) {
		nla_nest_cancel(skb, opts);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, opts);
}

static int inflight_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct inflight_sched_data *q = qdisc_priv(sch);
	struct tc_inflight_xstats st;

	sch_tree_lock(sch);
	inflight_read(q->below, &st);
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(d, &st, sizeof(st));
}

/* Without a child of the user's own the class has a FIFO again. */
static int inflight_graft(struct Qdisc *sch, unsigned long cl, struct Qdisc *new,
			  struct Qdisc **old, struct netlink_ext_ack *extack)
{
	struct inflight_sched_data *q = qdisc_priv(sch);

	*old = fifo_child_graft(sch, INFLIGHT_CLASS, inflight_fifo_limit(sch), new,
				&q->child);
	return 0;
}

static struct Qdisc *inflight_leaf(struct Qdisc *sch, unsigned long cl)
{
	struct inflight_sched_data *q = qdisc_priv(sch);

	return q->child;
}

static unsigned long inflight_find(struct Qdisc *sch, u32 classid)
{
	return TC_H_MIN(classid) == INFLIGHT_CLASS ? INFLIGHT_CLASS : 0;
}

static void inflight_walk(struct Qdisc *sch, struct qdisc_walker *walker)
{
	if (!walker->stop)
		tc_qdisc_stats_dump(sch, INFLIGHT_CLASS, walker);
}

static int inflight_dump_class(struct Qdisc *sch, unsigned long cl,
			       struct sk_buff *skb, struct tcmsg *tcm)
{
	struct inflight_sched_data *q = qdisc_priv(sch);

	tcm->tcm_handle |= TC_H_MIN(cl);
	tcm->tcm_info = q->child->handle;
	return 0;
}

static const struct Qdisc_class_ops inflight_class_ops = {
	.graft		= inflight_graft,
	.leaf		= inflight_leaf,
	.find		= inflight_find,
	.walk		= inflight_walk,
	.dump		= inflight_dump_class,
};

static struct Qdisc_ops inflight_qdisc_ops __read_mostly = {
	.cl_ops		= &inflight_class_ops,
	.id		= "inflight",
	.priv_size	= sizeof(struct inflight_sched_data),
	.enqueue	= inflight_enqueue,
	.dequeue	= inflight_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= inflight_init,
	.reset		= inflight_reset,
	.destroy	= inflight_destroy,
	.change		= inflight_change,
	.dump		= inflight_dump,
	.dump_stats	= inflight_dump_stats,
	.owner		= THIS_MODULE,
};
MODULE_ALIAS_NET_SCH("inflight");

static int __init inflight_module_init(void)
{
	return register_qdisc(&inflight_qdisc_ops);
}

static void __exit inflight_module_exit(void)
{
	unregister_qdisc(&inflight_qdisc_ops);
}

module_init(inflight_module_init)
module_exit(inflight_module_exit)
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Queue discipline that bounds the packets below any scheduler");
