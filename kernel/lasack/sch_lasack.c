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
 * lasack_flow.h has the arithmetic, lasack_sum.h its decay, lasack_queue.h the
 * order, lasack_table.h what is remembered, lasack_observe.h what comes in.
 */
#include <linux/errno.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <linux/types.h>
#include <net/netlink.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>
#include "common/gso_enqueue.h"
#include "inflight/inflight.h"
#include "lasack/lasack_config.h"
#include "lasack/lasack_queue.h"
#include "common/tcp_segment.h"
#include "uapi/pkt_sch_lasack.h"

#define LASACK_FLOWS		1024
#define LASACK_MEMORY_LIMIT	(32 << 20)	/* bytes, as fq_codel has */
/* RFC 4787, REQ-5: for how long a NAT should remember a mapping, at least. */
#define LASACK_IDLE		(5 * 60 * MSEC_PER_SEC)

struct lasack_sched_data {
	struct lasack_queue	queue;
	struct lasack_config	config;
	struct inflight		*below;
	u64			enqueued;
	u64			pushed_out;
	u64			purged;
	u64			packets[__SEGMENT_CLASSES];	/* by class */
};

static bool lasack_over_limit(struct Qdisc *sch)
{
	const struct lasack_sched_data *q = qdisc_priv(sch);

	return sch->q.qlen > q->config.limit ||
	       q->queue.memory > q->config.memory_limit;
}

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
	unsigned int packets = 0, bytes = 0;
	int ret = NET_XMIT_SUCCESS;
	struct tcp_segment seg;
	struct sk_buff *worst;

	lasack_queue_advance(&q->queue, ktime_get_ns());
	q->enqueued++;
	q->packets[tcp_segment_parse(skb, &seg)]++;
	lasack_queue_add(&q->queue, skb, &seg);
	qdisc_qstats_backlog_inc(sch, skb);
	qdisc_qlen_inc(sch);
	while (unlikely(lasack_over_limit(sch))) {
		worst = lasack_push_out(sch);
		/* The parents never counted the arriving packet: tell them nothing. */
		if (worst == skb) {
			ret = NET_XMIT_CN;
		} else {
			packets++;
			bytes += qdisc_pkt_len(worst);
		}
		qdisc_drop(worst, sch, to_free);
	}
	qdisc_tree_reduce_backlog(sch, packets, bytes);
	return ret;
}

static int lasack_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			  struct sk_buff **to_free)
{
	return gso_enqueue(skb, sch, to_free, lasack_enqueue_one);
}

static struct sk_buff *lasack_choose(struct Qdisc *sch)
{
	struct lasack_sched_data *q = qdisc_priv(sch);

	lasack_queue_advance(&q->queue, ktime_get_ns());
	return lasack_queue_serve(&q->queue);
}

static struct sk_buff *lasack_dequeue(struct Qdisc *sch)
{
	struct lasack_sched_data *q = qdisc_priv(sch);

	return inflight_serve(sch, q->below, lasack_choose);
}

static void lasack_reset(struct Qdisc *sch)
{
	struct lasack_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb;

	while ((skb = lasack_queue_push_out(&q->queue))) {
		q->purged++;
		rtnl_kfree_skbs(skb, skb);
	}
	lasack_table_clear(q->queue.table);
}

static const struct nla_policy lasack_policy[TCA_LASACK_MAX + 1] = {
	[TCA_LASACK_LIMIT]	= { .type = NLA_U32 },
	[TCA_LASACK_INFLIGHT]	= { .type = NLA_U32 },
	[TCA_LASACK_MEMORY_LIMIT] = { .type = NLA_U32 },
	[TCA_LASACK_FLOWS]	= { .type = NLA_U32 },
	[TCA_LASACK_IDLE]	= { .type = NLA_U32 },
	[TCA_LASACK_HALFLIFE]	= { .type = NLA_U32 },
	[TCA_LASACK_QUANTUM]	= { .type = NLA_U32 },
	[TCA_LASACK_FLOOR]	= { .type = NLA_U32 },
	[TCA_LASACK_OBSERVE]	= { .type = NLA_U32 },
};

