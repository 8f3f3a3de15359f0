// SPDX-License-Identifier: GPL-2.0-only
/*
 * The queue of LAS-ACK: packets are served, or pushed out. lasack_arrival.c has how they come.
 *
 * Principle: the flow with the least attained service is served first, its packets in
 * order of arrival. lasack_charge.c says what is attained, lasack_order.c who is next.
 *
 * Push-out takes the oldest packet of the flow with the largest sum. If it is an ACK, the newer
 * ACKs say all that it said. If it is data, the sender learns soonest that it is lost.
 *
 * The caller holds the qdisc lock.
 */
#include <linux/minmax.h>
#include <linux/prefetch.h>
#include "lasack/floor/lasack_floor.h"
#include "lasack/lasack_aqm.h"
#include "lasack/lasack_call.h"
#include "lasack/lasack_charge.h"
#include "lasack/lasack_newcomer.h"
#include "lasack/lasack_order.h"
#include "lasack/lasack_queue.h"

/* If more control packets of a kind wait, they are a flood: others are served sooner. */
#define LASACK_FLOOD	64U

/**
 * lasack_queue_advance() - time goes on
 * @q: the queue
 * @now: monotonic, ns
 */
void lasack_queue_advance(struct lasack_queue *q, u64 now)
{
	q->now = now;
	q->timed = true;
	q->time = now >> FLOW_TIME_SHIFT;
	if (q->decay.halflife) {
		q->age = lasack_decay_age(&q->decay, now);
		if (unlikely(q->age >= LASACK_AGE_MAX))
			lasack_queue_set_halflife(q, q->decay.halflife);
	}
	if (q->time != q->table->swept_at)
		flow_table_sweep(q->table, q->time);
}

/* The first packet of the flow is about to be sent. */
static void lasack_queue_note_delay(struct lasack_queue *q, const struct lasack_flow *flow)
{
	struct lasack_delay *delay = &q->delay[lasack_flow_bytes(flow) >= LASACK_LARGE];
	u32 units = (u32)(q->now >> LASACK_ARRIVAL_SHIFT) - lasack_cb(flow->head)->arrival;
	u64 waited = (u64)units << LASACK_ARRIVAL_SHIFT;

	delay->average = delay->average - (delay->average >> 3) + (waited >> 3);
	delay->max = max(delay->max, waited);
}

/* The flow has no packets any more. */
static void lasack_queue_idle(struct lasack_queue *q, struct lasack_flow *flow)
{
	if (!lasack_is_control(flow))
		lasack_order_leave(q, flow);
	if (flow->shared) {
		/* The next packet may belong to another connection. */
		if (q->shape.paper)
			lasack_flow_new_life(q, flow);
		return;
	}
	flow_table_idle(q->table, &flow->entry, q->time);
	if (flow->aborted)
		flow_table_forget(q->table, &flow->entry);
}

/* The packet is sent, so it is charged. After a FIN the other direction may go on for long. */
static void lasack_queue_sent(struct lasack_queue *q, struct lasack_flow *flow,
			      const struct lasack_skb_cb *cb)
{
	lasack_flow_charge_sent(q, flow, cb);
	flow->served = 1;
	if (likely(!(cb->fin || cb->rst)))
		return;
	if (!flow->entry.finished && !flow->aborted)
		lasack_floor_ended(q, flow);
	flow->entry.finished |= cb->fin;
	flow->aborted |= cb->rst;
}

/* The packet is pushed out. The next packet acknowledges what it would have acknowledged. */
static void lasack_queue_lost(struct lasack_queue *q, struct lasack_flow *flow,
			      const struct lasack_skb_cb *cb)
{
	struct lasack_skb_cb *next;

	lasack_flow_readmit(q, flow, cb->cost);
	if (!flow->head) {
		lasack_flow_lost_last(q, flow);
		return;
	}
	next = lasack_cb(flow->head);
	/* If ACKs were forged in between, nothing is left to be charged for this one. */
	if (cb->refunds == next->refunds)
		next->acked = min_t(u64, S32_MAX, (u64)next->acked + cb->acked);
}

