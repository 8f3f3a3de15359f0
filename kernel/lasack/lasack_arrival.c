// SPDX-License-Identifier: GPL-2.0-only
/*
 * How packets come to the queue of LAS-ACK.
 *
 * Principle: a packet of a known flow touches the two cache lines of that flow. It changes
 * an order only if it is the flow's only packet. lasack_charge.c says what a packet costs.
 *
 * Control packets are those that other traffic cannot do without: ARP, EAPOL, ICMPv6, DHCP,
 * DNS. Each of these kinds is one flow. Together they are served first as long as they have not
 * attained more than others have. So a flood can delay control packets only if it consists of the
 * same kind, and it cannot delay data, because all kinds have the service of one flow. If a
 * station sends more to such a port than one asks, that is an upload which hides there. Its
 * packets are of a flow as any other.
 *
 * If every place of the table is taken by a flow with packets, new flows share one. The
 * caller holds the qdisc lock.
 */
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/jhash.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include "lasack/floor/lasack_floor.h"
#include "lasack/lasack_ack.h"
#include "lasack/lasack_aqm.h"
#include "lasack/lasack_call.h"
#include "lasack/lasack_charge.h"
#include "lasack/lasack_newcomer.h"
#include "lasack/lasack_observe.h"
#include "lasack/lasack_order.h"
#include "lasack/lasack_queue.h"

/* Bytes of some questions to a DNS or DHCP server. */
#define LASACK_QUESTION	1024

static enum lasack_shared lasack_port_kind(__be16 port)
{
	switch (ntohs(port)) {
	case 53:
		return LASACK_DNS;
	case 67:
	case 68:
	case 546:		/* of IPv6 */
	case 547:
		return LASACK_DHCP;
	default:
		return __LASACK_SHARED;
	}
}

/* Of a frame that is not IP. mac80211 relays no EAPOL, so stations can flood only the others. */
static enum lasack_shared lasack_link_kind(u16 protocol)
{
	switch (protocol) {
	case ETH_P_PAE:
		return LASACK_EAPOL;
	case ETH_P_ARP:
		return LASACK_ARP;
	default:
		return LASACK_LINK;
	}
}

/*
 * Without control packets a host has no address, no names and no next hop. Return: the kind of
 * them that the packet is, or __LASACK_SHARED: none.
 */
static enum lasack_shared lasack_control_kind(const struct lasack_queue *q,
					      const struct tcp_segment *seg)
{
	if (seg->class == SEGMENT_NOT_IP)
		return lasack_link_kind(seg->key.family);
	if (q->shape.paper)
		return __LASACK_SHARED;
	if (seg->class == SEGMENT_PORTLESS && seg->key.protocol == IPPROTO_ICMPV6)
		return LASACK_ICMPV6;
	if (seg->class == SEGMENT_PORTS && seg->key.protocol == IPPROTO_UDP)
		return min(lasack_port_kind(seg->key.port[0]), lasack_port_kind(seg->key.port[1]));
	return __LASACK_SHARED;
}

static struct lasack_flow *lasack_flow_of_entry(struct flow_entry *entry)
{
	return container_of(entry, struct lasack_flow, entry);
}

/* The flow @entry, if there is one, has been idle for too long: the packet's flow is a new one. */
static noinline struct lasack_flow *lasack_queue_new_flow(struct lasack_queue *q,
							  const struct segment_key *key,
							  u32 hash, struct flow_entry *entry)
{
	struct lasack_flow *flow;

	if (entry) {
		flow_table_forget(q->table, entry);
		q->table->counts.expired++;
	}
	entry = flow_table_add(q->table, key, hash, q->time);
	if (!entry) {
		q->overflow++;
		return lasack_shared(q, LASACK_OVERFLOW);
	}
	flow = lasack_flow_of_entry(entry);
	flow->sent = 0;
	flow->received = 0;
	q->by_bits[0]++;
	lasack_flow_new_life(q, flow);
	return flow;
}

/*
 * If a connection goes to two stations, one of them is none of its ends. Such a station sends in
 * another's name, and what it gets must not count as the other's. So these are two flows. Their
 * keys are the same, and their hashes, which are compared too, are not.
 */
static u32 lasack_flow_hash(struct lasack_queue *q, const struct segment_key *key, u64 station)
{
	if (q->owner.station != station) {
		q->owner.station = station;
		q->owner.hash = station ? jhash_2words(station, station >> 32, q->owner.secret) : 0;
	}
	return flow_table_hash(q->table, key) ^ q->owner.hash;
}

