// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which packets Wi-Fi sends before others: those of the access categories voice and video.
 *
 * Principle: mac80211 chooses the category by the packet's DSCP, or by its priority if a program
 * has set that to 256 and more (cfg80211_classify8021d()). It does so below the discipline, so
 * the same is done here. A QoS map that hostapd hands out is not known: what it makes of a DSCP
 * may be another category. Then a packet is taken for urgent that is not, or the other way.
 */
#include <linux/if_ether.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include "category.h"

#define INFLIGHT_UP_FORCED	256U	/* priority: the user priority, and this */
#define INFLIGHT_UP_VIDEO	4U	/* this user priority and higher: video, voice */
#define INFLIGHT_UP_SHIFT	5	/* it is the upper bits of the DS field */
#define INFLIGHT_BEST_EFFORT	2U	/* the queue of a device that has one for each category */

static u8 inflight_ds_field(const struct sk_buff *skb)
{
	u8 head[2];
	const u8 *found;

	if (skb->protocol != htons(ETH_P_IP) && skb->protocol != htons(ETH_P_IPV6))
		return 0;
	found = skb_header_pointer(skb, skb_network_offset(skb), sizeof(head), head);
	if (!found)
		return 0;
	return skb->protocol == htons(ETH_P_IP) ? found[1] : found[0] << 4 | found[1] >> 4;
}

/**
 * inflight_is_urgent() - is it going to be sent as voice or video?
 * @skb: a packet for a device; false if that is not Wi-Fi
 */
bool inflight_is_urgent(const struct sk_buff *skb)
{
#if IS_ENABLED(CONFIG_CFG80211)
	if (skb->dev->ieee80211_ptr) {
		u32 forced = skb->priority - INFLIGHT_UP_FORCED;

		if (forced < 8)
			return forced >= INFLIGHT_UP_VIDEO;
		return inflight_ds_field(skb) >> INFLIGHT_UP_SHIFT >= INFLIGHT_UP_VIDEO;
	}
#endif
	return false;
}

/**
 * inflight_demote() - an urgent packet is sent as any other
 * @skb: the packet; its DSCP stays
 */
void inflight_demote(struct sk_buff *skb)
{
	skb->priority = INFLIGHT_UP_FORCED;
	if (skb->dev->real_num_tx_queues > INFLIGHT_BEST_EFFORT)
		skb_set_queue_mapping(skb, INFLIGHT_BEST_EFFORT);
}
