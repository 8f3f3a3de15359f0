// SPDX-License-Identifier: GPL-2.0-only
/*
 * The connections that "weights auto" knows, and the bytes that their ACKs allow for.
 *
 * Principle: a download moves the data that arrives here to be sent. An upload moves the data
 * that its ACKs acknowledge for the first time. ackwrr_activity.c says when a connection
 * counts. It goes on counting while it goes on moving bytes or its ACKs wait here; a FIN or
 * RST ends it at once. What a new connection moves is free, up to an allowance.
 *
 * When an ACK is sent, the station may send as many bytes as the ACK newly acknowledges. If
 * the connection counts, these bytes are charged at once ("released"). Otherwise a queue full
 * of ACKs would be sent before the first of these bytes arrives. If more bytes arrive, because
 * a window grew, the rest is charged when it arrives. If fewer arrive within
 * ACKWRR_RELEASE_NS, the charge for the others is undone. So what is charged is what has
 * arrived plus what is on its way. What new connections move is charged when it arrives.
 *
 * An ACK number far from the last one is not believed. It becomes a candidate, and if the next
 * ACK is near the candidate, counting begins anew there. If it is further away than a window is,
 * several must be near each other. If that is behind the last number, what
 * was charged since is given back: the next real ACKs undo what forged ACKs did.
 *
 * Memory is bounded (common/flow_table.c). A connection with packets in our FIFOs keeps its
 * place, because these packets refer to it. A connection that counts keeps its place too. The
 * other places are for connections that may come to count.
 */
#include <linux/bits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/time64.h>
#include "ackwrr/ackwrr_flows.h"
#include "ackwrr/ackwrr_turn.h"

#define ACKWRR_RELEASE_NS	NSEC_PER_SEC

/* How far from the last ACK number one is believed at once, either way; bytes. */
#define ACKWRR_BELIEVED		(192U << 10)
/* One that is further, by a window after a loss, needs another that is near it; bytes. */
#define ACKWRR_WINDOW		(1024U << 10)
/* One that is still further needs so many more. */
#define ACKWRR_STRANGERS	7
/* No more bytes of a connection are taken to be on their way; more are charged on arrival. */
#define ACKWRR_RELEASED_MAX	ACKWRR_LAG_MAX
/* So much may be given back, bytes. */
#define ACKWRR_UNPROVEN_MAX	(1024U << 10)

/* The released bytes do not arrive any more: their charge is undone. */
static void ackwrr_flow_give_back(struct ackwrr_flow *flow, struct ackwrr_share *share,
				  u32 bytes)
{
	flow->released -= bytes;
	ackwrr_share_charge(share, ACKWRR_ACK, -(s64)bytes);
}

/* Undoes the part of the charge that is older than ACKWRR_RELEASE_NS. */
static void ackwrr_flow_release_ages(struct ackwrr_flow *flow, struct ackwrr_share *share,
				     u64 now)
{
	u64 age = min_t(u64, now - flow->released_at, ACKWRR_RELEASE_NS);

	if (!age)
		return;
	flow->released_at = now;
	if (flow->released)
		ackwrr_flow_give_back(flow, share,
				      div_u64(flow->released * age, ACKWRR_RELEASE_NS));
}

static void ackwrr_flow_stop(struct ackwrr_flows *flows, struct ackwrr_flow *flow,
			     int class, struct ackwrr_share *share, bool ended)
{
	if (class == ACKWRR_ACK && flow->released)
		ackwrr_flow_give_back(flow, share, flow->released);
	ackwrr_activity_stop(&flows->active[class], &flow->activity[class], ended);
}

/* It says that it ends: the first to be forgotten, unless it goes on. */
static void ackwrr_flow_end(struct ackwrr_flows *flows, struct ackwrr_flow *flow,
			    struct ackwrr_share *share)
{
	int class;

	for (class = 0; class < ACKWRR_CLASSES; class++)
		ackwrr_flow_stop(flows, flow, class, share, true);
	flow->entry.finished = 1;
}

