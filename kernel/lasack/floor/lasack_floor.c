// SPDX-License-Identifier: GPL-2.0-only
/*
 * A share of the service for flows that starve.
 *
 * Least attained service can starve a flow that has had much: new ones have had less, and if a
 * station asks for more than it gets, there are always new ones. An old one waits less for others:
 * what they may catch up with is bounded (lasack_newcomer.c).
 *
 * Principle: a flow that starves says so. Its sender gets no answer, so it sends again, and finds
 * its last packet still waiting. So nobody searches for flows that starve, and there is no order of
 * all flows by waiting time. Who sends on and on, without waiting for answers, does not say so.
 *
 * Flows that starve stand in a short line. The first of them that has packets has the floor: a
 * percentage of what it and the new flows that it competes with are served. That is all bytes of a
 * packet and those that it acknowledges, or what it costs if that is more. If only an ACK's own
 * bytes counted, it would be almost free, and uploads would get many times the floor's share. The
 * sums are charged as ever. But what the floor gave does not count for ever: lasack_queue.c.
 *
 * New flows make others starve if they end and more of them begin. So new flows pay that percentage
 * for twice as many bytes as ended ones had: not all that end have done so yet. Else everybody pays
 * for a sixteenth of that share. It is about that of one flow of fifty, and TCP goes on with it. If
 * new flows paid all the time, one of fifty connections that begin and do not end would have ten
 * times as much as each of the others: all wait for so long that they say that they starve.
 *
 * TCP says that it ends. But QUIC does not, nor does a client's RST pass here. So of the flows that
 * begin some are looked at after LASACK_FLOOR_LIFE: if one has had no packets for a second, it has
 * ended, and so have the others for which it stands.
 *
 * A flow stands in line until its sum is the least, until it has ended, or until it has had no
 * packets for a second. Each goes on until it is done: if they were served in turn, all would be as
 * slow as all of them together. But after LASACK_FLOOR_TURN a flow goes to the end of the line. So
 * a flow waits for all that began to wait before it, but for no more than a turn of each.
 *
 * A new flow may starve too, if its station asked for it or its connection was opened. They have
 * half of the line, so there is always room for old ones. Other new flows may be a flood: together
 * they have the service of one flow, and the floor would add to it. New is a flow that was not
 * served yet, or that was charged less than a newcomer's credit. The credit itself does not tell:
 * it is spent when packets come.
 *
 * The line is in the order in which they began to wait, not in that in which they asked: TCP
 * doubles the time until it asks again. That time is kept with the place, because a flow's first
 * packet does not tell it for long: it is served while those before it pause. If there is no room,
 * whoever has waited longest stays.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "lasack/floor/lasack_floor.h"
#include "lasack/lasack_newcomer.h"

/* Without packets for so long, a flow does not starve any more: 1 s, in the queue's time. */
#define LASACK_FLOOR_IDLE	((u32)(1ULL * NSEC_PER_SEC >> FLOW_TIME_SHIFT))
/*
 * Bytes of service that a flow has of the floor until others have their turn. A transfer of that
 * size needs the floor once. With more turns it would wait for all the others again and again.
 */
#define LASACK_FLOOR_TURN	(4096U << 10)
/* Bytes of service that are kept for a flow that has no packet now. */
#define LASACK_FLOOR_KEPT	(16U << 10)
/* Bytes that new flows pay for in full at most, if many have ended. */
#define LASACK_FLOOR_IN_FULL	(16 * LASACK_CREDIT)
/* So much later a flow that began is looked at: 8 s, in the queue's time. */
#define LASACK_FLOOR_LIFE	((u32)(8ULL * NSEC_PER_SEC >> FLOW_TIME_SHIFT))
/* One in so long is. */
#define LASACK_FLOOR_PACE	(LASACK_FLOOR_LIFE / (LASACK_FLOOR_SAMPLES - 1))
/* What is not paid in full gives the floor this part of its share. */
#define LASACK_FLOOR_PART	16
/* Places in line for new flows. */
#define LASACK_FLOOR_NEW	(LASACK_FLOOR_LINE / 2)

/**
 * lasack_service() - bytes of service in sending a packet
 * @skb: the packet
 *
 * At most as many acknowledged bytes count as the largest packet holds. An ACK that
 * acknowledges more replaces lost ones, or is forged.
 */
