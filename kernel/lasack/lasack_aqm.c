// SPDX-License-Identifier: GPL-2.0-only
/*
 * No flow's own packets wait for long.
 *
 * Principle: who is next says nothing about how long a flow makes its own packets wait. A sender
 * that is never told to send less fills what it is given. So, when a flow is served:
 *
 * - Data that has waited for too long is dropped, or marked if the sender knows ECN: CoDel
 *   (RFC 8289), for each flow. If its ACKs will wait in the station, too, it may wait less here.
 * - If it is ACKs that wait, the queue is that of the other end's data. The ACKs allow the sender a
 *   smaller window: lasack_window.c.
 * - If the server is near, data waits for less, and with aggregates ACKs do, too. Without them data
 *   of a very far one waits for more: lasack_near.c.
 * - An ACK gives way to the one behind it, if that says all that it said, as long as the two
 *   acknowledge no more than LASACK_AQM_THINNED. Smaller windows bring more ACKs, and each takes
 *   air. If only the last one were sent, the sender would send all that it may at once.
 * - If an upload is not TCP, what waits are packets that nobody else can read. When CoDel would
 *   drop one of them, it is the other end that is told: lasack_observe.c.
 *
 * An ACK's window is changed only if its scale is known (lasack_accept.c), and if the ACK is near
 * the position (lasack_ack.c). If the position proves wrong, the scale may be, too.
 *
 * Few flows have packets at a time. So there is a state for one flow of four. If a flow needs one,
 * it takes that of a flow that has no packets, going round. That one begins anew when it comes
 * back: CoDel as if none of its packets had been late, its window without a limit.
 */
#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/checksum.h>
#include <net/codel.h>
#include <net/codel_impl.h>
#include <net/sch_generic.h>
#include <net/tcp.h>
#include "common/exact_array.h"
#include "common/tcp_segment.h"
#include "lasack/lasack_aqm.h"
#include "lasack/lasack_observe.h"
#include "lasack/lasack_state.h"
#include "lasack/window/lasack_near.h"
#include "lasack/window/lasack_plain.h"
#include "lasack/window/lasack_scale.h"
#include "uapi/pkt_sch_lasack.h"

/* Bytes that an ACK acknowledges at most when others gave way to it. */
#define LASACK_AQM_THINNED	(12U << 10)
/* Most senders have a segment of 2304 bytes (IEEE 802.11) or less: they can send three. */
#define LASACK_AQM_LEAST	(8U << 10)
/* CoDel looks for the least wait in so many targets. It must be longer than a round trip. */
#define LASACK_AQM_INTERVAL	3
/*
 * Of TCP at least so long with aggregates, if the server is far: its two directions take turns, of
 * half a second each. What is not TCP need not react, and has a long queue the sooner the longer
 * this is.
 */
#define LASACK_AQM_INTERVAL_TURNS ((codel_time_t)MS2TIME(1600))
/* The other end of an upload that is not TCP sends more than so many times what it gets. */
#define LASACK_AQM_UPLOAD	2
/* Bytes of both directions, of which the older ones weigh less and less. */
#define LASACK_AQM_RECENT	(1024U << 10)
/* CoDel's count of drops: above it, it would do so at each third packet that comes in anyway. */
#define LASACK_AQM_TOLD		4096U
/* 1 / sqrt of it, as CoDel has it. */
#define LASACK_AQM_TOLD_STEP	(1U << (REC_INV_SQRT_BITS - 6))

/* One state for so many flows, but not less than ... */
#define LASACK_AQM_FLOWS	4
/* ... so many states. */
#define LASACK_AQM_STATES	64
/* A state is looked for among so many. If all their flows have packets, one of them loses it. */
#define LASACK_AQM_TRIES	8

/* A flow knows the number of its state in 16 bits. */
static_assert(TC_LASACK_FLOWS_MAX / LASACK_AQM_FLOWS < U16_MAX);

/* Return: an AQM that knows no connection, for so many @flows, or NULL: no memory. */
struct lasack_aqm *lasack_aqm_create(u32 flows)
{
	struct lasack_aqm *aqm = kzalloc(sizeof(*aqm), GFP_KERNEL);

