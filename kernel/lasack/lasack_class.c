// SPDX-License-Identifier: GPL-2.0-only
/*
 * What tc shows of lasack: its statistics, and its classes, the flows with the largest sums. A
 * user can neither look a class up by name, nor make or change one.
 *
 * A class is a flow's place in the table, counted from 1. The search looks at every place,
 * so it releases the lock now and then. A flow that changes its place meanwhile may be
 * missed.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/rtnetlink.h>
#include <linux/time64.h>
#include <net/netlink.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>
#include "lasack/airtime/lasack_rates.h"
#include "lasack/lasack_aqm.h"
#include "lasack/lasack_observe.h"
#include "lasack/sch_lasack.h"
#include "uapi/pkt_sch_lasack.h"

/* Places that are looked at without a pause. */
#define LASACK_CLASS_WALK	256U

struct lasack_heaviest {
	u32	places[TC_LASACK_CLASSES];	/* the largest sum first */
	u64	sums[TC_LASACK_CLASSES];
	u32	count;
};

static unsigned long lasack_find(struct Qdisc *sch, u32 classid)
{
	return 0;
}

static struct Qdisc *lasack_leaf(struct Qdisc *sch, unsigned long cl)
{
	return NULL;
}

/* With stations, the sums of flows of different stations cannot be compared. */
static u64 lasack_class_sum(const struct lasack_queue *q, const struct lasack_flow *flow)
{
	return q->shape.by_station ? lasack_flow_bytes(flow) : flow->account.sum;
}

static void lasack_heaviest_note(struct lasack_heaviest *heaviest, u32 place, u64 sum)
{
	u32 at;

	for (at = heaviest->count; at > 0 && heaviest->sums[at - 1] < sum; at--) {
		if (at == TC_LASACK_CLASSES)
			continue;
		heaviest->places[at] = heaviest->places[at - 1];
		heaviest->sums[at] = heaviest->sums[at - 1];
	}
	if (at == TC_LASACK_CLASSES)
		return;
	heaviest->places[at] = place;
	heaviest->sums[at] = sum;
	heaviest->count = min(heaviest->count + 1, TC_LASACK_CLASSES);
}

/* Looks at some places from @place on. */
static void lasack_heaviest_look(const struct lasack_queue *q, u32 place,
				 struct lasack_heaviest *heaviest)
{
	u32 end = min(place + LASACK_CLASS_WALK, q->table->size);
	const struct lasack_flow *flow;

	for (; place < end; place++) {
		flow = lasack_flow_at(q, place);
		if (flow->entry.in_use)
			lasack_heaviest_note(heaviest, place, lasack_class_sum(q, flow));
	}
}

static void lasack_walk(struct Qdisc *sch, struct qdisc_walker *walker)
{
	struct lasack_sched_data *q = qdisc_priv(sch);
	struct lasack_heaviest heaviest = {};
	u32 place, i;

	if (walker->stop)
		return;
	/* The table cannot be replaced meanwhile: that takes the RTNL, which we hold. */
	for (place = 0; place < q->queue->table->size; place += LASACK_CLASS_WALK) {
		sch_tree_lock(sch);
		lasack_heaviest_look(q->queue, place, &heaviest);
		sch_tree_unlock(sch);
	}
	for (i = 0; i < heaviest.count; i++) {
		if (!tc_qdisc_stats_dump(sch, heaviest.places[i] + 1, walker))
			break;
	}
}

/* What is known of the flow's station. */
static void lasack_class_rates(struct lasack_rates *rates, const struct lasack_flow *flow,
			       struct tc_lasack_flow *st)
{
	const struct lasack_rated *station = &rates->station[flow->station];

	spin_lock_bh(&rates->lock);
	st->tx_rate = station->tx.value;
	st->rx_rate = station->rx.value;
	if (station->air.down) {
		st->tx_price = lasack_priced(100, station->price.full);
		st->rx_price = lasack_priced(100, station->price.up);
	}
	spin_unlock_bh(&rates->lock);
}

