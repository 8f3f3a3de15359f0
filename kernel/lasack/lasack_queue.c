// SPDX-License-Identifier: GPL-2.0-only
/*
 * The queue of LAS-ACK: packets come, are served, are pushed out.
 *
 * Principle: the flow with the least attained service is served first, its packets in
 * order of arrival. lasack_charge.c says what is attained, lasack_order.c who is next.
 *
 * Least attained service starves the largest. A floor, in percent, is a share of
 * the service that goes to the flow that has waited longest, whatever its sum:
 * each byte sent earns the floor its share, and when that pays for the first
 * packet of that flow, it is the next. Service is what it is for the sums: the
 * bytes of a packet and those it acknowledges. By its own bytes alone an ACK
 * would be almost free, and uploads would have the floor's share many times over.
 *
 * A flow has waited since it was last served for its sum. A TCP sends its next
 * packet when the one before has got through: what waits is the connection, and a
 * wait of the packet alone would begin anew with each.
 *
 * Push-out takes the oldest packet of the flow with the largest sum: the newer
 * ACKs say what it said, and a sender learns soonest of lost data.
 *
 * What other traffic cannot do without (ARP, EAPOL, ICMPv6, DHCP, DNS) is one flow. It is
 * served first as long as it has not attained more than others have: no flood delays
 * it but one of its own kind, and that is only one flow. If every place of the table is
 * taken by a flow with packets, new flows share one. The caller holds the qdisc lock.
 */
#include <linux/in.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include "lasack/lasack_charge.h"
#include "lasack/lasack_observe.h"
#include "lasack/lasack_order.h"
#include "lasack/lasack_queue.h"

/*
 * The floor is for the flow that has waited longest, but not for ever: while it
 * has the floor its wait grows a sixteenth slower than others'. So of two that
 * never end each has its turn, and newcomers never come before them.
 */
#define LASACK_TURN_SHIFT	4

/* A packet's time of arrival, in units of 2^10 ns. */
#define LASACK_ARRIVAL_SHIFT	10

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

static bool lasack_is_control_port(__be16 port)
{
	switch (ntohs(port)) {
	case 53:		/* DNS */
	case 67:		/* DHCP */
	case 68:
	case 546:		/* DHCPv6 */
	case 547:
		return true;
	default:
		return false;
	}
}

/* Without these there is no address, no name and no next hop. */
static bool lasack_packet_is_control(const struct lasack_queue *q, const struct tcp_segment *seg)
{
	switch (seg->class) {
	case SEGMENT_NOT_IP:
		return true;
	case SEGMENT_PORTS:
		return !q->shape.paper && seg->key.protocol == IPPROTO_UDP &&
		       (lasack_is_control_port(seg->key.port[0]) ||
			lasack_is_control_port(seg->key.port[1]));
	case SEGMENT_PORTLESS:
		return !q->shape.paper && seg->key.protocol == IPPROTO_ICMPV6;
	default:
		return false;
	}
}

static struct lasack_flow *lasack_flow_of_entry(struct flow_entry *entry)
{
	return container_of(entry, struct lasack_flow, entry);
}

static struct lasack_flow *lasack_queue_new_flow(struct lasack_queue *q,
						 const struct segment_key *key, u32 hash)
{
	struct flow_entry *entry = flow_table_add(q->table, key, hash, q->time);
	struct lasack_flow *flow;

	if (!entry) {
		q->overflow++;
		return lasack_shared(q, LASACK_OVERFLOW);
	}
	flow = lasack_flow_of_entry(entry);
	flow->sent = 0;
	flow->received = 0;
	q->by_bits[0]++;
	lasack_flow_new_life(q, flow);
	return flow;
}

/**
 * lasack_queue_flow() - the flow a packet belongs to
 * @q: the queue
 * @seg: what the packet is
 *
 * Return: the flow, a new one if need be.
 */