	if (!aqm)
		return NULL;
	codel_stats_init(&aqm->codel_stats);
	aqm->size = flows;
	aqm->count = max(flows / LASACK_AQM_FLOWS, LASACK_AQM_STATES);
	aqm->flows = exact_array_alloc(aqm->size, sizeof(*aqm->flows));
	aqm->states = exact_array_alloc(aqm->count, sizeof(*aqm->states));
	if (aqm->flows && aqm->states)
		return aqm;
	lasack_aqm_free(aqm);
	return NULL;
}

/* Also of NULL. */
void lasack_aqm_free(struct lasack_aqm *aqm)
{
	if (!aqm)
		return;
	exact_array_free(aqm->flows, aqm->size, sizeof(*aqm->flows));
	exact_array_free(aqm->states, aqm->count, sizeof(*aqm->states));
	kfree(aqm);
}

/**
 * lasack_aqm_set() - how long packets may wait
 * @aqm: the AQM
 * @target: ms
 * @mtu: of the device, bytes
 */
void lasack_aqm_set(struct lasack_aqm *aqm, u32 target, u32 mtu)
{
	codel_params_init(&aqm->codel);
	aqm->aim.wait_most = ((u64)target * NSEC_PER_MSEC) >> CODEL_SHIFT;
	aqm->codel.interval = LASACK_AQM_INTERVAL * aqm->aim.wait_most;
	aqm->codel.mtu = mtu;
	aqm->codel.ecn = true;
	aqm->codel_tcp = aqm->codel;
	aqm->aim.window = max(LASACK_AQM_LEAST, 3 * mtu);
	lasack_aqm_set_aggregates(aqm, false, false);
}

/**
 * lasack_aqm_set_aggregates() - whether the device sends aggregates
 * @aqm: the AQM
 * @aggregates: it does, or may: TCP's turns are long
 * @automatic: with aggregates packets wait for half of the target, as more ACKs cost little there;
 *             and for less if the server is near
 */
void lasack_aqm_set_aggregates(struct lasack_aqm *aqm, bool aggregates, bool automatic)
{
	bool shorter = aggregates && automatic;

	aqm->codel.target = aqm->aim.wait_most >> shorter;
	aqm->near.least = 0;
	if (automatic)
		lasack_near_set(&aqm->near, aqm->codel.target, aggregates);
	aqm->aim.wait_near = 2 * aqm->near.least;
	aqm->codel_tcp.target = aqm->codel.target;
	aqm->aim.wait = aqm->codel.target;
	/* An aggregate is made of what waits in a station. */
	aqm->heeds_stations = !aggregates;
	aqm->codel_tcp.interval = aqm->codel.interval;
	if (aggregates)
		aqm->codel_tcp.interval = max(aqm->codel.interval, LASACK_AQM_INTERVAL_TURNS);
}

/* What is known of a flow. */
struct lasack_aqm_flow *lasack_aqm_of(struct lasack_queue *q, const struct lasack_flow *flow)
{
	return &q->aqm->flows[lasack_flow_number(q, flow)];
}

/* Return: the flow's state, or NULL: it has none. */
static struct lasack_aqm_state *lasack_aqm_state(struct lasack_queue *q,
						 const struct lasack_flow *flow)
{
	u32 number = lasack_aqm_of(q, flow)->state;

	return number ? &q->aqm->states[number - 1] : NULL;
}

