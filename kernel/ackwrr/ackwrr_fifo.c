// SPDX-License-Identifier: GPL-2.0-only
/*
 * The FIFOs that the classes of ackwrr have by default.
 *
 * Principle: with "weights auto" each connection may have only a few ACKs in the FIFO. More
 * ACKs that wait would only make the sender's window grow and use airtime. A connection's
 * newest ACK says all that the older ones said, so one of these is dropped for it. The newest
 * always finds room and always stays: without it the sender would have to wait for its
 * time-out. For this the FIFO may hold one ACK more for each connection in the
 * table, so it is bounded.
 *
 * The ACKs that wait are spread over what they acknowledge. If they were those of a burst's end,
 * the first would acknowledge a whole window, and its sender would send that at once. Whose
 * oldest ACK goes next, ackwrr_turn.c says.
 *
 * A packet remembers its connection, so that it need not be parsed again when it leaves. The
 * ACKs of a connection are linked, the oldest first. In the FIFO of ACKs skb->prev is the
 * packet before, so that one can be taken out of the middle.
 */
#include <linux/bits.h>
#include <linux/minmax.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>
#include "ackwrr/ackwrr_fifo.h"
#include "ackwrr/ackwrr_qdisc.h"
#include "ackwrr/ackwrr_turn.h"
#include "common/fifo_child.h"
#include "common/gso_enqueue.h"

/* With auto a connection may have that part of "limit" in the FIFO of ACKs. */
#define ACKWRR_ACK_SHARE	8

/* What a packet in one of our FIFOs remembers: 20 bytes are all it has. */
struct ackwrr_skb_cb {
	u32	arrival;	/* order of arrival, modulo 2^32 */
	u32	place:29,	/* of its connection, from 1; 0: none */
		reversed:1,	/* direction, as in tcp_segment */
		listed:1,	/* among the connection's pure ACKs */
		ack:1;		/* ack_seq is valid */
	union {		/* in no two cache lines */
		u32		payload;	/* bytes, unless listed */
		struct sk_buff	*younger;	/* the connection's next ACK, if listed */
	};
	u32	ack_seq;
} __packed __aligned(4);

static struct ackwrr_skb_cb *ackwrr_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct ackwrr_skb_cb));
	return (struct ackwrr_skb_cb *)qdisc_skb_cb(skb)->data;
}

static struct ackwrr_flow *ackwrr_cb_flow(const struct ackwrr_sched_data *q,
					  const struct ackwrr_skb_cb *cb)
{
	return cb->place ? ackwrr_flow_at(&q->flows, cb->place - 1) : NULL;
}

/* The packet leaves the FIFO; if it is listed, it is its connection's oldest ACK. */
static void ackwrr_cb_leave(struct ackwrr_sched_data *q, const struct ackwrr_skb_cb *cb)
{
	struct ackwrr_flow *flow = ackwrr_cb_flow(q, cb);

	if (!flow)
		return;
	if (cb->listed) {
		if (flow->before_newest == flow->oldest_ack)
			flow->before_newest = NULL;
		flow->oldest_ack = cb->younger;
		/* A packet that comes later may have the address of one that is freed. */
		if (!--flow->acks)
			flow->newest_ack = NULL;
	}
	ackwrr_flow_left(&q->flows, flow);
}

/* Wherever it stands in the FIFO of ACKs. */
static void ackwrr_fifo_unlink(struct Qdisc *fifo, struct sk_buff *skb)
{
	struct sk_buff *prev = skb->prev, *next = skb->next;

	if (prev)
		prev->next = next;
	else
		fifo->q.head = next;
	if (next)
		next->prev = prev;
	else
		fifo->q.tail = prev;
	skb->prev = NULL;
	skb_mark_not_on_list(skb);
	qdisc_qlen_dec(fifo);
	qdisc_qstats_backlog_dec(fifo, skb);
}

/*
 * Does the ACK that arrives take the place of the newest one that waits? Not if that one is far
 * from the one before it: @most ACKs shall be spread evenly over all that is not acknowledged yet.
 */
