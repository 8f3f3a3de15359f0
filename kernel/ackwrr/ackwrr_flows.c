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
 * Memory is bounded: every place is allocated at once. A new connection takes an unused place,
 * else the place of the connection that does not count and was silent longest, else the place
 * of one that counts. A connection with packets in our FIFOs keeps its place, because these
 * packets refer to it. The hash is keyed, and the whole key is compared.
 */
#include <linux/bits.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/string.h>
#include <linux/time64.h>
#include "ackwrr/ackwrr_flows.h"

#define ACKWRR_RELEASE_NS	NSEC_PER_SEC
#define ACKWRR_BUCKETS		(2 * ACKWRR_FLOWS)

/*
 * No honest ACK acknowledges more at once than the largest window that TCP can
 * offer (RFC 7323, 2.3: 65535 << 14 bytes).
 */
#define ACKWRR_MAX_ACKED	(65535U << 14)

static bool ackwrr_flow_counts(const struct ackwrr_flow *flow)
{
	return ackwrr_activity_counts(&flow->activity[ACKWRR_DATA]) ||
	       ackwrr_activity_counts(&flow->activity[ACKWRR_ACK]);
}

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

	flow->released_at = now;
	if (flow->released)
		ackwrr_flow_give_back(flow, share,
				      div_u64(flow->released * age, ACKWRR_RELEASE_NS));
}

static void ackwrr_flow_stop(struct ackwrr_flows *flows, struct ackwrr_flow *flow,
			     int class, struct ackwrr_share *share)
{
	if (class == ACKWRR_ACK && flow->released)
		ackwrr_flow_give_back(flow, share, flow->released);
	ackwrr_activity_stop(&flows->active[class], &flow->activity[class]);
}

static void ackwrr_flow_end(struct ackwrr_flows *flows, struct ackwrr_flow *flow,
			    struct ackwrr_share *share)
{
	int class;

	for (class = 0; class < ACKWRR_CLASSES; class++)
		ackwrr_flow_stop(flows, flow, class, share);
}

static void ackwrr_flow_charge(const struct ackwrr_flow *flow, struct ackwrr_share *share,
			       int class, u32 bytes)
{
	if (!bytes)
		return;
	if (ackwrr_activity_counts(&flow->activity[class]))
		ackwrr_share_charge(share, class, bytes);
	else
		ackwrr_share_charge_new(share, class, bytes);
}

/* Bytes moved one way. */
static void ackwrr_flow_moved(struct ackwrr_flows *flows, struct ackwrr_flow *flow,
			      const struct ackwrr_share *share, int class, u32 bytes, u64 now)
{
	ackwrr_activity_moved(&flows->active[class], &flow->activity[class],
			      share->clocks[class], bytes, now);
}

/**
 * ackwrr_flows_advance() - the estimates follow what there is now
 * @flows: the connections
 * @share: the estimates
 * @now: ns
 */
void ackwrr_flows_advance(struct ackwrr_flows *flows, struct ackwrr_share *share, u64 now)
{
	u32 counts[ACKWRR_CLASSES];
	int class;

	if (now < share->next_step)
		return;
	for (class = 0; class < ACKWRR_CLASSES; class++)
		counts[class] = ackwrr_active_connections(&flows->active[class], now);
	ackwrr_share_advance(share, counts, now);
}

/* At most one connection of each class per packet, because no packet makes more than one active. */
static void ackwrr_flows_expire(struct ackwrr_flows *flows, struct ackwrr_share *share,
				u64 now)
{
	struct ackwrr_activity *silent;
	struct ackwrr_flow *flow;
	int class;

	for (class = 0; class < ACKWRR_CLASSES; class++) {
		silent = ackwrr_active_silent(&flows->active[class], now);
		if (!silent)
			continue;
		flow = container_of(silent, struct ackwrr_flow, activity[class]);
		if (class == ACKWRR_ACK && flow->acks)
			ackwrr_activity_refresh(&flows->active[class], silent, now);
		else
			ackwrr_flow_stop(flows, flow, class, share);
	}
}

static struct hlist_head *ackwrr_bucket(struct ackwrr_flows *flows,
					const struct segment_key *key)
{
	return &flows->buckets[siphash(key, sizeof(*key), &flows->hash_key) &
			       (ACKWRR_BUCKETS - 1)];
}

