// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who is served next, and who loses a packet.
 *
 * Principle: flows are compared by the sums they have now. So a flow whose ACKs arrive while
 * others wait falls behind at once. Equal sums are served in order of arrival.
 *
 * Without stations a tournament orders the flows. Its keys may be out of date: a sum usually
 * only grows, so the first flow whose key is still true has the least sum. A packet that
 * joins a flow moves nothing. If a sum becomes less, which is rare, the flow is moved at once.
 *
 * Stations are used if flows share what their station gets, or if one is served for a whole
 * quantum (a run). Then a tournament orders the stations, and each has a tree of its flows. Of
 * both the first entry is corrected when it is looked at.
 *
 * The order in which flows lose packets is made when the queue is full, and given up when the
 * queue is half as long. Meanwhile it is exact, and so are the trees of the stations. A flow that
 * has been served loses its only packet last: without it, TCP would wait for its time-out. One
 * that was never served is not spared, so it is of no use to send each packet as a new flow.
 *
 * A flow that starves may be served before others of its station: lasack_floor.c.
 */
#include <linux/bits.h>
#include <linux/minmax.h>
#include <linux/prefetch.h>
#include "lasack/floor/lasack_floor.h"
#include "lasack/lasack_charge.h"
#include "lasack/lasack_order.h"

/* The most flows of a station that are searched for one that may lose a packet. */
#define LASACK_ORDER_SCAN	16
/* With fewer flows, all are in the cache. */
#define LASACK_ORDER_FETCH	256

/* The order of arrival of the flow's first packet; the packet has the lower 32 bits of it. */
static u64 lasack_flow_seq(const struct lasack_queue *q, const struct lasack_flow *flow)
{
	return (q->seq - (u32)((u32)q->seq - lasack_cb(flow->head)->seq)) & LASACK_TIE_MAX;
}

static struct lasack_node *lasack_flow_node(const struct lasack_queue *q,
					    const struct lasack_flow *flow)
{
	return &q->nodes[lasack_flow_number(q, flow)];
}

/* May the flow lose a packet before flows that have only one? */
static bool lasack_flow_can_spare(const struct lasack_queue *q, const struct lasack_flow *flow)
{
	return flow->account.packets > 1 || !(flow->served || q->shape.paper);
}

/* If sums are equal, the newest packet comes first. */
static void lasack_drop_update(struct lasack_queue *q, u32 item, bool can_spare, u64 sum, u64 seq)
{
	u64 key = lasack_drop_key(can_spare, sum), tie = LASACK_TIE_MAX - seq;

	if (lasack_tournament_has(&q->drop, item))
		lasack_tournament_update(&q->drop, item, key, tie);
	else
		lasack_tournament_add(&q->drop, item, key, tie);
}

static void lasack_drop_update_flow(struct lasack_queue *q, const struct lasack_flow *flow)
{
	lasack_drop_update(q, lasack_flow_number(q, flow), lasack_flow_can_spare(q, flow),
			   lasack_flow_sum_in_all(q, flow), lasack_flow_seq(q, flow));
}

static bool lasack_node_before(const struct lasack_node *a, const struct lasack_node *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	return (s32)(a->tie - b->tie) < 0;
}

/* Puts the flow into its place by its sum. */
static void lasack_station_link(struct lasack_queue *q, struct lasack_station *station,
				struct lasack_flow *flow)
{
	struct rb_node **link = &station->flows.rb_root.rb_node, *parent = NULL;
	struct lasack_node *node = lasack_flow_node(q, flow);
	bool leftmost = true;

	node->key = flow->account.sum;
	node->tie = lasack_cb(flow->head)->seq;
	node->flow = lasack_flow_number(q, flow);
	while (*link) {
		parent = *link;
		if (lasack_node_before(node, lasack_node_of(parent))) {
			link = &parent->rb_left;
		} else {
			link = &parent->rb_right;
			leftmost = false;
		}
	}
	rb_link_node(&node->node, parent, link);
	rb_insert_color_cached(&node->node, &station->flows, leftmost);
}

/* Corrects the flow's key: it is never too large. Return: whether the flow has another place. */
bool lasack_station_mend(struct lasack_queue *q, struct lasack_station *station,
			 struct lasack_flow *flow)
{
	struct lasack_node *node = lasack_flow_node(q, flow);
	struct rb_node *next = rb_next(&node->node);

