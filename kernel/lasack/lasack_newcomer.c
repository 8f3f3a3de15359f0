// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flows and stations that are new, or come back after a pause.
 *
 * Principle: whoever could begin with a sum of 0 would be served before all others, and who
 * changes its ports or addresses is always new. So all newcomers have one sum together, at which
 * each of them begins. The first LASACK_CREDIT bytes that a newcomer is charged are charged to
 * the newcomers' sum too: together they are served as one.
 *
 * The newcomers' sum rises when data arrives, or else all that come at the same time would begin
 * with the same sum. It rises because of what an ACK acknowledges when that ACK is sent, and only
 * a little: else forged ACKs of connections nobody has could put off all who come later.
 *
 * A connection that began with a SYN and goes on, once that was sent, is no newcomer. Usually
 * somebody has answered the SYN. All these connections have a sum together too, but it rises by a
 * third of what each is charged within its credit. So all short transfers have together
 * the service of LASACK_OPENED_SHARES flows: more than they usually ask for, and whoever only
 * pretends that somebody answered still leaves other flows a share.
 *
 * Many short transfers ask for more than that, and where they do not get it, more and more of them
 * wait. What a station was heard to ask for is no flood from elsewhere. Its sum rises by a smaller
 * part still, so it has the service of LASACK_SOLICITED_SHARES flows of this station. A flood does
 * not raise this sum. But calls of the station go ahead: lasack_call.c.
 *
 * A flow that pauses saves up nothing: its sum is raised to LASACK_LAG below the largest. That of
 * a station is raised to LASACK_STATION_LAG below it. Else a station whose transfers are short
 * and many would come before others until it has caught up, and theirs would wait so long.
 * Nor is a sum raised above the least of those that have packets. While one catches up after a
 * pause, what may be caught up with becomes less. So whoever sends little has an empty queue, and a
 * larger sum, with each packet; each would wait until the other has caught up.
 *
 * With stations all this holds for them too. New stations and the place that several share have
 * one sum. So whoever invents addresses is served as one station, however many of them find a
 * place of their own. But if the queue itself is new, all stations are. They compete with each
 * other only, and who comes next must not wait until each of them has had what all have had
 * together. So because of the first ones, who came before any old station was served, the sum of
 * new stations rises no further than one of them has come. Who takes the place of another is none
 * of the first: invented addresses soon do, unless they are fewer than the places.
 */
#include <linux/minmax.h>
#include "lasack/lasack_newcomer.h"
#include "lasack/lasack_observe.h"

/*
 * The @common sum of a level becomes @sum, but is raised to @ahead bytes above the largest that
 * was served at most: what forged ACKs acknowledge must not put off all who come later.
 */
static void lasack_common_attain(const struct lasack_queue *q, const struct lasack_level *level,
				 u64 *common, u64 sum, u32 ahead)
{
	*common = max(*common, min(sum, lasack_sum_plus(q, level->high, ahead)));
}

/* So far ahead a common sum may be because of packets: more than all that wait have. */
static u32 lasack_common_ahead(const struct lasack_queue *q)
{
	return max_t(u64, LASACK_CREDIT, min_t(u64, q->memory, U32_MAX));
}

/* A common sum is no further behind than one newcomer may be. */
static u64 lasack_common_sum(const struct lasack_queue *q, const struct lasack_level *level,
			     u64 common)
{
	return max3(common, lasack_sum_minus(q, level->current_sum, LASACK_CREDIT),
		    lasack_sum_minus(q, level->high, LASACK_LAG));
}

/* The account of a new flow or station begins. */
void lasack_account_begin(const struct lasack_queue *q, struct lasack_level *level,
			  struct lasack_account *account)
{
	account->sum = 0;
	account->credit = 0;
	account->surplus = 0;
	if (q->shape.paper)
		return;
	level->newcomers = lasack_common_sum(q, level, level->newcomers);
	account->sum = level->newcomers;
	account->credit = LASACK_CREDIT;
}

/*
 * What its station asks for begins no lower than an old flow that has one packet at a time, and
 * not far below a call: lasack_call.c.
 */
