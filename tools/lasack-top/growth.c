// SPDX-License-Identifier: GPL-2.0-only
/* What follows from snapshots: rates, shares, directions, order, totals. */
#include <math.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "die.h"
#include "discipline.h"

static void *grow(void *array, size_t count, size_t size)
{
	array = realloc(array, (count + 1) * size);
	if (!array)
		die("out of memory");
	memset((char *)array + count * size, 0, size);
	return array;
}

struct qdisc *snapshot_add_qdisc(struct snapshot *snapshot)
{
	snapshot->qdiscs = grow(snapshot->qdiscs, snapshot->qdisc_count,
				sizeof(struct qdisc));
	return &snapshot->qdiscs[snapshot->qdisc_count++];
}

struct class *snapshot_add_class(struct snapshot *snapshot)
{
	snapshot->classes = grow(snapshot->classes, snapshot->class_count,
				 sizeof(struct class));
	return &snapshot->classes[snapshot->class_count++];
}

struct flow *snapshot_add_flow(struct snapshot *snapshot)
{
	snapshot->flows = grow(snapshot->flows, snapshot->flow_count,
			       sizeof(struct flow));
	return &snapshot->flows[snapshot->flow_count++];
}

void snapshot_clear(struct snapshot *snapshot)
{
	free(snapshot->qdiscs);
	free(snapshot->classes);
	free(snapshot->flows);
	*snapshot = (struct snapshot) { };
}

/* A class is a place in lasack's table: another flow may have it by now. */
static int same_flow(const struct flow *a, const struct flow *b)
{
	return a->qdisc == b->qdisc && a->class == b->class &&
	       a->seen.protocol == b->seen.protocol &&
	       !memcmp(a->seen.addr, b->seen.addr, sizeof(a->seen.addr)) &&
	       !memcmp(a->seen.port, b->seen.port, sizeof(a->seen.port));
}

static uint64_t flow_bytes(const struct flow *flow)
{
	return flow->seen.sent + flow->seen.received;
}

/* In bit/s. A new life of the same ports, or another child, begins at 0 again. */
static double growth(uint64_t now, uint64_t then, double interval)
{
	return (now >= then ? now - then : now) * 8.0 / interval;
}

static double class_rate(const struct class *class, const struct snapshot *before,
			 double interval)
{
	for (size_t i = 0; i < before->class_count; i++)
		if (before->classes[i].id == class->id)
			return growth(class->bytes, before->classes[i].bytes, interval);
	return NAN;
}

static double flow_rate(const struct flow *flow, const struct snapshot *before,
			double interval)
{
	for (size_t i = 0; i < before->flow_count; i++)
		if (same_flow(flow, &before->flows[i]))
			return growth(flow_bytes(flow), flow_bytes(&before->flows[i]),
				      interval);
	return NAN;
}

void snapshot_compare(struct snapshot *now, const struct snapshot *before)
{
	double attained = 0, rates = 0;

	now->interval = before ? (now->taken_ns - before->taken_ns) / 1e9 : NAN;
	for (size_t i = 0; i < now->class_count; i++)
		now->classes[i].rate = now->interval > 0 ?
			class_rate(&now->classes[i], before, now->interval) : NAN;
	for (size_t i = 0; i < now->flow_count; i++) {
		struct flow *flow = &now->flows[i];

		flow->rate = NAN;
		if (now->interval > 0)
			flow->rate = flow_rate(flow, before, now->interval);
		attained += flow->seen.attained;
		if (!isnan(flow->rate))
			rates += flow->rate;
	}
	for (size_t i = 0; i < now->flow_count; i++) {
		struct flow *flow = &now->flows[i];

		flow->share = attained > 0 ? flow->seen.attained / attained : NAN;
		flow->rate_share = rates > 0 ? flow->rate / rates : NAN;
	}
}

enum direction flow_direction(const struct flow *flow)
{
	uint64_t sent = flow->seen.sent, received = flow->seen.received;

	/* Only TCP says what came from the station, if nobody observes it. */
	if (!sent && !received)
		return DIRECTION_UNKNOWN;
	if (flow->seen.protocol != IPPROTO_TCP && !received)
		return DIRECTION_UNKNOWN;
	/* Requests and replies have sizes too: three quarters decide. */
	if (sent / 3 >= received)
		return DIRECTION_DOWN;
	if (received / 3 >= sent)
		return DIRECTION_UP;
	return DIRECTION_BOTH;
}

static int descending(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return (a < b) - (a > b);
}

/* Equal ones stand by attained service, then as the kernel numbers them. */
static int by_attained(const void *a, const void *b)
{
	const struct flow *one = a, *two = b;

	return descending(one->seen.attained, two->seen.attained) ?:
	       descending(two->class, one->class);
}

static int by_rate(const void *a, const void *b)
{
	return descending(((const struct flow *)a)->rate,
			  ((const struct flow *)b)->rate) ?: by_attained(a, b);
}

static int by_backlog(const void *a, const void *b)
{
	return descending(((const struct flow *)a)->backlog_bytes,
			  ((const struct flow *)b)->backlog_bytes) ?: by_attained(a, b);
}

void snapshot_sort(struct snapshot *snapshot, enum sort_key key)
{
	static int (*const orders[])(const void *, const void *) = {
		[SORT_ATTAINED] = by_attained,
		[SORT_RATE] = by_rate,
		[SORT_BACKLOG] = by_backlog,
	};

	if (snapshot->flow_count)
		qsort(snapshot->flows, snapshot->flow_count, sizeof(struct flow),
		      orders[key]);
}

static void add_counter(const struct counter *counter, struct qdisc *total,
			const struct qdisc *qdisc)
{
	char *to = (char *)&total->xstats + counter->offset;
	uint64_t sum = counter_read(counter, total), more = counter_read(counter, qdisc);
	uint32_t narrow;

	if (counter->sum == ADD)
		sum += more;
	else if (more > sum)
		sum = more;
	narrow = sum;
	if (counter->size == sizeof(sum))
		memcpy(to, &sum, sizeof(sum));
	else
		memcpy(to, &narrow, sizeof(narrow));
}

size_t snapshot_total(const struct snapshot *snapshot, const struct discipline *of,
		      struct qdisc *total)
{
	size_t count = 0;

	for (size_t i = 0; i < snapshot->qdisc_count; i++) {
		const struct qdisc *qdisc = &snapshot->qdiscs[i];

		if (qdisc->of != of)
			continue;
		if (!count++) {
			*total = *qdisc;
			continue;
		}
		total->bytes += qdisc->bytes;
		total->packets += qdisc->packets;
		total->drops += qdisc->drops;
		total->overlimits += qdisc->overlimits;
		total->backlog_bytes += qdisc->backlog_bytes;
		total->backlog_packets += qdisc->backlog_packets;
		for (const struct counter *c = of->counters; c->name; c++)
			add_counter(c, total, qdisc);
	}
	return count;
}
