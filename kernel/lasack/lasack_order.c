// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who is served next, and who loses a packet.
 *
 * Principle: what is compared is what each has attained by now, so a flow whose ACKs
 * arrive while others wait falls behind at once; equals are served in order of
 * arrival. Without stations a heap orders the flows, by keys that may be out of date: sums
 * only grow, so the first flow whose key is true is the least. A packet that joins a flow
 * moves nothing. (Where a sum does become less the flow is moved at once.)
 *
 * With stations (their flows share what their station gets, or a station is served
 * in runs) a heap orders the stations and a tree each one's flows; both are kept exact.
 *
 * The order to push out of is made when the queue is full, kept exact, and given up when the queue
 * is half as long. A flow's only packet goes last of all: without it a TCP has nothing
 * to clock it but its time-out. That is for flows that have been served; who sends each
 * packet as a new flow is not spared.
 *
 * The order by waiting is there only with a floor. It is mended as the first one is: a wait only
 * begins later.
 */
#include <linux/bits.h>
#include <linux/minmax.h>
#include "lasack/lasack_charge.h"
#include "lasack/lasack_order.h"

/* So many flows of a station are looked at for one that may lose a packet. */
#define LASACK_ORDER_SCAN	16

static u32 lasack_flow_seq(const struct lasack_flow *flow)
{
	return lasack_cb(flow->head)->seq;
}

static struct lasack_flow *lasack_flow_of(const struct lasack_queue *q,
					  const struct rb_node *node)
{
	return lasack_flow_at(q, node - q->nodes);
}

static struct rb_node *lasack_flow_node(const struct lasack_queue *q,
					const struct lasack_flow *flow)
{
	return &q->nodes[lasack_flow_number(q, flow)];
}

/* May the flow lose a packet before those that have but one? */
static bool lasack_flow_can_spare(const struct lasack_queue *q, const struct lasack_flow *flow)
{
	return flow->account.packets > 1 || !(flow->served || q->shape.paper);
}

/* Those that can spare a packet first, the largest sum first. No heap has U64_MAX as a key. */
static u64 lasack_drop_key(bool can_spare, u64 sum)
{
	return (~max(sum, 1ULL) & ~BIT_ULL(63)) | (can_spare ? 0 : BIT_ULL(63));
}

/* Of equal sums, the newest packet first. */
static void lasack_drop_update(struct lasack_queue *q, u32 item, bool can_spare, u64 sum, u32 seq)
{
	u64 key = lasack_drop_key(can_spare, sum);

	if (lasack_heap_has(&q->drop, item))
		lasack_heap_update(&q->drop, item, key, ~seq);
	else
		lasack_heap_add(&q->drop, item, key, ~seq);
}

static void lasack_drop_update_flow(struct lasack_queue *q, const struct lasack_flow *flow)
{
	lasack_drop_update(q, lasack_flow_number(q, flow), lasack_flow_can_spare(q, flow),
			   lasack_flow_sum_in_all(q, flow), lasack_flow_seq(flow));
}

static struct lasack_flow *lasack_station_least(const struct lasack_queue *q,
						const struct lasack_station *station)
{
	return lasack_flow_of(q, rb_first_cached(&station->flows));
}

/* The station has packets. */
static void lasack_drop_update_station(struct lasack_queue *q, const struct lasack_station *station)
{
	lasack_drop_update(q, station->number, station->spares, station->account.sum,
			   lasack_flow_seq(lasack_station_least(q, station)));
}

/* The station's sum, or its flows. */
static void lasack_station_changed(struct lasack_queue *q, struct lasack_station *station)
{
	const struct lasack_flow *least;
	u64 key;

	if (!rb_first_cached(&station->flows)) {
		if (lasack_heap_has(&q->order, station->number))
			lasack_heap_remove(&q->order, station->number);
		if (q->dropping && q->shape.by_station &&
		    lasack_heap_has(&q->drop, station->number))
			lasack_heap_remove(&q->drop, station->number);
		return;
	}
	least = lasack_station_least(q, station);
	key = q->shape.by_station ? station->account.sum : least->account.sum;
	if (lasack_heap_has(&q->order, station->number))
		lasack_heap_update(&q->order, station->number, key, lasack_flow_seq(least));
	else
		lasack_heap_add(&q->order, station->number, key, lasack_flow_seq(least));
	if (q->dropping && q->shape.by_station)
		lasack_drop_update_station(q, station);
}

static bool lasack_flow_before(const struct lasack_flow *a, const struct lasack_flow *b)
{
	if (a->account.sum != b->account.sum)
		return a->account.sum < b->account.sum;
	return (s32)(lasack_flow_seq(a) - lasack_flow_seq(b)) < 0;
}

