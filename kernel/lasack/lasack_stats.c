// SPDX-License-Identifier: GPL-2.0-only
/* The statistics of lasack, for tc to show. lasack_class.c has those of flows. */
#include <linux/math64.h>
#include <linux/time64.h>
#include "lasack/lasack_aqm.h"
#include "lasack/lasack_observe.h"
#include "lasack/airtime/lasack_rates.h"
#include "lasack/sch_lasack.h"
#include "uapi/pkt_sch_lasack.h"

/* Under the tree lock. */
void lasack_stats_copy(const struct lasack_sched_data *q, struct tc_lasack_xstats *st)
{
	const struct lasack_queue *queue = q->queue;
	const struct flow_table *table = queue->table;
	struct lasack_observed seen;

	st->flows = table->flows;
	st->active = table->busy;
	st->enqueued = q->enqueued;
	st->purged = q->purged;
	st->pushed_out = q->pushed_out;
	st->evicted = table->counts.evicted;
	st->expired = table->counts.expired;
	st->collisions = table->counts.collisions;
	st->overflow = queue->overflow;
	st->not_ip = q->packets[SEGMENT_NOT_IP];
	st->portless = q->packets[SEGMENT_PORTLESS];
	st->fragment = q->packets[SEGMENT_FRAGMENT];
	st->truncated = q->packets[SEGMENT_TRUNCATED];
	st->malformed = q->packets[SEGMENT_MALFORMED];
	st->memory = queue->memory;
	st->sum_p50 = lasack_queue_percentile(queue, 50);
	st->sum_p90 = lasack_queue_percentile(queue, 90);
	st->sum_p99 = lasack_queue_percentile(queue, 99);
	st->small_delay = div_u64(queue->delay[0].average, NSEC_PER_USEC);
	st->small_delay_max = div_u64(queue->delay[0].max, NSEC_PER_USEC);
	st->large_delay = div_u64(queue->delay[1].average, NSEC_PER_USEC);
	st->large_delay_max = div_u64(queue->delay[1].max, NSEC_PER_USEC);
	st->resynchronised = queue->resynchronised;
	st->stations = queue->stations ? queue->stations->count : 0;
	st->overhead = queue->overhead;
	st->rated = q->rates ? lasack_rates_known(q->rates) : 0;
	if (queue->aqm) {
		st->late = queue->aqm->codel_stats.drop_count;
		st->marked = queue->aqm->codel_stats.ecn_mark;
		st->thinned = queue->aqm->thinned;
		st->windows = queue->aqm->windows;
	}
	if (!queue->observer)
		return;
	lasack_observer_read(queue->observer, &seen);
	st->observed = seen.packets;
	st->observed_bytes = seen.bytes;
	st->slowed = seen.slowed;
}
