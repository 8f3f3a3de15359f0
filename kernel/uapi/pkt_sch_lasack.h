/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Netlink interface of the lasack queue discipline: least attained service
 * with acknowledgements charged for what they acknowledge. Attributes and
 * statistics only ever grow at their end.
 */
#ifndef __LINUX_PKT_SCH_LASACK_H
#define __LINUX_PKT_SCH_LASACK_H

#include <linux/types.h>

#define TC_LASACK_LIMIT_MAX	1048576U	/* packets */

enum {
	TCA_LASACK_UNSPEC,
	TCA_LASACK_LIMIT,	/* u32: 1..TC_LASACK_LIMIT_MAX packets */
	TCA_LASACK_INFLIGHT,	/* u32: a bound as in pkt_sch_inflight.h */
	__TCA_LASACK_MAX
};

#define TCA_LASACK_MAX (__TCA_LASACK_MAX - 1)

struct tc_lasack_xstats {
	__u32	flows;		/* whose attained service is remembered */
	__u32	in_flight;	/* packets below the qdisc now */
	__u64	pushed_out;	/* packets that went to make room */
	__u64	evicted;	/* idle flows forgotten to make room */
	__u64	overflow;	/* packets put in the shared flow: table full */
	/* packets without a TCP or UDP flow of their own, by cause */
	__u64	not_ip;
	__u64	portless;	/* tunnels, ESP, ICMP: a flow by addresses */
	__u64	fragment;	/* a flow by addresses */
	__u64	truncated;
	__u64	malformed;
	/* the bound below, as in struct tc_inflight_xstats */
	__u64	throttled;
	__u64	untracked;
};

#endif
