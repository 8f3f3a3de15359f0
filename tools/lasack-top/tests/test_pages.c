// SPDX-License-Identifier: GPL-2.0-only
/*
 * What lasack-top makes of snapshots, from fabricated ones: every expectation
 * is worked out by hand from what the manual page promises.
 */
#include <arpa/inet.h>
#include <linux/pkt_sched.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "die.h"
#include "discipline.h"
#include "json.h"
#include "tap.h"
#include "text.h"

#define EXPECT_TEXT(actual, expected)					\
	do {								\
		const char *actual_ = (actual), *expected_ = (expected); \
		if (strcmp(actual_, expected_)) {			\
			printf("# %s:%d: \"%s\", not \"%s\"\n", __FILE__,	\
			       __LINE__, actual_, expected_);		\
			(*failures)++;					\
		}							\
	} while (0)

#define EXPECT_IN(text, wanted)						\
	do {								\
		if (!strstr(text, wanted)) {				\
			printf("# %s:%d: no \"%s\" in:\n%s\n", __FILE__,	\
			       __LINE__, wanted, text);			\
			(*failures)++;					\
		}							\
	} while (0)

static void set_end(struct tc_lasack_flow *flow, int end, const char *address, int port)
{
	char mapped[INET6_ADDRSTRLEN + 8];

	snprintf(mapped, sizeof(mapped), "%s%s", strchr(address, ':') ? "" : "::ffff:",
		 address);
	if (inet_pton(AF_INET6, mapped, flow->addr[end]) != 1)
		die("%s is no address", address);
	flow->port[end] = htons(port);
}

/* To a station, end 1, from a server, end 0; added to SNAPSHOT. */
static struct flow *add_flow(struct snapshot *snapshot, int station, uint64_t sent,
			     uint64_t received)
{
	struct flow *flow = snapshot_add_flow(snapshot);
	char address[32];

	snprintf(address, sizeof(address), "10.1.0.%d", station);
	flow->qdisc = 0x20000;
	flow->class = 0x20000 + station;
	flow->seen.protocol = IPPROTO_TCP;
	flow->seen.to = 1;
	set_end(&flow->seen, 0, "10.0.0.2", 5001);
	set_end(&flow->seen, 1, address, 40000 + station);
	flow->seen.sent = sent;
	flow->seen.received = received;
	flow->seen.attained = sent + received;
	return flow;
}

static struct qdisc *add_lasack(struct snapshot *snapshot, uint32_t handle, uint32_t parent)
{
	struct qdisc *qdisc = snapshot_add_qdisc(snapshot);

	strcpy(snapshot->device, "wlan0");
	qdisc->of = &lasack;
	qdisc->handle = handle;
	qdisc->parent = parent;
	qdisc->options = 1U << TCA_LASACK_LIMIT | 1U << TCA_LASACK_IDLE |
			 1U << TCA_LASACK_INFLIGHT | 1U << TCA_LASACK_QUANTUM |
			 1U << TCA_LASACK_OBSERVE;
	qdisc->option[TCA_LASACK_LIMIT] = 100;
	qdisc->option[TCA_LASACK_IDLE] = 300000;
	qdisc->option[TCA_LASACK_INFLIGHT] = TC_INFLIGHT_AUTO;
	qdisc->option[TCA_LASACK_OBSERVE] = 1;
	return qdisc;
}

static char *page(const struct snapshot *snapshot, int width)
{
	static char text[16384];
	FILE *out = fmemopen(text, sizeof(text), "w");

	text_page(out, snapshot, width);
	fclose(out);
	return text;
}

static char *json(const struct snapshot *snapshot)
{
	static char text[16384];
	FILE *out = fmemopen(text, sizeof(text), "w");

	json_page(out, snapshot);
	fclose(out);
	return text;
}

static void test_numbers(int *failures)
{
	EXPECT_TEXT(format_bytes(0).text, "0 B");
	EXPECT_TEXT(format_bytes(999).text, "999 B");
	EXPECT_TEXT(format_bytes(1000).text, "1.00 kB");
	EXPECT_TEXT(format_bytes(9994).text, "9.99 kB");
	EXPECT_TEXT(format_bytes(9996).text, "10.0 kB");
	EXPECT_TEXT(format_bytes(99960).text, "100 kB");
	EXPECT_TEXT(format_bytes(999600).text, "1.00 MB");
	EXPECT_TEXT(format_bytes(UINT64_MAX).text, "18.4 EB");
	EXPECT_TEXT(format_us(1).text, "1 us");
	EXPECT_TEXT(format_us(1234).text, "1.23 ms");
	EXPECT_TEXT(format_us(UINT32_MAX).text, "4295 s");
}