u32 lasack_service(const struct sk_buff *skb)
{
	return qdisc_pkt_len(skb) + min_t(u32, lasack_cb(skb)->acked, U16_MAX);
}

static struct lasack_flow *lasack_floor_flow(const struct lasack_queue *q,
					     const struct lasack_floor *floor, u32 place)
{
	return lasack_flow_at(q, floor->line[place].flow);
}

static void lasack_floor_remove(struct lasack_floor *floor, u32 place)
{
	floor->count--;
	memmove(&floor->line[place], &floor->line[place + 1],
		(floor->count - place) * sizeof(floor->line[0]));
}

/* The paper knows no newcomers. Who was never served may have been charged for a forged ACK. */
static bool lasack_floor_is_new(const struct lasack_queue *q, const struct lasack_flow *flow)
{
	return (lasack_flow_bytes(flow) < LASACK_CREDIT || !flow->served) && !q->shape.paper;
}

/* The flow has no packets. Has it ended, or had none for so long that it does not starve? */
static bool lasack_floor_is_over(const struct lasack_queue *q, const struct lasack_flow *flow)
{
	return !flow->entry.in_use || flow->entry.finished ||
	       q->time - flow->entry.idle_since >= LASACK_FLOOR_IDLE;
}

/* Does the flow, once in this line, not belong there any more? */
static bool lasack_floor_is_gone(struct lasack_queue *q, const struct lasack_level *level,
				 struct lasack_flow *flow)
{
	/* It starves no more, its place is another flow's, or it has another station. */
	if (!flow->starved || lasack_flow_level(q, flow) != level)
		return true;
	if (flow->head || !lasack_floor_is_over(q, flow))
		return false;
	flow->starved = 0;
	return true;
}

/* No flow is in line that does not belong there. */
static void lasack_floor_tidy(struct lasack_queue *q, struct lasack_level *level)
{
	struct lasack_floor *floor = &level->floor;
	u32 i = 0;

	while (i < floor->count) {
		if (lasack_floor_is_gone(q, level, lasack_floor_flow(q, floor, i)))
			lasack_floor_remove(floor, i);
		else
			i++;
	}
	/* What is left then belongs to nobody who comes later. */
	if (!floor->count) {
		floor->credit = min_t(s64, floor->credit, 0);
		floor->in_full = 0;
	}
}

/* So many flows have ended that are like this one. */
static void lasack_floor_add(struct lasack_floor *floor, const struct lasack_flow *flow, u32 flows)
{
	u64 had = min_t(u64, lasack_flow_bytes(flow), LASACK_CREDIT);

	if (floor->count)
		floor->in_full = min_t(u64, floor->in_full + 2 * had * flows, LASACK_FLOOR_IN_FULL);
}

/**
 * lasack_floor_ended() - a flow's FIN or RST is sent, the first of its life
 * @q: the queue
 * @flow: the flow
 */
void lasack_floor_ended(struct lasack_queue *q, const struct lasack_flow *flow)
{
	lasack_floor_add(&lasack_flow_level(q, flow)->floor, flow, 1);
}

/* A flow of this level began long ago. Has it ended, and did not say so? */
static bool lasack_floor_has_left(struct lasack_queue *q, const struct lasack_level *level,
				  const struct lasack_flow *flow)
{
	return !flow->head && !flow->entry.finished && !flow->aborted &&
	       lasack_flow_level(q, flow) == level && lasack_floor_is_over(q, flow);
}

/* The oldest sample is looked at. */
static void lasack_floor_look(struct lasack_queue *q, struct lasack_level *level)
{
	struct lasack_floor *floor = &level->floor;
	const struct lasack_flow *flow = lasack_flow_at(q, floor->sample[0].flow);

	if (lasack_floor_has_left(q, level, flow))
		lasack_floor_add(floor, flow, floor->sample[0].stands_for);
	floor->samples--;
	memmove(&floor->sample[0], &floor->sample[1], floor->samples * sizeof(floor->sample[0]));
}

/* Is there a sample of this half second, or no room? There is always room but if the time wraps. */
static bool lasack_floor_has_sample(const struct lasack_queue *q, const struct lasack_floor *floor)
{
	u32 samples = floor->samples;

	return samples == LASACK_FLOOR_SAMPLES ||
	       (samples && q->time - floor->sample[samples - 1].at < LASACK_FLOOR_PACE);
}

