/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which connections are active, and what their ACKs make room for.
 *
 * Principle: a connection counts once it has moved ACKWRR_ACTIVE_BYTES within
 * ACKWRR_WINDOW_NS, down as data that comes to be sent, up as data newly
 * acknowledged, and for as long as it goes on or its packets wait here;
 * handshakes, scans, keep-alives and requests never do. FIN or RST ends it at
 * once. Memory is bounded: the table is LAS-ACK's; a connection that does not
 * count stands in the line of those reused first, so a flood of such costs none
 * that counts.
 *
 * An ACK that is sent makes room for as many bytes as it newly acknowledges.
 * They are charged at once ("released"), so that a queue full of ACKs does not
 * go before the first of its bytes comes; what comes beyond them, because a
 * window grew, is charged when it comes; what does not come is given back in
 * ACKWRR_RELEASE_NS. So the charges are what has come plus what is on its way.
 */
#ifndef LASACK_ACKWRR_FLOWS_H
#define LASACK_ACKWRR_FLOWS_H

#include <linux/list.h>
#include <linux/mm.h>
#include "ackwrr_share.h"
#include "lasack_table.h"

#define ACKWRR_FLOWS		1024
#define ACKWRR_WINDOW_NS	(1200 * NSEC_PER_MSEC)
#define ACKWRR_ACTIVE_BYTES	3000
#define ACKWRR_RELEASE_NS	NSEC_PER_SEC

/* In one direction. */
struct ackwrr_activity {
	struct list_head	node;	/* among the active of its class, the latest last */
	u64			since;	/* ns: when counting of bytes began */
	u64			seen;	/* ns: when it last had enough of them */
	u32			bytes;
};

struct ackwrr_flow {
	struct ackwrr_activity	activity[ACKWRR_CLASSES];
	u64			released_at;	/* ns: of what follows */
	u32			released;	/* bytes on their way */
	u32			last_sent;	/* the last ACK number sent */
	bool			sent;		/* last_sent is valid */
	u32			queued;		/* pure ACKs in the FIFO of class ACK */
};

struct ackwrr_flows {
	struct lasack_table	*table;
	struct ackwrr_flow	*flows;		/* by place in the table */
	struct list_head	active[ACKWRR_CLASSES];
	u32			counts[ACKWRR_CLASSES];
	u64			overflow;	/* packets of connections there was no place for */
};

static inline struct ackwrr_flow *ackwrr_flow_of(struct ackwrr_flows *flows,
						 const struct lasack_flow *flow)
{
	return &flows->flows[flow - flows->table->places];
}

/* An active connection is so from @now on again. */
static inline void ackwrr_flow_refresh(struct ackwrr_flows *flows,
				       struct ackwrr_activity *activity, int class, u64 now)
{
	if (list_empty(&activity->node))
		return;
	list_move_tail(&activity->node, &flows->active[class]);
	activity->seen = now;
}

static inline void ackwrr_flow_stop(struct ackwrr_flows *flows,
				    struct ackwrr_flow *flow, int class)
{
	if (list_empty(&flow->activity[class].node))
		return;
	list_del_init(&flow->activity[class].node);
	flows->counts[class]--;
}

/* What was released is no longer waited for. */
static inline void ackwrr_flow_give_back(struct ackwrr_flow *flow,
					 struct ackwrr_share *share, u32 bytes)
{
	flow->released -= bytes;
	ackwrr_share_charge(share, ACKWRR_ACK, -(s64)bytes);
}

/* The share of it that ACKWRR_RELEASE_NS has run out for. */
static inline void ackwrr_flow_release_ages(struct ackwrr_flow *flow,
					    struct ackwrr_share *share, u64 now)
{
	u64 age = min_t(u64, now - flow->released_at, ACKWRR_RELEASE_NS);

	flow->released_at = now;
	ackwrr_flow_give_back(flow, share,
			      div_u64(flow->released * age, ACKWRR_RELEASE_NS));
}

static inline void ackwrr_flow_end(struct ackwrr_flows *flows, struct ackwrr_flow *flow,
				   struct ackwrr_share *share)
{
	int class;