/* Return: a new state for the flow, which has none. */
static struct lasack_aqm_state *lasack_aqm_take(struct lasack_queue *q,
						const struct lasack_flow *flow)
{
	struct lasack_aqm *aqm = q->aqm;
	struct lasack_aqm_state *state;
	u32 old;
	int i;

	for (i = 0; i < LASACK_AQM_TRIES; i++) {
		aqm->hand = aqm->hand + 1 < aqm->count ? aqm->hand + 1 : 0;
		state = &aqm->states[aqm->hand];
		if (!state->flow || !lasack_flow_at(q, state->flow - 1)->account.packets)
			break;
	}
	if (state->flow)
		aqm->flows[state->flow - 1].state = 0;
	/* Of all that the flow has transferred, so little is recent that 32 bits hold it. */
	old = fls64(lasack_flow_bytes(flow) / LASACK_AQM_RECENT);
	*state = (struct lasack_aqm_state) {
		.flow = lasack_flow_number(q, flow) + 1,
		.sent = flow->sent - (flow->sent >> old),
		.received = flow->received - (flow->received >> old),
	};
	codel_vars_init(&state->codel);
	lasack_aqm_of(q, flow)->state = aqm->hand + 1;
	return state;
}

/* Another connection. */
void lasack_aqm_forget(struct lasack_queue *q, const struct lasack_flow *flow)
{
	struct lasack_aqm_state *state = lasack_aqm_state(q, flow);

	if (state)
		state->flow = 0;
	*lasack_aqm_of(q, flow) = (struct lasack_aqm_flow) {};
}

/* What is known may be forged. If it was asked for, it may be another connection: ask again. */
void lasack_aqm_give_up(struct lasack_queue *q, const struct lasack_flow *flow)
{
	if (lasack_aqm_of(q, flow)->scale.told)
		lasack_aqm_forget(q, flow);
	else
		lasack_aqm_of(q, flow)->scale.unclear = 1;
	lasack_aqm_of(q, flow)->trip = 0;
}

/* Does an ACK of the same kind behind this one say all that it says? */
static bool lasack_aqm_is_plain(const struct sk_buff *skb, const struct tcp_segment *seg)
{
	return lasack_cb(skb)->acked && lasack_plain_ack(skb, seg);
}

/*
 * The first packet is a pure ACK, @seg: until it no longer gives way to the next one. In a flow
 * that many share, the next one may be another connection's.
 */
static void lasack_aqm_thin(struct lasack_queue *q, struct lasack_flow *flow,
			    struct tcp_segment *seg, lasack_discard_t discard)
{
	const struct sk_buff *next;
	struct tcp_segment behind;
	u64 acked;

	if (flow->shared)
		return;
	while ((next = flow->head->next) && lasack_cb(next)->pure_ack) {
		acked = (u64)lasack_cb(flow->head)->acked + lasack_cb(next)->acked;
		if (acked > LASACK_AQM_THINNED || !lasack_aqm_is_plain(flow->head, seg))
			return;
		tcp_segment_parse(next, &behind);
		if (behind.reversed != seg->reversed || !lasack_aqm_is_plain(next, &behind))
			return;
		discard(q, flow);
		q->aqm->thinned++;
		*seg = behind;
	}
}

/* Writes the window, in the header's units. Return: 0 or a negative error. */
static int lasack_aqm_write(struct sk_buff *skb, u32 transport, u16 window)
{
	int err = skb_ensure_writable(skb, transport + sizeof(struct tcphdr));
	struct tcphdr *th;

	if (err)
		return err;
	th = (struct tcphdr *)(skb->data + transport);
	inet_proto_csum_replace2(&th->check, skb, th->window, htons(window), false);
	th->window = htons(window);
	return 0;
}

