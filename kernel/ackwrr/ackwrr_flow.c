// SPDX-License-Identifier: GPL-2.0-only
/*
 * When a connection that "weights auto" knows keeps its place in the table.
 */
#include "ackwrr/ackwrr_flow.h"

static bool ackwrr_flow_counts(const struct ackwrr_flow *flow)
{
	return ackwrr_activity_counts(&flow->activity[ACKWRR_DATA]) ||
	       ackwrr_activity_counts(&flow->activity[ACKWRR_ACK]);
}

/**
 * ackwrr_flow_settle() - a connection keeps its place, or may be forgotten
 * @flows: the connections
 * @flow: one of them, after a packet of it has come or gone
 */
void ackwrr_flow_settle(struct ackwrr_flows *flows, struct ackwrr_flow *flow)
{
	bool busy = flow->waiting || flow->in_turns || ackwrr_flow_counts(flow);

	if (busy == flow->entry.busy)
		return;
	if (busy)
		flow_table_wake(flows->table, &flow->entry);
	else
		flow_table_idle(flows->table, &flow->entry, flows->now >> FLOW_TIME_SHIFT);
}

/* A packet of the connection has left our FIFO, sent or not. */
void ackwrr_flow_left(struct ackwrr_flows *flows, struct ackwrr_flow *flow)
{
	if (!--flow->waiting)
		ackwrr_flow_settle(flows, flow);
}