static int lasack_dump_class(struct Qdisc *sch, unsigned long cl,
			     struct sk_buff *skb, struct tcmsg *tcm)
{
	struct lasack_sched_data *q = qdisc_priv(sch);
	struct lasack_queue *queue = q->queue;
	struct tc_lasack_flow st = {};
	struct lasack_flow *flow;
	struct nlattr *opts;

	sch_tree_lock(sch);
	flow = lasack_flow_at(queue, cl - 1);
	BUILD_BUG_ON(sizeof(st.addr) != sizeof(flow->entry.key.addr));
	memcpy(st.addr, flow->entry.key.addr, sizeof(st.addr));
	memcpy(st.port, flow->entry.key.port, sizeof(st.port));
	st.protocol = flow->entry.key.protocol;
	st.to = !flow->reversed;
	st.attained = lasack_sum_bytes(&queue->decay, flow->account.sum,
				       lasack_decay_age(&queue->decay, ktime_get_ns()));
	st.sent = flow->sent;
	st.received = flow->received;
	if (queue->shape.by_station && q->rates)
		lasack_class_rates(q->rates, flow, &st);
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
	const struct lasack_flow *flow;
	const struct sk_buff *skb;

	sch_tree_lock(sch);
	flow = lasack_flow_at(q->queue, cl - 1);
	for (skb = flow->head; skb; skb = skb->next)
		qs.backlog += qdisc_pkt_len(skb);
	qs.qlen = flow->account.packets;
	sch_tree_unlock(sch);
	return gnet_stats_copy_queue(d, NULL, &qs, qs.qlen);
}

const struct Qdisc_class_ops lasack_class_ops = {
	.leaf		= lasack_leaf,
	.find		= lasack_find,
	.walk		= lasack_walk,
	.dump		= lasack_dump_class,
	.dump_stats	= lasack_dump_class_stats,
};

/* The statistics of the whole, for tc to show. Under the tree lock. */
void lasack_stats_copy(const struct lasack_sched_data *q, struct tc_lasack_xstats *st)
{
	const struct lasack_queue *queue = q->queue;
	const struct flow_table *table = queue->table;
	struct lasack_observed seen;

	st->flows = table->flows;
	st->active = table->busy;
	st->enqueued = q->enqueued;
	st->purged = q->purged;
	st->pushed_out = q->pushed_out;
	st->evicted = table->counts.evicted;
	st->expired = table->counts.expired;
	st->collisions = table->counts.collisions;
	st->overflow = queue->overflow;
	st->not_ip = q->packets[SEGMENT_NOT_IP];
	st->portless = q->packets[SEGMENT_PORTLESS];
	st->fragment = q->packets[SEGMENT_FRAGMENT];
	st->truncated = q->packets[SEGMENT_TRUNCATED];
	st->malformed = q->packets[SEGMENT_MALFORMED];
	st->memory = queue->memory;
	st->sum_p50 = lasack_queue_percentile(queue, 50);
	st->sum_p90 = lasack_queue_percentile(queue, 90);
	st->sum_p99 = lasack_queue_percentile(queue, 99);
	st->small_delay = div_u64(queue->delay[0].average, NSEC_PER_USEC);
	st->small_delay_max = div_u64(queue->delay[0].max, NSEC_PER_USEC);
	st->large_delay = div_u64(queue->delay[1].average, NSEC_PER_USEC);
	st->large_delay_max = div_u64(queue->delay[1].max, NSEC_PER_USEC);
	st->resynchronised = queue->resynchronised;
	st->stations = queue->stations ? queue->stations->count : 0;
	st->overhead = queue->overhead;
	st->rated = q->rates ? lasack_rates_known(q->rates) : 0;
	if (queue->aqm) {
		st->late = queue->aqm->codel_stats.drop_count;
		st->marked = queue->aqm->codel_stats.ecn_mark;
		st->thinned = queue->aqm->thinned;
		st->windows = queue->aqm->windows;
	}
	if (!queue->observer)
		return;
	lasack_observer_read(queue->observer, &seen);
	st->observed = seen.packets;
	st->observed_bytes = seen.bytes;
	st->slowed = seen.slowed;
}