/* The parents are told once, of all packets that had to go. */
static void lasack_trim(struct Qdisc *sch)
{
	unsigned int packets = 0, bytes = 0;
	struct sk_buff *skb;

	while (lasack_over_limit(sch)) {
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

/* Under the tree lock, but for init. */
static void lasack_commit(struct Qdisc *sch, const struct lasack_config *config)
{
	struct lasack_sched_data *q = qdisc_priv(sch);

	q->config = *config;
	WRITE_ONCE(sch->limit, config->limit);
	q->queue.quantum = config->quantum;
	lasack_queue_set_floor(&q->queue, config->floor);
	q->queue.idle_ns = (u64)config->idle * NSEC_PER_MSEC;
	lasack_queue_set_halflife(&q->queue, (u64)config->halflife * NSEC_PER_MSEC);
}

static int lasack_change(struct Qdisc *sch, struct nlattr *opt,
			 struct netlink_ext_ack *extack)
{
	struct lasack_sched_data *q = qdisc_priv(sch);
	struct lasack_config config = q->config;
	struct nlattr *tb[TCA_LASACK_MAX + 1];
	u32 inflight = inflight_limit(q->below);
	struct lasack_observer *observer = NULL;
	struct lasack_table *table = NULL;
	bool observe_changes;
	int err;

	err = nla_parse_nested(tb, TCA_LASACK_MAX, opt, lasack_policy, extack);
	if (err < 0)
		return err;
	err = lasack_config_parse(&config, tb, extack) ?:
	      inflight_parse_bound(tb[TCA_LASACK_INFLIGHT], &inflight, extack);
	if (err)
		return err;
	if (config.flows != q->config.flows) {
		table = lasack_table_create(config.flows);
		if (!table)
			return -ENOMEM;
	}
	observe_changes = config.observe != q->config.observe;
	if (observe_changes && config.observe) {
		observer = lasack_observer_create(qdisc_dev(sch));
		if (!observer) {
			lasack_table_free(table);
			return -ENOMEM;
		}
	}

	sch_tree_lock(sch);
	lasack_queue_advance(&q->queue, ktime_get_ns());
	lasack_commit(sch, &config);
	if (table)
		table = lasack_queue_replace_table(&q->queue, table);
	if (observe_changes)
		swap(q->queue.observer, observer);
	inflight_set_limit(q->below, inflight);
	lasack_trim(sch);
	sch_tree_unlock(sch);
	lasack_table_free(table);
	lasack_observer_free(observer);
	return 0;
}

static int lasack_init(struct Qdisc *sch, struct nlattr *opt,
		       struct netlink_ext_ack *extack)
{
	struct lasack_sched_data *q = qdisc_priv(sch);
	struct net_device *dev = qdisc_dev(sch);
	const struct lasack_config config = {
		.limit = clamp_t(u32, dev->tx_queue_len ?: DEFAULT_TX_QUEUE_LEN,
				 1, TC_LASACK_LIMIT_MAX),
		.memory_limit = LASACK_MEMORY_LIMIT,
		.flows = LASACK_FLOWS,
		.idle = LASACK_IDLE,
	};
	int err;

	err = lasack_queue_init(&q->queue, config.flows);
	if (err)
		return err;
	lasack_commit(sch, &config);
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
	lasack_observer_free(q->queue.observer);
	lasack_table_free(q->queue.table);
}

static int lasack_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct lasack_sched_data *q = qdisc_priv(sch);
	struct nlattr *opts;

	opts = nla_nest_start(skb, TCA_OPTIONS);
	if (!opts)
		return -EMSGSIZE;
	if (lasack_config_put(q->config, skb) ||
	    nla_put_u32(skb, TCA_LASACK_INFLIGHT, inflight_limit(q->below))) {
		nla_nest_cancel(skb, opts);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, opts);
}

static int lasack_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct lasack_sched_data *q = qdisc_priv(sch);
	struct lasack_delay delay[2];
	struct lasack_histogram sums;
	struct tc_lasack_xstats st = {};
	struct lasack_table *table;

	sch_tree_lock(sch);
	table = q->queue.table;
	st.flows = table->flows;
	st.enqueued = q->enqueued;
	st.purged = q->purged;
	st.pushed_out = q->pushed_out;
	st.evicted = table->counts.evicted;
	st.overflow = q->queue.overflow;
	st.not_ip = q->packets[SEGMENT_NOT_IP];
	st.portless = q->packets[SEGMENT_PORTLESS];
	st.fragment = q->packets[SEGMENT_FRAGMENT];
	st.truncated = q->packets[SEGMENT_TRUNCATED];
	st.malformed = q->packets[SEGMENT_MALFORMED];
	st.active = table->flows - table->idle_flows;
	st.expired = table->counts.expired;
	st.collisions = table->counts.collisions;
	st.memory = q->queue.memory;
	lasack_queue_advance(&q->queue, ktime_get_ns());
	lasack_table_histogram(table, q->queue.age, &sums);
	memcpy(delay, q->queue.delay, sizeof(delay));
	if (q->queue.observer) {
		st.observed = READ_ONCE(q->queue.observer->packets);
		st.observed_bytes = READ_ONCE(q->queue.observer->bytes);
	}
	inflight_read(q->below, &st.below);
	sch_tree_unlock(sch);

	st.sum_p50 = lasack_percentile(&sums, 50);
	st.sum_p90 = lasack_percentile(&sums, 90);
	st.sum_p99 = lasack_percentile(&sums, 99);
	st.small_delay = div_u64(delay[0].average, NSEC_PER_USEC);
	st.small_delay_max = div_u64(delay[0].max, NSEC_PER_USEC);
	st.large_delay = div_u64(delay[1].average, NSEC_PER_USEC);
	st.large_delay_max = div_u64(delay[1].max, NSEC_PER_USEC);
	return gnet_stats_copy_app(d, &st, sizeof(st));
}