/* Take the first packet of a flow that has one, which is charged if it is @sent. */
static struct sk_buff *lasack_queue_take(struct lasack_queue *q, struct lasack_flow *flow,
					 bool sent)
{
	struct sk_buff *skb = flow->head;
	bool ahead;

	if (sent && q->timed)
		lasack_queue_note_delay(q, flow);
	flow->head = skb->next;
	/* The order is about to look at it. */
	prefetch(flow->head);
	skb_mark_not_on_list(skb);
	flow->account.packets--;
	q->memory -= lasack_cb(skb)->memory;
	if (!lasack_is_control(flow)) {
		q->packets--;
		if (lasack_is_grouped(q))
			lasack_station_at(q, flow)->account.packets--;
	} else {
		q->control_packets--;
	}
	if (sent && lasack_is_control(flow))
		q->control_sum = lasack_sum_plus(q, q->control_sum,
						 lasack_control_weight(q, lasack_cb(skb)->cost));
	if (sent)
		lasack_queue_sent(q, flow, lasack_cb(skb));
	else
		lasack_queue_lost(q, flow, lasack_cb(skb));
	ahead = sent && lasack_call_sent(q, flow, lasack_cb(skb)->cost);
	if (!flow->head)
		lasack_queue_idle(q, flow);
	else if (unlikely(ahead))
		lasack_order_lowered(q, flow);
	else if (!lasack_is_control(flow))
		lasack_order_changed(q, flow);
	if (q->dropping && q->packets < q->drop_below)
		lasack_order_drop_no_more(q);
	return skb;
}

/* From now on so much of the service is for flows that starve. 0: none. */
void lasack_queue_set_floor(struct lasack_queue *q, u32 percent)
{
	if (!percent && q->floor)
		lasack_floor_clear(q);
	q->floor = percent;
}

/* Have control packets attained no more than others? */
static bool lasack_queue_control_is_next(struct lasack_queue *q)
{
	if (likely(!q->control_packets))
		return false;
	if (q->shape.paper)
		return true;
	/* The largest sum may have changed by much, because of forged ACKs. */
	q->control_sum = clamp(q->control_sum,
			       lasack_sum_minus(q, q->level.high, LASACK_CREDIT),
			       lasack_sum_plus(q, q->level.high,
					       lasack_control_weight(q, LASACK_CREDIT)));
	if (q->control_sum <= q->level.high)
		return true;
	if (q->packets)
		return false;
	q->level.high = q->control_sum;
	return true;
}

/* The AQM drops the first packet of the flow, which has others. */
static void lasack_queue_discard(struct lasack_queue *q, struct lasack_flow *flow)
{
	struct sk_buff *skb = lasack_queue_take(q, flow, false);

	skb->next = q->aqm->discarded;
	q->aqm->discarded = skb;
}

/* There are control packets. Return: of their flows that of the least sum. */
static struct lasack_flow *lasack_queue_control(struct lasack_queue *q)
{
	struct lasack_flow *flow, *least = NULL;
	int i;

	for (i = 0; i < __LASACK_CONTROL; i++) {
		flow = lasack_shared(q, i);
		if (flow->head && (!least || flow->account.sum < least->account.sum))
			least = flow;
	}
	/* What begins later does not wait for what it lags behind. */
	least->account.sum = max(least->account.sum,
				 lasack_sum_minus(q, q->level.high, LASACK_CREDIT));
	return least;
}

/* Return: of the flows of control packets that with the most of them. */
static struct lasack_flow *lasack_queue_control_longest(struct lasack_queue *q)
{
	struct lasack_flow *longest = lasack_shared(q, 0);
	int i;

	for (i = 1; i < __LASACK_CONTROL; i++) {
		if (lasack_shared(q, i)->account.packets > longest->account.packets)
			longest = lasack_shared(q, i);
	}
	return longest;
}

/*
 * The flow has the floor. What it had so far is held against it only as far as others may catch up
 * with anybody: else it would wait for one that has had less for as long as it has had the floor.
 */