static u64 lasack_solicited_floor(const struct lasack_queue *q, const struct lasack_flow *flow,
				  const struct lasack_level *level)
{
	u64 floor = level->sparse ? level->current_sum : 0;

	if (!flow->solicited)
		return 0;
	if (q->time - level->call_at >= LASACK_CALL_AGE)
		return floor;
	return max(floor, lasack_sum_minus(q, level->call, LASACK_CREDIT));
}

/* The flow has a credit, and begins at the @common sum. */
static void lasack_flow_begin_at(const struct lasack_queue *q, struct lasack_level *level,
				 struct lasack_flow *flow, u64 *common)
{
	*common = max(*common, lasack_sum_minus(q, level->high, LASACK_LAG));
	flow->account.sum = max(lasack_common_sum(q, level, *common),
				lasack_solicited_floor(q, flow, level));
	flow->account.credit = LASACK_CREDIT;
}

/* The flow begins. What its station has asked is answered now, and no other flow answers it. */
static bool lasack_flow_is_answer(const struct lasack_queue *q, const struct lasack_flow *flow)
{
	return q->observer && !q->shape.paper && lasack_has_station(q, flow) && !flow->shared &&
	       flow->station != LASACK_STATION_SHARED &&
	       lasack_observer_answer(q->observer, &flow->entry.key,
				      lasack_station_at(q, flow)->address);
}

/* The flow has packets, and nothing is known of it. */
void lasack_flow_begin_anew(struct lasack_queue *q, struct lasack_flow *flow)
{
	struct lasack_level *level = lasack_flow_level(q, flow);

	lasack_account_begin(q, level, &flow->account);
	flow->opened = 0;
	flow->solicited = lasack_flow_is_answer(q, flow);
	if (flow->solicited)
		lasack_flow_begin_at(q, level, flow, &level->solicited);
}

/* The sum that the flow has with others like it. They have the service of @shares flows. */
static u64 *lasack_flow_common(const struct lasack_flow *flow, struct lasack_level *level,
			       u32 *shares)
{
	if (flow->solicited) {
		*shares = LASACK_SOLICITED_SHARES;
		return &level->solicited;
	}
	if (flow->opened) {
		*shares = LASACK_OPENED_SHARES;
		return &level->opened;
	}
	*shares = 1;
	return &level->newcomers;
}

/*
 * A sum is raised to this after a pause. It is @lag bytes below the largest, or the largest of a
 * second ago if that is less: on a fast link, what others have in a blink is more than @lag.
 */
static u64 lasack_level_floor(const struct lasack_queue *q, struct lasack_level *level, u32 lag)
{
	u64 floor = lasack_sum_minus(q, level->high, lag);

	lasack_level_advance(q, level);
	if (!level->high_was[1])
		return floor;
	return min(floor, max(level->high_was[1],
			      lasack_sum_minus(q, level->high, LASACK_LAG_MAX)));
}

/*
 * The account had no packets and has one now. It is not below @floor. While
 * a flow has credit, its sum is not below the @common one: else whoever begins with many flows
 * first and sends with all of them later would be served as many, not as one. A station that has
 * credit is not put off so, because a call may be all it has.
 */
static void lasack_account_resume(const struct lasack_queue *q, struct lasack_account *account,
				  u64 floor, u64 common)
{
	if (q->shape.paper)
		return;
	account->sum = max(account->sum, floor);
	if (account->credit)
		account->sum = max(account->sum, common);
}

/*
 * Something was given back to the station, because forged ACKs had been charged. While it waited
 * for that, others were served: it may catch up with them, also after a pause.
 */
void lasack_station_returned(struct lasack_queue *q, struct lasack_station *station)
{
	u64 floor = lasack_level_floor(q, &q->level, LASACK_STATION_LAG);

	if (floor > station->account.sum)
		station->returned = lasack_sum_bytes(&q->decay, floor, q->age) -
				    lasack_sum_bytes(&q->decay, station->account.sum, q->age);
}

/*
 * The least sum of those that have packets: of the @station's flows, or without one of all that
 * compete with each other. It may have grown since it was looked at. U64_MAX without packets.
 */
static u64 lasack_least_sum(const struct lasack_queue *q, const struct lasack_station *station)
{
	struct rb_node *first;
	u64 least;

	if (!station) {
		if (!q->order.count)
			return U64_MAX;
		least = lasack_tournament_least(&q->order);
		if (!q->shape.by_station)
			return least;
		/* Who comes out of turn has had more than its key says. */
		return least + q->stations->place[lasack_tournament_first(&q->order)].ahead;
	}
	first = rb_first_cached(&station->flows);
	return first ? rb_entry(first, struct lasack_node, node)->key : U64_MAX;
}

