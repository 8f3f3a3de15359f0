/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Netlink interface of the inflight queue discipline: a bound on the packets
 * below a qdisc. Attributes and statistics only ever grow at their end.
 */
#ifndef __LINUX_PKT_SCH_INFLIGHT_H
#define __LINUX_PKT_SCH_INFLIGHT_H

#include <linux/types.h>

/* A bound, wherever one is given: packets, or one of the two others. */
#define TC_INFLIGHT_OFF		0U
#define TC_INFLIGHT_MAX		65535U
#define TC_INFLIGHT_AUTO	(~0U)

enum {
	TCA_INFLIGHT_UNSPEC,
	TCA_INFLIGHT_LIMIT,	/* u32: 1..TC_INFLIGHT_MAX or TC_INFLIGHT_AUTO */
	__TCA_INFLIGHT_MAX
};

#define TCA_INFLIGHT_MAX (__TCA_INFLIGHT_MAX - 1)

struct tc_inflight_xstats {
	__u32	packets;	/* below the qdisc now */
	__u32	bytes;		/* of these packets */
	__u32	auto_limit;	/* bytes; what auto has learnt, 0 in other modes */
	__u32	reserved;
	__u64	tracked;	/* packets followed so far */
	__u64	untracked;	/* packets let go uncounted for lack of memory */
	__u64	throttled;	/* times the qdisc kept its packets because of the bound */
};

#endif