static bool ackwrr_fifo_replaces(const struct ackwrr_flow *flow, const struct tcp_segment *seg,
				 u32 most)
{
	const struct ackwrr_skb_cb *newest, *before;
	u32 from;

	if (!seg->pure_ack || !flow->before_newest)
		return false;
	newest = ackwrr_cb(flow->newest_ack);
	before = ackwrr_cb(flow->before_newest);
	if (!seg->ack || !newest->ack || !before->ack ||
	    (s32)(seg->ack_seq - newest->ack_seq) < 0)
		return false;
	from = flow->sent & BIT(seg->reversed) ? flow->last_sent[seg->reversed] :
						 ackwrr_cb(flow->oldest_ack)->ack_seq;
	return (u64)(newest->ack_seq - before->ack_seq) * most < 2ULL * (seg->ack_seq - from);
}

/* The ACK to drop when one more of @flow arrives; NULL if none has to be, or can be. */
static struct sk_buff *ackwrr_fifo_victim(const struct ackwrr_sched_data *q,
					  const struct ackwrr_flow *flow,
					  const struct tcp_segment *seg)
{
	u32 most = max(q->limit / ACKWRR_ACK_SHARE, 1U);
	const struct Qdisc *fifo = q->classes[ACKWRR_ACK].child;
	const struct ackwrr_flow *owner;
	struct sk_buff *head;

	if (flow && flow->acks >= most)
		return ackwrr_fifo_replaces(flow, seg, most) ? flow->newest_ack : flow->oldest_ack;
	if (fifo->q.qlen < q->limit)
		return NULL;
	head = fifo->q.head;
	owner = ackwrr_cb_flow(q, ackwrr_cb(head));
	if (!ackwrr_cb(head)->listed || owner->acks > 1)
		return head;
	return flow && flow->acks && seg->pure_ack ? flow->oldest_ack : NULL;
}

/* The parents have counted the dropped ACK, so they are told. */
static void ackwrr_fifo_drop(struct Qdisc *sch, struct sk_buff *skb, struct sk_buff **to_free)
{
	struct ackwrr_sched_data *q = qdisc_priv(sch);
	struct Qdisc *fifo = q->classes[ACKWRR_ACK].child;
	unsigned int len = qdisc_pkt_len(skb);

	ackwrr_fifo_unlink(fifo, skb);
	ackwrr_cb_leave(q, ackwrr_cb(skb));
	qdisc_qstats_drop(fifo);
	qdisc_qlen_dec(sch);
	qstats_backlog_sub(sch, len);
	__qdisc_qstats_drop(sch, gso_segments(skb));
	__qdisc_drop(skb, to_free);
	qdisc_tree_reduce_backlog(sch, 1, len);
}

static void ackwrr_cb_fill(struct ackwrr_sched_data *q, struct sk_buff *skb, int class,
			   const struct ackwrr_flow *flow, const struct tcp_segment *seg)
{
	struct ackwrr_skb_cb *cb = ackwrr_cb(skb);

	cb->arrival = q->arrivals++;
	cb->place = flow ? flow_table_number(q->flows.table, &flow->entry) + 1 : 0;
	cb->listed = flow && class == ACKWRR_ACK && seg->pure_ack;
	cb->reversed = seg->reversed;
	cb->ack = seg->ack;
	cb->ack_seq = seg->ack_seq;
	if (cb->listed)
		cb->younger = NULL;
	else
		cb->payload = seg->payload;
}

/* The packet is in the FIFO now. */
static void ackwrr_flow_join(struct ackwrr_sched_data *q, struct ackwrr_flow *flow,
			     struct sk_buff *skb)
{
	flow->waiting++;
	if (!ackwrr_cb(skb)->listed)
		return;
	if (flow->acks++) {
		ackwrr_cb(flow->newest_ack)->younger = skb;
		flow->before_newest = flow->newest_ack;
	} else {
		flow->oldest_ack = skb;
		flow->before_newest = NULL;
	}
	flow->newest_ack = skb;
	ackwrr_turn_join(&q->flows, flow);
}

