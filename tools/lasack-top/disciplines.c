// SPDX-License-Identifier: GPL-2.0-only
/* The kinds of queue discipline there are: see discipline.h. */
#include <math.h>
#include <string.h>

#include "discipline.h"
#include "text.h"

#define FORMED(kind, name, field, sum, form)			\
	{ name, offsetof(struct tc_##kind##_xstats, field),	\
	  sizeof(((struct tc_##kind##_xstats *)0)->field), sum, form }
#define COUNTER(kind, name, field, sum) FORMED(kind, name, field, sum, COUNT)

/* What is at the beginning of every kind's xstats. */
#define BELOW								\
	COUNTER(inflight, "in_flight", packets, ADD),			\
	COUNTER(inflight, "in_flight_bytes", bytes, ADD),		\
	COUNTER(inflight, "counted", counted, ADD),			\
	FORMED(inflight, "in_flight_limit", limit, ADD, UNLESS_0),	\
	FORMED(inflight, "in_flight_limit_bytes", limit_bytes, ADD, UNLESS_0), \
	FORMED(inflight, "turn_bytes", turn_bytes, ADD, UNLESS_0),	\
	FORMED(inflight, "completion_delay_ms", completion_delay, LARGEST, UNLESS_0), \
	COUNTER(inflight, "tracked", tracked, ADD),			\
	COUNTER(inflight, "untracked", untracked, ADD),			\
	COUNTER(inflight, "lost", lost, ADD),				\
	COUNTER(inflight, "throttled", throttled, ADD),			\
	COUNTER(inflight, "stalls", stalls, ADD),			\
	COUNTER(inflight, "stalled", stalled, ADD),			\
	COUNTER(inflight, "early", early, ADD),				\
	FORMED(inflight, "backpressure", backpressure, LARGEST, BACKPRESSURE)

static const struct option lasack_options[] = {
	{ "limit", TCA_LASACK_LIMIT, UNIT_NUMBER, NULL, NULL, NULL },
	{ "memory_limit", TCA_LASACK_MEMORY_LIMIT, UNIT_BYTES, NULL, NULL, NULL },
	{ "flows", TCA_LASACK_FLOWS, UNIT_NUMBER, NULL, NULL, NULL },
	{ "idle", TCA_LASACK_IDLE, UNIT_MS, "off", NULL, NULL },
	{ "halflife", TCA_LASACK_HALFLIFE, UNIT_MS, "off", NULL, NULL },
	{ "quantum", TCA_LASACK_QUANTUM, UNIT_BYTES, "off", NULL, "auto" },
	{ "floor", TCA_LASACK_FLOOR, UNIT_NUMBER, "off", NULL, NULL },
	{ "observe", TCA_LASACK_OBSERVE, UNIT_NUMBER, "off", "on", NULL },
	{ "inflight", TCA_LASACK_INFLIGHT, UNIT_NUMBER, "off", NULL, "auto" },
	{ "mode", TCA_LASACK_MODE, UNIT_NUMBER, "default", "paper", NULL },
	{ "fair", TCA_LASACK_FAIR, UNIT_NUMBER, "flow", "station", NULL },
	{ "overhead", TCA_LASACK_OVERHEAD, UNIT_BYTES, NULL, NULL, "auto" },
	{ "target", TCA_LASACK_TARGET, UNIT_MS, "off", NULL, "auto" },
	{ "unit", TCA_LASACK_UNIT, UNIT_NUMBER, "bytes", "airtime", NULL },
	{ NULL, 0, 0, NULL, NULL, NULL },
};

static const struct counter lasack_counters[] = {
	COUNTER(lasack, "flows", flows, ADD),
	COUNTER(lasack, "active", active, ADD),
	COUNTER(lasack, "pushed_out", pushed_out, ADD),
	COUNTER(lasack, "evicted", evicted, ADD),
	COUNTER(lasack, "expired", expired, ADD),
	COUNTER(lasack, "overflow", overflow, ADD),
	COUNTER(lasack, "collisions", collisions, ADD),
	COUNTER(lasack, "memory_bytes", memory, ADD),
	COUNTER(lasack, "sum_p50", sum_p50, LARGEST),
	COUNTER(lasack, "sum_p90", sum_p90, LARGEST),
	COUNTER(lasack, "sum_p99", sum_p99, LARGEST),
	COUNTER(lasack, "small_delay_us", small_delay, LARGEST),
	COUNTER(lasack, "small_delay_max_us", small_delay_max, LARGEST),
	COUNTER(lasack, "large_delay_us", large_delay, LARGEST),
	COUNTER(lasack, "large_delay_max_us", large_delay_max, LARGEST),
	COUNTER(lasack, "not_ip", not_ip, ADD),
	COUNTER(lasack, "portless", portless, ADD),
	COUNTER(lasack, "fragment", fragment, ADD),
	COUNTER(lasack, "truncated", truncated, ADD),
	COUNTER(lasack, "malformed", malformed, ADD),
	COUNTER(lasack, "enqueued", enqueued, ADD),
	COUNTER(lasack, "purged", purged, ADD),
	COUNTER(lasack, "observed", observed, ADD),
	COUNTER(lasack, "observed_bytes", observed_bytes, ADD),
	COUNTER(lasack, "slowed", slowed, ADD),
	COUNTER(lasack, "stations", stations, ADD),
	COUNTER(lasack, "overhead_bytes", overhead, LARGEST),
	COUNTER(lasack, "resynchronised", resynchronised, ADD),
	COUNTER(lasack, "late", late, ADD),
	COUNTER(lasack, "marked", marked, ADD),
	COUNTER(lasack, "thinned", thinned, ADD),
	COUNTER(lasack, "windows", windows, ADD),
	COUNTER(lasack, "rated", rated, ADD),
	BELOW,
	{ NULL, 0, 0, ADD, COUNT },
};

static void lasack_text(struct wrap *wrap, const struct qdisc *total)
{
	const struct tc_lasack_xstats *st = &total->xstats.lasack;

	wrap_item(wrap, "delay small %s (max %s)", format_us(st->small_delay).text,
		  format_us(st->small_delay_max).text);
	wrap_item(wrap, "large %s (max %s)", format_us(st->large_delay).text,
		  format_us(st->large_delay_max).text);
	wrap_item(wrap, "pushed out %llu", (unsigned long long)st->pushed_out);
	wrap_end(wrap);

	wrap_item(wrap, "flows %u (%u with packets)", st->flows, st->active);
	wrap_item(wrap, "evicted %llu", (unsigned long long)st->evicted);
	wrap_item(wrap, "expired %llu", (unsigned long long)st->expired);
	wrap_item(wrap, "overflow %llu", (unsigned long long)st->overflow);
	wrap_end(wrap);
}

const struct discipline lasack = {
	.kind = "lasack",
	.shown = true,
	.bound = TCA_LASACK_INFLIGHT,
	.options = lasack_options,
	.counters = lasack_counters,
	.xstats_size = sizeof(struct tc_lasack_xstats),
	.text = lasack_text,
};

static const struct option inflight_options[] = {
	{ "limit", TCA_INFLIGHT_LIMIT, UNIT_NUMBER, NULL, NULL, "auto" },
	{ "stall", TCA_INFLIGHT_STALL, UNIT_MS, NULL, NULL, NULL },
	{ NULL, 0, 0, NULL, NULL, NULL },
};

static const struct counter inflight_counters[] = {
	BELOW,
	{ NULL, 0, 0, ADD, COUNT },
};

const struct discipline inflight = {
	.kind = "inflight",
	.bound = TCA_INFLIGHT_LIMIT,
	.options = inflight_options,
	.counters = inflight_counters,
	.xstats_size = sizeof(struct tc_inflight_xstats),
};

static const struct option ackwrr_options[] = {
	{ "weights", TCA_ACKWRR_WEIGHT_DATA, UNIT_NUMBER, "auto", NULL, NULL },
	{ "weight_ack", TCA_ACKWRR_WEIGHT_ACK, UNIT_NUMBER, NULL, NULL, NULL },
	{ "limit", TCA_ACKWRR_LIMIT, UNIT_NUMBER, NULL, NULL, NULL },
	{ "inflight", TCA_ACKWRR_INFLIGHT, UNIT_NUMBER, "off", NULL, "auto" },
	{ NULL, 0, 0, NULL, NULL, NULL },
};

static const struct counter ackwrr_counters[] = {
	COUNTER(ackwrr, "enqueued", enqueued, ADD),
	COUNTER(ackwrr, "purged", purged, ADD),
	COUNTER(ackwrr, "not_ip", not_ip, ADD),
	COUNTER(ackwrr, "portless", portless, ADD),
	COUNTER(ackwrr, "fragment", fragment, ADD),
	COUNTER(ackwrr, "truncated", truncated, ADD),
	COUNTER(ackwrr, "malformed", malformed, ADD),
	COUNTER(ackwrr, "flows", flows, ADD),
	COUNTER(ackwrr, "downloads", downloads, ADD),
	COUNTER(ackwrr, "uploads", uploads, ADD),
	FORMED(ackwrr, "down_estimate", down_estimate, ADD, ESTIMATE),
	FORMED(ackwrr, "up_estimate", up_estimate, ADD, ESTIMATE),
	FORMED(ackwrr, "lag_bytes", lag, ADD, SIGNED),
	COUNTER(ackwrr, "down_charged_bytes", down_charged, ADD),
	COUNTER(ackwrr, "up_charged_bytes", up_charged, ADD),
	COUNTER(ackwrr, "down_free_bytes", down_free, ADD),
	COUNTER(ackwrr, "up_free_bytes", up_free, ADD),
	COUNTER(ackwrr, "evicted", evicted, ADD),
	COUNTER(ackwrr, "overflow", overflow, ADD),
	BELOW,
	{ NULL, 0, 0, ADD, COUNT },
};

static void ackwrr_text(struct wrap *wrap, const struct qdisc *total)
{
	const struct tc_ackwrr_xstats *st = &total->xstats.ackwrr;

	if (total->option[TCA_ACKWRR_WEIGHT_DATA] != TC_ACKWRR_AUTO)
		return;
	wrap_item(wrap, "downloads %u (estimate %.2f)", st->downloads,
		  st->down_estimate / (double)TC_ACKWRR_ESTIMATE_ONE);
	wrap_item(wrap, "uploads %u (%.2f)", st->uploads,
		  st->up_estimate / (double)TC_ACKWRR_ESTIMATE_ONE);
	wrap_item(wrap, "downloads lead by %d bytes", st->lag);
	wrap_end(wrap);
}

static void ackwrr_text_class(FILE *out, const struct class *class)
{
	bool ack = (class->id & 0xffff) == TC_ACKWRR_ACK;
	char weight[12] = "-", connections[16] = "-";

	if (class->weight)
		snprintf(weight, sizeof(weight), "%u", class->weight);
	if (!isnan(class->connections))
		snprintf(connections, sizeof(connections), "%.2f", class->connections);
	fprintf(out, "%-9s %-4s %6s %6s %8s %10llu %9u %5u %7s\n",
		format_handle(class->id).text, ack ? "ACK" : "DATA", weight, connections,
		format_bytes(class->bytes).text, (unsigned long long)class->packets,
		class->drops, class->backlog_packets, format_rate(class->rate).text);
}

const struct discipline ackwrr = {
	.kind = "ackwrr",
	.shown = true,
	.bound = TCA_ACKWRR_INFLIGHT,
	.options = ackwrr_options,
	.counters = ackwrr_counters,
	.xstats_size = sizeof(struct tc_ackwrr_xstats),
	.text = ackwrr_text,
	.classes_heading =
		"CLASS     OF   WEIGHT  CONNS     SENT    PACKETS   DROPPED QUEUE    Mb/s",
	.text_class = ackwrr_text_class,
};

const struct discipline *const disciplines[] = { &ackwrr, &lasack, &inflight, NULL };

uint64_t counter_read(const struct counter *counter, const struct qdisc *qdisc)
{
	const char *from = (const char *)&qdisc->xstats + counter->offset;
	uint32_t narrow;
	uint64_t wide;

	if (counter->size == sizeof(wide)) {
		memcpy(&wide, from, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, from, sizeof(narrow));
	return narrow;
}

uint64_t counter_named(const char *name, const struct qdisc *qdisc)
{
	for (const struct counter *c = qdisc->of->counters; c->name; c++)
		if (!strcmp(c->name, name))
			return counter_read(c, qdisc);
	return 0;
}

const char *option_word(const struct option *option, uint32_t value)
{
	if (!value)
		return option->zero;
	if (value == 1)
		return option->one;
	return ~value ? NULL : option->ones;
}