	node->key = flow->account.sum;
	node->tie = lasack_cb(flow->head)->seq;
	if (!next || !lasack_node_before(lasack_node_of(next), node))
		return false;
	rb_erase_cached(&node->node, &station->flows);
	lasack_station_link(q, station, flow);
	return true;
}

/* The flow with the least sum of a station that has packets. */
static struct lasack_flow *lasack_station_least(struct lasack_queue *q,
						struct lasack_station *station)
{
	const struct lasack_node *node;
	struct lasack_flow *flow;

	do {
		node = lasack_node_of(rb_first_cached(&station->flows));
		flow = lasack_flow_at(q, node->flow);
		if (node->key == flow->account.sum && node->tie == lasack_cb(flow->head)->seq)
			break;
	} while (lasack_station_mend(q, station, flow));
	return flow;
}

static u64 lasack_station_key(const struct lasack_queue *q, const struct lasack_station *station,
			      const struct lasack_flow *least)
{
	if (!q->shape.by_station)
		return least->account.sum;
	return station->account.sum - min_t(u64, station->account.sum, station->ahead);
}

/* The station has packets. If it has many, it can spare one, though each is its flow's only one. */
static void lasack_drop_update_station(struct lasack_queue *q, struct lasack_station *station)
{
	bool can_spare = station->spares || station->account.packets > LASACK_ORDER_SCAN;

	lasack_drop_update(q, station->number, can_spare, station->account.sum,
			   lasack_flow_seq(q, lasack_station_least(q, station)));
}

/* The station's flows have changed, or its sum has become less. */
static void lasack_station_changed(struct lasack_queue *q, struct lasack_station *station)
{
	const struct lasack_flow *least;
	u64 key, seq;

	if (!rb_first_cached(&station->flows)) {
		station->spares = 0;
		station->ahead = 0;
		station->idle_since = q->time;
		if (lasack_tournament_has(&q->order, station->number))
			lasack_tournament_remove(&q->order, station->number);
		if (q->dropping && q->shape.by_station &&
		    lasack_tournament_has(&q->drop, station->number))
			lasack_tournament_remove(&q->drop, station->number);
		return;
	}
	least = lasack_station_least(q, station);
	key = lasack_station_key(q, station, least);
	seq = lasack_flow_seq(q, least);
	if (lasack_tournament_has(&q->order, station->number))
		lasack_tournament_update(&q->order, station->number, key, seq);
	else
		lasack_tournament_add(&q->order, station->number, key, seq);
	if (q->dropping && q->shape.by_station)
		lasack_drop_update_station(q, station);
}

/* Counts the flow among those of its station that can spare a packet, or not. */
static void lasack_station_count(struct lasack_station *station, struct lasack_flow *flow,
				 bool can_spare)
{
	station->spares += can_spare - flow->spare;
	flow->spare = can_spare;
}

static void lasack_station_join(struct lasack_queue *q, struct lasack_flow *flow)
{
	struct lasack_station *station = lasack_station_at(q, flow);

	lasack_station_link(q, station, flow);
	flow->spare = 0;
	if (q->dropping)
		lasack_station_count(station, flow, lasack_flow_can_spare(q, flow));
	/* A new flow makes a station's key less only if the key is the flow's own. */
	if (!q->shape.by_station || q->dropping ||
	    !lasack_tournament_has(&q->order, station->number))
		lasack_station_changed(q, station);
}

static void lasack_station_leave(struct lasack_queue *q, struct lasack_flow *flow)
{
	struct lasack_station *station = lasack_station_at(q, flow);

	rb_erase_cached(&lasack_flow_node(q, flow)->node, &station->flows);
	if (q->dropping)
		lasack_station_count(station, flow, false);
	lasack_station_changed(q, station);
}

/* The flow has its first packet. */
void lasack_order_join(struct lasack_queue *q, struct lasack_flow *flow)
{
	u32 number = lasack_flow_number(q, flow);

	if (lasack_is_grouped(q))
		lasack_station_join(q, flow);
	else
		lasack_tournament_add(&q->order, number, flow->account.sum,
				      lasack_flow_seq(q, flow));
	if (q->dropping && !q->shape.by_station)
		lasack_drop_update_flow(q, flow);
}

/*
 * The first flow, of that leaf, has another key or left. Who is the best of its part of all flows
 * now may be served soon: first the flow is fetched, then the packet. (A function that only
 * fetches is inlined, or the compiler takes it for one without effect.)
 */
