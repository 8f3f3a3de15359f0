// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which ACKs are believed, and what they acknowledge.
 *
 * Principle: the ACKs of a connection go one way through the queue, and stand near each other. So
 * a flow has a position: a direction and an ACK number. The flow is charged when an ACK moves the
 * position ahead, and gets the charge back when one moves it back. So the next real ACK undoes
 * what forged ones did.
 *
 * - An ACK near the position moves it. It is also a vote for it.
 * - One that is further ahead, by a window at most, moves it as far as a near one may. So ACKs
 *   after a loss are charged too, in several steps.
 * - One that is further behind, by a window at most, moves it back.
 * - With an observer, an ACK for more than the station has sent does not move it ahead, and is
 *   strange, too. Otherwise who forges a few ACKs of nobody's connection would have the station
 *   wait for all others.
 * - All others are strange: they are charged nothing, and the position stays. The last
 *   of them is the candidate. One that stands near the candidate is a vote against the position.
 *   When there is none left for the position, it moves there. This is the majority vote of
 *   R. S. Boyer, J S. Moore, "MJRTY - A Fast Majority Vote Algorithm", 1981, with a count that
 *   ends at LASACK_VOTES. So who sends fewer packets than the connection has does not move it for
 *   long.
 *
 * While waiting ACKs acknowledge more than LASACK_PENDING_MOST beyond ordinary ones, only ordinary
 * ones move the position, and none votes against it. So a burst of forged ACKs, while none of
 * the real packets arrives, does not move it further than one of those can move it back.
 *
 * The ACKs of the other direction are strange. If the data that they acknowledge passes here, it
 * was charged when it was sent.
 *
 * With "mode paper" each direction has a position of its own, which any ACK ahead moves.
 */
#include <linux/bits.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include "lasack/lasack_ack.h"
#include "lasack/lasack_aqm.h"
#include "lasack/lasack_charge.h"
#include "lasack/lasack_observe.h"

/* The default rules need one position, and the second number for the candidate. */
#define LASACK_POSITION	0
#define LASACK_CANDIDATE	1

static u32 lasack_refund_units(u32 bytes)
{
	return min_t(u32, U16_MAX, DIV_ROUND_UP(bytes, LASACK_REFUND_UNIT));
}

/* By the paper's rules. Return: bytes to charge. */
static u32 lasack_flow_acked_paper(struct lasack_flow *flow, const struct tcp_segment *seg)
{
	u32 *last = &flow->last_ack[seg->reversed];
	s32 advance = seg->ack_seq - *last;
	u8 bit = BIT(seg->reversed);

	if (flow->ack_seen & bit && advance <= 0)
		return 0;
	*last = seg->ack_seq;
	if (flow->ack_seen & bit)
		return min_t(u32, advance, LASACK_MAX_ACKED);
	flow->ack_seen |= bit;
	return 0;
}

/* Of @advance bytes, what was paid and not given back when the position moved back over them. */
static u32 lasack_flow_prepaid(const struct lasack_flow *flow, u32 advance)
{
	return likely(!flow->returned) ? 0 : min(advance, flow->prepaid * LASACK_REFUND_UNIT);
}

/* The ACK moves the position ahead. Return: what is to be charged of these @advance bytes. */
static u32 lasack_flow_advance(struct lasack_flow *flow, u32 ack_seq, u32 advance)
{
	u32 prepaid = lasack_flow_prepaid(flow, advance);

	flow->last_ack[LASACK_POSITION] = ack_seq;
	if (likely(!flow->returned))
		return advance;
	flow->prepaid -= lasack_refund_units(prepaid);
	flow->returned -= min_t(u32, flow->returned, lasack_refund_units(advance));
	if (!flow->returned)
		flow->prepaid = 0;
	return advance - prepaid;
}

/*
 * The position moves back by @behind. What the flow was charged for that is given back, but for
 * what the ACKs cost, which were sent. That is paid: it is not charged when the position moves
 * ahead again.
 */
static bool lasack_flow_retreat(struct lasack_queue *q, struct lasack_flow *flow, u64 station,
				u32 ack_seq, u32 behind)
{
	u32 units = lasack_refund_units(behind), part = min_t(u32, flow->refundable, units);

	/*
	 * The real ACKs are ahead by so much then: they must be within the window. And a real one
	 * is behind all that waits: who steps back a little must not have the rest charged at once.
	 * What is given back had been charged, so it had come. Nothing else may be acknowledged
	 * anew.
	 */
	if (behind > LASACK_WINDOW || behind < flow->pending ||
	    behind + flow->returned * LASACK_REFUND_UNIT > LASACK_WINDOW ||
	    !lasack_flow_may_take_back(q, flow, part * LASACK_REFUND_UNIT))
		return false;
	lasack_flow_take_back(q, flow, part * LASACK_REFUND_UNIT);
	flow->refundable -= part;
	flow->returned = min_t(u32, U16_MAX, flow->returned + units);
	flow->prepaid = min_t(u32, U16_MAX, flow->prepaid + units - part);
	flow->last_ack[LASACK_POSITION] = ack_seq;
	if (q->observer)
		lasack_observer_return(q->observer, &flow->entry.key, station,
				       min(behind, part * LASACK_REFUND_UNIT));
	return true;
}