static void test_handles(int *failures)
{
	EXPECT_TEXT(format_handle(TC_H_ROOT).text, "root");
	EXPECT_TEXT(format_handle(0x10000).text, "1:");
	EXPECT_TEXT(format_handle(0x80010000).text, "8001:");
	EXPECT_TEXT(format_handle(0x0001001f).text, "1:1f");
	EXPECT_TEXT(format_handle(0).text, "0:");
}

static void test_ends(int *failures)
{
	struct tc_lasack_flow flow = { };

	set_end(&flow, 0, "192.168.100.200", 65535);
	set_end(&flow, 1, "2001:db8:aaaa:bbbb:1234:5678:9abc:1", 443);
	EXPECT_TEXT(format_end(&flow, 0, 21).text, "192.168.100.200:65535");
	EXPECT_TEXT(format_end(&flow, 0, 20).text, "..168.100.200:65535");
	EXPECT_TEXT(format_end(&flow, 1, WIDTH_MAX).text,
		    "[2001:db8:aaaa:bbbb:1234:5678:9abc:1]:443");
	EXPECT_TEXT(format_end(&flow, 1, 30).text, "[2001:db..5678:9abc:1]:443");
	EXPECT_TEXT(format_end(&flow, 1, 19).text, "[..5678:9abc:1]:443");
	flow.port[1] = 0;
	EXPECT_TEXT(format_end(&flow, 1, WIDTH_MAX).text,
		    "2001:db8:aaaa:bbbb:1234:5678:9abc:1");
	for (int width = 12; width < 60; width++)
		for (int end = 0; end < 2; end++)
			EXPECT(strlen(format_end(&flow, end, width).text) <= (size_t)width);
}

static void test_directions(int *failures)
{
	struct flow flow = { .seen.protocol = IPPROTO_TCP };

	EXPECT_EQ(flow_direction(&flow), DIRECTION_UNKNOWN);
	flow.seen.sent = 300;
	EXPECT_EQ(flow_direction(&flow), DIRECTION_DOWN);
	flow.seen.received = 100;
	EXPECT_EQ(flow_direction(&flow), DIRECTION_DOWN);
	flow.seen.received = 101;
	EXPECT_EQ(flow_direction(&flow), DIRECTION_BOTH);
	flow.seen.received = 901;
	EXPECT_EQ(flow_direction(&flow), DIRECTION_UP);
	/* A UDP upload sends little down, and nobody sees what comes up. */
	flow.seen.protocol = IPPROTO_UDP;
	EXPECT_EQ(flow_direction(&flow), DIRECTION_UP);
	flow.seen.received = 0;
	EXPECT_EQ(flow_direction(&flow), DIRECTION_UNKNOWN);
}

static void test_rates(int *failures)
{
	struct snapshot before = { .taken_ns = 1000000000 };
	struct snapshot now = { .taken_ns = 3000000000 };

	add_flow(&before, 11, 1000000, 0);
	add_flow(&before, 12, 0, 500000);
	add_flow(&before, 14, 900000, 0);
	add_flow(&now, 12, 0, 500000);
	add_flow(&now, 11, 1750000, 0);		/* 750 kB in 2 s: 3 Mb/s */
	add_flow(&now, 13, 1000, 0);		/* was not listed */
	add_flow(&now, 14, 250000, 0);		/* a new life: 1 Mb/s */
	snapshot_compare(&now, &before);
	EXPECT_EQ(now.interval * 1000, 2000);
	EXPECT_EQ(now.flows[0].rate, 0);
	EXPECT_EQ(now.flows[1].rate, 3000000);
	EXPECT(isnan(now.flows[2].rate) && isnan(now.flows[2].rate_share));
	EXPECT_EQ(now.flows[3].rate, 1000000);
	EXPECT_EQ(now.flows[1].rate_share * 10000, 7500);
	EXPECT_EQ(lround(now.flows[0].share * 2501000), 500000);
	snapshot_compare(&now, NULL);
	EXPECT(isnan(now.flows[1].rate) && isnan(now.interval));

	/* The place has another flow now: nothing is known of it. */
	set_end(&before.flows[0].seen, 1, "10.1.0.99", 1);
	snapshot_compare(&now, &before);
	EXPECT(isnan(now.flows[1].rate));
	snapshot_clear(&now);
	snapshot_clear(&before);
}