/* The newest ACK, before which there are others, is going to be dropped. */
static void ackwrr_flow_unlist_newest(struct ackwrr_flow *flow)
{
	ackwrr_cb(flow->newest_ack)->listed = 0;
	flow->newest_ack = flow->before_newest;
	flow->before_newest = NULL;
	ackwrr_cb(flow->newest_ack)->younger = NULL;
	flow->acks--;
}

/**
 * ackwrr_fifo_enqueue() - a packet for a class that has our FIFO
 * @skb: the packet
 * @sch: the discipline
 * @class: enum ackwrr_which
 * @flow: the packet's connection, or NULL; always NULL without auto
 * @seg: what the packet is
 * @to_free: list of packets to free after the lock is released
 *
 * Return: NET_XMIT_*, as Qdisc_ops.enqueue.
 */
int ackwrr_fifo_enqueue(struct sk_buff *skb, struct Qdisc *sch, int class,
			struct ackwrr_flow *flow, const struct tcp_segment *seg,
			struct sk_buff **to_free)
{
	struct ackwrr_sched_data *q = qdisc_priv(sch);
	struct Qdisc *fifo = q->classes[class].child;
	struct sk_buff *victim = NULL;
	int ret;

	if (ackwrr_is_counted(q, class)) {
		victim = ackwrr_fifo_victim(q, flow, seg);
		/* Only the first ACK of a connection may exceed the limit. */
		if (!victim && fifo->q.qlen >= q->limit && !(flow && seg->pure_ack)) {
			qdisc_qstats_drop(fifo);
			__qdisc_qstats_drop(sch, gso_segments(skb));
			__qdisc_drop(skb, to_free);
			return NET_XMIT_DROP;
		}
		skb->prev = fifo->q.tail;
	}
	ackwrr_cb_fill(q, skb, class, flow, seg);
	ret = child_enqueue(skb, sch, fifo, to_free);
	if (ret != NET_XMIT_SUCCESS)
		return ret;
	if (victim && flow && flow->acks > 1 && victim == flow->newest_ack)
		ackwrr_flow_unlist_newest(flow);
	if (flow)
		ackwrr_flow_join(q, flow, skb);
	/* Now, so that neither the FIFO nor its parents look empty meanwhile. */
	if (victim)
		ackwrr_fifo_drop(sch, victim, to_free);
	return ret;
}

/**
 * ackwrr_fifo_dequeue() - the next packet of a class that has our FIFO
 * @q: the discipline
 * @class: enum ackwrr_which
 *
 * What is no ACK of a connection goes when it is the first.
 *
 * Return: the packet, for ackwrr_fifo_taken(); or NULL: there is none.
 */
struct sk_buff *ackwrr_fifo_dequeue(struct ackwrr_sched_data *q, int class)
{
	struct Qdisc *fifo = q->classes[class].child;
	struct sk_buff *skb = fifo->q.head;
	struct ackwrr_flow *flow;

	if (!skb || !ackwrr_is_counted(q, class))
		return qdisc_dequeue_head(fifo);
	flow = ackwrr_cb(skb)->listed ? ackwrr_turn_next(&q->flows) : NULL;
	if (flow) {
		ackwrr_turn_taken(flow);
		skb = flow->oldest_ack;
	}
	ackwrr_fifo_unlink(fifo, skb);
	qdisc_bstats_update(fifo, skb);
	return skb;
}

/**
 * ackwrr_fifo_taken() - a packet has been dequeued from our FIFO
 * @q: the discipline
 * @class: enum ackwrr_which
 * @skb: the packet
 * @moved: what it moves
 *
 * Return: its connection, or NULL.
 */
struct ackwrr_flow *ackwrr_fifo_taken(struct ackwrr_sched_data *q, int class,
				      struct sk_buff *skb, struct ackwrr_moved *moved)
{
	const struct ackwrr_skb_cb *cb = ackwrr_cb(skb);

	moved->payload = cb->listed ? 0 : cb->payload;
	moved->ack = cb->ack;
	moved->reversed = cb->reversed;
	moved->ack_seq = cb->ack_seq;
	ackwrr_cb_leave(q, cb);
	return ackwrr_cb_flow(q, cb);
}