static __always_inline void lasack_order_fetch(const struct lasack_queue *q, u32 leaf)
{
	const struct lasack_flow *flow;

	if (q->order.count < LASACK_ORDER_FETCH)
		return;
	flow = lasack_flow_at(q, lasack_tournament_contender(&q->order, leaf, 2));
	prefetch(flow);
	prefetch(&flow->account);
	flow = lasack_flow_at(q, lasack_tournament_contender(&q->order, leaf, 1));
	prefetch(flow->head);
}

/* The flow has lost its last packet. */
void lasack_order_leave(struct lasack_queue *q, struct lasack_flow *flow)
{
	u32 number = lasack_flow_number(q, flow);

	if (lasack_is_grouped(q)) {
		lasack_station_leave(q, flow);
	} else {
		u32 leaf = lasack_tournament_first_leaf(&q->order);

		lasack_tournament_remove(&q->order, number);
		lasack_order_fetch(q, leaf);
	}
	if (q->dropping && !q->shape.by_station)
		lasack_tournament_remove(&q->drop, number);
}

/* As lasack_order_changed(), while the order to push out of is kept. */
void lasack_order_changed_slow(struct lasack_queue *q, struct lasack_flow *flow)
{
	struct lasack_station *station;

	if (!q->shape.by_station) {
		lasack_drop_update_flow(q, flow);
		return;
	}
	station = lasack_station_at(q, flow);
	lasack_station_mend(q, station, flow);
	lasack_station_count(station, flow, lasack_flow_can_spare(q, flow));
	lasack_drop_update_station(q, station);
}

/*
 * A flow has a lesser sum, and maybe other packets. So has its station, which may have packets if
 * the flow has none.
 */
void lasack_order_lowered(struct lasack_queue *q, struct lasack_flow *flow)
{
	struct lasack_station *station;

	if (lasack_is_grouped(q)) {
		station = lasack_station_at(q, flow);
		if (flow->head) {
			rb_erase_cached(&lasack_flow_node(q, flow)->node, &station->flows);
			lasack_station_link(q, station, flow);
			if (q->dropping)
				lasack_station_count(station, flow, lasack_flow_can_spare(q, flow));
		}
		lasack_station_changed(q, station);
	} else if (flow->head) {
		lasack_tournament_update(&q->order, lasack_flow_number(q, flow),
					 flow->account.sum, lasack_flow_seq(q, flow));
	}
	if (q->dropping && !q->shape.by_station && flow->head)
		lasack_drop_update_flow(q, flow);
}

/* The flow with the least sum of all. There are packets. */
static struct lasack_flow *lasack_order_least_flow(struct lasack_queue *q)
{
	struct lasack_flow *flow;
	u64 seq;
	u32 leaf;

	for (;;) {
		leaf = lasack_tournament_first_leaf(&q->order);
		flow = lasack_flow_at(q, lasack_tournament_first(&q->order));
		seq = lasack_flow_seq(q, flow);
		if (lasack_tournament_first_is(&q->order, flow->account.sum, seq))
			return flow;
		lasack_tournament_update_first(&q->order, flow->account.sum, seq);
		lasack_order_fetch(q, leaf);
	}
}

/* The flow with the least sum of the station to serve, unless one has its run. There is one. */
static struct lasack_flow *lasack_order_least_of_station(struct lasack_queue *q)
{
	struct lasack_station *station;
	struct lasack_flow *least;
	u64 key, seq;

	for (;;) {
		station = &q->stations->place[lasack_tournament_first(&q->order)];
		least = lasack_station_least(q, station);
		key = lasack_station_key(q, station, least);
		seq = lasack_flow_seq(q, least);
		if (lasack_tournament_first_is(&q->order, key, seq))
			return least;
		lasack_tournament_update_first(&q->order, key, seq);
	}
}

/* Has a station a run that goes on? */
static bool lasack_order_runs(const struct lasack_queue *q)
{
	return q->run_left > 0 && rb_first_cached(&q->run->flows);
}

/* The flow with the least sum; of the station whose run goes on, if one does. There is one. */
static struct lasack_flow *lasack_order_least(struct lasack_queue *q)
{
	struct lasack_flow *least;

	if (!lasack_is_grouped(q))
		return lasack_order_least_flow(q);
	least = lasack_order_least_of_station(q);
	if (lasack_order_runs(q) &&
	    lasack_station_key(q, lasack_station_at(q, least), least) >= q->run_key)
		return lasack_station_least(q, q->run);
	return least;
}

