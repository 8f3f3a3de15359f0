/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel tells of one device's queue disciplines at one moment.
 *
 * Principle: read.c fills a snapshot, growth.c adds what follows from two of
 * them, text.c and json.c write it; data flows one way.
 */
#ifndef LASACK_TOP_SNAPSHOT_H
#define LASACK_TOP_SNAPSHOT_H

#include <net/if.h>
#include <stddef.h>
#include <stdint.h>

#include "../../kernel/uapi/pkt_sch_ackwrr.h"
#include "../../kernel/uapi/pkt_sch_inflight.h"
#include "../../kernel/uapi/pkt_sch_lasack.h"

#define OPTIONS_MAX	16

struct discipline;

struct qdisc {
	const struct discipline *of;
	uint32_t handle;		/* MAJOR:, as tc has it */
	uint32_t parent;
	uint64_t bytes, packets;	/* sent */
	uint32_t drops, overlimits;
	uint32_t backlog_bytes, backlog_packets;
	uint32_t option[OPTIONS_MAX + 1];	/* by attribute */
	uint32_t options;		/* bit N: option[N] is there */
	union {
		struct tc_lasack_xstats lasack;
		struct tc_ackwrr_xstats ackwrr;
		struct tc_inflight_xstats inflight;
	} xstats;			/* what an older module lacks is 0 */
};

/* A class that is no flow: packets of one sort, with a queue of their own. */
struct class {
	const struct discipline *of;
	uint32_t id;
	uint64_t bytes, packets;	/* sent */
	uint32_t drops;
	uint32_t backlog_bytes, backlog_packets;
	uint32_t weight;		/* packets a round; 0: it goes by */
	double connections;		/* an estimate of these; else NAN */
	double rate;			/* bit/s sent; NAN if not known */
};

/* Known from both ends of an interval, or not: then NAN. */
struct flow {
	uint32_t qdisc;			/* its handle */
	uint32_t class;
	struct tc_lasack_flow seen;
	uint32_t backlog_bytes, backlog_packets;
	double rate;			/* bit/s attained, both directions */
	double share;			/* of what the listed flows have attained */
	double rate_share;		/* of the rates of the listed flows */
};

struct snapshot {
	char device[IFNAMSIZ];
	int64_t taken_ns;		/* CLOCK_MONOTONIC */
	int64_t wall_ns;		/* CLOCK_REALTIME */
	double interval;		/* s since the one before, NAN for the first */
	struct qdisc *qdiscs;
	size_t qdisc_count;
	struct class *classes;
	size_t class_count;
	struct flow *flows;
	size_t flow_count;
};

enum direction { DIRECTION_UNKNOWN, DIRECTION_DOWN, DIRECTION_UP, DIRECTION_BOTH };
enum sort_key { SORT_ATTAINED, SORT_RATE, SORT_BACKLOG };

/* Never fail: memory for a few hundred bytes, or the program ends. */
struct qdisc *snapshot_add_qdisc(struct snapshot *snapshot);
struct class *snapshot_add_class(struct snapshot *snapshot);
struct flow *snapshot_add_flow(struct snapshot *snapshot);
void snapshot_clear(struct snapshot *snapshot);

/* Rates, shares and the interval; BEFORE may be NULL. */
void snapshot_compare(struct snapshot *now, const struct snapshot *before);
void snapshot_sort(struct snapshot *snapshot, enum sort_key key);

/* Where most of a flow's bytes went: to the station, or from it. */
enum direction flow_direction(const struct flow *flow);

/* The snapshot's qdiscs of that kind added up in TOTAL; returns how many. */
size_t snapshot_total(const struct snapshot *snapshot, const struct discipline *of,
		      struct qdisc *total);

#endif
