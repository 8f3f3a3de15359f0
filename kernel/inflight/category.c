// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which packets Wi-Fi may send before others: those of the access categories voice and video.
 *
 * Principle: mac80211 chooses the category by the packet's DSCP, or by its priority if a program
 * has set that to 256 and more (cfg80211_classify8021d()). It may do so below the discipline, so
 * a guess is made here. Some of DSCP 24 to 31 are video on newer kernels, and all by the QoS map
 * that OpenWrt hands out. Who is taken for urgent and is not gains little: few such packets do
 * not count. Who is urgent and not taken for it could leave the others no air.
 */
#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include "category.h"
#include "common/wireless.h"

#define INFLIGHT_UP_FORCED	256U	/* priority: the user priority, and this */
#define INFLIGHT_UP_VIDEO	4U	/* this user priority and higher: video, voice */
#define INFLIGHT_DSCP_VIDEO	24U	/* likewise: CS3 and higher */
#define INFLIGHT_DSCP_SHIFT	2	/* below it are the bits of ECN */

static bool inflight_is_marked(const struct sk_buff *skb)
{
	u8 head[2], field;
	const u8 *found;

	switch (skb->protocol) {
	case htons(ETH_P_IP):
	case htons(ETH_P_IPV6):
		break;
	case htons(ETH_P_80221):
	case htons(ETH_P_MPLS_UC):
	case htons(ETH_P_MPLS_MC):
		return true;
	default:
		return false;
	}
	found = skb_header_pointer(skb, skb_network_offset(skb), sizeof(head), head);
	if (!found)
		return false;
	field = skb->protocol == htons(ETH_P_IP) ? found[1] : found[0] << 4 | found[1] >> 4;
	return field >> INFLIGHT_DSCP_SHIFT >= INFLIGHT_DSCP_VIDEO;
}

/**
 * inflight_is_urgent() - is it going to be sent as voice or video?
 * @skb: a packet for a device; false if that is not Wi-Fi
 */
bool inflight_is_urgent(const struct sk_buff *skb)
{
	u32 forced = skb->priority - INFLIGHT_UP_FORCED;

	if (!device_is_wireless(skb->dev))
		return false;
	if (forced < 8)
		return forced >= INFLIGHT_UP_VIDEO;
	/* With a VLAN tag, what is below it is not looked at. */
	return !skb_vlan_tag_present(skb) && inflight_is_marked(skb);
}

/**
 * inflight_demote() - an urgent packet is sent as any other
 * @skb: the packet; its DSCP stays
 *
 * A driver with a queue for each category has chosen one, and a priority that it may use as an
 * index. So it chooses again. With a single queue it is going to look at the priority only below.
 * A queue that is stopped cannot have it: the packet would wait before all urgent ones that come
 * next. It is sent as it was going to be.
 */
void inflight_demote(struct sk_buff *skb)
{
	struct net_device *dev = skb->dev;
	u16 queue;

	skb->priority = INFLIGHT_UP_FORCED;
	if (dev->real_num_tx_queues < 2 || !dev->netdev_ops->ndo_select_queue)
		return;
	queue = netdev_cap_txqueue(dev, dev->netdev_ops->ndo_select_queue(dev, skb, NULL));
	if (!netif_xmit_stopped(netdev_get_tx_queue(dev, queue)))
		skb_set_queue_mapping(skb, queue);
}
