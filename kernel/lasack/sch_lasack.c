// SPDX-License-Identifier: GPL-2.0-only
/*
 * lasack: least attained service, acknowledgements charged with what they acknowledge.
 *
 * Principle: on Wi-Fi an access point queues the data of downloads and the ACKs of uploads.
 * ACKs have few bytes, so uploads win under any discipline that counts the bytes it sends.
 * Here the sum of a connection counts the data sent through this queue and the data that its
 * ACKs have acknowledged. The connection with the least sum is served first. When the queue is
 * full, a packet of the connection with the largest sum is dropped.
 *
 * Source: M. Heusse, G. Urvoy-Keller, A. Duda, "Layer 2 vs. Layer 3 Mechanisms for Improving
 * TCP Performance in 802.11 Wireless LANs", section III.
 *
 * sch_lasack.h has the private data, lasack_state.h the queue in it, and lasack_rebuild.c makes
 * and frees that. A packet's way: lasack_arrival.c finds its flow (common/flow_table.c) and
 * station (lasack_station.c), lasack_charge.c and lasack_newcomer.c charge it, lasack_queue.c
 * serves it or pushes it out, as lasack_order.c, lasack_call.c and lasack_floor.c say. lasack_sum.c
 * has the decay, lasack_observe.c and lasack_heard.c count what stations send, lasack_rates.c and
 * lasack_airtime.c have what their bytes cost. lasack_class.c has what tc shows.
 */
#include <linux/errno.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <net/gso.h>
#include <net/netlink.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>
#include "common/tcp_segment.h"
#include "inflight/inflight.h"
#include "lasack/lasack_aqm.h"
#include "lasack/lasack_config.h"
#include "lasack/lasack_observe.h"
#include "lasack/lasack_queue.h"
#include "lasack/airtime/lasack_rates.h"
#include "lasack/sch_lasack.h"
#include "uapi/pkt_sch_lasack.h"

/* One packet in so many tells how long it waited, unless time matters anyway. */
#define LASACK_DELAY_SAMPLE	8

/* Segments of a packet that is or was queued. Most have one, and nothing more is read of them. */
static u32 lasack_segs(const struct sk_buff *skb)
{
	return lasack_cb(skb)->gso ? skb_shinfo(skb)->gso_segs : 1;
}

static bool lasack_over_limit(struct Qdisc *sch)
{
	const struct lasack_sched_data *q = qdisc_priv(sch);

	return sch->q.qlen > q->config.limit || q->queue->memory > q->config.memory_limit;
}

/* Takes the packet to be pushed out off the books; the caller frees it. */
static struct sk_buff *lasack_push_out(struct Qdisc *sch)
{
	struct lasack_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = lasack_queue_push_out(q->queue);

	if (!skb)
		return NULL;
	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_qlen_dec(sch);
	q->pushed_out += lasack_segs(skb);
	__qdisc_qstats_drop(sch, lasack_segs(skb));
	return skb;
}

/*
 * Pushes out until the limits hold, or nothing is left: the driver may have given packets
 * back, which count but are in no flow.
 *
 * Return: whether @arrived had to go.
 */
static noinline bool lasack_make_room(struct Qdisc *sch, const struct sk_buff *arrived,
				      struct sk_buff **to_free)
{
	unsigned int packets = 0, bytes = 0;
	bool refused = false;
	struct sk_buff *skb;

	while (lasack_over_limit(sch)) {
		skb = lasack_push_out(sch);
		if (!skb)
			break;
		/* The parents never counted the arriving packet: tell them nothing. */
		if (skb == arrived) {
			refused = true;
		} else {
			packets++;
			bytes += qdisc_pkt_len(skb);
		}
		__qdisc_drop(skb, to_free);
	}
	qdisc_tree_reduce_backlog(sch, packets, bytes);
	return refused;
}

/* The packet is in its flow. */
static int lasack_enqueued(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct lasack_sched_data *q = qdisc_priv(sch);

	q->enqueued += lasack_segs(skb);
	qdisc_qstats_backlog_inc(sch, skb);
	qdisc_qlen_inc(sch);
	if (unlikely(lasack_over_limit(sch)) && lasack_make_room(sch, skb, to_free))
		return NET_XMIT_CN;
	return NET_XMIT_SUCCESS;
}

