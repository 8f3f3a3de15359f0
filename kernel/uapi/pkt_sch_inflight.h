/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Netlink interface of the bound on the packets below a qdisc: the inflight
 * queue discipline, and the statistics that every qdisc with such a bound has.
 * Attributes only ever grow at their end.
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

/* Until when the driver keeps a packet: so far the bound can reach. */
enum tc_inflight_backpressure {
	TC_INFLIGHT_UNTRIED,	/* too few packets to tell */
	TC_INFLIGHT_AIR,	/* until it has been transmitted */
	TC_INFLIGHT_BUS,	/* until the chip has it: the chip's own queue is on top */
	TC_INFLIGHT_NONE,	/* not at all: the bound has no effect */
};

/*
 * The first member of the xstats of every qdisc with a bound. Its size is
 * fixed; new counters take the place of reserved ones.
 */
struct tc_inflight_xstats {
	__u32	packets;	/* below the qdisc now */
	__u32	bytes;		/* of these packets */
	__u32	counted;	/* of packets, those held against the bound */
	__u32	limit;		/* packets; of auto, what it has learnt; 0: no bound */
	__u32	limit_bytes;	/* what auto has learnt; else 0 */
	__u32	backpressure;	/* enum tc_inflight_backpressure */
	__u32	stalled;	/* stations taken to be asleep now */
	__u32	completion_delay; /* ms, of the device, as auto has learnt; 0: none */
	__u64	tracked;	/* packets followed so far */
	__u64	untracked;	/* packets let go uncounted: no memory, or GSO */
	__u64	lost;		/* packets replaced by others below the qdisc */
	__u64	throttled;	/* times the qdisc kept its packets because of the bound */
	__u64	stalls;		/* times a station was taken to be asleep */
	__u64	early;		/* packets freed while the driver was given them */
	__u64	turn_bytes;	/* of one station in a row; 0: the device sends one by one */
	__u64	reserved;
};

#endif
