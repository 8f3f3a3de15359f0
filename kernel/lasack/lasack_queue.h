/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queue of LAS-ACK: orders over the flows that have packets.
 *
 * Principle: what is compared is what each flow has attained by now, so a flow
 * whose ACKs arrive while others wait falls behind at once; order inside a
 * flow never changes. Red-black trees hold the backlogged flows, to serve the
 * least and to push out of the largest: every operation costs O(log backlogged
 * flows).
 *
 * The flows to serve stand by station (destination address), and the stations
 * by their least flow: so a station, once chosen, can be served on for "quantum"
 * bytes, least flow first, and a device that aggregates frames to one receiver
 * gets them in a row.
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
 * ACKs say what it said, and a sender learns soonest of lost data. A flow's
 * only packet goes last of all: without it a TCP has nothing to clock it but
 * its time-out. Documentation/measurements/lasack.md has the figures of the alternatives.
 *
 * If every place of the table is taken by a flow with packets, new flows share
 * one (lasack_table.h has the rest).
 *
 * Everything here runs under the discipline's lock.
 */
#ifndef LASACK_QUEUE_H
#define LASACK_QUEUE_H

#include <linux/etherdevice.h>
#include <linux/hash.h>
#include <linux/if_arp.h>
#include "lasack/lasack_flow.h"
#include "lasack/lasack_observe.h"
#include "lasack/lasack_table.h"

/* Flows without a key, each shared by all packets of its kind. */
enum lasack_shared {
	LASACK_CONTROL,		/* not IP: ARP, EAPOL. Never charged */
	LASACK_OTHER,		/* IP that cannot be parsed */
	LASACK_OVERFLOW,	/* more backlogged flows than the table holds */
	__LASACK_SHARED
};

/*
 * Stations are told apart by a hash of their address. Two that share a place
 * share runs: aggregates get shorter, nothing else.
 */
#define LASACK_STATION_BITS	6

struct lasack_station {
	struct rb_root_cached	serve;	/* its backlogged flows, least sum first */
	struct rb_node		node;	/* among the stations if it has any */
};

/*
 * The floor is for the flow that has waited longest, but not for ever: while it
 * has the floor its wait grows a sixteenth slower than others'. So of two that
 * never end each has its turn, and newcomers never come before them.
 */
#define LASACK_TURN_SHIFT	4

/* A flow is large from that sum on, in bytes. */
#define LASACK_LARGE	100000

/* What packets waited, ns. */
struct lasack_delay {
	u64	average;	/* moving, of weight 1/8 */
	u64	max;
};

struct lasack_queue {
	struct rb_root_cached	serve;	/* stations, the one of the least sum first */
	struct rb_root_cached	drop;	/* backlogged flows, the first to lose a packet first */
	struct rb_root_cached	wait;	/* backlogged flows, the longest waiting first */
	u64			now;	/* ns, see lasack_queue_advance() */
	u64			age;	/* the same for the sums, see lasack_sum.h */
	struct lasack_decay	decay;
	u64			arrival; /* of the last packet */
	u64			memory;	/* truesize of all packets, bytes */

	u32			quantum; /* bytes of a run; 0: every packet is a run */
	struct lasack_station	*run;	/* whose packets were served last */
	s64			run_left; /* bytes */

	u32			floor;	/* percent */
	u64			floor_credit; /* bytes of service * 100 */
	u64			floor_served; /* ns: when it last served a flow */

	struct lasack_observer	*observer; /* NULL: off */
	struct lasack_table	*table;
	struct lasack_flow	shared[__LASACK_SHARED];
	struct lasack_station	stations[1 << LASACK_STATION_BITS];
	u64			idle_ns; /* for longer no flow is remembered; 0: off */
	u64			overflow;
	struct lasack_delay	delay[2]; /* of small and of large flows */
};

/* Without Ethernet addresses there is but one next hop. */
static inline struct lasack_station *lasack_station_of(struct lasack_queue *q,
						       const struct sk_buff *skb)
{
	u64 address = 0;

	if ((!skb->dev || skb->dev->type == ARPHRD_ETHER) &&
	    skb_headlen(skb) >= ETH_ALEN)
		address = ether_addr_to_u64(skb->data);
	return &q->stations[hash_64(address, LASACK_STATION_BITS)];
}

static inline struct lasack_flow *lasack_station_least(const struct lasack_station *station)
{
	return rb_entry(rb_first_cached(&station->serve), struct lasack_flow, serve_node);
}