struct lasack_flow *lasack_queue_flow(struct lasack_queue *q, const struct tcp_segment *seg)
{
	struct flow_entry *entry;
	u32 hash;

	if (seg->class != SEGMENT_TCP) {
		if (lasack_packet_is_control(q, seg))
			return lasack_shared(q, LASACK_CONTROL);
		if (!segment_has_key(seg))
			return lasack_shared(q, LASACK_OTHER);
	}
	hash = flow_table_hash(q->table, &seg->key);
	entry = flow_table_find(q->table, &seg->key, hash);
	if (likely(entry && (entry->busy || !flow_table_is_over(q->table, entry, q->time))))
		return lasack_flow_of_entry(entry);
	if (entry) {
		flow_table_forget(q->table, entry);
		q->table->counts.expired++;
	}
	return lasack_queue_new_flow(q, &seg->key, hash);
}

/* A SYN of the same addresses and ports: another connection? */
static bool lasack_begins_life(const struct lasack_queue *q, const struct lasack_flow *flow)
{
	if (q->shape.paper || flow->entry.finished)
		return true;
	return !flow->head && q->time - flow->entry.idle_since >= LASACK_PAUSE;
}

static void lasack_flow_append(struct lasack_flow *flow, struct sk_buff *skb)
{
	skb->next = NULL;
	if (flow->head)
		flow->tail->next = skb;
	else
		flow->head = skb;
	flow->tail = skb;
	flow->account.packets++;
}

/* The packet comes to its flow, which is charged already with the @acked bytes. */
static void lasack_queue_append(struct lasack_queue *q, struct lasack_flow *flow,
				struct sk_buff *skb, u32 payload, u32 acked)
{
	struct lasack_skb_cb *cb = lasack_cb(skb);
	bool control = lasack_is_control(q, flow);

	cb->seq = ++q->seq;
	cb->arrival = q->now >> LASACK_ARRIVAL_SHIFT;
	cb->memory = skb->truesize;
	cb->acked = acked;
	cb->refunds = flow->refunds;
	cb->cost = lasack_flow_cost(q, flow, skb, payload, acked);
	lasack_flow_admit(q, flow, cb->cost + acked);
	q->memory += cb->memory;
	lasack_flow_append(flow, skb);
	if (control)
		return;
	q->packets++;
	if (lasack_is_grouped(q))
		lasack_station_at(q, flow)->account.packets++;
	if (flow->head != skb) {
		lasack_order_changed(q, flow);
		return;
	}
	if (q->shape.floor && !flow->starved)
		q->waiting_since[lasack_flow_number(q, flow)] = q->now;
	lasack_order_join(q, flow);
}

/* A flow without packets is about to get one. */
static void lasack_queue_wake(struct lasack_queue *q, struct lasack_flow *flow,
			      const struct sk_buff *skb)
{
	if (!flow->shared)
		flow_table_wake(q->table, &flow->entry);
	lasack_flow_begin(q, flow, skb);
}

/* What the packet says about its connection. Return: bytes it acknowledges. */
static u32 lasack_queue_observe(struct lasack_queue *q, struct lasack_flow *flow,
				const struct tcp_segment *seg)
{
	u64 sum = flow->account.sum;
	u32 acked;

	if (seg->class == SEGMENT_TCP)
		acked = lasack_flow_acked(q, flow, seg);
	else
		acked = q->observer ? lasack_observer_take(q->observer, &seg->key) : 0;
	flow->reversed = seg->reversed;
	if (acked)
		lasack_flow_charge_acked(q, flow, acked);
	if (unlikely(flow->account.sum < sum) && flow->head)
		lasack_order_lowered(q, flow);
	return acked;
}

/**
 * lasack_queue_add() - a packet joins its flow
 * @q: the queue
 * @skb: the packet, which may be GSO; qdisc_pkt_len() is valid
 * @seg: what it is
 *
 * Charges what the packet acknowledges.
 *
 * Return: the flow.
 */
