/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options of LAS-ACK. See lasack_config.c.
 */
#ifndef LASACK_CONFIG_H
#define LASACK_CONFIG_H

#include <linux/types.h>
#include "lasack/lasack_queue.h"

struct Qdisc;
struct net_device;
struct netlink_ext_ack;
struct nlattr;
struct sk_buff;

struct lasack_config {
	u32	limit;		/* packets */
	u32	memory_limit;	/* bytes of truesize */
	u32	flows;		/* places in the table */
	u32	idle;		/* ms, 0: off */
	u32	halflife;	/* ms, 0: off */
	u32	quantum;	/* bytes, 0: off, or TC_LASACK_QUANTUM_AUTO */
	u32	floor;		/* percent, 0: off */
	u32	unit;		/* enum tc_lasack_unit */
	u32	target;		/* ms, 0: off, or TC_LASACK_TARGET_AUTO */
	u32	observe;	/* 1: on, 0: off */
	u32	mode;		/* enum tc_lasack_mode */
	u32	fair;		/* enum tc_lasack_fair */
	u32	overhead;	/* bytes, or TC_LASACK_OVERHEAD_AUTO */
	u32	inflight;	/* packets or TC_INFLIGHT_* */
};

void lasack_config_init(struct lasack_config *config, const struct Qdisc *sch);
int lasack_config_parse(struct lasack_config *config, const struct net_device *dev,
			const struct nlattr *opt, struct netlink_ext_ack *extack);
int lasack_config_put(const struct lasack_config *config, struct sk_buff *skb);
struct lasack_shape lasack_config_shape(const struct lasack_config *config);
u32 lasack_config_overhead(const struct lasack_config *config, const struct net_device *dev);
u32 lasack_config_target(const struct lasack_config *config);
bool lasack_config_aggregates(const struct lasack_config *config, const struct net_device *dev);

#endif