/* The flow of a key at a station, a new one if need be. */
static struct lasack_flow *lasack_queue_keyed_flow(struct lasack_queue *q,
						   const struct segment_key *key, u64 station)
{
	u32 hash = lasack_flow_hash(q, key, station);
	struct flow_entry *entry = flow_table_find(q->table, key, hash);

	if (likely(entry && (entry->busy || !flow_table_is_over(q->table, entry, q->time))))
		return lasack_flow_of_entry(entry);
	return lasack_queue_new_flow(q, key, hash, entry);
}

/**
 * lasack_queue_flow() - the flow a packet belongs to
 * @q: the queue
 * @seg: what the packet is
 * @station: where it goes: lasack_station_address()
 *
 * Return: the flow, a new one if need be.
 */
struct lasack_flow *lasack_queue_flow(struct lasack_queue *q, const struct tcp_segment *seg,
				      u64 station)
{
	enum lasack_shared kind;

	if (seg->class != SEGMENT_TCP) {
		kind = lasack_control_kind(q, seg);
		if (kind != __LASACK_SHARED)
			return lasack_shared(q, kind);
		if (!segment_has_key(seg))
			return lasack_shared(q, LASACK_OTHER);
	}
	return lasack_queue_keyed_flow(q, &seg->key, station);
}

/* By its ports a control packet: does it answer more than one asks? Then it is an upload's. */
static bool lasack_answers_upload(const struct lasack_queue *q, const struct tcp_segment *seg,
				  u64 station)
{
	if (!q->observer || seg->class != SEGMENT_PORTS)
		return false;
	if (lasack_observer_untaken(q->observer, &seg->key, station) > LASACK_QUESTION)
		return true;
	/* What was asked is answered: many questions in a row are no upload. */
	lasack_observer_take(q->observer, &seg->key, station);
	return false;
}

/* A SYN of the same addresses and ports: another connection? */
static bool lasack_begins_life(const struct lasack_queue *q, const struct lasack_flow *flow)
{
	if (q->shape.paper || flow->entry.finished)
		return true;
	return !flow->head && q->time - flow->entry.idle_since >= LASACK_PAUSE;
}

static void lasack_flow_append(struct lasack_flow *flow, struct sk_buff *skb)
{
	skb->next = NULL;
	if (flow->head)
		flow->tail->next = skb;
	else
		flow->head = skb;
	flow->tail = skb;
	flow->account.packets++;
}

/* A datagram that answers what has come in, and is too short for a packet of a VPN. */
static bool lasack_is_brief(const struct tcp_segment *seg, u32 acked)
{
	return acked && seg->class == SEGMENT_PORTS && seg->key.protocol == IPPROTO_UDP &&
	       seg->payload < LASACK_BRIEF;
}

/* The packet joins its flow. The flow has been charged with the @acked bytes already. */
static void lasack_queue_append(struct lasack_queue *q, struct lasack_flow *flow,
				struct sk_buff *skb, const struct tcp_segment *seg,
				u32 payload, u32 acked)
{
	u32 cost = min(lasack_flow_cost(q, flow, skb, payload, acked), LASACK_COST_MAX);
	bool ahead;

	*lasack_cb(skb) = (struct lasack_skb_cb) {
		.seq = ++q->seq,
		.arrival = q->now >> LASACK_ARRIVAL_SHIFT,
		.memory = skb->truesize,
		.acked = acked,
		.brief = lasack_is_brief(seg, acked),
		.refunds = flow->refunds,
		.cost = cost,
		.gso = skb_is_gso(skb),
		.pure_ack = seg->pure_ack,
	};
	if (unlikely(seg->fin || seg->rst) && !flow->shared) {
		lasack_cb(skb)->fin = seg->fin;
		lasack_cb(skb)->rst = seg->rst;
	}
	lasack_flow_admit(q, flow, cost, true);
	q->memory += skb->truesize;
	lasack_floor_came(q, flow);
	lasack_flow_append(flow, skb);
	if (lasack_is_control(flow)) {
		q->control_packets++;
		return;
	}
	q->packets++;
	if (lasack_is_grouped(q))
		lasack_station_at(q, flow)->account.packets++;
	ahead = lasack_call_came(q, flow);
	if (flow->head != skb) {
		if (unlikely(ahead))
			lasack_order_lowered(q, flow);
		else
			lasack_order_changed(q, flow);
		return;
	}
	lasack_order_join(q, flow);
	lasack_call_joined(q, flow);
}

/* A flow without packets is about to get one. */
static void lasack_queue_wake(struct lasack_queue *q, struct lasack_flow *flow,
			      const struct sk_buff *skb)
{
	if (unlikely(flow->starved))
		lasack_floor_back(q, flow);
	if (!flow->shared)
		flow_table_wake(q->table, &flow->entry);
	lasack_flow_begin(q, flow, skb);
}

