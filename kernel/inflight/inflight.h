/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Follow the packets below a queue discipline until they are freed, and hold
 * the discipline back while there are too many of them. See inflight.c.
 */
#ifndef LASACK_INFLIGHT_H
#define LASACK_INFLIGHT_H

#include <linux/netdevice.h>
#include <linux/types.h>
#include "uapi/pkt_sch_inflight.h"

struct Qdisc;
struct inflight;
struct netlink_ext_ack;
struct nlattr;
struct sk_buff;

struct inflight *inflight_create(struct Qdisc *sch, u32 limit);
void inflight_release(struct inflight *inf);
void inflight_set_limit(struct inflight *inf, u32 limit);
u32 inflight_limit(const struct inflight *inf);
void inflight_set_stall(struct inflight *inf, u32 ms);
u32 inflight_stall(const struct inflight *inf);
int inflight_limit_from_attr(const struct nlattr *attr, bool may_be_off,
			     u32 *limit, struct netlink_ext_ack *extack);

bool inflight_has_room(struct inflight *inf);
void inflight_track(struct inflight *inf, struct sk_buff *skb);
void inflight_read(struct inflight *inf, struct tc_inflight_xstats *st);

/*
 * A mac80211 device takes all it is given (its netdev queue never stops), so
 * nothing above it ever queues unless the qdisc holds back by itself.
 */
static inline u32 inflight_default_limit(const struct net_device *dev)
{
#if IS_ENABLED(CONFIG_CFG80211)
	if (dev->ieee80211_ptr)
		return TC_INFLIGHT_AUTO;
#endif
	return TC_INFLIGHT_OFF;
}

#endif