/**
 * lasack_floor_began() - a flow gets the first packet of its life
 * @q: the queue
 * @flow: the flow
 */
void lasack_floor_began(struct lasack_queue *q, const struct lasack_flow *flow)
{
	struct lasack_level *level = lasack_flow_level(q, flow);
	struct lasack_floor *floor = &level->floor;

	while (floor->samples && q->time - floor->sample[0].at >= LASACK_FLOOR_LIFE)
		lasack_floor_look(q, level);
	floor->missed++;
	if (lasack_floor_has_sample(q, floor))
		return;
	floor->sample[floor->samples].flow = lasack_flow_number(q, flow);
	floor->sample[floor->samples].at = q->time;
	floor->sample[floor->samples++].stands_for = floor->missed;
	floor->missed = 0;
}

/* Return: the first flow in line that has packets, or NULL. */
static struct lasack_flow *lasack_floor_holder(const struct lasack_queue *q,
					       const struct lasack_floor *floor)
{
	struct lasack_flow *flow;
	u32 i;

	for (i = 0; i < floor->count; i++) {
		flow = lasack_floor_flow(q, floor, i);
		if (flow->head)
			return flow;
	}
	return NULL;
}

/* What a byte of the floor costs. */
static u32 lasack_floor_cost(const struct lasack_queue *q)
{
	return max(100 - q->floor, 1U);
}

/* A packet of the flow is served. Return: what it pays for the floor, bytes * percent. */
static u64 lasack_floor_price(const struct lasack_queue *q, struct lasack_floor *floor,
			      const struct lasack_flow *flow, u32 service)
{
	u32 cost = lasack_floor_cost(q);

	if (!q->shape.paper) {
		if (!floor->in_full || !lasack_floor_is_new(q, flow))
			return div_u64((u64)service * q->floor * cost,
				       100 * LASACK_FLOOR_PART - q->floor);
		floor->in_full -= min(floor->in_full, service);
	}
	return (u64)service * q->floor;
}

/* When it is now, in units of a packet's arrival. */
static u32 lasack_floor_now(const struct lasack_queue *q)
{
	return q->now >> LASACK_ARRIVAL_SHIFT;
}

/* At the end of the line. */
static void lasack_floor_append(struct lasack_floor *floor, u32 number, u32 since)
{
	floor->line[floor->count].flow = number;
	floor->line[floor->count].had = 0;
	floor->line[floor->count++].since = since;
}

/* Before those who have waited less. Who has the floor keeps it: the first is not compared. */
static void lasack_floor_insert(const struct lasack_queue *q, struct lasack_floor *floor,
				const struct lasack_flow *flow)
{
	u32 since = lasack_cb(flow->head)->arrival, now = lasack_floor_now(q), place;

	lasack_floor_append(floor, lasack_flow_number(q, flow), since);
	for (place = floor->count - 1; place > 1; place--) {
		if (now - floor->line[place - 1].since >= now - since)
			break;
		swap(floor->line[place], floor->line[place - 1]);
	}
}

/*
 * There is no room for the flow. Of those in line, or of the new ones, the one that has waited
 * least loses its place to a flow that has waited for longer. The first keeps it. Who has no
 * packets does not wait: else flows that hardly send would keep all places.
 * Return: whether there is room now.
 */
static bool lasack_floor_make_room(const struct lasack_queue *q, struct lasack_floor *floor,
				   const struct lasack_flow *flow, bool new_ones)
{
	u32 now = lasack_floor_now(q), least = now - lasack_cb(flow->head)->arrival;
	u32 place = 0, waited, i;
	struct lasack_flow *other;

	for (i = 1; i < floor->count; i++) {
		other = lasack_floor_flow(q, floor, i);
		waited = other->head ? now - floor->line[i].since : 0;
		if (waited >= least || (new_ones && !lasack_floor_is_new(q, other)))
			continue;
		least = waited;
		place = i;
	}
	if (!place)
		return false;
	lasack_floor_flow(q, floor, place)->starved = 0;
	lasack_floor_remove(floor, place);
	return true;
}