static struct ackwrr_flow *ackwrr_lookup(const struct hlist_head *bucket,
					 const struct segment_key *key)
{
	struct ackwrr_flow *flow;

	hlist_for_each_entry(flow, bucket, hash_node) {
		if (segment_key_equal(&flow->key, key))
			return flow;
	}
	return NULL;
}

/**
 * ackwrr_flows_find() - the connection of a packet
 * @flows: the connections
 * @seg: what the packet is
 *
 * Return: the connection, or NULL: it is not known.
 */
struct ackwrr_flow *ackwrr_flows_find(struct ackwrr_flows *flows,
				      const struct tcp_segment *seg)
{
	if (!segment_has_key(seg))
		return NULL;
	return ackwrr_lookup(ackwrr_bucket(flows, &seg->key), &seg->key);
}

/* An unused place. If there is none, the place of a connection without packets; or NULL. */
static struct ackwrr_flow *ackwrr_flows_place(struct ackwrr_flows *flows,
					      struct ackwrr_share *share)
{
	struct list_head *line = !list_empty(&flows->unused) ? &flows->unused :
				 !list_empty(&flows->uncounted) ? &flows->uncounted :
				 &flows->counted;
	struct ackwrr_flow *flow;

	flow = list_first_entry_or_null(line, struct ackwrr_flow, line);
	if (!flow || line == &flows->unused)
		return flow;
	ackwrr_flow_end(flows, flow, share);
	hlist_del(&flow->hash_node);
	flows->known--;
	flows->evicted++;
	return flow;
}

static struct ackwrr_flow *ackwrr_flows_add(struct ackwrr_flows *flows,
					    struct ackwrr_share *share,
					    struct hlist_head *bucket,
					    const struct segment_key *key)
{
	struct ackwrr_flow *flow = ackwrr_flows_place(flows, share);
	int class;

	if (!flow) {
		flows->overflow++;
		return NULL;
	}
	list_del(&flow->line);
	memset(flow, 0, sizeof(*flow));
	INIT_LIST_HEAD(&flow->line);
	for (class = 0; class < ACKWRR_CLASSES; class++)
		INIT_LIST_HEAD(&flow->activity[class].node);
	flow->key = *key;
	hlist_add_head(&flow->hash_node, bucket);
	flows->known++;
	return flow;
}

/* Without packets: last in the line of those that count, or of those reused first. */
static void ackwrr_flow_line_up(struct ackwrr_flows *flows, struct ackwrr_flow *flow)
{
	list_move_tail(&flow->line,
		       ackwrr_flow_counts(flow) ? &flows->counted : &flows->uncounted);
}

/* A packet of the connection waits in one of our FIFOs: its place stays its own. */
void ackwrr_flow_waits(struct ackwrr_flow *flow)
{
	if (!flow->waiting++)
		list_del_init(&flow->line);
}

/* A packet of the connection has left our FIFO, sent or not. */
void ackwrr_flow_left(struct ackwrr_flows *flows, struct ackwrr_flow *flow)
{
	if (!--flow->waiting)
		ackwrr_flow_line_up(flows, flow);
}