/* Is the flow in the place that several stations share, though it is known whose it is? */
static bool lasack_flow_is_lodger(const struct lasack_queue *q, const struct lasack_flow *flow)
{
	return flow->station == LASACK_STATION_SHARED && !flow->shared && q->shape.by_station;
}

/*
 * When the flow got its first packet, its station had no place of its own. Now it may have one,
 * and then the flow goes there. Else who waits among invented addresses would stay among them.
 */
static noinline void lasack_queue_rehouse(struct lasack_queue *q, struct lasack_flow *flow,
					  const struct sk_buff *skb)
{
	struct lasack_station *shared = lasack_station_at(q, flow);
	const struct sk_buff *waiting;
	u64 cost = 0;

	if (lasack_station_of(q->stations, skb, q->time) == shared)
		return;
	shared->account.packets -= flow->account.packets;
	lasack_order_leave(q, flow);
	lasack_flow_begin(q, flow, skb);
	lasack_station_at(q, flow)->account.packets += flow->account.packets;
	for (waiting = flow->head; waiting; waiting = waiting->next)
		cost += lasack_cb(waiting)->cost;
	lasack_flow_admit(q, flow, min_t(u64, cost, U32_MAX), true);
	lasack_order_join(q, flow);
}

/* What the packet says about its connection. Return: bytes it acknowledges. */
static u32 lasack_queue_observe(struct lasack_queue *q, struct lasack_flow *flow,
				const struct tcp_segment *seg, u64 station)
{
	u8 refunds = flow->refunds;
	u32 acked;

	if (seg->class == SEGMENT_TCP)
		acked = lasack_flow_acked(q, flow, seg, station);
	else
		acked = q->observer ? lasack_observer_take(q->observer, &seg->key, station) : 0;
	flow->reversed = seg->reversed;
	if (acked)
		lasack_flow_charge_acked(q, flow, acked);
	if (unlikely(flow->refunds != refunds))
		lasack_order_lowered(q, flow);
	return acked;
}

/**
 * lasack_queue_add() - a packet joins its flow
 * @q: the queue
 * @skb: the packet, which may be GSO; qdisc_pkt_len() is valid
 * @seg: what it is
 *
 * Charges what the packet acknowledges.
 *
 * Return: the flow.
 */
struct lasack_flow *lasack_queue_add(struct lasack_queue *q, struct sk_buff *skb,
				     const struct tcp_segment *seg)
{
	u64 station = lasack_station_address(skb);
	struct lasack_flow *flow = lasack_queue_flow(q, seg, station);
	u32 acked = 0;

	if (unlikely(lasack_is_control(flow) && lasack_answers_upload(q, seg, station)))
		flow = lasack_queue_keyed_flow(q, &seg->key, station);
	if (unlikely(seg->syn) && !flow->shared) {
		if (lasack_begins_life(q, flow)) {
			lasack_flow_new_life(q, flow);
			if (flow->head)
				lasack_order_lowered(q, flow);
		}
		flow->opening |= flow->is_new && !q->shape.paper;
		if (unlikely(q->aqm) && seg->ack)
			lasack_aqm_accepted(q, flow, skb, seg);
	}
	if (!flow->head)
		lasack_queue_wake(q, flow, skb);
	else if (unlikely(lasack_flow_is_lodger(q, flow)))
		lasack_queue_rehouse(q, flow, skb);
	if (unlikely(flow->opening) && !seg->syn) {
		if (flow->served && !flow->head)
			lasack_flow_opened(q, flow);
		flow->opening = 0;
	}
	if (!flow->shared)
		acked = lasack_queue_observe(q, flow, seg, station);
	lasack_queue_append(q, flow, skb, seg, seg->payload, acked);
	return flow;
}

/**
 * lasack_queue_add_more() - a packet joins the flow of the one before it
 * @q: the queue
 * @flow: that flow
 * @skb: the packet, a segment of the same GSO packet
 * @seg: what that was
 * @payload: bytes of it in @skb
 */
void lasack_queue_add_more(struct lasack_queue *q, struct lasack_flow *flow, struct sk_buff *skb,
			   const struct tcp_segment *seg, u32 payload)
{
	/* It may have lost all packets, and its place. */
	if (!flow->head) {
		flow = lasack_queue_flow(q, seg, lasack_station_address(skb));
		if (!flow->head)
			lasack_queue_wake(q, flow, skb);
	}
	lasack_queue_append(q, flow, skb, seg, payload, 0);
}

