// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes and frees the queue of LAS-ACK, and makes it anew with another table, other orders or
 * another kind of sum.
 *
 * Principle: the new queue, with all that its options need, is allocated before the lock is
 * taken. Then the flows and packets move, and the old queue is freed. This looks at every
 * place of the table, so it is done only when options change.
 */
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "common/exact_array.h"
#include "lasack/floor/lasack_floor.h"
#include "lasack/lasack_aqm.h"
#include "lasack/lasack_charge.h"
#include "lasack/lasack_newcomer.h"
#include "lasack/lasack_order.h"
#include "lasack/lasack_queue.h"

static u32 lasack_queue_places(const struct lasack_queue *q)
{
	return q->table->size + __LASACK_SHARED;
}

static bool lasack_is_flow(const struct lasack_flow *flow)
{
	return flow->shared || flow->entry.in_use;
}

/* All flows with packets join the orders, in which nothing is. */
static void lasack_queue_order(struct lasack_queue *q)
{
	struct lasack_flow *flow;
	u32 i;

	for (i = 0; i < lasack_queue_places(q); i++) {
		flow = lasack_flow_at(q, i);
		flow->spare = 0;
		if (flow->head && !lasack_is_control(flow))
			lasack_order_join(q, flow);
	}
}

/* Calls @convert for each sum there is. */
static void lasack_queue_each_sum(struct lasack_queue *q,
				  void (*convert)(const struct lasack_queue *q, u64 *sum))
{
	struct lasack_level *level = &q->level;
	u32 i;

	convert(q, &q->control_sum);
	for (i = 0; i < lasack_queue_places(q); i++) {
		if (lasack_is_flow(lasack_flow_at(q, i)))
			convert(q, &lasack_flow_at(q, i)->account.sum);
	}
	for (i = 0; ; i++) {
		convert(q, &level->current_sum);
		convert(q, &level->high);
		convert(q, &level->newcomers);
		convert(q, &level->opened);
		convert(q, &level->solicited);
		convert(q, &level->call);
		convert(q, &level->high_was[0]);
		convert(q, &level->high_was[1]);
		if (!lasack_is_grouped(q) || i == ARRAY_SIZE(q->stations->place))
			break;
		convert(q, &q->stations->place[i].account.sum);
		level = &q->stations->place[i].level;
	}
}

static void lasack_sum_to_bytes(const struct lasack_queue *q, u64 *sum)
{
	*sum = lasack_sum_bytes(&q->decay, *sum, q->age);
}

static void lasack_sum_from_bytes(const struct lasack_queue *q, u64 *sum)
{
	*sum = lasack_sum_add(&q->decay, 0, *sum, q->age);
}

/* Takes all flows out of the orders, which may be wrong; they have to join again. */
static void lasack_order_clear(struct lasack_queue *q)
{
	u32 i;

	lasack_order_drop_no_more(q);
	q->run_left = 0;
	lasack_tournament_clear(&q->order);
	for (i = 0; lasack_is_grouped(q) && i < ARRAY_SIZE(q->stations->place); i++) {
		q->stations->place[i].flows = RB_ROOT_CACHED;
		q->stations->place[i].spares = 0;
		q->stations->place[i].ahead = 0;
	}
}

/**
 * lasack_queue_set_halflife() - from now on another half-life
 * @q: the queue
 * @halflife: ns, or 0: what is left of the sums stays
 */
void lasack_queue_set_halflife(struct lasack_queue *q, u64 halflife)
{
	if (halflife && q->decay.halflife && q->age < LASACK_AGE_MAX) {
		lasack_decay_set(&q->decay, halflife, q->now);
		q->age = q->decay.age;
		return;
	}
	if (!halflife && !q->decay.halflife)
		return;
	lasack_queue_each_sum(q, lasack_sum_to_bytes);
	q->decay = (struct lasack_decay) { .halflife = halflife, .since = q->now };
	q->age = 0;
	lasack_queue_each_sum(q, lasack_sum_from_bytes);
	lasack_order_clear(q);
	lasack_queue_order(q);
}

/* The flow competes with others than before, so its old sum means nothing. */
static void lasack_queue_forget_sums(struct lasack_queue *q)
{
	struct lasack_flow *flow;
	u32 i;

	for (i = 0; i < lasack_queue_places(q); i++) {
		flow = lasack_flow_at(q, i);
		flow->account.sum = 0;
		flow->account.credit = 0;
		flow->solicited = 0;
		flow->is_new = !flow->head;
	}
}