/* New flows of those in line. */
static u32 lasack_floor_new_ones(const struct lasack_queue *q, const struct lasack_floor *floor)
{
	u32 i, count = 0;

	for (i = 0; i < floor->count; i++)
		count += lasack_floor_is_new(q, lasack_floor_flow(q, floor, i));
	return count;
}

/* The flow's last packet has waited for long, and another one comes. */
void lasack_floor_ask(struct lasack_queue *q, struct lasack_flow *flow)
{
	bool is_new = lasack_floor_is_new(q, flow);
	struct lasack_level *level = lasack_flow_level(q, flow);
	struct lasack_floor *floor = &level->floor;
	bool full;

	if (!q->floor || flow->shared || flow->starved ||
	    (is_new && !flow->opened && !flow->solicited))
		return;
	lasack_floor_tidy(q, level);
	full = floor->count == LASACK_FLOOR_LINE ||
	       (is_new && lasack_floor_new_ones(q, floor) >= LASACK_FLOOR_NEW);
	if (full && !lasack_floor_make_room(q, floor, flow, is_new))
		return;
	flow->starved = 1;
	lasack_floor_insert(q, floor, flow);
}

/* The flow stands in line, and is about to have packets again. */
void lasack_floor_back(const struct lasack_queue *q, struct lasack_flow *flow)
{
	if (lasack_floor_is_over(q, flow))
		flow->starved = 0;
}

/**
 * lasack_floor_first() - as lasack_floor_before(), if flows stand in line
 * @q: the queue
 * @least: the flow with the least sum
 */
struct lasack_flow *lasack_floor_first(struct lasack_queue *q, const struct lasack_flow *least)
{
	struct lasack_level *level = lasack_flow_level(q, least);
	struct lasack_floor *floor = &level->floor;
	struct lasack_flow *holder;

	lasack_floor_tidy(q, level);
	holder = lasack_floor_holder(q, floor);
	return floor->credit > 0 && holder != least ? holder : NULL;
}

/* Is there no packet that competes with those of the flow? */
static bool lasack_floor_alone(const struct lasack_queue *q, const struct lasack_flow *flow)
{
	return flow->account.packets == (lasack_has_station(q, flow) ?
		lasack_station_at(q, flow)->account.packets : q->packets);
}

/* The flow has had @bytes more. After its turn it goes to the end of the line. */
static void lasack_floor_turn(const struct lasack_queue *q, struct lasack_floor *floor, u32 number,
			      u32 bytes)
{
	u32 place = 0;

	while (floor->line[place].flow != number)
		place++;
	floor->line[place].had += bytes;
	if (floor->line[place].had < LASACK_FLOOR_TURN)
		return;
	lasack_floor_remove(floor, place);
	lasack_floor_append(floor, number, lasack_floor_now(q));
}

/**
 * lasack_floor_note() - a packet is about to be served, and flows that compete with it starve
 * @q: the queue
 * @flow: its flow
 * @by_floor: it is what lasack_floor_before() said; else its sum is the least
 */
void lasack_floor_note(struct lasack_queue *q, struct lasack_flow *flow, bool by_floor)
{
	struct lasack_floor *floor = &lasack_flow_level(q, flow)->floor;
	u32 service = max_t(u32, lasack_service(flow->head), lasack_cb(flow->head)->cost);
	u32 cost = lasack_floor_cost(q);
	s64 price;

	if (by_floor) {
		floor->credit -= (s64)service * cost;
		lasack_floor_turn(q, floor, lasack_flow_number(q, flow), service);
		return;
	}
	price = lasack_floor_price(q, floor, flow, service);
	floor->credit = min_t(s64, floor->credit + price,
			      max_t(s64, price, (s64)LASACK_FLOOR_KEPT * cost));
	if (!lasack_floor_alone(q, flow))
		flow->starved = 0;
}

/* Flows have other numbers, or there is no floor: none stands in line any more. */
void lasack_floor_clear(struct lasack_queue *q)
{
	u32 i;

	q->level.floor = (struct lasack_floor) {};
	for (i = 0; i < q->table->size; i++)
		lasack_flow_at(q, i)->starved = 0;
	for (i = 0; lasack_is_grouped(q) && i < ARRAY_SIZE(q->stations->place); i++)
		q->stations->place[i].level.floor = (struct lasack_floor) {};
}