/* Return: of @bytes, those that were not free. */
static u32 ackwrr_flow_charge(const struct ackwrr_flow *flow, struct ackwrr_share *share,
			      int class, u32 bytes)
{
	if (!bytes)
		return 0;
	if (!ackwrr_activity_counts(&flow->activity[class]))
		return ackwrr_share_charge_new(share, class, bytes);
	ackwrr_share_charge(share, class, bytes);
	return bytes;
}

/* Bytes moved one way. */
static void ackwrr_flow_moved(struct ackwrr_flows *flows, struct ackwrr_flow *flow,
			      const struct ackwrr_share *share, int class, u32 bytes)
{
	if (!bytes)
		return;
	flow->entry.finished = 0;
	ackwrr_activity_moved(&flows->active[class], &flow->activity[class],
			      share->clocks[class], bytes, flows->now);
}

/* Those that count and have been silent for too long. */
static void ackwrr_flows_expire(struct ackwrr_flows *flows, struct ackwrr_share *share,
				int class)
{
	struct ackwrr_active *active = &flows->active[class];
	struct ackwrr_activity *silent;
	struct ackwrr_flow *flow;

	while ((silent = ackwrr_active_silent(active, flows->now))) {
		flow = container_of(silent, struct ackwrr_flow, activity[class]);
		if (class == ACKWRR_ACK && flow->acks) {
			ackwrr_activity_refresh(active, silent, flows->now);
		} else {
			ackwrr_flow_stop(flows, flow, class, share, false);
			ackwrr_flow_settle(flows, flow);
		}
	}
}

/**
 * ackwrr_flows_advance() - time goes on
 * @flows: the connections
 * @share: the estimates, which follow what there is now
 * @now: ns; it need not be finer than milliseconds
 */
void ackwrr_flows_advance(struct ackwrr_flows *flows, struct ackwrr_share *share, u64 now)
{
	u32 counts[ACKWRR_CLASSES];
	int class;

	flows->now = now;
	for (class = 0; class < ACKWRR_CLASSES; class++) {
		ackwrr_flows_expire(flows, share, class);
		counts[class] = ackwrr_active_connections(&flows->active[class], now);
	}
	ackwrr_share_advance(share, counts, now);
}

/**
 * ackwrr_flows_find() - the connection of a packet
 * @flows: the connections
 * @seg: what the packet is
 *
 * Return: the connection, or NULL: it is not known.
 */
struct ackwrr_flow *ackwrr_flows_find(const struct ackwrr_flows *flows,
				      const struct tcp_segment *seg)
{
	struct flow_entry *entry;

	if (!segment_has_key(seg))
		return NULL;
	entry = flow_table_find(flows->table, &seg->key, flow_table_hash(flows->table, &seg->key));
	return entry ? container_of(entry, struct ackwrr_flow, entry) : NULL;
}

static struct ackwrr_flow *ackwrr_flows_add(struct ackwrr_flows *flows,
					    const struct segment_key *key, u32 hash)
{
	struct flow_entry *entry = flow_table_add(flows->table, key, hash,
						  flows->now >> FLOW_TIME_SHIFT);
	struct ackwrr_flow *flow;
	int class;

	if (!entry) {
		flows->overflow++;
		return NULL;
	}
	flow = container_of(entry, struct ackwrr_flow, entry);
	memset_after(flow, 0, entry);
	for (class = 0; class < ACKWRR_CLASSES; class++)
		INIT_LIST_HEAD(&flow->activity[class].node);
	return flow;
}

/* The connection of a packet, a new one if need be; or NULL: no place. */
static struct ackwrr_flow *ackwrr_flows_of(struct ackwrr_flows *flows,
					   const struct segment_key *key)
{
	u32 hash = flow_table_hash(flows->table, key);
	struct flow_entry *entry = flow_table_find(flows->table, key, hash);

	return entry ? container_of(entry, struct ackwrr_flow, entry) :
		       ackwrr_flows_add(flows, key, hash);
}