/* The ACK @seg, first of its flow, is sent. The oldest that it speaks for has @waited. */
static void lasack_aqm_limit(struct lasack_queue *q, struct lasack_flow *flow,
			     const struct tcp_segment *seg, u32 waited)
{
	struct lasack_window_scale *scale = &lasack_aqm_of(q, flow)->scale;
	struct lasack_window_ack ack = {
		.now = q->now >> LASACK_ARRIVAL_SHIFT, .seq = seg->ack_seq, .waited = waited,
		.behind = flow->last_ack[0] - seg->ack_seq,
		.trip = lasack_near_unpack(lasack_aqm_of(q, flow)->trip),
	};
	struct lasack_aqm_state *state;
	const struct tcphdr *th;
	struct tcphdr _th;
	u16 window;

	if (!scale->known && !scale->unclear && !flow->shared)
		*scale = lasack_scale_find(flow->head->dev, &flow->entry.key, ack.seq);
	if (!scale->known || scale->unclear || seg->sealed ||
	    flow->ack_reversed != seg->reversed || scale->reversed != seg->reversed ||
	    ack.behind > LASACK_WINDOW)
		return;
	ack.shift = scale->shift;
	th = skb_header_pointer(flow->head, seg->transport, sizeof(_th), &_th);
	if (!th)
		return;
	ack.window = ntohs(th->window);
	if (q->observer && q->aqm->heeds_stations)
		ack.station = lasack_observer_ask(q->observer, flow->head, seg,
						  lasack_station_address(flow->head), ack.now);
	state = lasack_aqm_state(q, flow) ?: lasack_aqm_take(q, flow);
	window = lasack_window_serve(&state->window, &q->aqm->aim, &ack);
	if (window < ack.window && !lasack_aqm_write(flow->head, seg->transport, window))
		q->aqm->windows++;
}

/* What CoDel needs to know of a flow. */
struct lasack_aqm_context {
	struct lasack_queue	*q;
	struct lasack_flow	*flow;
	lasack_discard_t	discard; /* NULL: an upload, of which nothing is dropped */
	u32			backlog;	/* bytes behind the first packet, about */
};

static u32 lasack_codel_length(const struct sk_buff *skb)
{
	return qdisc_pkt_len(skb);
}

static codel_time_t lasack_codel_arrival(const struct sk_buff *skb)
{
	return lasack_cb(skb)->arrival;
}

/*
 * CoDel means to take the packet; it stays where it is. With none behind, it is not dropped. An
 * upload's only packet counts as well as several: each allows its sender to go on.
 */
static struct sk_buff *lasack_codel_first(struct codel_vars *vars, void *context)
{
	struct lasack_aqm_context *c = context;

	c->backlog = c->discard ? (c->flow->account.packets - 1) * c->q->aqm->codel.mtu : U32_MAX;
	return c->flow->head;
}

static void lasack_codel_drop(struct sk_buff *skb, void *context)
{
	struct lasack_aqm_context *c = context;

	c->discard(c->q, c->flow);
}

static void lasack_aqm_codel(struct lasack_queue *q, struct lasack_flow *flow,
			     lasack_discard_t discard)
{
	struct lasack_aqm_context c = { .q = q, .flow = flow, .discard = discard };
	struct lasack_aqm_state *state = lasack_aqm_state(q, flow);
	bool tcp = flow->entry.key.class == SEGMENT_TCP && !flow->shared;
	struct codel_params params = tcp ? q->aqm->codel_tcp : q->aqm->codel;

	if (!state) {
		/* CoDel does not drop a flow's only packet. */
		if (flow->account.packets == 1)
			return;
		state = lasack_aqm_take(q, flow);
	}
	if (tcp)
		lasack_near_codel(&q->aqm->near, lasack_near_unpack(lasack_aqm_of(q, flow)->trip),
				  &params);
	if (tcp && q->observer)
		lasack_near_codel_twice(lasack_observer_wait(q->observer, flow->head,
							     q->now >> LASACK_ARRIVAL_SHIFT),
					&params);
	/* Below a tag that is in the frame, the network header may be the next tag's. */
	params.ecn = flow->head->protocol == htons(ETH_P_IP) ||
		     flow->head->protocol == htons(ETH_P_IPV6);
	codel_dequeue(&c, &c.backlog, &params, &state->codel, &q->aqm->codel_stats,
		      lasack_codel_length, lasack_codel_arrival, lasack_codel_drop,
		      lasack_codel_first);
}

/*
 * Does the other end send much more than it gets, with nobody but the two to see what is
 * acknowledged? Where both send about as much, as in a call, it is none. What waits is not charged
 * yet, but will be sent. A VPN's flow may be an upload by night and a download by day: when much is
 * recent, half of it no longer is.
 */
