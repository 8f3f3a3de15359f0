/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Segment a GSO packet on its way into a queue discipline.
 *
 * Why at enqueue: the priority and the bound are per packet on the air, and
 * segmentation moves the socket's ownership (TCP small queues) to the segments
 * only as long as the destructor is still tcp_wfree() or sock_wfree(). Once
 * the packet is followed by another destructor, it is too late.
 *
 * The shape is that of sch_tbf and sch_cake.
 */
#ifndef LASACK_GSO_ENQUEUE_H
#define LASACK_GSO_ENQUEUE_H

#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <net/gso.h>
#include <net/sch_generic.h>

/* The packets that it is on the air. */
static inline u32 gso_segments(const struct sk_buff *skb)
{
	return skb_is_gso(skb) ? skb_shinfo(skb)->gso_segs : 1;
}

typedef int (*gso_enqueue_t)(struct sk_buff *skb, struct Qdisc *sch,
			     struct sk_buff **to_free);

/*
 * The parent will count one packet of the length it knows; it is told here of
 * the difference.
 */
static inline int gso_enqueue_segments(struct sk_buff *skb, struct Qdisc *sch,
				       struct sk_buff **to_free,
				       gso_enqueue_t enqueue)
{
	netdev_features_t features = netif_skb_features(skb);
	unsigned int whole_len = qdisc_pkt_len(skb), len = 0;
	struct sk_buff *segs, *next;
	int queued = 0;

	segs = skb_gso_segment(skb, features & ~NETIF_F_GSO_MASK);
	if (IS_ERR_OR_NULL(segs))
		return qdisc_drop(skb, sch, to_free);

	skb_list_walk_safe(segs, segs, next) {
		unsigned int seg_len = segs->len;

		skb_mark_not_on_list(segs);
		qdisc_skb_cb(segs)->pkt_len = seg_len;
		qdisc_skb_cb_set_segs(segs, 1);
		if (enqueue(segs, sch, to_free) == NET_XMIT_SUCCESS) {
			queued++;
			len += seg_len;
		}
	}

	if (!queued) {
		kfree_skb(skb);
		return NET_XMIT_DROP;
	}
	qdisc_tree_reduce_backlog(sch, 1 - queued, whole_len - len);
	consume_skb(skb);
	return NET_XMIT_SUCCESS;
}

/**
 * gso_enqueue() - enqueue a packet, as its segments if it is GSO
 * @skb: the packet
 * @sch: the discipline
 * @to_free: list of packets to free after the lock is released
 * @enqueue: takes one packet that is not GSO, and counts its own drops
 *
 * Return: NET_XMIT_*, as Qdisc_ops.enqueue.
 */
static inline int gso_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			      struct sk_buff **to_free, gso_enqueue_t enqueue)
{
	if (skb_is_gso(skb))
		return gso_enqueue_segments(skb, sch, to_free, enqueue);
	return enqueue(skb, sch, to_free);
}

#endif