static void test_order(int *failures)
{
	struct snapshot snapshot = { };

	add_flow(&snapshot, 1, 5000, 0)->rate = NAN;
	add_flow(&snapshot, 2, 0, 9000)->rate = 1;
	add_flow(&snapshot, 3, 7000, 0)->rate = 2;
	snapshot.flows[0].backlog_bytes = 10;
	snapshot_sort(&snapshot, SORT_ATTAINED);
	EXPECT_EQ(snapshot.flows[0].class, 0x20002);
	EXPECT_EQ(snapshot.flows[2].class, 0x20001);
	snapshot_sort(&snapshot, SORT_RATE);
	EXPECT_EQ(snapshot.flows[0].class, 0x20003);
	EXPECT_EQ(snapshot.flows[2].class, 0x20001);
	snapshot_sort(&snapshot, SORT_BACKLOG);
	EXPECT_EQ(snapshot.flows[0].class, 0x20001);
	EXPECT_EQ(snapshot.flows[1].class, 0x20002);
	snapshot_clear(&snapshot);
}

/* As below mq: counters add up, delays and percentiles cannot. */
static void test_totals(int *failures)
{
	struct snapshot snapshot = { };
	struct qdisc total;

	for (int i = 1; i <= 3; i++) {
		struct qdisc *qdisc = add_lasack(&snapshot, 0, 0x10000 + i);

		qdisc->bytes = UINT32_MAX;
		qdisc->drops = i;
		qdisc->xstats.lasack.flows = 10 * i;
		qdisc->xstats.lasack.pushed_out = UINT32_MAX;
		qdisc->xstats.lasack.small_delay_max = i == 2 ? 7000 : 30;
	}
	EXPECT_EQ(snapshot_total(&snapshot, &lasack, &total), 3);
	EXPECT_EQ(total.bytes, 3LL * UINT32_MAX);
	EXPECT_EQ(total.drops, 6);
	EXPECT_EQ(total.xstats.lasack.flows, 60);
	EXPECT_EQ(total.xstats.lasack.pushed_out, 3LL * UINT32_MAX);
	EXPECT_EQ(total.xstats.lasack.small_delay_max, 7000);
	EXPECT_EQ(snapshot_total(&snapshot, &inflight, &total), 0);
	EXPECT_IN(page(&snapshot, 80), "wlan0, lasack in 3 places\n");
	snapshot_clear(&snapshot);
}

static void test_page(int *failures)
{
	struct snapshot snapshot = { .wall_ns = 3661000000000 };
	FILE *nowhere = fopen("/dev/null", "w");
	struct qdisc *qdisc = add_lasack(&snapshot, 0x20000, 0x10001);

	qdisc->bytes = 1234567;
	qdisc->xstats.lasack.below.packets = 3;
	qdisc->xstats.lasack.below.limit_bytes = 12345;
	qdisc->xstats.lasack.below.backpressure = TC_INFLIGHT_AIR;
	qdisc->xstats.lasack.small_delay_max = 12345;
	add_flow(&snapshot, 11, 0, 3000000)->backlog_packets = 23;
	add_flow(&snapshot, 12, 1000000, 0);
	snapshot_compare(&snapshot, NULL);
	snapshot.flows[0].rate = 2470000;
	snapshot.flows[0].rate_share = 1;
	EXPECT_IN(page(&snapshot, 80),
		  "01:01:01  wlan0, lasack 2: parent 1:1\n"
		  "lasack limit 100, idle 300s, quantum off, observe on, inflight auto\n"
		  "sent 1.23 MB, 0 packets, dropped 0, backlog 0 packets, 0 B\n"
		  "delay small 0 us (max 12.3 ms), large 0 us (max 0 us), pushed out 0\n"
		  "flows 0 (0 with packets), evicted 0, expired 0, overflow 0\n"
		  "in flight 3 (auto: 12.3 kB), throttled 0, stalled 0, "
		  "back-pressure air\n"
		  "\n"
		  "DIR  PROT ATTAINED   %   Mb/s   % QUEUE TO              FROM\n"
		  "up   tcp   3.00 MB  75   2.47 100    23 10.1.0.11:40011 10.0.0.2:5001\n"
		  "down tcp   1.00 MB  25      -   -     0 10.1.0.12:40012 10.0.0.2:5001\n");
	EXPECT_EQ(text_page(nowhere, &snapshot, 80), 1 << 7);
	fclose(nowhere);
	/* The bound above it is the one that counts. */
	qdisc = snapshot_add_qdisc(&snapshot);
	qdisc->of = &inflight;
	qdisc->handle = 0x10000;
	qdisc->parent = TC_H_ROOT;
	qdisc->option[TCA_INFLIGHT_LIMIT] = 8;
	qdisc->xstats.inflight.packets = 5;
	EXPECT_IN(page(&snapshot, 80), "wlan0, lasack 2: parent 1:1, inflight 1: root\n");
	EXPECT_IN(page(&snapshot, 80), "\nin flight 5 of 8, throttled 0, "
		  "stalled 0, back-pressure untried\n");
	snapshot_clear(&snapshot);
}

