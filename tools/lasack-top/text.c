// SPDX-License-Identifier: GPL-2.0-only
/* Snapshots as text: see text.h. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <linux/pkt_sched.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backpressure.h"
#include "die.h"
#include "discipline.h"
#include "shell_word.h"
#include "text.h"

/* Of a line of the table, before the two ends of the flow. */
#define FIXED_COLUMNS	40

/* As it is written for tc: there k is 1024. */
static struct text format_option(const struct option *option, uint32_t value)
{
	const char *word = option_word(option, value);
	struct text out;

	if (word)
		snprintf(out.text, sizeof(out.text), "%s", word);
	else if (option->unit == UNIT_BYTES && value && !(value & 0xfffff))
		snprintf(out.text, sizeof(out.text), "%um", value >> 20);
	else if (option->unit == UNIT_BYTES && value && !(value & 0x3ff))
		snprintf(out.text, sizeof(out.text), "%uk", value >> 10);
	else if (option->unit == UNIT_MS)
		snprintf(out.text, sizeof(out.text), value % 1000 ? "%ums" : "%us",
			 value % 1000 ? value : value / 1000);
	else
		snprintf(out.text, sizeof(out.text), "%u", value);
	return out;
}

static void put_options(struct wrap *wrap, const struct qdisc *qdisc)
{
	const char *kind = qdisc->of->kind, *space = " ";

	for (const struct option *o = qdisc->of->options; o->name; o++) {
		if (!(qdisc->options & 1U << o->attribute))
			continue;
		wrap_item(wrap, "%s%s%s %s", kind, space, o->name,
			  format_option(o, qdisc->option[o->attribute]).text);
		kind = space = "";
	}
	wrap_end(wrap);
}

static void put_title(struct wrap *wrap, const struct snapshot *snapshot)
{
	time_t when = snapshot->wall_ns / 1000000000;
	struct qdisc total;
	struct tm local;
	char clock[16];
	size_t count;

	localtime_r(&when, &local);
	strftime(clock, sizeof(clock), "%H:%M:%S", &local);
	wrap_item(wrap, "%s  %s", clock, shell_word(snapshot->device).text);
	for (const struct discipline *const *d = disciplines; *d; d++) {
		count = snapshot_total(snapshot, *d, &total);
		if (count == 1)
			wrap_item(wrap, "%s %s %s%s", (*d)->kind,
				  format_handle(total.handle).text,
				  total.parent == TC_H_ROOT ? "" : "parent ",
				  format_handle(total.parent).text);
		else if (count)
			wrap_item(wrap, "%s in %zu places", (*d)->kind, count);
	}
	wrap_end(wrap);
}

/*
 * "in flight 3 of 8": the bound may be an inflight's, or lasack's own, or ackwrr's;
 * the one next to the device is the one that counts.
 */
static void put_in_flight(struct wrap *wrap, const struct snapshot *snapshot)
{
	static const struct discipline *const nearest[] = { &inflight, &ackwrr, &lasack };
	struct qdisc total = { };
	uint64_t packets, learnt;
	uint32_t limit = TC_INFLIGHT_OFF;

	for (size_t i = 0; i < 3 && limit == TC_INFLIGHT_OFF; i++)
		if (snapshot_total(snapshot, nearest[i], &total))
			limit = total.option[nearest[i]->bound];
	if (limit == TC_INFLIGHT_OFF) {
		wrap_item(wrap, "in flight unbounded");
		wrap_end(wrap);
		return;
	}
	packets = counter_named("in_flight", &total);
	learnt = counter_named("in_flight_limit_bytes", &total);
	if (limit != TC_INFLIGHT_AUTO)
		wrap_item(wrap, "in flight %" PRIu64 " of %u", packets, limit);
	else if (learnt)
		wrap_item(wrap, "in flight %" PRIu64 " (auto: %s)", packets,
			  format_bytes(learnt).text);
	else
		wrap_item(wrap, "in flight %" PRIu64 " (auto)", packets);
	wrap_item(wrap, "throttled %" PRIu64, counter_named("throttled", &total));
	wrap_item(wrap, "stalled %" PRIu64, counter_named("stalled", &total));
	wrap_item(wrap, "back-pressure %s",
		  backpressure_word(counter_named("backpressure", &total)));
	wrap_end(wrap);
}

static void put_counters(struct wrap *wrap, const struct qdisc *total)
{
	wrap_item(wrap, "sent %s", format_bytes(total->bytes).text);
	wrap_item(wrap, "%" PRIu64 " packets", total->packets);
	wrap_item(wrap, "dropped %u", total->drops);
	wrap_item(wrap, "backlog %u packets", total->backlog_packets);
	wrap_item(wrap, "%s", format_bytes(total->backlog_bytes).text);
	wrap_end(wrap);
}