/* Do the unbelieved ACKs before say the same as this one, which is @advance bytes ahead? */
static bool ackwrr_flow_is_confirmed(struct ackwrr_flow *flow, const struct tcp_segment *seg,
				     s32 advance)
{
	if (!(flow->doubted & BIT(seg->reversed)) ||
	    seg->ack_seq - flow->candidate - 1 >= ACKWRR_BELIEVED) {
		flow->strangers = 0;
		return false;
	}
	return advance + ACKWRR_WINDOW <= 2 * ACKWRR_WINDOW ||
	       ++flow->strangers == ACKWRR_STRANGERS;
}

/* Counting begins anew at @seg. If that is behind, what was charged lately is too much. */
static void ackwrr_flow_resynchronise(struct ackwrr_flow *flow, struct ackwrr_share *share,
				      const struct tcp_segment *seg)
{
	s32 behind = flow->last_ack[seg->reversed] - seg->ack_seq;

	ackwrr_flow_give_back(flow, share, flow->released);
	if (behind > 0) {
		ackwrr_share_charge(share, ACKWRR_ACK, -(s64)min_t(u32, behind, flow->unproven));
		ackwrr_turn_refund(flow, behind);
	}
	flow->unproven = 0;
	flow->sent &= ~BIT(seg->reversed);
	flow->last_ack[seg->reversed] = seg->ack_seq;
	flow->doubted = 0;
}

/* Bytes that the segment acknowledges and none before it did; seg->ack: it is believed. */
static u32 ackwrr_flow_acked(struct ackwrr_flow *flow, struct ackwrr_share *share,
			     struct tcp_segment *seg)
{
	u8 dir = seg->reversed, bit = BIT(dir);
	s32 advance;

	if (!seg->ack)
		return 0;
	advance = seg->ack_seq - flow->last_ack[dir];
	if (!(flow->ack_seen & bit)) {
		flow->ack_seen |= bit;
		flow->last_ack[dir] = seg->ack_seq;
		return 0;
	}
	if (likely((u32)advance <= ACKWRR_BELIEVED)) {
		flow->last_ack[dir] = seg->ack_seq;
		flow->doubted &= ~bit;
		return advance;
	}
	if (advance < 0 && -(u32)advance <= ACKWRR_BELIEVED) {
		flow->doubted &= ~bit;
		return 0;
	}
	if (ackwrr_flow_is_confirmed(flow, seg, advance)) {
		ackwrr_flow_resynchronise(flow, share, seg);
		return clamp_t(s32, advance, 0, ACKWRR_BELIEVED);
	}
	flow->candidate = seg->ack_seq;
	flow->doubted = bit;
	seg->ack = 0;
	return 0;
}

/* What came acknowledged is charged, beyond what was when its ACK was sent. */
static void ackwrr_flow_charge_acked(struct ackwrr_flow *flow, struct ackwrr_share *share,
				     u32 acked)
{
	u32 expected = min(acked, flow->released);

	flow->released -= expected;
	acked = expected + ackwrr_flow_charge(flow, share, ACKWRR_ACK, acked - expected);
	/* What was free is not given back. */
	flow->unproven = min(flow->unproven + acked, ACKWRR_UNPROVEN_MAX);
}

/**
 * ackwrr_flows_arrive() - a packet comes to be queued
 * @flows: the connections; their time is now
 * @share: charged with what uploads move beyond what was released
 * @seg: what the packet is; its ACK is taken away if it is not believed
 *
 * Return: its connection, for ackwrr_flow_settle() when it is known whether the packet
 * waits; or NULL.
 */
struct ackwrr_flow *ackwrr_flows_arrive(struct ackwrr_flows *flows,
					struct ackwrr_share *share, struct tcp_segment *seg)
{
	struct ackwrr_flow *flow;
	u32 acked;

	if (!segment_has_key(seg) || seg->syn)
		return NULL;
	flow = ackwrr_flows_of(flows, &seg->key);
	if (!flow)
		return NULL;
	if (!flow->entry.busy)
		flow_table_wake(flows->table, &flow->entry);