	for (class = 0; class < ACKWRR_CLASSES; class++)
		ackwrr_flow_stop(flows, flow, class);
	ackwrr_flow_give_back(flow, share, flow->released);
}

/* Bytes moved one way. */
static inline void ackwrr_flow_moved(struct ackwrr_flows *flows, struct ackwrr_flow *flow,
				     int class, u32 bytes, u64 now)
{
	struct ackwrr_activity *activity = &flow->activity[class];

	if (!bytes)
		return;
	if (now - activity->since > ACKWRR_WINDOW_NS) {
		activity->since = now;
		activity->bytes = 0;
	}
	activity->bytes += bytes;
	if (activity->bytes < ACKWRR_ACTIVE_BYTES)
		return;
	flows->counts[class] += list_empty(&activity->node);
	list_move_tail(&activity->node, &flows->active[class]);
	activity->seen = now;
	activity->since = now;
	activity->bytes = 0;
}

/* Two of each class at most, for each packet: no packet makes more than one active. */
static inline void ackwrr_flows_expire(struct ackwrr_flows *flows,
				       struct ackwrr_share *share, u64 now)
{
	struct ackwrr_activity *first;
	struct ackwrr_flow *flow;
	int class;

	for (class = 0; class < ACKWRR_CLASSES; class++) {
		first = list_first_entry_or_null(&flows->active[class],
						 struct ackwrr_activity, node);
		if (!first || now - first->seen <= ACKWRR_WINDOW_NS)
			continue;
		flow = container_of(first, struct ackwrr_flow, activity[class]);
		if (class == ACKWRR_ACK && flow->queued)
			ackwrr_flow_refresh(flows, first, class, now);
		else
			ackwrr_flow_stop(flows, flow, class);
	}
}

/* In the line of those that count, or of those to be reused first. */
static inline void ackwrr_flows_touch(struct ackwrr_flows *flows, struct lasack_flow *flow,
				      u64 now)
{
	struct ackwrr_flow *more = ackwrr_flow_of(flows, flow);

	lasack_table_wake(flows->table, flow);
	flow->finished = list_empty(&more->activity[ACKWRR_DATA].node) &&
			 list_empty(&more->activity[ACKWRR_ACK].node);
	lasack_table_idle(flows->table, flow, now);
}

/* The next to be evicted, if a new flow needs a place. */
static inline void ackwrr_flows_make_room(struct ackwrr_flows *flows,
					  struct ackwrr_share *share)
{
	struct lasack_flow *victim;

	if (!list_empty(&flows->table->unused))
		return;
	victim = lasack_first_idle(&flows->table->ended) ?:
		 lasack_first_idle(&flows->table->idle);
	if (victim)
		ackwrr_flow_end(flows, ackwrr_flow_of(flows, victim), share);
}

static inline struct lasack_flow *ackwrr_flows_add(struct ackwrr_flows *flows,
						   struct ackwrr_share *share,
						   const struct segment_key *key, u64 now)
{
	struct lasack_flow *flow;
	struct ackwrr_flow *more;
	int class;

	ackwrr_flows_make_room(flows, share);
	flow = lasack_table_add(flows->table, key, now);
	if (!flow) {
		flows->overflow++;
		return NULL;
	}
	more = ackwrr_flow_of(flows, flow);
	memset(more, 0, sizeof(*more));
	for (class = 0; class < ACKWRR_CLASSES; class++)
		INIT_LIST_HEAD(&more->activity[class].node);
	return flow;
}

/**
 * ackwrr_flows_arrive() - a packet comes to be queued
 * @flows: the connections
 * @share: charged with what uploads move beyond what was released
 * @seg: what the packet is
 * @now: ns
 *
 * Return: its connection, or NULL.
 */