/* As with a lasack for the data: two tables. */
static void test_classes(int *failures)
{
	struct snapshot snapshot = { .taken_ns = 2000000000 }, before = { };
	struct class *class;
	struct qdisc *qdisc;

	add_lasack(&snapshot, 0x20000, 0x10001);
	qdisc = snapshot_add_qdisc(&snapshot);
	qdisc->of = &ackwrr;
	qdisc->handle = 0x10000;
	qdisc->parent = TC_H_ROOT;
	qdisc->options = 1U << TCA_ACKWRR_WEIGHT_DATA | 1U << TCA_ACKWRR_WEIGHT_ACK;
	qdisc->option[TCA_ACKWRR_WEIGHT_DATA] = 3;
	qdisc->option[TCA_ACKWRR_WEIGHT_ACK] = 1;
	for (int i = 1; i <= 2; i++) {
		class = snapshot_add_class(&snapshot);
		class->of = &ackwrr;
		class->id = 0x10000 + i;
		class->bytes = 4000000 * i;
		class->packets = 4000;
		class->drops = 5;
		class->weight = i == 1 ? 3 : 0;
		class->connections = i == 1 ? NAN : 1.5;
		class->backlog_packets = 6;
		if (i == 2)
			continue;
		*snapshot_add_class(&before) = *class;
		before.classes[0].bytes = 1000000;
	}
	snapshot_compare(&snapshot, &before);
	EXPECT_IN(page(&snapshot, 80), "wlan0, ackwrr 1: root, lasack 2: parent 1:1\n"
		  "ackwrr weights 3, weight_ack 1\n");
	/* 3 MB in 2 s; of the other nothing was known */
	EXPECT_IN(page(&snapshot, 80), "\n"
		  "CLASS     OF   WEIGHT  CONNS     SENT    PACKETS   DROPPED QUEUE    Mb/s\n"
		  "1:1       DATA      3      -  4.00 MB       4000         5     6   12.00\n"
		  "1:2       ACK       -   1.50  8.00 MB       4000         5     6       -\n"
		  "\n"
		  "DIR  PROT");
	EXPECT_IN(json(&snapshot), "],\"classes\":[{\"class\":\"1:1\",\"bytes\":4000000,"
		  "\"packets\":4000,\"drops\":5,\"backlog\":0,\"qlen\":6,"
		  "\"weight\":3,\"connections\":null,\"rate_bps\":12000000},");
	EXPECT_IN(json(&snapshot), "\"weight\":null,\"connections\":1.500000,");
	/* auto: 2 connections down and 1.5 up, which are 1000 bytes ahead */
	qdisc->option[TCA_ACKWRR_WEIGHT_DATA] = TC_ACKWRR_AUTO;
	qdisc->xstats.ackwrr.downloads = qdisc->xstats.ackwrr.uploads = 2;
	qdisc->xstats.ackwrr.down_estimate = 512;
	qdisc->xstats.ackwrr.up_estimate = 384;
	qdisc->xstats.ackwrr.lag = -1000;
	EXPECT_IN(page(&snapshot, 80), "\ndownloads 2 (estimate 2.00), uploads 2 (1.50), "
		  "downloads lead by -1000 bytes\n");
	EXPECT_IN(json(&snapshot), "\"up_estimate\":1.500000,\"lag_bytes\":-1000,");
	snapshot_clear(&snapshot);
	snapshot_clear(&before);
}