	ackwrr_flow_release_ages(flow, share, flows->now);
	acked = ackwrr_flow_acked(flow, share, seg);
	if (acked) {
		ackwrr_flow_charge_acked(flow, share, acked);
		ackwrr_flow_moved(flows, flow, share, ACKWRR_ACK, acked);
	}
	ackwrr_flow_moved(flows, flow, share, ACKWRR_DATA, seg->payload);
	if (seg->fin || seg->rst)
		ackwrr_flow_end(flows, flow, share);
	return flow;
}

/*
 * An ACK is sent: the station may send as many bytes as it newly acknowledges.
 * Return: these bytes; of a connection that does not count, no more than an ordinary ACK has,
 * because anybody may say that a new connection moved much.
 */
static u32 ackwrr_flow_release(struct ackwrr_flows *flows, struct ackwrr_share *share,
			       struct ackwrr_flow *flow, const struct ackwrr_moved *moved)
{
	u8 dir = moved->reversed;
	bool sent = flow->sent & BIT(dir);
	s32 advance = (s32)(moved->ack_seq - flow->last_sent[dir]);
	u32 more;

	ackwrr_flow_release_ages(flow, share, flows->now);
	if (sent && advance <= 0)
		return 0;
	flow->last_sent[dir] = moved->ack_seq;
	flow->sent |= BIT(dir);
	if (!sent)
		return 0;
	ackwrr_turn_charge(flow, advance);
	if (ackwrr_activity_counts(&flow->activity[ACKWRR_ACK])) {
		ackwrr_activity_refresh(&flows->active[ACKWRR_ACK],
					&flow->activity[ACKWRR_ACK], flows->now);
		more = min_t(u32, advance, ACKWRR_RELEASED_MAX - flow->released);
		flow->released += more;
		ackwrr_share_charge(share, ACKWRR_ACK, more);
		return advance;
	}
	return min_t(u32, advance, ACKWRR_TURN_LEAST);
}

/**
 * ackwrr_flows_sent() - a packet was taken to be sent
 * @flows: the connections
 * @share: charged with its payload, and with what it releases
 * @flow: its connection, or NULL
 * @moved: what it moves
 *
 * Return: the bytes that its ACK newly acknowledges, as far as they are believed.
 */
u32 ackwrr_flows_sent(struct ackwrr_flows *flows, struct ackwrr_share *share,
		      struct ackwrr_flow *flow, const struct ackwrr_moved *moved)
{
	if (!flow) {
		if (moved->payload)
			ackwrr_share_charge(share, ACKWRR_DATA, moved->payload);
		return 0;
	}
	if (moved->payload) {
		ackwrr_flow_charge(flow, share, ACKWRR_DATA, moved->payload);
		ackwrr_activity_refresh(&flows->active[ACKWRR_DATA],
					&flow->activity[ACKWRR_DATA], flows->now);
	}
	return moved->ack ? ackwrr_flow_release(flows, share, flow, moved) : 0;
}

/* Forgets all connections. No packet in our FIFOs may belong to one. */
void ackwrr_flows_clear(struct ackwrr_flows *flows)
{
	struct ackwrr_flow *flow;
	u32 i;

	for (i = 0; i < flows->table->size; i++) {
		flow = ackwrr_flow_at(flows, i);
		if (flow->entry.in_use && flow->entry.busy)
			flow_table_idle(flows->table, &flow->entry, 0);
	}
	flow_table_clear(flows->table);
	flows->turns = (struct flow_line) {};
	for (i = 0; i < ACKWRR_CLASSES; i++)
		ackwrr_active_clear(&flows->active[i]);
}

void ackwrr_flows_free(struct ackwrr_flows *flows)
{
	flow_table_free(flows->table);
	flows->table = NULL;
}

/* Return: 0, to be given to ackwrr_flows_free(), or -ENOMEM. */
int ackwrr_flows_init(struct ackwrr_flows *flows)
{
	flows->table = flow_table_create(ACKWRR_FLOWS, 0, ACKWRR_FLOW_BITS);
	if (!flows->table)
		return -ENOMEM;
	ackwrr_flows_clear(flows);
	return 0;
}