/* Bytes that the segment is the first to acknowledge. */
static u32 ackwrr_flow_acked(struct ackwrr_flow *flow, const struct tcp_segment *seg)
{
	u8 seen = BIT(seg->reversed);
	s32 advance;

	if (!seg->ack)
		return 0;
	advance = (s32)(seg->ack_seq - flow->last_ack[seg->reversed]);
	if ((flow->ack_seen & seen) && advance <= 0)
		return 0;
	flow->last_ack[seg->reversed] = seg->ack_seq;
	if (flow->ack_seen & seen)
		return min_t(u32, advance, ACKWRR_MAX_ACKED);
	flow->ack_seen |= seen;
	return 0;
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
struct ackwrr_flow *ackwrr_flows_arrive(struct ackwrr_flows *flows,
					struct ackwrr_share *share,
					const struct tcp_segment *seg, u64 now)
{
	struct hlist_head *bucket;
	struct ackwrr_flow *flow;
	u32 acked, expected;

	ackwrr_flows_expire(flows, share, now);
	if (!segment_has_key(seg) || seg->syn)
		return NULL;
	bucket = ackwrr_bucket(flows, &seg->key);
	flow = ackwrr_lookup(bucket, &seg->key) ?:
	       ackwrr_flows_add(flows, share, bucket, &seg->key);
	if (!flow)
		return NULL;

	ackwrr_flow_release_ages(flow, share, now);
	acked = ackwrr_flow_acked(flow, seg);
	expected = min(acked, flow->released);
	flow->released -= expected;
	ackwrr_flow_charge(flow, share, ACKWRR_ACK, acked - expected);

	ackwrr_flow_moved(flows, flow, share, ACKWRR_ACK, acked, now);
	ackwrr_flow_moved(flows, flow, share, ACKWRR_DATA, seg->payload, now);
	if (seg->fin || seg->rst)
		ackwrr_flow_end(flows, flow, share);
	if (!flow->waiting)
		ackwrr_flow_line_up(flows, flow);
	return flow;
}

/* An ACK is sent: the station may send as many bytes as it newly acknowledges. */
static void ackwrr_flow_release(struct ackwrr_flows *flows, struct ackwrr_share *share,
				struct ackwrr_flow *flow, u32 ack_seq, u64 now)
{
	s32 advance = (s32)(ack_seq - flow->last_sent);

	ackwrr_flow_release_ages(flow, share, now);
	if (flow->sent && advance <= 0)
		return;
	flow->last_sent = ack_seq;
	if (flow->sent && ackwrr_activity_counts(&flow->activity[ACKWRR_ACK])) {
		ackwrr_activity_refresh(&flows->active[ACKWRR_ACK],
					&flow->activity[ACKWRR_ACK], now);
		advance = min_t(u32, advance, ACKWRR_MAX_ACKED - flow->released);
		flow->released += advance;
		ackwrr_share_charge(share, ACKWRR_ACK, advance);
	}
	flow->sent = true;
}

/**
 * ackwrr_flows_sent() - a packet was taken to be sent
 * @flows: the connections
 * @share: charged with its payload, and with what it releases
 * @flow: its connection, or NULL
 * @moved: what it moves
 * @now: ns
 */
void ackwrr_flows_sent(struct ackwrr_flows *flows, struct ackwrr_share *share,
		       struct ackwrr_flow *flow, const struct ackwrr_moved *moved, u64 now)
{
	if (!flow) {
		if (moved->payload)
			ackwrr_share_charge(share, ACKWRR_DATA, moved->payload);
		return;
	}
	if (moved->payload) {
		ackwrr_flow_charge(flow, share, ACKWRR_DATA, moved->payload);
		ackwrr_activity_refresh(&flows->active[ACKWRR_DATA],
					&flow->activity[ACKWRR_DATA], now);
	}
	if (moved->ack)
		ackwrr_flow_release(flows, share, flow, moved->ack_seq, now);
}

/* Forgets all connections. No packet in our FIFOs may belong to one. */
void ackwrr_flows_clear(struct ackwrr_flows *flows)
{
	u32 i;

	INIT_LIST_HEAD(&flows->unused);
	INIT_LIST_HEAD(&flows->uncounted);
	INIT_LIST_HEAD(&flows->counted);
	memset(flows->buckets, 0, ACKWRR_BUCKETS * sizeof(*flows->buckets));
	for (i = 0; i < ACKWRR_FLOWS; i++)
		list_add_tail(&flows->places[i].line, &flows->unused);
	for (i = 0; i < ACKWRR_CLASSES; i++)
		ackwrr_active_clear(&flows->active[i]);
	flows->known = 0;
}

void ackwrr_flows_free(struct ackwrr_flows *flows)
{
	kvfree(flows->places);
	kvfree(flows->buckets);
	flows->places = NULL;
	flows->buckets = NULL;
}

/* Return: 0, to be given to ackwrr_flows_free(), or -ENOMEM. */
int ackwrr_flows_init(struct ackwrr_flows *flows)
{
	BUILD_BUG_ON(!is_power_of_2(ACKWRR_BUCKETS));
	flows->places = kvcalloc(ACKWRR_FLOWS, sizeof(*flows->places), GFP_KERNEL);
	flows->buckets = kvcalloc(ACKWRR_BUCKETS, sizeof(*flows->buckets), GFP_KERNEL);
	if (!flows->places || !flows->buckets) {
		/* Whoever has places has buckets. */
		ackwrr_flows_free(flows);
		return -ENOMEM;
	}
	get_random_bytes(&flows->hash_key, sizeof(flows->hash_key));
	ackwrr_flows_clear(flows);
	return 0;
}
