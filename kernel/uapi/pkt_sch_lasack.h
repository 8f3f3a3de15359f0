/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Netlink interface of the lasack queue discipline: least attained service
 * with acknowledgements charged for what they acknowledge. Attributes and
 * statistics only ever grow at their end.
 */
#ifndef __LINUX_PKT_SCH_LASACK_H
#define __LINUX_PKT_SCH_LASACK_H

#include <linux/types.h>
#include "pkt_sch_inflight.h"

#define TC_LASACK_LIMIT_MAX	1048576U	/* packets */
#define TC_LASACK_MEMORY_MIN	65536U		/* bytes: more than any one packet */
#define TC_LASACK_FLOWS_MAX	65535U
#define TC_LASACK_QUANTUM_MIN	1000U		/* bytes */
#define TC_LASACK_QUANTUM_MAX	16777216U
#define TC_LASACK_QUANTUM_AUTO	4294967295U	/* as the device aggregates */
#define TC_LASACK_FLOOR_MAX	100U		/* percent */
#define TC_LASACK_TIME_MIN	100U		/* ms, of all times but 0: off */
#define TC_LASACK_TIME_MAX	86400000U	/* ms: a day */
#define TC_LASACK_TARGET_MAX	10000U		/* ms */
#define TC_LASACK_TARGET_AUTO	4294967295U	/* as the device aggregates */
#define TC_LASACK_OVERHEAD_MAX	65535U		/* bytes */
#define TC_LASACK_OVERHEAD_AUTO	4294967295U	/* as the device needs */

enum tc_lasack_mode {
	TC_LASACK_MODE_DEFAULT,
	TC_LASACK_MODE_PAPER,	/* the rules of the paper alone */
	__TC_LASACK_MODES
};

enum tc_lasack_fair {
	TC_LASACK_FAIR_FLOW,	/* flows share equally */
	TC_LASACK_FAIR_STATION,	/* stations do, and then each one's flows */
	__TC_LASACK_FAIR
};

enum tc_lasack_unit {
	TC_LASACK_UNIT_BYTES,
	TC_LASACK_UNIT_AIRTIME,	/* of stations: bytes weighed with airtime at their rates */
	__TC_LASACK_UNITS
};

enum {
	TCA_LASACK_UNSPEC,
	TCA_LASACK_LIMIT,	/* u32: 1..TC_LASACK_LIMIT_MAX packets */
	TCA_LASACK_INFLIGHT,	/* u32: a bound as in pkt_sch_inflight.h */
	TCA_LASACK_MEMORY_LIMIT, /* u32: bytes, from TC_LASACK_MEMORY_MIN */
	TCA_LASACK_FLOWS,	/* u32: 1..TC_LASACK_FLOWS_MAX */
	TCA_LASACK_IDLE,	/* u32: ms */
	TCA_LASACK_HALFLIFE,	/* u32: ms */
	TCA_LASACK_QUANTUM,	/* u32: bytes, 0: off, or TC_LASACK_QUANTUM_AUTO */
	TCA_LASACK_FLOOR,	/* u32: 1..TC_LASACK_FLOOR_MAX percent, or 0: off */
	TCA_LASACK_OBSERVE,	/* u32: 1: on, 0: off */
	TCA_LASACK_MODE,	/* u32: enum tc_lasack_mode */
	TCA_LASACK_FAIR,	/* u32: enum tc_lasack_fair */
	TCA_LASACK_OVERHEAD,	/* u32: bytes, or TC_LASACK_OVERHEAD_AUTO */
	TCA_LASACK_TARGET,	/* u32: 0..TC_LASACK_TARGET_MAX ms, or TC_LASACK_TARGET_AUTO */
	TCA_LASACK_UNIT,	/* u32: enum tc_lasack_unit */
	__TCA_LASACK_MAX
};

#define TCA_LASACK_MAX (__TCA_LASACK_MAX - 1)

/* Of a class: one of the flows with the largest sums. */
enum {
	TCA_LASACK_CLASS_UNSPEC,
	TCA_LASACK_CLASS_FLOW,	/* struct tc_lasack_flow */
	__TCA_LASACK_CLASS_MAX
};

#define TCA_LASACK_CLASS_MAX (__TCA_LASACK_CLASS_MAX - 1)

#define TC_LASACK_CLASSES	16	/* at most */

struct tc_lasack_flow {
	__u8	addr[2][16];	/* IPv6, or IPv4 as ::ffff:a.b.c.d */
	__be16	port[2];	/* 0 where the protocol has none */
	__u8	protocol;	/* IPPROTO_* */
	__u8	to;		/* the end that the last packet goes to: 0 or 1 */
	__u8	reserved[2];
	__u64	attained;	/* bytes, after decay */
	/* What was charged, without decay, bytes: what went to that end, ... */
	__u64	sent;
	__u64	received;	/* ... and what came from it, by its peer's ACKs */
	/* of its station, with unit airtime; 0: not known */
	__u32	tx_rate;	/* to it, 100 kb/s */
	__u32	rx_rate;	/* from it */
	__u32	tx_price;	/* of a full packet to it, percent of what the fastest pays */
	__u32	rx_price;	/* from it */
};

struct tc_lasack_xstats {
	struct tc_inflight_xstats below;	/* first, as in every such qdisc */

	__u32	flows;		/* whose attained service is remembered */
	__u32	active;		/* of these, those with packets */
	__u64	pushed_out;	/* packets that went to make room */
	__u64	evicted;	/* idle flows forgotten to make room */
	__u64	overflow;	/* packets put in the shared flow: table full */
	/* packets without a TCP or UDP flow of their own, by cause */
	__u64	not_ip;
	__u64	portless;	/* tunnels, ESP, ICMP: a flow by addresses */
	__u64	fragment;	/* a flow by addresses */
	__u64	truncated;
	__u64	malformed;
	__u64	expired;	/* idle flows forgotten after their time */
	__u64	collisions;	/* new flows in a hash bucket already in use */
	__u64	memory;		/* truesize of the packets queued, bytes */

	/* powers of two, bytes: the sums of that percentage of flows are below */
	__u64	sum_p50;
	__u64	sum_p90;
	__u64	sum_p99;
	/* us packets waited, of flows below 100 kB and of others; moving average */
	__u32	small_delay;
	__u32	small_delay_max;
	__u32	large_delay;
	__u32	large_delay_max;

	/* packets; enqueued = sent + dropped + purged + in the queue */
	__u64	enqueued;	/* GSO packets as their segments */
	__u64	purged;		/* given up because the device went down */

	/* what came in, with observe: of flows that are not TCP */
	__u64	observed;	/* packets, as the stack received them */
	__u64	observed_bytes;

	__u64	resynchronised;	/* times that implausible ACKs made counting begin anew */
	__u32	stations;	/* whose attained service is remembered */
	__u32	overhead;	/* bytes that a packet counts for at least */

	/* with a target */
	__u64	late;		/* packets dropped because their flow's waited for too long */
	__u64	marked;		/* packets marked instead (ECN) */
	__u64	thinned;	/* ACKs that gave way to later ones */
	__u64	windows;	/* ACKs that allow the sender less than the receiver does */
	__u64	rated;		/* with unit airtime: stations whose rates are known */
	/* with observe and a target: packets that came in, dropped or marked (ECN) to slow them */
	__u64	slowed;
};

#endif