static inline bool lasack_station_less(struct rb_node *a, const struct rb_node *b)
{
	return lasack_flow_before(lasack_station_least(rb_entry(a, struct lasack_station, node)),
				  lasack_station_least(rb_entry(b, struct lasack_station, node)));
}

static inline bool lasack_serve_less(struct rb_node *a, const struct rb_node *b)
{
	return lasack_flow_before(rb_entry(a, struct lasack_flow, serve_node),
				  rb_entry(b, struct lasack_flow, serve_node));
}

/* May the flow lose a packet before those that have but one? */
static inline bool lasack_flow_can_spare(const struct lasack_flow *flow)
{
	return flow->length > 1 && !flow->uncharged;
}

static inline bool lasack_drop_less(struct rb_node *a, const struct rb_node *b)
{
	const struct lasack_flow *first = rb_entry(a, struct lasack_flow, drop_node);
	const struct lasack_flow *second = rb_entry(b, struct lasack_flow, drop_node);

	if (lasack_flow_can_spare(first) != lasack_flow_can_spare(second))
		return lasack_flow_can_spare(first);
	return lasack_flow_before(second, first);
}

static inline bool lasack_wait_less(struct rb_node *a, const struct rb_node *b)
{
	const struct lasack_flow *first = rb_entry(a, struct lasack_flow, wait_node);
	const struct lasack_flow *second = rb_entry(b, struct lasack_flow, wait_node);

	if (first->waiting_since != second->waiting_since)
		return first->waiting_since < second->waiting_since;
	return lasack_cb(first->head)->arrival < lasack_cb(second->head)->arrival;
}

/* The station's least flow is another. */
static inline void lasack_station_relink(struct lasack_queue *q,
					 struct lasack_station *station)
{
	if (!RB_EMPTY_NODE(&station->node))
		rb_erase_cached(&station->node, &q->serve);
	if (rb_first_cached(&station->serve))
		rb_add_cached(&station->node, &q->serve, lasack_station_less);
	else
		RB_CLEAR_NODE(&station->node);
}

static inline void lasack_flow_link(struct lasack_queue *q, struct lasack_flow *flow)
{
	struct lasack_station *station = flow->station;

	if (rb_add_cached(&flow->serve_node, &station->serve, lasack_serve_less))
		lasack_station_relink(q, station);
	rb_add_cached(&flow->drop_node, &q->drop, lasack_drop_less);
	rb_add_cached(&flow->wait_node, &q->wait, lasack_wait_less);
}

static inline void lasack_flow_unlink(struct lasack_queue *q, struct lasack_flow *flow)
{
	struct lasack_station *station = flow->station;
	bool least = lasack_station_least(station) == flow;

	rb_erase_cached(&flow->serve_node, &station->serve);
	if (least)
		lasack_station_relink(q, station);
	rb_erase_cached(&flow->drop_node, &q->drop);
	rb_erase_cached(&flow->wait_node, &q->wait);
}

/**
 * lasack_queue_advance() - time goes on
 * @q: the queue
 * @now: monotonic, ns
 *
 * Called once before a packet is added or taken.
 */
static inline void lasack_queue_advance(struct lasack_queue *q, u64 now)
{
	q->now = now;
	q->age = lasack_decay_age(&q->decay, now);
	if (q->idle_ns && now > q->idle_ns)
		lasack_table_expire(q->table, now - q->idle_ns);
}

/* From now on another half-life of the sums (ns), or 0: they stay. */
static inline void lasack_queue_set_halflife(struct lasack_queue *q, u64 halflife)
{
	lasack_decay_set(&q->decay, halflife, q->now);
}

/**
 * lasack_queue_flow() - the flow a packet belongs to
 * @q: the queue
 * @seg: what the packet is
 *
 * A new flow starts at 0.
 */
static inline struct lasack_flow *lasack_queue_flow(struct lasack_queue *q,
						    const struct tcp_segment *seg)
{
	struct lasack_flow *flow;

	if (!segment_has_key(seg))
		return &q->shared[seg->class == SEGMENT_NOT_IP ? LASACK_CONTROL :
								 LASACK_OTHER];

	flow = lasack_table_find(q->table, &seg->key) ?:
	       lasack_table_add(q->table, &seg->key, q->now);
	if (!flow) {
		q->overflow++;
		return &q->shared[LASACK_OVERFLOW];
	}
	return flow;
}

/**
 * lasack_queue_add() - a packet joins its flow
 * @q: the queue
 * @skb: the packet
 * @seg: what the packet is
 */