static void lasack_station_link(struct lasack_queue *q, struct lasack_station *station,
				struct lasack_flow *flow)
{
	struct rb_node **link = &station->flows.rb_root.rb_node, *parent = NULL;
	struct rb_node *node = lasack_flow_node(q, flow);
	bool leftmost = true;

	while (*link) {
		parent = *link;
		if (lasack_flow_before(flow, lasack_flow_of(q, parent))) {
			link = &parent->rb_left;
		} else {
			link = &parent->rb_right;
			leftmost = false;
		}
	}
	rb_link_node(node, parent, link);
	rb_insert_color_cached(node, &station->flows, leftmost);
}

/* Counts the flow among those of its station that can spare a packet, or not. */
static void lasack_station_count(struct lasack_station *station, struct lasack_flow *flow,
				 bool can_spare)
{
	station->spares += can_spare - flow->spare;
	flow->spare = can_spare;
}

/* Moves the flow among those of its station, unless it has its place already. */
static void lasack_station_move(struct lasack_queue *q, struct lasack_flow *flow, bool lowered)
{
	struct lasack_station *station = lasack_station_at(q, flow);
	struct rb_node *node = lasack_flow_node(q, flow), *next = rb_next(node);

	if (lowered || (next && lasack_flow_before(lasack_flow_of(q, next), flow))) {
		rb_erase_cached(node, &station->flows);
		lasack_station_link(q, station, flow);
	}
	lasack_station_count(station, flow, lasack_flow_can_spare(q, flow));
	lasack_station_changed(q, station);
}

/* The flow has its first packet. */
void lasack_order_join(struct lasack_queue *q, struct lasack_flow *flow)
{
	u32 number = lasack_flow_number(q, flow);

	if (lasack_is_grouped(q)) {
		struct lasack_station *station = lasack_station_at(q, flow);

		lasack_station_link(q, station, flow);
		lasack_station_count(station, flow, lasack_flow_can_spare(q, flow));
		lasack_station_changed(q, station);
	} else {
		lasack_heap_add(&q->order, number, flow->account.sum, lasack_flow_seq(flow));
	}
	if (q->dropping && !q->shape.by_station)
		lasack_drop_update_flow(q, flow);
	if (q->shape.floor)
		lasack_heap_add(&q->wait, number, q->waiting_since[number], lasack_flow_seq(flow));
}

/* The flow has lost its last packet. */
void lasack_order_leave(struct lasack_queue *q, struct lasack_flow *flow)
{
	u32 number = lasack_flow_number(q, flow);

	if (lasack_is_grouped(q)) {
		struct lasack_station *station = lasack_station_at(q, flow);

		rb_erase_cached(lasack_flow_node(q, flow), &station->flows);
		lasack_station_count(station, flow, false);
		lasack_station_changed(q, station);
	} else {
		lasack_heap_remove(&q->order, number);
	}
	if (q->dropping && !q->shape.by_station)
		lasack_heap_remove(&q->drop, number);
	if (q->shape.floor)
		lasack_heap_remove(&q->wait, number);
}

void lasack_order_changed_slow(struct lasack_queue *q, struct lasack_flow *flow)
{
	if (lasack_is_grouped(q))
		lasack_station_move(q, flow, false);
	if (q->dropping && !q->shape.by_station)
		lasack_drop_update_flow(q, flow);
}

/* A flow with packets has a lesser sum. */
void lasack_order_lowered(struct lasack_queue *q, struct lasack_flow *flow)
{
	if (lasack_is_grouped(q))
		lasack_station_move(q, flow, true);
	else
		lasack_heap_update(&q->order, lasack_flow_number(q, flow), flow->account.sum,
				   lasack_flow_seq(flow));
	if (q->dropping && !q->shape.by_station)
		lasack_drop_update_flow(q, flow);
}

/* The flow of the least sum, of all. There is one. */
static struct lasack_flow *lasack_order_least_flow(struct lasack_queue *q)
{
	const struct lasack_heap_entry *first = lasack_heap_first(&q->order);
	struct lasack_flow *flow;
	u32 seq;

	for (;;) {
		flow = lasack_flow_at(q, first->item);
		seq = lasack_flow_seq(flow);
		if (first->key == flow->account.sum && first->tie == seq)
			return flow;
		lasack_heap_update(&q->order, first->item, flow->account.sum, seq);
	}
}

/**
 * lasack_order_next() - the flow to serve
 * @q: the queue; it has packets
 *
 * That of the least sum; of the station whose run goes on, if one does.
 */