/* The classes are flows, to be looked at: none can be found, made or changed. */
static unsigned long lasack_find(struct Qdisc *sch, u32 classid)
{
	return 0;
}

static struct Qdisc *lasack_leaf(struct Qdisc *sch, unsigned long cl)
{
	return NULL;
}

/* A class is a place in the table, counted from 1. */
static void lasack_walk(struct Qdisc *sch, struct qdisc_walker *walker)
{
	struct lasack_sched_data *q = qdisc_priv(sch);
	u32 places[TC_LASACK_CLASSES], count, i;

	if (walker->stop)
		return;
	sch_tree_lock(sch);
	count = lasack_table_heaviest(q->queue.table, places, ARRAY_SIZE(places));
	sch_tree_unlock(sch);
	for (i = 0; i < count; i++) {
		if (!tc_qdisc_stats_dump(sch, places[i] + 1, walker))
			break;
	}
}

static int lasack_dump_class(struct Qdisc *sch, unsigned long cl,
			     struct sk_buff *skb, struct tcmsg *tcm)
{
	struct lasack_sched_data *q = qdisc_priv(sch);
	struct tc_lasack_flow st = {};
	struct lasack_flow *flow;
	struct nlattr *opts;

	sch_tree_lock(sch);
	lasack_queue_advance(&q->queue, ktime_get_ns());
	flow = &q->queue.table->places[cl - 1];
	BUILD_BUG_ON(sizeof(st.addr) != sizeof(flow->key.addr));
	memcpy(st.addr, flow->key.addr, sizeof(st.addr));
	memcpy(st.port, flow->key.port, sizeof(st.port));
	st.protocol = flow->key.protocol;
	st.to = !flow->reversed;
	st.attained = lasack_sum_bytes(&flow->attained, q->queue.age);
	st.sent = flow->sent;
	st.received = flow->received;
	sch_tree_unlock(sch);

	tcm->tcm_handle |= TC_H_MIN(cl);
	opts = nla_nest_start(skb, TCA_OPTIONS);
	if (!opts)
		return -EMSGSIZE;
	if (nla_put(skb, TCA_LASACK_CLASS_FLOW, sizeof(st), &st)) {
		nla_nest_cancel(skb, opts);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, opts);
}

static int lasack_dump_class_stats(struct Qdisc *sch, unsigned long cl,
				   struct gnet_dump *d)
{
	struct lasack_sched_data *q = qdisc_priv(sch);
	struct gnet_stats_queue qs = {};
	struct lasack_flow *flow;
	struct sk_buff *skb;

	sch_tree_lock(sch);
	flow = &q->queue.table->places[cl - 1];
	for (skb = flow->head; skb; skb = skb->next)
		qs.backlog += qdisc_pkt_len(skb);
	qs.qlen = flow->length;
	sch_tree_unlock(sch);
	return gnet_stats_copy_queue(d, NULL, &qs, qs.qlen);
}

static const struct Qdisc_class_ops lasack_class_ops = {
	.leaf		= lasack_leaf,
	.find		= lasack_find,
	.walk		= lasack_walk,
	.dump		= lasack_dump_class,
	.dump_stats	= lasack_dump_class_stats,
};

static struct Qdisc_ops lasack_qdisc_ops __read_mostly = {
	.cl_ops		= &lasack_class_ops,
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