static void lasack_queue_by_floor(struct lasack_queue *q, struct lasack_flow *flow)
{
	u64 most = lasack_sum_plus(q, lasack_flow_level(q, flow)->high, LASACK_LAG);

	/* Without stations nothing else tells the control packets that others are served. */
	if (!q->shape.by_station)
		q->control_sum = lasack_sum_minus(q, q->control_sum, lasack_cb(flow->head)->cost);
	if (flow->account.sum <= most)
		return;
	flow->account.sum = most;
	lasack_order_lowered(q, flow);
}

/* A packet of the flow is about to be served, and some that compete with it starve. */
static noinline void lasack_queue_note_floor(struct lasack_queue *q, struct lasack_flow *flow,
					     bool by_floor)
{
	lasack_floor_note(q, flow, by_floor);
	if (by_floor)
		lasack_queue_by_floor(q, flow);
}

/**
 * lasack_queue_serve() - take the packet of least attained service
 * @q: the queue
 *
 * With a quantum, only the station that is being served is considered. With a floor,
 * a flow that starves is served now and then.
 *
 * Return: the packet, or NULL if the queue is empty.
 */
struct sk_buff *lasack_queue_serve(struct lasack_queue *q)
{
	struct lasack_flow *flow;
	bool by_floor;

	if (unlikely(lasack_queue_control_is_next(q)))
		return lasack_queue_take(q, lasack_queue_control(q), true);
	if (!q->packets)
		return NULL;
	flow = lasack_order_next(q, &by_floor);
	if (unlikely(q->aqm))
		lasack_aqm_serve(q, flow, lasack_queue_discard);
	/* Of ACKs that gave way to one, all count. */
	if (unlikely(lasack_flow_level(q, flow)->floor.count))
		lasack_queue_note_floor(q, flow, by_floor);
	return lasack_queue_take(q, flow, true);
}

/**
 * lasack_queue_next() - the packet that lasack_queue_serve() takes
 * @q: the queue
 *
 * But for the AQM, which may drop it.
 *
 * Return: the packet, still queued, or NULL: there is none.
 */
const struct sk_buff *lasack_queue_next(struct lasack_queue *q)
{
	if (unlikely(lasack_queue_control_is_next(q)))
		return lasack_queue_control(q)->head;
	return q->packets ? lasack_order_first(q)->head : NULL;
}

/* Are control packets to be dropped before others? @longest: the kind with the most of them. */
static bool lasack_queue_is_flooded(const struct lasack_queue *q,
				    const struct lasack_flow *longest)
{
	/* In a flood the sums change places with each packet that is sent. */
	return longest->account.packets > LASACK_FLOOD ||
	       (longest->account.packets > 1 && q->control_sum > q->level.high);
}

/**
 * lasack_queue_push_out() - take a packet of the flow with the largest sum
 * @q: the queue
 *
 * A flow with only one packet is spared while another has more. Control packets are spared
 * while there are other packets, unless they have attained more than any other that was served, or
 * a kind has more than LASACK_FLOOD. But the only packet of a kind is spared.
 *
 * Return: the packet, or NULL if the queue is empty.
 */
struct sk_buff *lasack_queue_push_out(struct lasack_queue *q)
{
	struct lasack_flow *longest = lasack_queue_control_longest(q);

	if (q->control_packets &&
	    (!q->packets || (!q->shape.paper && lasack_queue_is_flooded(q, longest))))
		return lasack_queue_take(q, longest, false);
	if (!q->packets)
		return NULL;
	if (!q->dropping) {
		lasack_order_drop(q);
		q->drop_below = max(q->packets / 2, 1U);
	}
	return lasack_queue_take(q, lasack_order_worst(q), false);
}

/**
 * lasack_queue_percentile() - how much flows have attained
 * @q: the queue
 * @percent: of the flows in the table
 *
 * Return: the power of two, in bytes, that so many flows are below; 0 without any.
 */
u64 lasack_queue_percentile(const struct lasack_queue *q, u32 percent)
{
	u64 wanted = DIV_ROUND_UP_ULL((u64)q->table->flows * percent, 100), seen = 0;
	u32 bits;

	if (!q->table->flows)
		return 0;
	for (bits = 0; bits < 63; bits++) {
		seen += q->by_bits[bits];
		if (seen >= wanted)
			break;
	}
	return BIT_ULL(bits);
}
