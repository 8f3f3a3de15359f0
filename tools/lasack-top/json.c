// SPDX-License-Identifier: GPL-2.0-only
/* Snapshots as JSON: see json.h. What is not known is null, never zero. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "backpressure.h"
#include "discipline.h"
#include "json.h"
#include "json_string.h"
#include "text.h"

static void put_number(FILE *out, const char *name, double value, int digits)
{
	if (isnan(value))
		fprintf(out, ",\"%s\":null", name);
	else
		fprintf(out, ",\"%s\":%.*f", name, digits, value);
}

static void put_options(FILE *out, const struct qdisc *qdisc)
{
	const char *comma = "";

	fputs(",\"options\":{", out);
	for (const struct option *o = qdisc->of->options; o->name; o++) {
		uint32_t value = qdisc->option[o->attribute];
		const char *word = option_word(o, value);

		if (!(qdisc->options & 1U << o->attribute))
			continue;
		fprintf(out, "%s\"%s\":", comma, o->name);
		if (word)
			json_string(out, word);
		else	/* times in microseconds, as tc -j has them */
			fprintf(out, "%" PRIu64, o->unit == UNIT_MS ?
				value * UINT64_C(1000) : value);
		comma = ",";
	}
	fputc('}', out);
}

static void put_counter(FILE *out, const struct counter *counter, uint64_t value)
{
	if (counter->form == UNLESS_0 && !value)
		return;
	fprintf(out, ",\"%s\":", counter->name);
	switch (counter->form) {
	case COUNT:
	case UNLESS_0:
		fprintf(out, "%" PRIu64, value);
		break;
	case SIGNED:
		fprintf(out, "%d", (int32_t)value);
		break;
	case ESTIMATE:
		fprintf(out, "%.6f", value / (double)TC_ACKWRR_ESTIMATE_ONE);
		break;
	case BACKPRESSURE:
		json_string(out, backpressure_word(value));
		break;
	}
}

static void put_qdisc(FILE *out, const struct qdisc *qdisc)
{
	fprintf(out, "{\"kind\":\"%s\",\"handle\":\"%s\",\"parent\":\"%s\"",
		qdisc->of->kind, format_handle(qdisc->handle).text,
		format_handle(qdisc->parent).text);
	put_options(out, qdisc);
	fprintf(out, ",\"bytes\":%" PRIu64 ",\"packets\":%" PRIu64
		",\"drops\":%u,\"overlimits\":%u,\"backlog\":%u,\"qlen\":%u",
		qdisc->bytes, qdisc->packets, qdisc->drops, qdisc->overlimits,
		qdisc->backlog_bytes, qdisc->backlog_packets);
	for (const struct counter *c = qdisc->of->counters; c->name; c++)
		put_counter(out, c, counter_read(c, qdisc));
	fputc('}', out);
}

static void put_class(FILE *out, const struct class *class)
{
	fprintf(out, "{\"class\":\"%s\",\"bytes\":%" PRIu64 ",\"packets\":%" PRIu64
		",\"drops\":%u,\"backlog\":%u,\"qlen\":%u", format_handle(class->id).text,
		class->bytes, class->packets, class->drops, class->backlog_bytes,
		class->backlog_packets);
	put_number(out, "weight", class->weight ? class->weight : NAN, 0);
	put_number(out, "connections", class->connections, 6);
	put_number(out, "rate_bps", class->rate, 0);
	fputc('}', out);
}

static void put_end(FILE *out, const char *name, const struct tc_lasack_flow *flow,
		    int end)
{
	struct tc_lasack_flow portless = *flow;

	portless.port[end] = 0;
	fprintf(out, ",\"%s\":{\"address\":\"%s\",\"port\":%u}", name,
		format_end(&portless, end, WIDTH_MAX).text, ntohs(flow->port[end]));
}

static void put_flow(FILE *out, const struct flow *flow)
{
	static const char *const directions[] = {
		[DIRECTION_UNKNOWN] = "unknown", [DIRECTION_DOWN] = "down",
		[DIRECTION_UP] = "up", [DIRECTION_BOTH] = "both",
	};
	const struct tc_lasack_flow *seen = &flow->seen;

	fprintf(out, "{\"qdisc\":\"%s\",\"class\":\"%s\"",
		format_handle(flow->qdisc).text, format_handle(flow->class).text);
	fprintf(out, ",\"direction\":\"%s\",\"protocol\":%u",
		directions[flow_direction(flow)], seen->protocol);
	put_end(out, "to", seen, seen->to);
	put_end(out, "from", seen, !seen->to);
	fprintf(out, ",\"attained_bytes\":%" PRIu64 ",\"sent_bytes\":%" PRIu64
		",\"received_bytes\":%" PRIu64, (uint64_t)seen->attained,
		(uint64_t)seen->sent, (uint64_t)seen->received);
	put_number(out, "share", flow->share, 4);
	put_number(out, "rate_bps", flow->rate, 0);
	put_number(out, "rate_share", flow->rate_share, 4);
	fprintf(out, ",\"backlog\":%u,\"qlen\":%u}", flow->backlog_bytes,
		flow->backlog_packets);
}

void json_page(FILE *out, const struct snapshot *snapshot)
{
	fprintf(out, "{\"schema\":%d,\"time_s\":%.3f", JSON_SCHEMA,
		snapshot->wall_ns / 1e9);
	put_number(out, "interval_s", snapshot->interval, 3);
	fputs(",\"device\":", out);
	json_string(out, snapshot->device);
	fputs(",\"qdiscs\":[", out);
	for (size_t i = 0; i < snapshot->qdisc_count; i++) {
		fputs(i ? "," : "", out);
		put_qdisc(out, &snapshot->qdiscs[i]);
	}
	fputs("],\"classes\":[", out);
	for (size_t i = 0; i < snapshot->class_count; i++) {
		fputs(i ? "," : "", out);
		put_class(out, &snapshot->classes[i]);
	}
	fputs("],\"flows\":[", out);
	for (size_t i = 0; i < snapshot->flow_count; i++) {
		fputs(i ? "," : "", out);
		put_flow(out, &snapshot->flows[i]);
	}
	fputs("]}\n", out);
}