struct lasack_flow *lasack_queue_add(struct lasack_queue *q, struct sk_buff *skb,
				     const struct tcp_segment *seg)
{
	struct lasack_flow *flow = lasack_queue_flow(q, seg);
	struct lasack_skb_cb *cb = lasack_cb(skb);
	u32 acked = 0;

	cb->fin = seg->fin && !flow->shared;
	cb->rst = seg->rst && !flow->shared;
	if (unlikely(seg->syn) && !flow->shared && lasack_begins_life(q, flow)) {
		lasack_flow_new_life(q, flow);
		if (flow->head)
			lasack_order_lowered(q, flow);
	}
	if (!flow->head)
		lasack_queue_wake(q, flow, skb);
	if (!flow->shared)
		acked = lasack_queue_observe(q, flow, seg);
	lasack_queue_append(q, flow, skb, seg->payload, acked);
	return flow;
}

/**
 * lasack_queue_add_more() - a packet joins the flow of the one before it
 * @q: the queue
 * @flow: that flow
 * @skb: the packet, a segment of the same GSO packet
 * @seg: what that was
 * @payload: bytes of it in @skb
 */
void lasack_queue_add_more(struct lasack_queue *q, struct lasack_flow *flow, struct sk_buff *skb,
			   const struct tcp_segment *seg, u32 payload)
{
	struct lasack_skb_cb *cb = lasack_cb(skb);

	/* It may have lost all packets, and its place. */
	if (!flow->head) {
		flow = lasack_queue_flow(q, seg);
		if (!flow->head)
			lasack_queue_wake(q, flow, skb);
	}
	cb->fin = seg->fin && !flow->shared;
	cb->rst = seg->rst && !flow->shared;
	lasack_queue_append(q, flow, skb, payload, 0);
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
	if (!lasack_is_control(q, flow))
		lasack_order_leave(q, flow);
	if (flow->shared) {
		/* Its past says nothing about the next packet's connection. */
		if (q->shape.paper)
			lasack_flow_new_life(q, flow);
		return;
	}
	flow_table_idle(q->table, &flow->entry, q->time);
	if (flow->aborted)
		flow_table_forget(q->table, &flow->entry);
}

/* Sent: it is charged. After a FIN the other direction may go on for long. */
static void lasack_queue_sent(struct lasack_queue *q, struct lasack_flow *flow,
			      const struct lasack_skb_cb *cb)
{
	lasack_flow_charge_sent(q, flow, cb);
	flow->served = 1;
	flow->entry.finished |= cb->fin;
	flow->aborted |= cb->rst;
}

/* Pushed out: what it would have acknowledged, the next one does. */
static void lasack_queue_lost(struct lasack_queue *q, struct lasack_flow *flow,
			      const struct lasack_skb_cb *cb)
{
	struct lasack_skb_cb *next;

	flow->starved = 1;
	lasack_flow_readmit(q, flow, cb->cost);
	if (!flow->head) {
		lasack_flow_lost_last(q, flow);
		return;
	}
	next = lasack_cb(flow->head);
	next->acked = min_t(u64, U32_MAX, (u64)next->acked + cb->acked);
}

/* Take the first packet of a flow that has one, which is charged if it is @sent. */
static struct sk_buff *lasack_queue_take(struct lasack_queue *q, struct lasack_flow *flow,
					 bool sent)
{
	struct sk_buff *skb = flow->head;

	if (sent && q->timed)
		lasack_queue_note_delay(q, flow);
	flow->head = skb->next;
	skb_mark_not_on_list(skb);
	flow->account.packets--;
	q->memory -= lasack_cb(skb)->memory;
	if (!lasack_is_control(q, flow)) {
		q->packets--;
		if (lasack_is_grouped(q))
			lasack_station_at(q, flow)->account.packets--;
	}
	if (sent)
		lasack_queue_sent(q, flow, lasack_cb(skb));
	else
		lasack_queue_lost(q, flow, lasack_cb(skb));
	if (!flow->head)
		lasack_queue_idle(q, flow);
	else if (!lasack_is_control(q, flow))
		lasack_order_changed(q, flow);
	if (q->dropping && q->packets < q->drop_below)
		lasack_order_drop_no_more(q);
	return skb;
}