static bool lasack_aqm_is_upload(struct lasack_queue *q, const struct lasack_flow *flow)
{
	struct lasack_aqm_state *state;
	u64 to = flow->sent, from = flow->received;

	if (!q->observer || flow->shared || flow->entry.key.class == SEGMENT_TCP)
		return false;
	state = lasack_aqm_state(q, flow);
	if (state) {
		/* Short packets are paid out of what was received: it may become less. */
		if ((s32)((u32)from - state->received) < 0)
			state->received = from;
		to = (u32)to - state->sent;
		from = (u32)from - state->received;
		if (to + from > LASACK_AQM_RECENT) {
			state->sent += to / 2;
			state->received += from / 2;
		}
	}
	to += (u64)flow->account.packets * q->overhead;
	return from / LASACK_AQM_UPLOAD > to;
}

static void lasack_codel_slow(struct sk_buff *skb, void *context)
{
	struct lasack_aqm_context *c = context;

	lasack_observer_slow(c->q->observer, &c->flow->entry.key, lasack_station_address(skb));
}

/*
 * CoDel for the upload's sender, who hears of it by what comes in: no mark goes out. As nothing is
 * taken from the queue, CoDel would make up at once for all the time since it last looked. But
 * there is only one packet to tell with. It also needs a step that is longer than nothing, whatever
 * was counted while the flow was no upload.
 */
static void lasack_aqm_slow(struct lasack_queue *q, struct lasack_flow *flow)
{
	struct lasack_aqm_state *state = lasack_aqm_state(q, flow) ?: lasack_aqm_take(q, flow);
	struct lasack_aqm_context c = { .q = q, .flow = flow };
	struct codel_params params = q->aqm->codel;
	struct codel_vars *vars = &state->codel;
	codel_time_t now = codel_get_time();
	struct codel_stats stats = {};

	params.ecn = false;
	/* An interval away or more, in the past or in the future. */
	if (vars->dropping && now - vars->drop_next + params.interval > 2 * params.interval)
		vars->drop_next = now;
	vars->count = min(vars->count, LASACK_AQM_TOLD);
	vars->lastcount = min(vars->lastcount, vars->count);
	vars->rec_inv_sqrt = max_t(u16, vars->rec_inv_sqrt, LASACK_AQM_TOLD_STEP);
	codel_dequeue(&c, &c.backlog, &params, vars, &stats,
		      lasack_codel_length, lasack_codel_arrival, lasack_codel_slow,
		      lasack_codel_first);
}

/*
 * The packets that go out in an upload which is not TCP. CoDel drops and marks none of them. Short
 * ones give way to those behind as plain ACKs do.
 */
static void lasack_aqm_upload(struct lasack_queue *q, struct lasack_flow *flow,
			      lasack_discard_t discard)
{
	const struct sk_buff *next;

	while ((next = flow->head->next) &&
	       lasack_cb(flow->head)->brief && lasack_cb(next)->brief &&
	       (u64)lasack_cb(flow->head)->acked + lasack_cb(next)->acked <= LASACK_AQM_THINNED) {
		discard(q, flow);
		q->aqm->thinned++;
	}
	lasack_aqm_slow(q, flow);
}

/**
 * lasack_aqm_serve() - the first packet of a flow is about to be sent
 * @q: the queue, with an AQM, at the present time
 * @flow: the flow, which has packets
 * @discard: what discards the first packet of the flow, if it has others
 *
 * Afterwards another packet may be the first.
 */
void lasack_aqm_serve(struct lasack_queue *q, struct lasack_flow *flow, lasack_discard_t discard)
{
	u32 now = q->now >> LASACK_ARRIVAL_SHIFT, waited = now - lasack_cb(flow->head)->arrival;
	struct tcp_segment seg;

	if (!lasack_cb(flow->head)->pure_ack) {
		if (unlikely(lasack_aqm_is_upload(q, flow)))
			lasack_aqm_upload(q, flow, discard);
		else
			lasack_aqm_codel(q, flow, discard);
		return;
	}
	tcp_segment_parse(flow->head, &seg);
	lasack_aqm_thin(q, flow, &seg, discard);
	lasack_aqm_limit(q, flow, &seg, waited);
}
