/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The private data of the lasack queue discipline, and its classes.
 */
#ifndef LASACK_SCH_LASACK_H
#define LASACK_SCH_LASACK_H

#include <net/sch_generic.h>
#include "common/tcp_segment.h"
#include "lasack/lasack_config.h"
#include "lasack/lasack_queue.h"

struct inflight;
struct lasack_rates;
struct tc_lasack_xstats;

struct lasack_sched_data {
	struct lasack_queue	*queue;
	struct inflight		*below;
	struct lasack_rates	*rates;	/* NULL: unit bytes */
	struct lasack_config	config;
	u32			served;
	u64			enqueued;	/* GSO packets as their segments, so below */
	u64			pushed_out;
	u64			purged;
	u64			packets[__SEGMENT_CLASSES];	/* by class */
};

void lasack_stats_copy(const struct lasack_sched_data *q, struct tc_lasack_xstats *st);

extern const struct Qdisc_class_ops lasack_class_ops;

#endif
