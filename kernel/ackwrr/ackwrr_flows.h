/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose packets come and go, and what their ACKs make room for.
 *
 * Principle: bytes that move down are data that comes to be sent, up data newly
 * acknowledged. A connection counts as ackwrr_activity.h says, and for as long
 * as it goes on or its ACKs wait here; FIN or RST ends it at once. What a new
 * one moves costs its class nothing up to an allowance. Memory is bounded: the
 * table is LAS-ACK's; a connection that does not count stands in the line of
 * those reused first, so a flood of such costs none that counts.
 *
 * An ACK that is sent makes room for as many bytes as it newly acknowledges.
 * If its connection counts, they are charged at once ("released"), so that a
 * queue full of ACKs does not go before the first of its bytes comes; what comes
 * beyond them, because a window grew, is charged when it comes; what does not
 * come is given back in ACKWRR_RELEASE_NS. So the charges are what has come plus
 * what is on its way. What new ones move is charged when it comes.
 */
#ifndef LASACK_ACKWRR_FLOWS_H
#define LASACK_ACKWRR_FLOWS_H

#include <linux/mm.h>
#include "ackwrr/ackwrr_activity.h"
#include "ackwrr/ackwrr_share.h"
#include "ackwrr/lasack_table.h"

#define ACKWRR_FLOWS		1024
#define ACKWRR_RELEASE_NS	NSEC_PER_SEC

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
	struct ackwrr_active	active[ACKWRR_CLASSES];
	u64			overflow;	/* packets of connections there was no place for */
};

static inline struct ackwrr_flow *ackwrr_flow_of(struct ackwrr_flows *flows,
						 const struct lasack_flow *flow)
{
	return &flows->flows[flow - flows->table->places];
}

static inline bool ackwrr_flow_counts(const struct ackwrr_flow *flow, int class)
{
	return ackwrr_activity_counts(&flow->activity[class]);
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

static inline void ackwrr_flow_stop(struct ackwrr_flows *flows, struct ackwrr_flow *flow,
				    int class, struct ackwrr_share *share)
{
	if (class == ACKWRR_ACK)
		ackwrr_flow_give_back(flow, share, flow->released);
	ackwrr_activity_stop(&flows->active[class], &flow->activity[class]);
}

static inline void ackwrr_flow_end(struct ackwrr_flows *flows, struct ackwrr_flow *flow,
				   struct ackwrr_share *share)
{
	int class;

	for (class = 0; class < ACKWRR_CLASSES; class++)
		ackwrr_flow_stop(flows, flow, class, share);
}

static inline void ackwrr_flow_charge(const struct ackwrr_flow *flow,
				      struct ackwrr_share *share, int class, u32 bytes)
{
	if (ackwrr_flow_counts(flow, class))
		ackwrr_share_charge(share, class, bytes);
	else
		ackwrr_share_charge_new(share, class, bytes);
}

/* Bytes moved one way. */
static inline void ackwrr_flow_moved(struct ackwrr_flows *flows, struct ackwrr_flow *flow,
				     const struct ackwrr_share *share, int class,
				     u32 bytes, u64 now)
{
	ackwrr_activity_moved(&flows->active[class], &flow->activity[class],
			      share->clocks[class], bytes, now);
}

/* The estimates follow what there is now. */
static inline void ackwrr_flows_advance(const struct ackwrr_flows *flows,
					struct ackwrr_share *share, u64 now)
{
	u32 counts[ACKWRR_CLASSES];
	int class;

	for (class = 0; class < ACKWRR_CLASSES; class++)
		counts[class] = ackwrr_active_connections(&flows->active[class], now);
	ackwrr_share_advance(share, counts, now);
}

/* One of each class at most, for each packet: no packet makes more than one active. */
static inline void ackwrr_flows_expire(struct ackwrr_flows *flows,
				       struct ackwrr_share *share, u64 now)
{
	struct ackwrr_activity *silent;
	struct ackwrr_flow *flow;
	int class;

	for (class = 0; class < ACKWRR_CLASSES; class++) {
		silent = ackwrr_active_silent(&flows->active[class], now);
		if (!silent)
			continue;
		flow = container_of(silent, struct ackwrr_flow, activity[class]);
		if (class == ACKWRR_ACK && flow->queued)
			ackwrr_activity_refresh(&flows->active[class], silent, now);
		else
			ackwrr_flow_stop(flows, flow, class, share);
	}
}

/* In the line of those that count, or of those to be reused first. */
static inline void ackwrr_flows_touch(struct ackwrr_flows *flows, struct lasack_flow *flow,
				      u64 now)
{
	struct ackwrr_flow *more = ackwrr_flow_of(flows, flow);

	lasack_table_wake(flows->table, flow);
	flow->finished = !ackwrr_flow_counts(more, ACKWRR_DATA) &&
			 !ackwrr_flow_counts(more, ACKWRR_ACK);
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
	ackwrr_flow_charge(more, share, ACKWRR_ACK, acked - expected);

	ackwrr_flow_moved(flows, more, share, ACKWRR_ACK, acked, now);
	ackwrr_flow_moved(flows, more, share, ACKWRR_DATA, seg->payload, now);
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

	flow = segment_has_key(seg) && !seg->syn ?
	       lasack_table_find(flows->table, &seg->key) : NULL;
	if (!flow) {
		ackwrr_share_charge(share, ACKWRR_DATA, seg->payload);
		return;
	}
	more = ackwrr_flow_of(flows, flow);
	ackwrr_flow_charge(more, share, ACKWRR_DATA, seg->payload);
	if (seg->payload)
		ackwrr_activity_refresh(&flows->active[ACKWRR_DATA],
					&more->activity[ACKWRR_DATA], now);
	if (!seg->ack)
		return;
	if (seg->pure_ack && more->queued)
		more->queued--;
	ackwrr_flow_release_ages(more, share, now);
	advance = (s32)(seg->ack_seq - more->last_sent);
	if (more->sent && advance <= 0)
		return;
	more->last_sent = seg->ack_seq;
	if (more->sent && ackwrr_flow_counts(more, ACKWRR_ACK)) {
		ackwrr_activity_refresh(&flows->active[ACKWRR_ACK],
					&more->activity[ACKWRR_ACK], now);
		advance = min_t(u32, advance, LASACK_MAX_ACKED - more->released);
		more->released += advance;
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
	for (class = 0; class < ACKWRR_CLASSES; class++)
		ackwrr_active_clear(&flows->active[class]);
}

static inline void ackwrr_flows_free(struct ackwrr_flows *flows)
{
	lasack_table_free(flows->table);
	kvfree(flows->flows);
	flows->table = NULL;
	flows->flows = NULL;
}

/* Return: 0, to be given to ackwrr_flows_free(), or -ENOMEM. */
static inline int ackwrr_flows_init(struct ackwrr_flows *flows)
{
	flows->table = lasack_table_create(ACKWRR_FLOWS);
	flows->flows = kvcalloc(ACKWRR_FLOWS, sizeof(*flows->flows), GFP_KERNEL);
	if (!flows->table || !flows->flows) {
		/* Whoever has a table has all of it. */
		ackwrr_flows_free(flows);
		return -ENOMEM;
	}
	ackwrr_flows_clear(flows);
	return 0;
}

#endif
