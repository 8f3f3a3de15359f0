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

#define TC_INFLIGHT_STALL_MIN	10U	/* ms */
#define TC_INFLIGHT_STALL_MAX	60000U
#define TC_INFLIGHT_STALL	100U	/* ms, by default: the beacons' interval */

enum {
	TCA_INFLIGHT_UNSPEC,
	TCA_INFLIGHT_LIMIT,	/* u32: 1..TC_INFLIGHT_MAX or TC_INFLIGHT_AUTO */
	TCA_INFLIGHT_STALL,	/* u32: TC_INFLIGHT_STALL_MIN..MAX ms */
	__TCA_INFLIGHT_MAX
};

#define TCA_INFLIGHT_MAX (__TCA_INFLIGHT_MAX - 1)

/* Whether holding packets back can work on this device. */
enum tc_inflight_backpressure {
	TC_INFLIGHT_UNTRIED,		/* the bound was never reached */
	TC_INFLIGHT_EFFECTIVE,		/* it has held packets back */
	TC_INFLIGHT_INEFFECTIVE,	/* the driver frees packets before it sends them */
};

struct tc_inflight_xstats {
	__u32	packets;	/* below the qdisc now */
	__u32	bytes;		/* of these packets */
	__u32	auto_limit;	/* bytes; what auto has learnt, 0 in other modes */
	__u32	auto_packets;	/* the same in packets */
	__u64	tracked;	/* packets followed so far */
	__u64	untracked;	/* packets let go uncounted for lack of memory */
	__u64	throttled;	/* times the qdisc kept its packets because of the bound */

	__u64	stalls;		/* times a station's packets ceased to count */
	__u64	early;		/* packets freed while the driver was given them */
	__u32	stalled;	/* stations that stall now */
	__u32	counted;	/* of packets, those held against the bound */
	__u32	backpressure;	/* enum tc_inflight_backpressure */
	__u32	reserved;
};

#endif