static const char *protocol_name(uint8_t protocol, char *number)
{
	switch (protocol) {
	case IPPROTO_TCP:
		return "tcp";
	case IPPROTO_UDP:
		return "udp";
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return "icmp";
	case IPPROTO_ESP:
		return "esp";
	}
	snprintf(number, 4, "%u", protocol);
	return number;
}

static struct text format_share(double share)
{
	struct text out = { "-" };

	if (!isnan(share))
		snprintf(out.text, sizeof(out.text), "%.0f", share * 100);
	return out;
}

/* What both columns of ends get, the whole of it if that fits. */
static void ends_widths(const struct snapshot *snapshot, int room, int *to, int *from)
{
	int wanted[2] = { strlen("TO"), strlen("FROM") };

	for (size_t i = 0; i < snapshot->flow_count; i++) {
		const struct tc_lasack_flow *flow = &snapshot->flows[i].seen;

		for (int k = 0; k < 2; k++) {
			int end = k ? !flow->to : flow->to;
			int length = strlen(format_end(flow, end, WIDTH_MAX).text);

			if (length > wanted[k])
				wanted[k] = length;
		}
	}
	*to = wanted[0];
	*from = wanted[1];
	if (*to + *from <= room)
		return;
	if (*to <= room / 2)
		*from = room - *to;
	else if (*from <= room / 2)
		*to = room - *from;
	else
		*from = room - (*to = room / 2);
}

static void put_flow(FILE *out, const struct flow *flow, int to, int from)
{
	static const char *const names[] = {
		[DIRECTION_UNKNOWN] = "-", [DIRECTION_DOWN] = "down",
		[DIRECTION_UP] = "up", [DIRECTION_BOTH] = "both",
	};
	const struct tc_lasack_flow *seen = &flow->seen;
	char number[4];

	fprintf(out, "%-4s %-4s %8s %3s %6s %3s %5u %-*s %s\n",
		names[flow_direction(flow)], protocol_name(seen->protocol, number),
		format_bytes(seen->attained).text, format_share(flow->share).text,
		format_rate(flow->rate).text, format_share(flow->rate_share).text,
		flow->backlog_packets, to, format_end(seen, seen->to, to).text,
		format_end(seen, !seen->to, from).text);
}

static int lines_in(const char *text)
{
	int lines = 0;

	while ((text = strchr(text, '\n')))
		lines++, text++;
	return lines;
}

static void put_head(FILE *out, const struct snapshot *snapshot, int width)
{
	struct wrap wrap = { out, width, 0 };
	struct qdisc total;

	put_title(&wrap, snapshot);
	for (const struct discipline *const *d = disciplines; *d; d++) {
		if (!(*d)->shown || !snapshot_total(snapshot, *d, &total))
			continue;
		put_options(&wrap, &total);
		put_counters(&wrap, &total);
		if ((*d)->text)
			(*d)->text(&wrap, &total);
	}
	put_in_flight(&wrap, snapshot);
}

static void put_flows(FILE *out, const struct snapshot *snapshot, int width)
{
	int to, from;

	ends_widths(snapshot, width - FIXED_COLUMNS - 1, &to, &from);
	fprintf(out, "%-4s %-4s %8s %3s %6s %3s %5s %-*s %s\n", "DIR", "PROT",
		"ATTAINED", "%", "Mb/s", "%", "QUEUE", to, "TO", "FROM");
	for (size_t i = 0; i < snapshot->flow_count; i++)
		put_flow(out, &snapshot->flows[i], to, from);
	if (!snapshot->flow_count)
		fputs("no flows yet\n", out);
}

static void put_classes(FILE *out, const struct snapshot *snapshot,
			const struct discipline *of)
{
	fprintf(out, "%s\n", of->classes_heading);
	for (size_t i = 0; i < snapshot->class_count; i++)
		if (snapshot->classes[i].of == of)
			of->text_class(out, &snapshot->classes[i]);
}

uint64_t text_page(FILE *out, const struct snapshot *snapshot, int width)
{
	uint64_t headings = 0;
	struct qdisc total;
	char *page = NULL;
	size_t size;
	FILE *part = open_memstream(&page, &size);

	if (!part)
		die("out of memory");
	put_head(part, snapshot, width);
	for (const struct discipline *const *d = disciplines; *d; d++) {
		if (!(*d)->shown || !snapshot_total(snapshot, *d, &total))
			continue;
		fputc('\n', part);
		fflush(part);
		headings |= UINT64_C(1) << (lines_in(page) % 64);
		if ((*d)->text_class)
			put_classes(part, snapshot, *d);
		else
			put_flows(part, snapshot, width);
	}
	fclose(part);
	fputs(page, out);
	free(page);
	return headings;
}
