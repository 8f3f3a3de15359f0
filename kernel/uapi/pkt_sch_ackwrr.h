/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Netlink interface of the ackwrr queue discipline: weighted round robin of
 * data and of pure TCP ACKs. Attributes and statistics only ever grow at their
 * end.
 */
#ifndef __LINUX_PKT_SCH_ACKWRR_H
#define __LINUX_PKT_SCH_ACKWRR_H

#include <linux/types.h>
#include "pkt_sch_inflight.h"

#define TC_ACKWRR_LIMIT_MAX	1048576U	/* packets */
#define TC_ACKWRR_WEIGHT_MAX	255U
#define TC_ACKWRR_AUTO		0U		/* in place of both weights */

#define TC_ACKWRR_ESTIMATE_ONE	256U	/* one connection, in estimates */

/* The classes' minor numbers. */
#define TC_ACKWRR_DATA		1
#define TC_ACKWRR_ACK		2

enum {
	TCA_ACKWRR_UNSPEC,
	TCA_ACKWRR_LIMIT,	/* u32: 1..TC_ACKWRR_LIMIT_MAX packets, of each class */
	TCA_ACKWRR_INFLIGHT,	/* u32: a bound as in pkt_sch_inflight.h */
	TCA_ACKWRR_WEIGHT_DATA,	/* u32: 1..TC_ACKWRR_WEIGHT_MAX packets, or TC_ACKWRR_AUTO */
	TCA_ACKWRR_WEIGHT_ACK,	/* u32: the same of class ACK; none with AUTO */
	__TCA_ACKWRR_MAX
};

#define TCA_ACKWRR_MAX (__TCA_ACKWRR_MAX - 1)

/* Of a class. */
enum {
	TCA_ACKWRR_CLASS_UNSPEC,
	TCA_ACKWRR_CLASS_WEIGHT,	/* u32: packets a round */
	TCA_ACKWRR_CLASS_CONNECTIONS,	/* u32: with auto, the estimate it is served for */
	__TCA_ACKWRR_CLASS_MAX
};

#define TCA_ACKWRR_CLASS_MAX (__TCA_ACKWRR_CLASS_MAX - 1)

struct tc_ackwrr_xstats {
	struct tc_inflight_xstats below;	/* first, as in every such qdisc */

	/* packets without a TCP or UDP flow of their own, by cause */
	__u64	not_ip;
	__u64	portless;
	__u64	fragment;
	__u64	truncated;
	__u64	malformed;

	/* weights auto; else 0 */
	__u32	flows;		/* connections remembered */
	__u32	downloads;	/* connections active now, down */
	__u32	uploads;	/* and up */
	__u32	down_estimate;	/* what the shares go by, 1/TC_ACKWRR_ESTIMATE_ONE connections */
	__u32	up_estimate;
	__s32	lag;		/* bytes a connection by which downloads are ahead */
	__u64	down_charged;	/* bytes */
	__u64	up_charged;
	__u64	evicted;	/* connections forgotten to make room */
	__u64	overflow;	/* packets of connections there was no room for */
	__u64	down_free;	/* bytes that new connections moved and nobody was charged for */
	__u64	up_free;

	/* All that came: the sum of sent, dropped, purged and queued, unless a
	 * filter's action took it
	 */
	__u64	enqueued;	/* packets */
	__u64	purged;		/* packets given up by a reset */
};

#endif