/*
 * A GSO packet as its segments, now: segmentation moves the socket's ownership (TCP small
 * queues) to them only while nobody follows the packet yet. It is parsed and charged once. Its
 * parents have counted one packet of its length, and are told of the difference.
 */
static noinline int lasack_enqueue_segments(struct sk_buff *skb, struct tcp_segment *seg,
					    struct Qdisc *sch, struct sk_buff **to_free)
{
	netdev_features_t features = netif_skb_features(skb);
	unsigned int whole_len = qdisc_pkt_len(skb), len = 0;
	struct lasack_sched_data *q = qdisc_priv(sch);
	struct lasack_flow *flow = NULL;
	u32 headers = skb->len - min(seg->payload, skb->len), payload;
	struct sk_buff *segs, *next;
	int queued = 0;

	segs = skb_gso_segment(skb, features & ~NETIF_F_GSO_MASK);
	if (IS_ERR_OR_NULL(segs)) {
		q->enqueued++;
		return qdisc_drop(skb, sch, to_free);
	}

	skb_list_walk_safe(segs, segs, next) {
		unsigned int seg_len = segs->len;

		skb_mark_not_on_list(segs);
		qdisc_skb_cb(segs)->pkt_len = seg_len;
		qdisc_skb_cb_set_segs(segs, 1);
		payload = seg_len - min(headers, seg_len);
		if (flow) {
			lasack_queue_add_more(q->queue, flow, segs, seg, payload);
		} else {
			seg->payload = payload;
			flow = lasack_queue_add(q->queue, segs, seg);
		}
		if (lasack_enqueued(segs, sch, to_free) == NET_XMIT_SUCCESS) {
			queued++;
			len += seg_len;
		}
	}
	consume_skb(skb);
	if (!queued)
		return NET_XMIT_DROP;
	qdisc_tree_reduce_backlog(sch, 1 - queued, whole_len - len);
	return NET_XMIT_SUCCESS;
}

static int lasack_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			  struct sk_buff **to_free)
{
	struct lasack_sched_data *q = qdisc_priv(sch);
	struct tcp_segment seg;

	lasack_queue_advance(q->queue, ktime_get_ns());
	q->packets[tcp_segment_parse(skb, &seg)]++;
	if (skb_is_gso(skb) && inflight_must_segment(q->below, skb))
		return lasack_enqueue_segments(skb, &seg, sch, to_free);
	lasack_queue_add(q->queue, skb, &seg);
	return lasack_enqueued(skb, sch, to_free);
}

/* Time goes on while packets go, but who reads the clock for each has the cost of it. */
static void lasack_dequeue_advance(struct lasack_sched_data *q)
{
	if (q->config.halflife || q->config.target ||
	    q->served++ % LASACK_DELAY_SAMPLE == 0)
		lasack_queue_advance(q->queue, ktime_get_ns());
	else
		q->queue->timed = false;
}

/* Frees what the AQM has discarded. At least the packet that is about to be sent still counts. */
static noinline void lasack_discard(struct Qdisc *sch, struct sk_buff *list)
{
	unsigned int packets = 0, bytes = 0;
	struct sk_buff *skb;

	for (skb = list; skb; skb = skb->next) {
		qdisc_qstats_backlog_dec(sch, skb);
		qdisc_qlen_dec(sch);
		__qdisc_qstats_drop(sch, lasack_segs(skb));
		packets++;
		bytes += qdisc_pkt_len(skb);
	}
	qdisc_tree_reduce_backlog(sch, packets, bytes);
	kfree_skb_list(list);
}

static struct sk_buff *lasack_choose(struct Qdisc *sch)
{
	struct lasack_sched_data *q = qdisc_priv(sch);
	struct lasack_queue *queue = q->queue;
	struct sk_buff *skb;
	u32 run;

	lasack_dequeue_advance(q);
	skb = lasack_queue_serve(queue);
	run = inflight_run_bytes(q->below);
	/* In bytes, a slow station's run would take as long as its rate is low. */
	if (q->config.quantum == TC_LASACK_QUANTUM_AUTO)
		lasack_queue_set_quantum(queue, q->rates ? run : 0);
	if (queue->aqm && q->config.inflight == TC_INFLIGHT_AUTO)
		lasack_aqm_set_aggregates(queue->aqm, run,
					  q->config.target == TC_LASACK_TARGET_AUTO);
	if (unlikely(queue->aqm && queue->aqm->discarded)) {
		lasack_discard(sch, queue->aqm->discarded);
		queue->aqm->discarded = NULL;
	}
	return skb;
}

