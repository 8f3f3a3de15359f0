// SPDX-License-Identifier: GPL-2.0-only
/*
 * The classes of ackwrr, :1 data and :2 ACKs, as tc sees them.
 *
 * Principle: the two classes always exist. Inside the kernel a class is known by its minor
 * number; 0 means no class.
 */
#include <linux/errno.h>
#include <net/gen_stats.h>
#include <net/netlink.h>
#include <net/pkt_cls.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>
#include "ackwrr/ackwrr_class.h"
#include "ackwrr/ackwrr_config.h"
#include "ackwrr/ackwrr_fifo.h"
#include "ackwrr/ackwrr_qdisc.h"
#include "common/fifo_child.h"

static int ackwrr_graft(struct Qdisc *sch, unsigned long cl, struct Qdisc *new,
			struct Qdisc **old, struct netlink_ext_ack *extack)
{
	struct ackwrr_sched_data *q = qdisc_priv(sch);
	struct ackwrr_class *class = &q->classes[cl - 1];

	/* Nobody may take another discipline for a FIFO, not for a moment. */
	sch_tree_lock(sch);
	class->own_child = false;
	sch_tree_unlock(sch);
	*old = fifo_child_graft(sch, cl, q->limit, new, &class->child);
	sch_tree_lock(sch);
	class->own_child = !new && class->child != &noop_qdisc;
	if (q->flows.table) {
		ackwrr_flows_clear(&q->flows);
		ackwrr_fifo_forget_flows(q);
	}
	ackwrr_fifo_set_limits(q);
	sch_tree_unlock(sch);
	return 0;
}

static struct Qdisc *ackwrr_leaf(struct Qdisc *sch, unsigned long cl)
{
	struct ackwrr_sched_data *q = qdisc_priv(sch);

	return q->classes[cl - 1].child;
}

static unsigned long ackwrr_find(struct Qdisc *sch, u32 classid)
{
	u32 minor = TC_H_MIN(classid);

	return minor >= TC_ACKWRR_DATA && minor <= TC_ACKWRR_ACK ? minor : 0;
}

static unsigned long ackwrr_bind(struct Qdisc *sch, unsigned long parent, u32 classid)
{
	return ackwrr_find(sch, classid);
}

static void ackwrr_unbind(struct Qdisc *sch, unsigned long cl)
{
}

static struct tcf_block *ackwrr_tcf_block(struct Qdisc *sch, unsigned long cl,
					  struct netlink_ext_ack *extack)
{
	struct ackwrr_sched_data *q = qdisc_priv(sch);

	return cl ? NULL : q->block;
}

static void ackwrr_walk(struct Qdisc *sch, struct qdisc_walker *walker)
{
	unsigned long cl;

	if (walker->stop)
		return;
	for (cl = TC_ACKWRR_DATA; cl <= TC_ACKWRR_ACK; cl++) {
		if (!tc_qdisc_stats_dump(sch, cl, walker))
			break;
	}
}

static int ackwrr_dump_class(struct Qdisc *sch, unsigned long cl,
			     struct sk_buff *skb, struct tcmsg *tcm)
{
	struct ackwrr_sched_data *q = qdisc_priv(sch);
	bool is_auto = ackwrr_is_auto(q);
	struct nlattr *opts;

	tcm->tcm_handle |= TC_H_MIN(cl);
	tcm->tcm_info = q->classes[cl - 1].child->handle;
	opts = nla_nest_start(skb, TCA_OPTIONS);
	if (!opts)
		return -EMSGSIZE;
	if (nla_put_u32(skb, is_auto ? TCA_ACKWRR_CLASS_CONNECTIONS : TCA_ACKWRR_CLASS_WEIGHT,
			is_auto ? q->share.estimates[cl - 1] : q->round.weights[cl - 1])) {
		nla_nest_cancel(skb, opts);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, opts);
}

static int ackwrr_dump_class_stats(struct Qdisc *sch, unsigned long cl,
				   struct gnet_dump *d)
{
	struct ackwrr_sched_data *q = qdisc_priv(sch);
	struct Qdisc *child = q->classes[cl - 1].child;

	if (gnet_stats_copy_basic(d, child->cpu_bstats, &child->bstats, true) < 0 ||
	    qdisc_qstats_copy(d, child) < 0)
		return -1;
	return 0;
}

/* Another weight starts a new round. */
static int ackwrr_change_class(struct Qdisc *sch, u32 classid, u32 parentid,
			       struct nlattr **tca, unsigned long *arg,
			       struct netlink_ext_ack *extack)
{
	struct ackwrr_sched_data *q = qdisc_priv(sch);
	u8 weight;
	int err;

	if (!*arg) {
		NL_SET_ERR_MSG(extack, "there are two classes, :1 and :2");
		return -EOPNOTSUPP;
	}
	err = ackwrr_class_config_parse(&weight, tca[TCA_OPTIONS], extack);
	if (err)
		return err;
	if (ackwrr_is_auto(q)) {
		NL_SET_ERR_MSG(extack,
			       "weight: classes have none with weights auto; change the qdisc's weights");
		return -EINVAL;
	}
	sch_tree_lock(sch);
	q->round.weights[*arg - 1] = weight;
	ackwrr_round_start(&q->round);
	sch_tree_unlock(sch);
	return 0;
}

const struct Qdisc_class_ops ackwrr_class_ops = {
	.graft		= ackwrr_graft,
	.leaf		= ackwrr_leaf,
	.find		= ackwrr_find,
	.change		= ackwrr_change_class,
	.walk		= ackwrr_walk,
	.tcf_block	= ackwrr_tcf_block,
	.bind_tcf	= ackwrr_bind,
	.unbind_tcf	= ackwrr_unbind,
	.dump		= ackwrr_dump_class,
	.dump_stats	= ackwrr_dump_class_stats,
};