/* The position moves to the candidate, and the other way round. Nothing is charged. */
static void lasack_flow_move(struct lasack_queue *q, struct lasack_flow *flow,
			     const struct tcp_segment *seg)
{
	flow->last_ack[LASACK_CANDIDATE] = flow->last_ack[LASACK_POSITION];
	flow->last_ack[LASACK_POSITION] = seg->ack_seq;
	flow->doubt_reversed = flow->ack_reversed;
	flow->ack_reversed = seg->reversed;
	lasack_flow_settle_all(q, flow);
	flow->refundable = 0;
	flow->returned = 0;
	flow->prepaid = 0;
	q->resynchronised++;
	if (unlikely(q->aqm))
		lasack_aqm_give_up(q, flow);
}

/* The ACK @seg is strange. */
static void lasack_flow_doubt(struct lasack_queue *q, struct lasack_flow *flow,
			      const struct tcp_segment *seg)
{
	u32 advance = seg->ack_seq - flow->last_ack[LASACK_CANDIDATE];
	bool near = flow->ack_seen & BIT(LASACK_CANDIDATE) &&
		    seg->reversed == flow->doubt_reversed &&
		    (advance <= LASACK_WINDOW || -advance <= LASACK_OVERTAKEN);

	if (unlikely(flow->pending > LASACK_PENDING_MOST))
		return;
	if (near && !flow->votes) {
		lasack_flow_move(q, flow, seg);
		return;
	}
	flow->votes -= near;
	flow->last_ack[LASACK_CANDIDATE] = seg->ack_seq;
	flow->doubt_reversed = seg->reversed;
	flow->ack_seen |= BIT(LASACK_CANDIDATE);
}

/* So far ahead an ACK may move the position. */
static u32 lasack_flow_believed(const struct lasack_flow *flow)
{
	u32 most = flow->returned * LASACK_REFUND_UNIT + LASACK_ORDINARY;

	return max(most, unlikely(flow->pending > LASACK_PENDING_MOST) ?
			 lasack_flow_ordinary(flow) : LASACK_BELIEVED);
}

/*
 * Has the station sent what is to be charged if the position moves @advance bytes ahead? SYN and
 * FIN count as a byte each and have none. As much as each packet is charged does not matter.
 */
static bool lasack_flow_has_come(const struct lasack_queue *q, const struct lasack_flow *flow,
				 u64 station, u32 advance)
{
	u32 bytes = advance - lasack_flow_prepaid(flow, advance);

	return !q->observer || !bytes ||
	       lasack_observer_spend(q->observer, &flow->entry.key, station, bytes,
				     max(q->overhead, 2U));
}

/**
 * lasack_flow_acked() - what a packet acknowledges
 * @q: the queue
 * @flow: its flow
 * @seg: what the packet is
 * @station: where it goes; only needed with an observer
 *
 * In sequence arithmetic modulo 2^32 (RFC 9293, 3.4). The first ACK seen only says
 * where counting starts; duplicate and overtaken ACKs add nothing.
 *
 * Return: bytes that no ACK acknowledged before, if it is believed. They are not charged yet.
 */
u32 lasack_flow_acked(struct lasack_queue *q, struct lasack_flow *flow,
		      const struct tcp_segment *seg, u64 station)
{
	u32 advance, believed;

	if (!seg->ack)
		return 0;
	if (q->shape.paper)
		return lasack_flow_acked_paper(flow, seg);
	if (unlikely(!flow->ack_seen)) {
		flow->ack_seen = BIT(LASACK_POSITION);
		flow->ack_reversed = seg->reversed;
		flow->votes = 0;
		flow->last_ack[LASACK_POSITION] = seg->ack_seq;
		return 0;
	}
	if (unlikely(seg->reversed != flow->ack_reversed)) {
		lasack_flow_doubt(q, flow, seg);
		return 0;
	}
	advance = seg->ack_seq - flow->last_ack[LASACK_POSITION];
	believed = lasack_flow_believed(flow);
	if (likely(advance <= believed && lasack_flow_has_come(q, flow, station, advance))) {
		advance = lasack_flow_advance(flow, seg->ack_seq, advance);
	} else if (-advance <= LASACK_OVERTAKEN ||
		   lasack_flow_retreat(q, flow, station, seg->ack_seq, -advance)) {
		advance = 0;
	} else if (advance > believed && advance <= LASACK_WINDOW &&
		   flow->pending <= LASACK_PENDING_MOST &&
		   lasack_flow_has_come(q, flow, station, believed)) {
		return lasack_flow_advance(flow, flow->last_ack[LASACK_POSITION] + believed,
					   believed);
	} else {
		lasack_flow_doubt(q, flow, seg);
		return 0;
	}
	if (flow->votes < LASACK_VOTES)
		flow->votes++;
	return advance;
}