/* The packet that lasack_choose() takes, unless the AQM discards it. */
static const struct sk_buff *lasack_next(struct Qdisc *sch)
{
	struct lasack_sched_data *q = qdisc_priv(sch);

	return lasack_queue_next(q->queue);
}

static struct sk_buff *lasack_dequeue(struct Qdisc *sch)
{
	struct lasack_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb;

	if (q->config.inflight != TC_INFLIGHT_OFF)
		return inflight_serve(sch, q->below, lasack_choose, lasack_next);
	if (!sch->q.qlen)
		return NULL;
	skb = lasack_choose(sch);
	if (!skb)
		return NULL;
	_bstats_update(&sch->bstats, qdisc_pkt_len(skb), lasack_segs(skb));
	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_qlen_dec(sch);
	return skb;
}

static void lasack_reset(struct Qdisc *sch)
{
	struct lasack_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb;

	if (!q->queue)
		return;
	while ((skb = lasack_queue_push_out(q->queue))) {
		q->purged += lasack_segs(skb);
		rtnl_kfree_skbs(skb, skb);
	}
	lasack_queue_forget(q->queue);
}

/*
 * A packet that was dequeued and has come back, because the driver stopped or a parent looked
 * at it. It has been counted as sent.
 */
static struct sk_buff *lasack_take_requeued(struct Qdisc *sch)
{
	struct sk_buff *skb = __skb_dequeue(&sch->gso_skb) ?: __skb_dequeue(&sch->skb_bad_txq);

	if (!skb)
		return NULL;
	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_qlen_dec(sch);
	return skb;
}

/* The parents are told once, of all packets that had to go. */
static void lasack_trim(struct Qdisc *sch)
{
	unsigned int packets = 0, bytes = 0;
	struct sk_buff *skb;

	while (lasack_over_limit(sch)) {
		skb = lasack_push_out(sch) ?: lasack_take_requeued(sch);
		if (!skb)
			break;
		packets++;
		bytes += qdisc_pkt_len(skb);
		rtnl_kfree_skbs(skb, skb);
	}
	qdisc_tree_reduce_backlog(sch, packets, bytes);
}

/* Under the tree lock, but for init. */
static void lasack_commit(struct Qdisc *sch, const struct lasack_config *config)
{
	struct lasack_sched_data *q = qdisc_priv(sch);
	const struct net_device *dev = qdisc_dev(sch);
	struct lasack_queue *queue = q->queue;

	q->config = *config;
	WRITE_ONCE(sch->limit, config->limit);
	lasack_queue_set_quantum(queue, config->quantum == TC_LASACK_QUANTUM_AUTO ?
				 0 : config->quantum);
	queue->overhead = lasack_config_overhead(config, dev);
	lasack_queue_set_floor(queue, config->floor);
	if (queue->stations)
		lasack_stations_rate(queue->stations, q->rates);
	if (q->rates)
		WRITE_ONCE(q->rates->overhead, queue->overhead);
	if (queue->aqm) {
		lasack_aqm_set(queue->aqm, lasack_config_target(config), psched_mtu(dev));
		lasack_aqm_set_aggregates(queue->aqm, lasack_config_aggregates(config, dev), false);
	}
	flow_table_set_idle(queue->table, (u64)config->idle * NSEC_PER_MSEC);
	lasack_queue_set_halflife(queue, (u64)config->halflife * NSEC_PER_MSEC);
}

static bool lasack_shape_differs(const struct lasack_shape *a, const struct lasack_shape *b)
{
	return a->flows != b->flows || a->paper != b->paper || a->by_station != b->by_station ||
	       a->runs != b->runs || a->aqm != b->aqm;
}

static int lasack_change(struct Qdisc *sch, struct nlattr *opt,
			 struct netlink_ext_ack *extack)
{
	struct lasack_sched_data *q = qdisc_priv(sch);
	struct lasack_config config = q->config;
	struct lasack_rates *rates = NULL;
	struct lasack_observer *observer = NULL;
	struct lasack_queue *queue = NULL;
	struct lasack_shape shape;
	bool observe_changes, unit_changes;
	int err;