static u64 lasack_station_floor(struct lasack_queue *q, const struct lasack_station *station)
{
	u32 returned = min_t(u32, station->returned, LASACK_LAG - LASACK_STATION_LAG);
	u64 floor = lasack_level_floor(q, &q->level, LASACK_STATION_LAG);

	return min(lasack_sum_minus(q, floor, returned), lasack_least_sum(q, NULL));
}

static u64 lasack_flow_floor(struct lasack_queue *q, const struct lasack_flow *flow,
			     struct lasack_level *level)
{
	const struct lasack_station *station =
		lasack_has_station(q, flow) ? lasack_station_at(q, flow) : NULL;

	return min(lasack_level_floor(q, level, LASACK_LAG), lasack_least_sum(q, station));
}

/*
 * A packet is going to cost @bytes. Within the account's credit they are charged to all of its
 * kind, whose @common sum rises by one byte for each @shares.
 */
static void lasack_account_admit(const struct lasack_queue *q, const struct lasack_level *level,
				 u64 *common, u32 shares, struct lasack_account *account,
				 u32 bytes, u32 ahead)
{
	u32 part = min_t(u32, bytes, account->credit);

	if (!part)
		return;
	account->credit -= part;
	lasack_common_attain(q, level, common,
			     lasack_sum_plus(q, *common, DIV_ROUND_UP(part, shares)), ahead);
}

/* The same for a station. One of the first raises the sum of new ones as far as it has come. */
static void lasack_station_admit(struct lasack_queue *q, struct lasack_station *station,
				 u32 bytes, u32 ahead)
{
	struct lasack_account *account = &station->account;
	u64 *common = &q->level.newcomers;

	if (!station->is_first) {
		lasack_account_admit(q, &q->level, common, 1, account, bytes, ahead);
		return;
	}
	if (!account->credit)
		return;
	account->credit -= min_t(u32, bytes, account->credit);
	lasack_common_attain(q, &q->level, common,
			     lasack_sum_plus(q, 0, LASACK_CREDIT - account->credit), ahead);
}

/* A packet of an account that has credit is lost: what it was going to cost is undone. */
static void lasack_account_readmit(const struct lasack_queue *q, u64 *common, u32 shares,
				   struct lasack_account *account, u32 bytes)
{
	u32 part = min_t(u32, bytes, LASACK_CREDIT - account->credit);

	if (q->shape.paper)
		return;
	account->credit += part;
	*common = lasack_sum_minus(q, *common, DIV_ROUND_UP(part, shares));
}

/* A packet of a station that has credit is lost. One of the first has raised no sum for it. */
static void lasack_station_readmit(struct lasack_queue *q, struct lasack_station *station,
				   u32 bytes)
{
	struct lasack_account *account = &station->account;

	if (!station->is_first)
		lasack_account_readmit(q, &q->level.newcomers, 1, account, bytes);
	else
		account->credit += min_t(u32, bytes, LASACK_CREDIT - account->credit);
}

/* A packet of the place that several stations share is sent, and costs @bytes: to newcomers too. */
void lasack_station_shared_sent(struct lasack_queue *q, u32 bytes)
{
	struct lasack_account *shared = &q->stations->place[LASACK_STATION_SHARED].account;
	u64 sum = lasack_sum_plus(q, q->level.newcomers, bytes);

	lasack_common_attain(q, &q->level, &q->level.newcomers, max(sum, shared->sum),
			     lasack_common_ahead(q));
	shared->sum = max(shared->sum, q->level.newcomers);
}

/* The station is new and has packets. */
void lasack_station_begin(struct lasack_queue *q, struct lasack_station *station)
{
	lasack_account_begin(q, &q->level, &station->account);
	/* What several share is charged to newcomers when it is sent. */
	if (station->number == LASACK_STATION_SHARED)
		station->account.credit = 0;
	station->returned = 0;
	station->acked = 0;
	station->acked_weight = 0;
	station->is_new = 0;
	station->is_first = !q->level.current_sum && !station->retaken;
}

