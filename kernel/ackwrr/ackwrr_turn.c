// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whose ACK goes next, with "weights auto" and our FIFO of ACKs.
 *
 * Principle: connections whose ACKs wait take turns, as in deficit round robin (M. Shreedhar,
 * G. Varghese, "Efficient Fair Queuing using Deficit Round-Robin", 1996). What counts is not
 * the length of an ACK but the bytes that it allows its sender to send. Nothing of an upload is
 * lost, so its sender's window grows. If ACKs went in the order they came, the upload with the
 * largest window would have the largest share of the class, and a new upload would wait behind
 * the windows of all others.
 *
 * A debt is bounded, so that a few large ACKs do not shut out a connection for long, and that
 * going round the line ends soon: each round pays ACKWRR_QUANTUM of every debt.
 */
#include <linux/minmax.h>
#include "ackwrr/ackwrr_turn.h"

/* Bytes of a turn: about as many as a new connection's first window (RFC 6928). */
#define ACKWRR_QUANTUM		(16 << 10)
/* No connection owes more bytes. */
#define ACKWRR_DEBT_MAX		(256 << 10)

static void ackwrr_turn_append(struct ackwrr_flows *flows, struct ackwrr_flow *flow)
{
	u32 number = flow_table_number(flows->table, &flow->entry) + 1;

	flow->next_turn = 0;
	if (flows->turns.first)
		ackwrr_flow_at(flows, flows->turns.last - 1)->next_turn = number;
	else
		flows->turns.first = number;
	flows->turns.last = number;
}

/* The connection has an ACK that waits. It is served in its first turn, unless it has a debt. */
void ackwrr_turn_join(struct ackwrr_flows *flows, struct ackwrr_flow *flow)
{
	if (flow->in_turns)
		return;
	flow->in_turns = 1;
	if (flow->credit <= 0)
		flow->credit += ACKWRR_QUANTUM;
	ackwrr_turn_append(flows, flow);
}

/**
 * ackwrr_turn_next() - whose oldest ACK goes next
 * @flows: the connections
 *
 * Return: a connection with ACKs that wait, or NULL: there is none.
 */
struct ackwrr_flow *ackwrr_turn_next(struct ackwrr_flows *flows)
{
	struct ackwrr_flow *flow;

	while (flows->turns.first) {
		flow = ackwrr_flow_at(flows, flows->turns.first - 1);
		if (flow->acks && flow->credit > 0)
			return flow;
		flows->turns.first = flow->next_turn;
		if (flow->acks) {
			flow->credit += ACKWRR_QUANTUM;
			ackwrr_turn_append(flows, flow);
		} else {
			flow->in_turns = 0;
			ackwrr_flow_settle(flows, flow);
		}
	}
	return NULL;
}

/* An ACK of the connection goes. */
void ackwrr_turn_taken(struct ackwrr_flow *flow)
{
	flow->credit -= ACKWRR_TURN_LEAST;
}

/* That ACK allows its sender to send @bytes. */
void ackwrr_turn_charge(struct ackwrr_flow *flow, u32 bytes)
{
	s32 more = clamp_t(u32, bytes, ACKWRR_TURN_LEAST, ACKWRR_DEBT_MAX) - ACKWRR_TURN_LEAST;

	flow->credit = max(flow->credit - more, -ACKWRR_DEBT_MAX);
}

/* It was charged with @bytes that nobody was allowed to send. */
void ackwrr_turn_refund(struct ackwrr_flow *flow, u32 bytes)
{
	if (flow->credit < 0)
		flow->credit += min_t(u32, bytes, -flow->credit);
}