/* Moves the flow's packets to the flow that many share. */
static void lasack_queue_share(struct lasack_queue *q, struct lasack_flow *flow)
{
	struct lasack_flow *shared = lasack_shared(q, LASACK_OVERFLOW);

	q->overflow += flow->account.packets;
	if (shared->head) {
		shared->tail->next = flow->head;
	} else {
		shared->head = flow->head;
		shared->is_new = 1;
	}
	shared->tail = flow->tail;
	shared->account.packets += flow->account.packets;
	if (lasack_is_grouped(q))
		shared->station = LASACK_STATION_SHARED;
}

static void lasack_queue_adopt_flow(struct lasack_queue *q, const struct lasack_queue *from,
				    struct lasack_flow *flow)
{
	struct flow_entry *entry =
		flow_table_adopt(q->table, &flow->entry,
				 flow_table_rehash(q->table, from->table, &flow->entry));

	if (!entry)
		lasack_queue_share(q, flow);
}

static void lasack_queue_adopt_shared(struct lasack_queue *q, const struct lasack_queue *from)
{
	u32 i;

	for (i = 0; i < __LASACK_SHARED; i++)
		*lasack_shared(q, i) = *lasack_shared(from, i);
}

/* Keeps the stations, or finds them anew from the packets. Their sums are kept if @same. */
static void lasack_queue_adopt_stations(struct lasack_queue *q, const struct lasack_queue *from,
					bool same)
{
	struct lasack_station *station;
	struct lasack_flow *flow;
	u32 i;

	if (!lasack_is_grouped(q))
		return;
	if (lasack_is_grouped(from))
		memcpy(q->stations, from->stations, sizeof(*q->stations));
	for (i = 0; i < ARRAY_SIZE(q->stations->place); i++) {
		station = &q->stations->place[i];
		station->flows = RB_ROOT_CACHED;
		station->spares = 0;
		station->ahead = 0;
		station->account.packets = 0;
		if (!same) {
			station->level = (struct lasack_level) {};
			station->is_new = 1;
		}
	}
	for (i = 0; i < lasack_queue_places(q); i++) {
		flow = lasack_flow_at(q, i);
		if (!flow->head || lasack_is_control(flow))
			continue;
		if (!lasack_is_grouped(from))
			flow->station = flow->shared ? LASACK_STATION_SHARED :
				lasack_station_of(q->stations, flow->head, q->time)->number;
		station = lasack_station_at(q, flow);
		if (station->is_new)
			lasack_station_begin(q, station);
		station->account.packets += flow->account.packets;
	}
}

/* The flow that many share begins where new ones do. */
static void lasack_queue_begin_shared(struct lasack_queue *q)
{
	struct lasack_flow *shared = lasack_shared(q, LASACK_OVERFLOW);

	if (shared->head && shared->is_new) {
		lasack_account_begin(q, lasack_flow_level(q, shared), &shared->account);
		shared->is_new = 0;
	}
}

static void lasack_queue_count_bits(struct lasack_queue *q)
{
	const struct lasack_flow *flow;
	u32 i;

	memset(q->by_bits, 0, sizeof(q->by_bits));
	for (i = 0; i < q->table->size; i++) {
		flow = lasack_flow_at(q, i);
		if (flow->entry.in_use)
			q->by_bits[fls64(lasack_flow_bytes(flow))]++;
	}
}

/**
 * lasack_queue_take_over() - another queue, the same flows and packets
 * @q: an empty queue
 * @from: the queue it replaces; of no use from now on but to be freed
 *
 * If the places do not suffice, the flows idle for longest are forgotten, and
 * if even flows with packets are too many, some share one from now on.
 */