/* The flow has a packet again. It may go to another station than before. */
static void lasack_flow_join_station(struct lasack_queue *q, struct lasack_flow *flow,
				     const struct sk_buff *skb)
{
	struct lasack_station *station = flow->shared ?
		&q->stations->place[LASACK_STATION_SHARED] :
		lasack_station_of(q->stations, skb, q->time);

	if (flow->station != station->number) {
		flow->station = station->number;
		flow->starved = 0;
		flow->is_new |= q->shape.by_station;
		/* The other station paid for that. */
		flow->refundable = 0;
		flow->returned = 0;
		flow->prepaid = 0;
	}
	if (!q->shape.by_station)
		return;
	if (station->is_new) {
		lasack_station_begin(q, station);
	} else if (!station->account.packets) {
		lasack_account_resume(q, &station->account, lasack_station_floor(q, station), 0);
		if (station->number == LASACK_STATION_SHARED)
			station->account.sum = max(station->account.sum, q->level.newcomers);
	}
}

/**
 * lasack_flow_begin() - a flow without packets gets one
 * @q: the queue
 * @flow: the flow
 * @skb: that packet
 */
void lasack_flow_begin(struct lasack_queue *q, struct lasack_flow *flow,
		       const struct sk_buff *skb)
{
	struct lasack_level *level;
	u64 common;
	u32 shares;

	if (lasack_is_grouped(q) && !lasack_is_control(flow))
		lasack_flow_join_station(q, flow, skb);
	level = lasack_flow_level(q, flow);
	if (lasack_is_control(flow)) {
		/* It competes with the other kinds of control packets only. */
		flow->account.sum = max(flow->account.sum,
					lasack_sum_minus(q, level->high, LASACK_LAG));
	} else if (flow->is_new) {
		lasack_flow_begin_anew(q, flow);
	} else {
		common = max(*lasack_flow_common(flow, level, &shares),
			     lasack_solicited_floor(q, flow, level));
		lasack_account_resume(q, &flow->account, lasack_flow_floor(q, flow, level), common);
	}
	flow->is_new = 0;
}

/* The flow began with a SYN, which was sent, and now it goes on: it is no newcomer any more. */
void lasack_flow_opened(struct lasack_queue *q, struct lasack_flow *flow)
{
	struct lasack_level *level = lasack_flow_level(q, flow);

	flow->opened = 1;
	if (flow->solicited)
		return;
	flow->solicited = lasack_flow_is_answer(q, flow);
	if (flow->solicited)
		lasack_flow_begin_at(q, level, flow, &level->solicited);
	else
		lasack_flow_begin_at(q, level, flow, &level->opened);
}

/* As lasack_flow_admit(), of a flow or station that has credit left. */
void lasack_flow_admit_newcomer(struct lasack_queue *q, struct lasack_flow *flow, u32 bytes,
				bool waits)
{
	u32 ahead = waits ? lasack_common_ahead(q) : LASACK_CREDIT;
	struct lasack_level *level = lasack_flow_level(q, flow);
	struct lasack_station *station;
	u64 weight, *common;
	u32 shares;

	common = lasack_flow_common(flow, level, &shares);
	lasack_account_admit(q, level, common, shares, &flow->account, bytes, ahead);
	if (!lasack_has_station(q, flow))
		return;
	station = lasack_station_at(q, flow);
	weight = waits ? lasack_station_sent(q, station, bytes) :
			 lasack_station_acked(q, station, bytes);
	lasack_station_admit(q, station, min_t(u64, weight, U32_MAX), ahead);
}

/* The packet was pushed out: its @bytes will not be charged. */
void lasack_flow_readmit(struct lasack_queue *q, struct lasack_flow *flow, u32 bytes)
{
	struct lasack_level *level = lasack_flow_level(q, flow);
	struct lasack_station *station;
	u64 *common;
	u32 shares;

	if (flow->shared || (flow->served && !flow->account.credit))
		return;
	common = lasack_flow_common(flow, level, &shares);
	lasack_account_readmit(q, common, shares, &flow->account, bytes);
	if (!lasack_has_station(q, flow))
		return;
	station = lasack_station_at(q, flow);
	/* If it was cheaper when it arrived, no more than it cost then. */
	if (station->account.credit)
		lasack_station_readmit(q, station,
				       min_t(u64, lasack_station_sent(q, station, bytes), bytes));
}