static void test_width(int *failures)
{
	struct snapshot snapshot = { };
	struct qdisc *qdisc = add_lasack(&snapshot, 0x80010000, 0x12341234);
	struct flow *flow;
	char *rest, *line;

	memset(&qdisc->xstats, 0xff, sizeof(qdisc->xstats));
	qdisc->options = 0x3fe;
	memset(&qdisc->option, 0xfe, sizeof(qdisc->option));
	qdisc->bytes = qdisc->packets = UINT64_MAX;
	qdisc->drops = qdisc->backlog_bytes = qdisc->backlog_packets = UINT32_MAX;
	flow = add_flow(&snapshot, 11, UINT64_MAX / 2, UINT64_MAX / 2);
	set_end(&flow->seen, 0, "2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff", 65535);
	set_end(&flow->seen, 1, "2001:db8:aaaa:bbbb:cccc:dddd:eeee:1111", 65535);
	flow->backlog_packets = 99999;
	flow->seen.protocol = 255;
	flow->rate = 123456e6;
	flow->share = flow->rate_share = 1;
	for (int width = WIDTH_MIN; width <= WIDTH_MAX; width++) {
		rest = page(&snapshot, width);
		while ((line = strsep(&rest, "\n")))
			if (strlen(line) > (size_t)width)
				EXPECT_TEXT(line, "a line within the width");
	}
	EXPECT_IN(page(&snapshot, WIDTH_MAX), " [2001:db8:aaaa:bbbb:cccc:dddd:eeee:1111]:65535 "
		  "[2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff]:65535\n");
	snapshot_clear(&snapshot);
}

/* Anybody who may make a device chooses the bytes of its name. */
static void test_names(int *failures)
{
	static const struct { const char *name, *said; } rows[] = {
		{ "w\xff", "w\\ufffd" },		/* never in UTF-8 */
		{ "\xc3\xa9", "\xc3\xa9" },		/* one character */
		{ "\xc3(", "\\ufffd(" },		/* cut off */
		{ "\xe2\x82\xac", "\xe2\x82\xac" },
		{ "\xc0\xaf", "\\ufffd\\ufffd" },	/* '/', too long */
		{ "\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd" },	/* half of a pair */
		{ "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
		{ "\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd" },
	};
	struct snapshot snapshot = { };
	char wanted[64];

	add_lasack(&snapshot, 0x20000, TC_H_ROOT);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		strcpy(snapshot.device, rows[i].name);
		snprintf(wanted, sizeof(wanted), "\"device\":\"%s\",", rows[i].said);
		EXPECT_IN(json(&snapshot), wanted);
	}
	strcpy(snapshot.device, "e\033[31m");
	EXPECT_IN(page(&snapshot, 80), "  'e?[31m'");
	EXPECT(!strchr(page(&snapshot, 80), '\033'));
	snapshot_clear(&snapshot);
}

static void test_json(int *failures)
{
	struct snapshot snapshot = { .wall_ns = 1500000000 };

	add_lasack(&snapshot, 0x20000, TC_H_ROOT)->xstats.lasack.evicted = UINT64_MAX;
	add_flow(&snapshot, 11, 0, 3000000);
	snapshot_compare(&snapshot, NULL);
	strcpy(snapshot.device, "w\"\\\1");
	EXPECT_IN(json(&snapshot), "{\"schema\":1,\"time_s\":1.500,\"interval_s\":null,"
		  "\"device\":\"w\\\"\\\\\\u0001\",\"qdiscs\":[{\"kind\":\"lasack\","
		  "\"handle\":\"2:\",\"parent\":\"root\",\"options\":{\"limit\":100,"
		  "\"idle\":300000000,\"quantum\":\"off\",\"observe\":\"on\",\"inflight\":\"auto\"},");
	EXPECT_IN(json(&snapshot), ",\"evicted\":18446744073709551615,");
	EXPECT_IN(json(&snapshot), "\"flows\":[{\"qdisc\":\"2:\",\"class\":\"2:b\","
		  "\"direction\":\"up\",\"protocol\":6,"
		  "\"to\":{\"address\":\"10.1.0.11\",\"port\":40011},"
		  "\"from\":{\"address\":\"10.0.0.2\",\"port\":5001},"
		  "\"attained_bytes\":3000000,\"sent_bytes\":0,\"received_bytes\":3000000,"
		  "\"share\":1.0000,\"rate_bps\":null,\"rate_share\":null,"
		  "\"backlog\":0,\"qlen\":0}]}\n");
	snapshot_clear(&snapshot);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "numbers have three digits and a unit", test_numbers },
		{ "handles are written as tc writes them", test_handles },
		{ "ends of flows fit their column", test_ends },
		{ "directions", test_directions },
		{ "rates and shares", test_rates },
		{ "order", test_order },
		{ "totals of several queue disciplines", test_totals },
		{ "a page", test_page },
		{ "a table of classes", test_classes },
		{ "no line is longer than the terminal", test_width },
		{ "an object", test_json },
		{ "names", test_names },
		{ NULL, NULL },
	};

	setenv("TZ", "UTC", 1);
	return tap_run(cases);
}