void lasack_queue_take_over(struct lasack_queue *q, struct lasack_queue *from)
{
	bool same = q->shape.by_station == from->shape.by_station &&
		    q->shape.paper == from->shape.paper;
	struct lasack_flow *flow;
	u32 i;

	q->now = from->now;
	q->age = from->age;
	q->time = from->time;
	q->seq = from->seq;
	q->overhead = from->overhead;
	q->owner = from->owner;
	q->decay = from->decay;
	q->memory = from->memory;
	q->packets = from->packets;
	q->control_packets = from->control_packets;
	q->observer = from->observer;
	q->overflow = from->overflow;
	q->resynchronised = from->resynchronised;
	memcpy(q->delay, from->delay, sizeof(q->delay));
	if (same) {
		q->level = from->level;
		q->control_sum = from->control_sum;
	} else {
		lasack_queue_forget_sums(from);
	}

	lasack_queue_adopt_shared(q, from);
	for (i = 0; i < from->table->size; i++) {
		flow = lasack_flow_at(from, i);
		if (flow->head)
			lasack_queue_adopt_flow(q, from, flow);
	}
	q->table->counts.evicted = 0;
	flow_table_adopt_idle(q->table, from->table);
	q->table->counts.evicted += from->table->counts.evicted;
	q->table->counts.expired = from->table->counts.expired;
	q->table->counts.collisions = from->table->counts.collisions;
	q->table->swept_at = from->table->swept_at;
	lasack_queue_count_bits(q);
	lasack_queue_adopt_stations(q, from, same);
	lasack_floor_clear(q);
	lasack_queue_begin_shared(q);
	lasack_queue_order(q);
}

static void lasack_flow_forgotten(void *data, struct flow_entry *entry)
{
	struct lasack_flow *flow = container_of(entry, struct lasack_flow, entry);
	struct lasack_queue *q = data;

	q->by_bits[fls64(lasack_flow_bytes(flow))]--;
}

static int lasack_queue_init(struct lasack_queue *q)
{
	bool grouped = q->shape.by_station || q->shape.runs;
	u32 i, places;

	get_random_bytes(&q->owner.secret, sizeof(q->owner.secret));
	q->table = flow_table_create(q->shape.flows, __LASACK_SHARED, LASACK_FLOW_BITS);
	if (!q->table)
		return -ENOMEM;
	places = lasack_queue_places(q);
	q->table->forgotten = lasack_flow_forgotten;
	q->table->data = q;
	for (i = 0; i < __LASACK_SHARED; i++) {
		lasack_shared(q, i)->shared = 1;
		lasack_shared(q, i)->is_new = 1;
	}
	for (i = 0; i < __LASACK_CONTROL; i++)
		lasack_shared(q, i)->control = 1;
	if (lasack_tournament_init(&q->order, grouped ? LASACK_STATIONS + 1 : places) ||
	    lasack_tournament_init(&q->drop, q->shape.by_station ? LASACK_STATIONS + 1 : places))
		return -ENOMEM;
	if (grouped) {
		q->stations = lasack_stations_create();
		q->nodes = exact_array_alloc(places, sizeof(*q->nodes));
		if (!q->stations || !q->nodes)
			return -ENOMEM;
	}
	if (q->shape.aqm) {
		q->aqm = lasack_aqm_create(places);
		if (!q->aqm)
			return -ENOMEM;
	}
	return 0;
}

/**
 * lasack_queue_create() - an empty queue with an empty table
 * @shape: what it is made for
 *
 * Return: the queue, to be given to lasack_queue_free(), or NULL: no memory.
 */
struct lasack_queue *lasack_queue_create(const struct lasack_shape *shape)
{
	struct lasack_queue *q = kzalloc(sizeof(*q), GFP_KERNEL);

	if (!q)
		return NULL;
	q->shape = *shape;
	if (lasack_queue_init(q)) {
		lasack_queue_free(q);
		return NULL;
	}
	return q;
}

/**
 * lasack_queue_forget() - no flow and no station is known any more
 * @q: the queue, without packets
 */
void lasack_queue_forget(struct lasack_queue *q)
{
	struct lasack_station *station;
	u32 i;

	flow_table_clear(q->table);
	q->level = (struct lasack_level) {};
	q->control_sum = 0;
	for (i = 0; i < __LASACK_SHARED; i++)
		lasack_flow_new_life(q, lasack_shared(q, i));
	if (!lasack_is_grouped(q))
		return;
	q->stations->count = 0;
	q->run_left = 0;
	for (i = 0; i < ARRAY_SIZE(q->stations->place); i++) {
		station = &q->stations->place[i];
		station->known = 0;
		station->is_new = 1;
		station->level = (struct lasack_level) {};
	}
}

/* Also of NULL. The packets are not the queue's to free, nor is the observer. */
void lasack_queue_free(struct lasack_queue *q)
{
	if (!q)
		return;
	lasack_tournament_destroy(&q->order);
	lasack_tournament_destroy(&q->drop);
	kvfree(q->stations);
	if (q->table)
		exact_array_free(q->nodes, lasack_queue_places(q), sizeof(*q->nodes));
	lasack_aqm_free(q->aqm);
	flow_table_free(q->table);
	kfree(q);
}