struct lasack_flow *lasack_order_next(struct lasack_queue *q)
{
	struct lasack_station *station;
	struct lasack_flow *flow;

	if (!lasack_is_grouped(q)) {
		flow = lasack_order_least_flow(q);
		q->level.current_sum = flow->account.sum;
		q->level.high = max(q->level.high, flow->account.sum);
		return flow;
	}
	if (q->run_left <= 0 || !rb_first_cached(&q->run->flows)) {
		q->run = &q->stations->place[lasack_heap_first(&q->order)->item];
		q->run_left = q->quantum;
		q->level.current_sum = q->shape.by_station ? q->run->account.sum :
				       lasack_station_least(q, q->run)->account.sum;
		q->level.high = max(q->level.high, q->level.current_sum);
	}
	station = q->run;
	flow = lasack_station_least(q, station);
	if (q->shape.by_station) {
		station->level.current_sum = flow->account.sum;
		station->level.high = max(station->level.high, flow->account.sum);
	}
	q->run_left -= qdisc_pkt_len(flow->head);
	return flow;
}

/* There are packets, and a floor. */
struct lasack_flow *lasack_order_longest_waiting(struct lasack_queue *q)
{
	const struct lasack_heap_entry *first = lasack_heap_first(&q->wait);
	struct lasack_flow *flow;
	u32 seq;

	for (;;) {
		flow = lasack_flow_at(q, first->item);
		seq = lasack_flow_seq(flow);
		if (first->key == q->waiting_since[first->item] && first->tie == seq)
			return flow;
		lasack_heap_update(&q->wait, first->item, q->waiting_since[first->item], seq);
	}
}

/* Of the station with the largest sum, the flow with the largest that can spare a packet. */
static struct lasack_flow *lasack_station_worst(struct lasack_queue *q)
{
	struct lasack_station *station =
		&q->stations->place[lasack_heap_first(&q->drop)->item];
	struct rb_node *last = rb_last(&station->flows.rb_root), *node = last;
	int i;

	for (i = 0; node && station->spares && i < LASACK_ORDER_SCAN; i++) {
		if (lasack_flow_of(q, node)->spare)
			return lasack_flow_of(q, node);
		node = rb_prev(node);
	}
	return lasack_flow_of(q, last);
}

/**
 * lasack_order_worst() - the flow that loses a packet
 * @q: the queue; it has packets, and the order to push out of is kept
 *
 * With a floor, the flow that is going to have it keeps its only packet while there
 * is another flow.
 */
struct lasack_flow *lasack_order_worst(struct lasack_queue *q)
{
	const struct lasack_heap_entry *second;
	struct lasack_flow *flow;

	if (q->shape.by_station)
		return lasack_station_worst(q);
	flow = lasack_flow_at(q, lasack_heap_first(&q->drop)->item);
	if (!q->floor || lasack_flow_can_spare(q, flow) ||
	    flow != lasack_order_longest_waiting(q))
		return flow;
	second = lasack_heap_second(&q->drop);
	return second ? lasack_flow_at(q, second->item) : flow;
}

/* From now on the order to push out of is kept. */
void lasack_order_drop(struct lasack_queue *q)
{
	const struct lasack_heap_entry *entry;
	struct lasack_station *station;
	struct rb_node *node;
	u32 i;

	q->dropping = true;
	for (i = 0; i < q->order.count; i++) {
		entry = &q->order.entries[i];
		if (!lasack_is_grouped(q)) {
			lasack_drop_update_flow(q, lasack_flow_at(q, entry->item));
			continue;
		}
		station = &q->stations->place[entry->item];
		if (q->shape.by_station) {
			lasack_drop_update_station(q, station);
			continue;
		}
		for (node = rb_first_cached(&station->flows); node; node = rb_next(node))
			lasack_drop_update_flow(q, lasack_flow_of(q, node));
	}
}

void lasack_order_drop_no_more(struct lasack_queue *q)
{
	q->dropping = false;
	lasack_heap_clear(&q->drop);
}

/* Takes all flows out of the orders, which may be wrong; they have to join again. */
void lasack_order_clear(struct lasack_queue *q)
{
	u32 i;

	lasack_order_drop_no_more(q);
	lasack_heap_clear(&q->order);
	if (q->shape.floor)
		lasack_heap_clear(&q->wait);
	for (i = 0; lasack_is_grouped(q) && i < ARRAY_SIZE(q->stations->place); i++) {
		q->stations->place[i].flows = RB_ROOT_CACHED;
		q->stations->place[i].spares = 0;
	}
}