/**
 * lasack_service() - bytes of service in sending a packet
 * @skb: the packet
 *
 * One that acknowledges more than what the largest packet holds makes up for lost
 * ones, or is forged: neither may earn or cost the floor more than that.
 */
u32 lasack_service(const struct sk_buff *skb)
{
	return qdisc_pkt_len(skb) + min_t(u32, lasack_cb(skb)->acked, U16_MAX);
}

/* The flow that has waited longest, if the floor pays for it; or NULL. */
static struct lasack_flow *lasack_queue_due(struct lasack_queue *q)
{
	struct lasack_flow *flow;
	u64 price, *since;

	if (!q->floor)
		return NULL;
	flow = lasack_order_longest_waiting(q);
	price = 100ULL * lasack_service(flow->head);
	if (q->floor_credit < price)
		return NULL;
	q->floor_credit -= price;
	flow->starved = 1;
	since = &q->waiting_since[lasack_flow_number(q, flow)];
	*since += (q->now - q->floor_served) >> LASACK_TURN_SHIFT;
	q->floor_served = q->now;
	return flow;
}

void lasack_queue_set_floor(struct lasack_queue *q, u32 percent)
{
	if (q->floor != percent) {
		q->floor_credit = 0;
		q->floor_served = q->now;
	}
	q->floor = percent;
}

/* Are control packets next? */
static bool lasack_queue_control_is_next(struct lasack_queue *q)
{
	const struct lasack_flow *control = lasack_shared(q, LASACK_CONTROL);

	if (!control->head)
		return false;
	if (q->shape.paper || control->account.sum <= q->level.high)
		return true;
	if (q->packets)
		return false;
	q->level.high = control->account.sum;
	return true;
}

/**
 * lasack_queue_serve() - take the packet of least attained service
 * @q: the queue
 *
 * With a quantum, of least attained service of the station under way; with a
 * floor, now and then the packet that has waited longest.
 *
 * Return: the packet, or NULL if the queue is empty.
 */
struct sk_buff *lasack_queue_serve(struct lasack_queue *q)
{
	struct lasack_flow *flow = NULL;

	if (unlikely(lasack_queue_control_is_next(q)))
		flow = lasack_shared(q, LASACK_CONTROL);
	else if (!q->packets)
		return NULL;
	else if (q->shape.floor)
		flow = lasack_queue_due(q);
	if (!flow) {
		flow = lasack_order_next(q);
		flow->starved = 0;
		if (q->shape.floor)
			q->waiting_since[lasack_flow_number(q, flow)] = q->now;
	}
	if (q->shape.floor)
		q->floor_credit += (u64)q->floor * lasack_service(flow->head);
	return lasack_queue_take(q, flow, true);
}

/**
 * lasack_queue_push_out() - take a packet of the flow with the largest sum
 * @q: the queue
 *
 * A flow with but one packet is spared while another has more, and control packets while
 * they have not attained more than others and there is anything else.
 *
 * Return: the packet, or NULL if the queue is empty.
 */
struct sk_buff *lasack_queue_push_out(struct lasack_queue *q)
{
	struct lasack_flow *control = lasack_shared(q, LASACK_CONTROL);

	if (control->head &&
	    (!q->packets || (!q->shape.paper && control->account.sum > q->level.high)))
		return lasack_queue_take(q, control, false);
	if (!q->packets)
		return NULL;
	if (!q->dropping) {
		lasack_order_drop(q);
		q->drop_below = q->packets / 2;
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
