// SPDX-License-Identifier: GPL-2.0-only
/*
 * A call, and what its station asks for meanwhile.
 *
 * Principle: least attained service puts a call that has lasted for long behind all that is new.
 * What a station asks for is new again and again, so the call would never be served. Hence, if what
 * would come next is new and was asked for, a call comes before it: its sum becomes a byte less.
 * The bytes that calls are not charged in this way have a limit, so whoever only looks like a call
 * gains little: for all calls of a station one in LASACK_CALL_SHARE of what the station gets, and
 * LASACK_CALL_MOST at once. If they get more while others wait, none of them is a call.
 *
 * What is asked for begins not far below a call. So the way that the call has to go ahead is short,
 * and costs little. But it does begin below it: a flow that looks like a call may have had as much
 * as a large download, and a page must come before both.
 *
 * A call would also wait until its station is served: for the runs of all others, where there are
 * runs, and as long as its ACKs wait, if the station uploads. So its packet may come out of turn,
 * as may that of any flow that has had far less than its station's others. They need not have
 * packets now: a run may take all that a large download has, and then the others' runs come.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include "lasack/lasack_call.h"
#include "lasack/lasack_newcomer.h"
#include "lasack/lasack_order.h"

/*
 * Datagrams both ways. A page over QUIC is no call, nor is a flood that nobody answers, an upload,
 * or a download: its queue is never empty. But if nothing could be sent for a while, a call has a
 * queue, too.
 */
static bool lasack_is_call(const struct lasack_queue *q, const struct lasack_flow *flow)
{
	if (flow->shared || flow->entry.key.protocol == IPPROTO_ICMP)
		return false;
	if ((flow->account.credit || !flow->solicited) &&
	    flow->received < LASACK_CALL_LEAST + div_u64(flow->sent, LASACK_CALL_PART))
		return false;
	if (flow->received / LASACK_CALL_UPLOAD > flow->sent)
		return false;
	return flow->account.packets <= 1 ||
	       q->time - flow->entry.idle_since < LASACK_CALL_BACKLOG;
}

/* The flow with the least sum of those that compete with this one at its station, or NULL. */
static struct lasack_flow *lasack_call_rival(struct lasack_queue *q, const struct lasack_flow *flow)
{
	struct lasack_station *station = lasack_station_at(q, flow);
	struct lasack_flow *rival;
	struct rb_node *node;

	do {
		node = rb_first_cached(&station->flows);
		if (node && lasack_flow_of(q, node) == flow)
			node = rb_next(node);
		if (!node)
			return NULL;
		rival = lasack_flow_of(q, node);
	} while (lasack_station_mend(q, station, rival));
	return rival;
}

/*
 * If the @rival was asked for and would come before the flow, the flow's sum becomes less. Of that,
 * @paid bytes are paid for already. Return: whether it is less now.
 */
static bool lasack_call_ahead(struct lasack_queue *q, struct lasack_flow *flow,
			      const struct lasack_flow *rival, u32 paid)
{
	struct lasack_level *level = lasack_flow_level(q, flow);
	u64 bytes;

	if (!rival || !rival->solicited || !rival->account.credit ||
	    flow->account.sum <= rival->account.sum)
		return false;
	bytes = lasack_sum_bytes(&q->decay, flow->account.sum, q->age) -
		lasack_sum_bytes(&q->decay, rival->account.sum, q->age);
	if (bytes > paid) {
		if (level->call_left < (s64)(bytes - paid))
			return false;
		level->call_left -= bytes - paid;
	}
	flow->account.sum = lasack_sum_before(&q->decay, rival->account.sum);
	return true;
}

/*
 * May the flow's packet come out of turn? ACKs that are all that a station gets can wait: together
 * they are an aggregate.
 */
static bool lasack_call_hurries(struct lasack_queue *q, const struct lasack_flow *flow)
{
	const struct lasack_flow *rival = lasack_call_rival(q, flow);
	u64 others = rival ? rival->account.sum : lasack_flow_level(q, flow)->high;
	u32 less = q->quantum ?: LASACK_CALL_LESS;

	if (q->decay.halflife || (rival && others < flow->account.sum))
		return false;
	if (others > flow->account.sum && others - flow->account.sum >= less)
		return true;
	return lasack_is_datagrams(flow) && lasack_is_call(q, flow);
}

/*
 * The flow has its first packet. Its station may be ahead by no more than a run has. So others wait
 * for that much of each such station, once.
 */
void lasack_call_joined_station(struct lasack_queue *q, struct lasack_flow *flow)
{
	struct lasack_station *station = lasack_station_at(q, flow);

	if (station->ahead || !lasack_call_hurries(q, flow))
		return;
	station->ahead = q->quantum ?: LASACK_CALL_AHEAD;
	lasack_order_lowered(q, flow);
}

/* A datagram of the flow has come. Return: whether its sum is less now. */
bool lasack_datagram_came(struct lasack_queue *q, struct lasack_flow *flow)
{
	return lasack_flow_level(q, flow)->call_left > 0 && lasack_is_call(q, flow) &&
	       lasack_call_ahead(q, flow, lasack_call_rival(q, flow), 0);
}

/* A datagram of the flow was sent and charged, @cost bytes. Return: whether its sum is less now. */
bool lasack_datagram_sent(struct lasack_queue *q, struct lasack_flow *flow, u32 cost)
{
	struct lasack_level *level = lasack_flow_level(q, flow);
	const struct lasack_flow *rival;

	if (!lasack_is_call(q, flow))
		return false;
	rival = lasack_call_rival(q, flow);
	if (rival)
		level->call_left = max_t(s32, level->call_left - cost, -LASACK_CALL_MOST);
	if (level->call_left < 0)
		return false;
	if (flow->account.sum >= level->call || q->time - level->call_at >= LASACK_CALL_AGE) {
		level->call = flow->account.sum;
		level->call_at = q->time;
	}
	return lasack_call_ahead(q, flow, rival, cost);
}