/**
 * lasack_order_first() - the flow that lasack_order_next() is going to choose
 * @q: the queue; it has packets
 */
struct lasack_flow *lasack_order_first(struct lasack_queue *q)
{
	struct lasack_flow *least = lasack_order_least(q);

	return lasack_floor_before(q, least) ?: least;
}

/*
 * The @flow is served, maybe @by_floor and not by its sum. Unless it is out of turn, its station's
 * run goes on, or begins.
 */
static void lasack_order_note_station(struct lasack_queue *q, const struct lasack_flow *flow,
				      bool by_floor)
{
	struct lasack_station *station = lasack_station_at(q, flow);
	bool runs = lasack_order_runs(q);
	bool in_turn = runs ? q->run == station : !station->ahead;

	if (by_floor && !q->shape.by_station)
		return;
	if (q->shape.by_station && !by_floor)
		lasack_level_note(q, &station->level, &flow->account, flow->account.sum);
	if (!runs)	/* nobody who waits is below the key, also of a station that is ahead */
		lasack_level_note(q, &q->level, q->shape.by_station ? &station->account :
				  &flow->account, lasack_station_key(q, station, flow));
	/* Who is ahead still is after a packet of the floor. */
	if (!by_floor)
		station->ahead = 0;
	if (!in_turn)
		return;
	if (!runs) {
		q->run = station;
		q->run_left = q->quantum;
		q->run_key = lasack_station_key(q, station, flow);
	}
	/* A short packet takes as long as a longer one. */
	q->run_left -= lasack_station_sent(q, station,
					   max(qdisc_pkt_len(flow->head), q->overhead));
}

/**
 * lasack_order_next() - the flow to serve
 * @q: the queue; it has packets
 * @by_floor: set to whether it has the floor
 *
 * That of the least sum; of the station whose run goes on, if one does. But one that starves may
 * have the floor.
 */
struct lasack_flow *lasack_order_next(struct lasack_queue *q, bool *by_floor)
{
	struct lasack_flow *flow = lasack_order_least(q);
	struct lasack_flow *starved = lasack_floor_before(q, flow);

	*by_floor = starved;
	flow = starved ?: flow;
	if (lasack_is_grouped(q))
		lasack_order_note_station(q, flow, starved);
	else if (!starved)
		lasack_level_note(q, &q->level, &flow->account, flow->account.sum);
	return flow;
}

/* Takes the station with the largest sum, and of its flows that can spare a packet the largest. */
static struct lasack_flow *lasack_station_worst(struct lasack_queue *q)
{
	struct lasack_station *station =
		&q->stations->place[lasack_tournament_first(&q->drop)];
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
 */
struct lasack_flow *lasack_order_worst(struct lasack_queue *q)
{
	if (q->shape.by_station)
		return lasack_station_worst(q);
	return lasack_flow_at(q, lasack_tournament_first(&q->drop));
}

/* From now on the order of the station's flows is exact. */
static void lasack_station_drop(struct lasack_queue *q, struct lasack_station *station)
{
	struct rb_node *node, *next;
	struct lasack_flow *flow;

	for (node = rb_first_cached(&station->flows); node; node = next) {
		next = rb_next(node);
		lasack_station_mend(q, station, lasack_flow_of(q, node));
	}
	station->spares = 0;
	for (node = rb_first_cached(&station->flows); node; node = rb_next(node)) {
		flow = lasack_flow_of(q, node);
		flow->spare = lasack_flow_can_spare(q, flow);
		station->spares += flow->spare;
		if (!q->shape.by_station)
			lasack_drop_update_flow(q, flow);
	}
	if (q->shape.by_station)
		lasack_drop_update_station(q, station);
}

/* From now on the order to push out of is kept. */
void lasack_order_drop(struct lasack_queue *q)
{
	u32 leaf, item;

	q->dropping = true;
	for (leaf = 0; leaf < q->order.leaves; leaf++) {
		if (!lasack_tournament_at(&q->order, leaf, &item))
			continue;
		if (lasack_is_grouped(q))
			lasack_station_drop(q, &q->stations->place[item]);
		else
			lasack_drop_update_flow(q, lasack_flow_at(q, item));
	}
}

void lasack_order_drop_no_more(struct lasack_queue *q)
{
	q->dropping = false;
	lasack_tournament_clear(&q->drop);
}