	err = lasack_config_parse(&config, qdisc_dev(sch), opt, extack);
	if (err)
		return err;
	shape = lasack_config_shape(&config);
	if (lasack_shape_differs(&shape, &q->queue->shape)) {
		queue = lasack_queue_create(&shape);
		if (!queue)
			return -ENOMEM;
	}
	observe_changes = config.observe != q->config.observe;
	if (observe_changes && config.observe) {
		observer = lasack_observer_create(qdisc_dev(sch));
		if (IS_ERR(observer)) {
			err = PTR_ERR(observer);
			goto no_observer;
		}
	}
	unit_changes = config.unit != q->config.unit;
	if (unit_changes && config.unit == TC_LASACK_UNIT_AIRTIME) {
		rates = lasack_rates_create(qdisc_dev(sch));
		if (!rates) {
			err = -ENOMEM;
			goto no_rates;
		}
	}

	sch_tree_lock(sch);
	lasack_queue_advance(q->queue, ktime_get_ns());
	if (queue) {
		lasack_queue_take_over(queue, q->queue);
		swap(q->queue, queue);
	}
	if (unit_changes)
		swap(q->rates, rates);
	lasack_commit(sch, &config);
	if (observe_changes)
		swap(q->queue->observer, observer);
	inflight_set_limit(q->below, config.inflight);
	lasack_trim(sch);
	sch_tree_unlock(sch);
	lasack_queue_free(queue);
	lasack_observer_free(observer);
	lasack_rates_free(rates);
	return 0;

no_rates:
	lasack_observer_free(observer);
no_observer:
	lasack_queue_free(queue);
	return err;
}

static int lasack_init(struct Qdisc *sch, struct nlattr *opt,
		       struct netlink_ext_ack *extack)
{
	struct lasack_sched_data *q = qdisc_priv(sch);
	struct lasack_observer *observer;
	struct lasack_config config;
	struct lasack_shape shape;

	lasack_config_init(&config, sch);
	shape = lasack_config_shape(&config);
	q->queue = lasack_queue_create(&shape);
	if (!q->queue)
		return -ENOMEM;
	if (config.unit == TC_LASACK_UNIT_AIRTIME) {
		q->rates = lasack_rates_create(qdisc_dev(sch));
		if (!q->rates)
			return -ENOMEM;
	}
	if (config.observe) {
		observer = lasack_observer_create(qdisc_dev(sch));
		if (IS_ERR(observer))
			return PTR_ERR(observer);
		q->queue->observer = observer;
	}
	lasack_commit(sch, &config);
	q->below = inflight_create(sch, config.inflight);
	if (!q->below)
		return -ENOMEM;
	return opt ? lasack_change(sch, opt, extack) : 0;
}

/* Also called after a failed init. */
static void lasack_destroy(struct Qdisc *sch)
{
	struct lasack_sched_data *q = qdisc_priv(sch);

	inflight_release(q->below);
	if (q->queue)
		lasack_observer_free(q->queue->observer);
	lasack_queue_free(q->queue);
	lasack_rates_free(q->rates);
}

static int lasack_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct lasack_sched_data *q = qdisc_priv(sch);
	struct nlattr *opts;

	opts = nla_nest_start(skb, TCA_OPTIONS);
	if (!opts)
		return -EMSGSIZE;
	if (lasack_config_put(&q->config, skb)) {
		nla_nest_cancel(skb, opts);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, opts);
}

static int lasack_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct lasack_sched_data *q = qdisc_priv(sch);
	struct tc_lasack_xstats st = {};

	sch_tree_lock(sch);
	lasack_stats_copy(q, &st);
	inflight_read(q->below, &st.below);
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(d, &st, sizeof(st));
}

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
	int err = lasack_rates_init();

	if (err)
		return err;
	err = register_qdisc(&lasack_qdisc_ops);
	if (err)
		lasack_rates_exit();
	return err;
}

static void __exit lasack_module_exit(void)
{
	unregister_qdisc(&lasack_qdisc_ops);
	lasack_rates_exit();
}

module_init(lasack_module_init)
module_exit(lasack_module_exit)
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Least attained service queue discipline with charged ACKs");