static inline void lasack_queue_add(struct lasack_queue *q, struct sk_buff *skb,
				    const struct tcp_segment *seg)
{
	struct lasack_flow *flow = lasack_queue_flow(q, seg);
	struct lasack_skb_cb *cb = lasack_cb(skb);

	if (flow->head)
		lasack_flow_unlink(q, flow);
	else if (!flow->shared)
		lasack_table_wake(q->table, flow);
	if (!flow->head)
		flow->station = lasack_station_of(q, skb);
	lasack_flow_observe(flow, seg, cb, q->age);
	if (q->observer && lasack_is_observed(seg) && !flow->shared)
		lasack_flow_charge_upload(flow, lasack_observer_take(q->observer, &seg->key),
					  cb, q->age);
	q->arrival = max(q->now, q->arrival + 1);
	if (!flow->head && !flow->starved)
		flow->waiting_since = q->arrival;
	cb->arrival = q->arrival;
	cb->memory = skb->truesize;
	q->memory += cb->memory;
	lasack_flow_append(flow, skb);
	lasack_flow_link(q, flow);
}

/* The first packet of the flow is about to be sent. */
static inline void lasack_queue_note_delay(struct lasack_queue *q,
					   const struct lasack_flow *flow)
{
	bool large = lasack_sum_bytes(&flow->attained, q->age) >= LASACK_LARGE;
	struct lasack_delay *delay = &q->delay[large];
	u64 arrival = lasack_cb(flow->head)->arrival;
	/* Packets of one instant have been told apart by a few ns. */
	u64 waited = q->now > arrival ? q->now - arrival : 0;

	delay->average = delay->average - (delay->average >> 3) + (waited >> 3);
	delay->max = max(delay->max, waited);
}

/* Take the first packet of a backlogged flow, which is charged if it is @sent. */
static inline struct sk_buff *lasack_queue_take(struct lasack_queue *q,
						struct lasack_flow *flow, bool sent)
{
	struct sk_buff *skb;

	if (sent)
		lasack_queue_note_delay(q, flow);
	lasack_flow_unlink(q, flow);
	skb = lasack_flow_pop(flow);
	q->memory -= lasack_cb(skb)->memory;
	if (sent)
		lasack_flow_send(flow, lasack_cb(skb), q->age);
	else
		flow->starved = 1;
	if (!sent && flow->head)
		/* What it would have acknowledged, the next one does. */
		lasack_cb(flow->head)->acked =
			min_t(u64, U32_MAX, (u64)lasack_cb(flow->head)->acked +
			      lasack_cb(skb)->acked);
	if (flow->head)
		lasack_flow_link(q, flow);
	else if (flow->shared)
		/* Its past says nothing about the next packet's connection. */
		lasack_flow_new_life(flow);
	else
		lasack_table_idle(q->table, flow, q->now);
	return skb;
}

/* The station to serve: the last one again while its run lasts. */
static inline struct lasack_station *lasack_queue_station(struct lasack_queue *q)
{
	struct rb_node *first = rb_first_cached(&q->serve);

	if (q->run_left > 0 && rb_first_cached(&q->run->serve))
		return q->run;

	q->run = rb_entry(first, struct lasack_station, node);
	q->run_left = q->quantum;
	return q->run;
}

/*
 * Bytes of service in sending a packet. One that acknowledges more than what the
 * largest packet holds makes up for lost ones, or is forged: neither may earn or
 * cost the floor more than that.
 */
static inline u32 lasack_service(const struct sk_buff *skb)
{
	return qdisc_pkt_len(skb) + min_t(u32, lasack_cb(skb)->acked, U16_MAX);
}

/* The flow that has waited longest, if the floor pays for it; or NULL. */
static inline struct lasack_flow *lasack_queue_due(struct lasack_queue *q)
{
	struct lasack_flow *flow = rb_entry(rb_first_cached(&q->wait),
					    struct lasack_flow, wait_node);
	u32 service = lasack_service(flow->head);

	if (!q->floor || q->floor_credit < 100ULL * service)
		return NULL;
	q->floor_credit -= 100ULL * service;
	flow->starved = 1;
	flow->waiting_since += (q->now - q->floor_served) >> LASACK_TURN_SHIFT;
	q->floor_served = q->now;
	return flow;
}

static inline void lasack_queue_set_floor(struct lasack_queue *q, u32 percent)
{
	if (q->floor != percent) {
		q->floor_credit = 0;
		q->floor_served = q->now;
	}
	q->floor = percent;
}