static inline struct ackwrr_flow *ackwrr_flows_arrive(struct ackwrr_flows *flows,
						      struct ackwrr_share *share,
						      const struct tcp_segment *seg, u64 now)
{
	struct lasack_flow *flow;
	struct ackwrr_flow *more;
	u32 acked, expected;

	ackwrr_flows_expire(flows, share, now);
	if (!segment_has_key(seg) || seg->syn)
		return NULL;
	flow = lasack_table_find(flows->table, &seg->key) ?:
	       ackwrr_flows_add(flows, share, &seg->key, now);
	if (!flow)
		return NULL;

	more = ackwrr_flow_of(flows, flow);
	ackwrr_flow_release_ages(more, share, now);
	acked = lasack_newly_acked(flow, seg);
	if (seg->ack && (acked || !(flow->ack_seen & BIT(seg->reversed)))) {
		flow->last_ack[seg->reversed] = seg->ack_seq;
		flow->ack_seen |= BIT(seg->reversed);
	}
	expected = min(acked, more->released);
	more->released -= expected;
	ackwrr_share_charge(share, ACKWRR_ACK, acked - expected);

	ackwrr_flow_moved(flows, more, ACKWRR_ACK, acked, now);
	ackwrr_flow_moved(flows, more, ACKWRR_DATA, seg->payload, now);
	if (seg->fin || seg->rst)
		ackwrr_flow_end(flows, more, share);
	ackwrr_flows_touch(flows, flow, now);
	return more;
}

/**
 * ackwrr_flows_sent() - a packet was taken to be sent
 * @flows: the connections
 * @share: charged with its payload, and with what it releases
 * @seg: what the packet is
 * @now: ns
 */
static inline void ackwrr_flows_sent(struct ackwrr_flows *flows, struct ackwrr_share *share,
				     const struct tcp_segment *seg, u64 now)
{
	struct lasack_flow *flow;
	struct ackwrr_flow *more;
	s32 advance;

	ackwrr_share_charge(share, ACKWRR_DATA, seg->payload);
	if (!segment_has_key(seg) || seg->syn)
		return;
	flow = lasack_table_find(flows->table, &seg->key);
	if (!flow)
		return;
	more = ackwrr_flow_of(flows, flow);
	if (seg->payload)
		ackwrr_flow_refresh(flows, &more->activity[ACKWRR_DATA], ACKWRR_DATA, now);
	if (!seg->ack)
		return;
	if (seg->pure_ack && more->queued)
		more->queued--;
	ackwrr_flow_release_ages(more, share, now);
	advance = (s32)(seg->ack_seq - more->last_sent);
	if (more->sent && advance <= 0)
		return;
	more->last_sent = seg->ack_seq;
	if (more->sent) {
		ackwrr_flow_refresh(flows, &more->activity[ACKWRR_ACK], ACKWRR_ACK, now);
		advance = min_t(u32, advance, LASACK_MAX_ACKED);
		more->released = min_t(u64, (u64)more->released + advance, LASACK_MAX_ACKED);
		ackwrr_share_charge(share, ACKWRR_ACK, advance);
	}
	more->sent = true;
}

/* The FIFO of class ACK is empty. */
static inline void ackwrr_flows_none_queued(struct ackwrr_flows *flows)
{
	u32 i;

	for (i = 0; i < flows->table->size; i++)
		flows->flows[i].queued = 0;
}

static inline void ackwrr_flows_clear(struct ackwrr_flows *flows)
{
	int class;

	lasack_table_clear(flows->table);
	for (class = 0; class < ACKWRR_CLASSES; class++) {
		INIT_LIST_HEAD(&flows->active[class]);
		flows->counts[class] = 0;
	}
}

static inline void ackwrr_flows_free(struct ackwrr_flows *flows)
{
	lasack_table_free(flows->table);
	kvfree(flows->flows);
}

/* Return: 0 or -ENOMEM; either way to be given to ackwrr_flows_free(). */
static inline int ackwrr_flows_init(struct ackwrr_flows *flows)
{
	flows->table = lasack_table_create(ACKWRR_FLOWS);
	flows->flows = kvcalloc(ACKWRR_FLOWS, sizeof(*flows->flows), GFP_KERNEL);
	if (!flows->table || !flows->flows)
		return -ENOMEM;
	ackwrr_flows_clear(flows);
	return 0;
}

#endif