/* Both FIFOs are ours and have packets: the class of the one that came first. */
int ackwrr_fifo_first_come(struct ackwrr_sched_data *q)
{
	const struct sk_buff *data = q->classes[ACKWRR_DATA].child->q.head;
	const struct sk_buff *ack = q->classes[ACKWRR_ACK].child->q.head;
	const struct ackwrr_flow *flow;

	/* The ACK that would go need not be the first. */
	flow = ackwrr_cb(ack)->listed ? ackwrr_turn_next(&q->flows) : NULL;
	if (flow)
		ack = flow->oldest_ack;

	return (s32)(ackwrr_cb(data)->arrival - ackwrr_cb(ack)->arrival) < 0 ?
	       ACKWRR_DATA : ACKWRR_ACK;
}

/* The connections are forgotten: no packet belongs to any. */
void ackwrr_fifo_forget_flows(struct ackwrr_sched_data *q)
{
	struct sk_buff *skb, *prev;
	int class;

	for (class = 0; class < ACKWRR_CLASSES; class++) {
		if (!q->classes[class].own_child)
			continue;
		prev = NULL;
		for (skb = q->classes[class].child->q.head; skb; skb = skb->next) {
			ackwrr_cb(skb)->place = 0;
			ackwrr_cb(skb)->listed = 0;
			ackwrr_cb(skb)->ack = 0;
			ackwrr_cb(skb)->payload = 0;
			skb->prev = ackwrr_is_counted(q, class) ? prev : NULL;
			prev = skb;
		}
	}
}

void ackwrr_fifo_set_limits(struct ackwrr_sched_data *q)
{
	int class;

	for (class = 0; class < ACKWRR_CLASSES; class++) {
		u32 spare = ackwrr_is_counted(q, class) ? ACKWRR_FLOWS + 1 : 0;

		if (q->classes[class].own_child)
			WRITE_ONCE(q->classes[class].child->limit, q->limit + spare);
	}
}

/* The oldest packets of one FIFO go until it keeps to the limit. */
static void ackwrr_fifo_trim_one(struct Qdisc *sch, int class, unsigned int *packets,
				 unsigned int *bytes)
{
	struct ackwrr_sched_data *q = qdisc_priv(sch);
	struct Qdisc *fifo = q->classes[class].child;
	struct ackwrr_moved moved;
	struct sk_buff *skb;

	while (fifo->q.qlen > q->limit) {
		skb = fifo->q.head;
		if (ackwrr_is_counted(q, class))
			ackwrr_fifo_unlink(fifo, skb);
		else
			qdisc_dequeue_head(fifo);
		if (ackwrr_is_auto(q))
			ackwrr_fifo_taken(q, class, skb, &moved);
		(*packets)++;
		*bytes += qdisc_pkt_len(skb);
		qdisc_qstats_drop(fifo);
		__qdisc_qstats_drop(sch, gso_segments(skb));
		rtnl_kfree_skbs(skb, skb);
	}
}

/* The packets that wait in a class, a GSO packet of our FIFO as its segments. */
u32 ackwrr_fifo_segments(const struct ackwrr_sched_data *q, int class)
{
	const struct Qdisc *child = q->classes[class].child;
	const struct sk_buff *skb;
	u32 segments = 0;

	if (!q->classes[class].own_child)
		return child->q.qlen;
	for (skb = child->q.head; skb; skb = skb->next)
		segments += gso_segments(skb);
	return segments;
}

/* A smaller limit takes the oldest packets. The parents are told once. */
void ackwrr_fifo_trim(struct Qdisc *sch)
{
	struct ackwrr_sched_data *q = qdisc_priv(sch);
	unsigned int packets = 0, bytes = 0;
	int class;

	for (class = 0; class < ACKWRR_CLASSES; class++) {
		if (q->classes[class].own_child)
			ackwrr_fifo_trim_one(sch, class, &packets, &bytes);
	}
	if (!packets)
		return;
	WRITE_ONCE(sch->q.qlen, sch->q.qlen - packets);
	qstats_backlog_sub(sch, bytes);
	qdisc_tree_reduce_backlog(sch, packets, bytes);
}