/**
 * lasack_queue_serve() - take the packet of least attained service
 * @q: the queue
 *
 * With a quantum, of least attained service of the station under way; with a
 * floor, now and then the packet that has waited longest. Control frames come
 * before all else.
 *
 * Return: the packet, or NULL if the queue is empty.
 */
static inline struct sk_buff *lasack_queue_serve(struct lasack_queue *q)
{
	struct lasack_flow *flow;

	if (!rb_first_cached(&q->serve))
		return NULL;
	/* Without address resolution and association there is no service. */
	flow = &q->shared[LASACK_CONTROL];
	if (!flow->head)
		flow = lasack_queue_due(q);
	if (!flow) {
		flow = lasack_station_least(lasack_queue_station(q));
		q->run_left -= qdisc_pkt_len(flow->head);
		flow->starved = 0;
		flow->waiting_since = max(q->now, q->arrival);
	}
	q->floor_credit += (u64)q->floor * lasack_service(flow->head);
	return lasack_queue_take(q, flow, true);
}

/**
 * lasack_queue_push_out() - take a packet of the flow with the largest sum
 * @q: the queue
 *
 * A flow with but one packet is spared while another has more, the flow that
 * the floor serves next while another has any, and control frames while there is
 * anything else.
 *
 * Return: the packet, or NULL if the queue is empty.
 */
static inline struct sk_buff *lasack_queue_push_out(struct lasack_queue *q)
{
	struct rb_node *first = rb_first_cached(&q->drop), *second;
	struct lasack_flow *flow, *other;

	if (!first)
		return NULL;
	flow = rb_entry(first, struct lasack_flow, drop_node);
	second = rb_next(first);
	if (q->floor && second && !lasack_flow_can_spare(flow) &&
	    flow == rb_entry(rb_first_cached(&q->wait), struct lasack_flow, wait_node)) {
		other = rb_entry(second, struct lasack_flow, drop_node);
		if (!other->uncharged)
			flow = other;
	}
	return lasack_queue_take(q, flow, false);
}

/* A flow with packets moves to @table, or its packets to the shared flow. */
static inline void lasack_queue_move_flow(struct lasack_queue *q,
					  struct lasack_table *table,
					  struct lasack_flow *flow)
{
	struct lasack_flow *place;

	lasack_flow_unlink(q, flow);
	place = lasack_table_adopt(table, flow);
	if (!place) {
		place = &q->shared[LASACK_OVERFLOW];
		q->overflow += flow->length;
		if (place->head)
			lasack_flow_unlink(q, place);
		else
			place->station = flow->station;
		while (flow->head)
			lasack_flow_append(place, lasack_flow_pop(flow));
	}
	lasack_flow_link(q, place);
}

/**
 * lasack_queue_replace_table() - another table, the same flows and packets
 * @q: the queue
 * @table: an empty table
 *
 * If the places do not suffice, the flows idle for longest are forgotten, and
 * if even flows with packets are too many, some share one from now on.
 *
 * Return: the table it had, to be freed.
 */
static inline struct lasack_table *
lasack_queue_replace_table(struct lasack_queue *q, struct lasack_table *table)
{
	struct lasack_table *old = q->table;
	u32 i;

	table->counts = old->counts;
	for (i = 0; i < old->size; i++) {
		if (old->places[i].head)
			lasack_queue_move_flow(q, table, &old->places[i]);
	}
	lasack_table_adopt_line(table, &table->idle, &old->idle);
	lasack_table_adopt_line(table, &table->ended, &old->ended);
	table->counts.collisions = old->counts.collisions;
	q->table = table;
	return old;
}

/**
 * lasack_queue_init() - an empty queue with an empty table
 * @q: the queue, zeroed
 * @flows: places in the table
 *
 * Return: 0 or -ENOMEM.
 */
static inline int lasack_queue_init(struct lasack_queue *q, u32 flows)
{
	int i;

	q->table = lasack_table_create(flows);
	if (!q->table)
		return -ENOMEM;

	q->serve = RB_ROOT_CACHED;
	q->drop = RB_ROOT_CACHED;
	q->wait = RB_ROOT_CACHED;
	for (i = 0; i < __LASACK_SHARED; i++)
		q->shared[i].shared = 1;
	q->shared[LASACK_CONTROL].uncharged = 1;
	for (i = 0; i < ARRAY_SIZE(q->stations); i++) {
		q->stations[i].serve = RB_ROOT_CACHED;
		RB_CLEAR_NODE(&q->stations[i].node);
	}
	return 0;
}

#endif
