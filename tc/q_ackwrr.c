// SPDX-License-Identifier: GPL-2.0-only
/*
 * tc plugin of the ackwrr queue discipline.
 *
 * Principle: text for people, raw numbers in JSON; statistics of an older or
 * newer module are read as far as both know them.
 */
#include <inttypes.h>
#include "../kernel/uapi/pkt_sch_ackwrr.h"
#include "../kernel/uapi/pkt_sch_inflight.h"
#include "qdisc_options.h"

static const char ackwrr_usage[] =
	"Usage: ... ackwrr [ weights { DATA ACK | auto } ] [ limit PACKETS ]\n"
	"                  [ inflight { auto | off | PACKETS } ]\n"
	"  weights   packets served per round from class :1 (data) and :2 (pure TCP\n"
	"            ACKs), 1 to 255 each; default: 2 1. auto: uploads and\n"
	"            downloads get the same mean goodput\n"
	"  limit     most packets queued in each class's own FIFO, 1 to 1048576;\n"
	"            default: the device's txqueuelen\n"
	"  inflight  most packets in flight, 1 to 65535; default: auto on Wi-Fi, else off\n"
	"Any qdisc can be attached to the classes, and filters to the qdisc. Example:\n"
	"  tc qdisc replace dev wlan0 root handle 1: ackwrr weights 2 1 limit 100\n"
	"  tc qdisc replace dev wlan0 parent 1:1 fq_codel\n";

static const struct option_word ackwrr_inflight_words[] = {
	{ "auto", TC_INFLIGHT_AUTO },
	{ "off", TC_INFLIGHT_OFF },
	{ NULL, 0 },
};

static const struct option_word ackwrr_auto[] = {
	{ "auto", TC_ACKWRR_AUTO },
	{ NULL, 0 },
};

static const struct qdisc_option ackwrr_options[] = {
	{ .name = "weights", .attribute = TCA_ACKWRR_WEIGHT_DATA, .unit = UNIT_NONE,
	  .min = 1, .max = TC_ACKWRR_WEIGHT_MAX, .words = ackwrr_auto,
	  .second = TCA_ACKWRR_WEIGHT_ACK, .second_name = "weight_ack" },
	{ .name = "limit", .attribute = TCA_ACKWRR_LIMIT, .unit = UNIT_PACKETS,
	  .min = 1, .max = TC_ACKWRR_LIMIT_MAX },
	{ .name = "inflight", .attribute = TCA_ACKWRR_INFLIGHT, .unit = UNIT_PACKETS,
	  .min = 1, .max = TC_INFLIGHT_MAX, .words = ackwrr_inflight_words },
	{ .name = NULL },
};

static const char ackwrr_class_usage[] =
	"Usage: tc class change dev DEV parent QDISC: classid QDISC:CLASS ackwrr weight PACKETS\n"
	"  weight    packets served per round, 1 to 255; not with weights auto\n";

static const struct qdisc_option ackwrr_class_options[] = {
	{ .name = "weight", .attribute = TCA_ACKWRR_CLASS_WEIGHT, .unit = UNIT_NONE,
	  .min = 1, .max = TC_ACKWRR_WEIGHT_MAX },
	{ .name = NULL },
};

static int ackwrr_parse_qopt(struct qdisc_util *qu, int argc, char **argv,
			     struct nlmsghdr *n, const char *dev)
{
	(void)dev;
	return qdisc_options_parse(qu->id, ackwrr_options, ackwrr_usage, argc,
				    argv, n);
}

static int ackwrr_parse_copt(struct qdisc_util *qu, int argc, char **argv,
			     struct nlmsghdr *n, const char *dev)
{
	(void)dev;
	return qdisc_options_parse(qu->id, ackwrr_class_options, ackwrr_class_usage,
				    argc, argv, n);
}

static int ackwrr_print_qopt(struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	(void)f;
	qdisc_options_print(qu->id, ackwrr_options, opt);
	return 0;
}

/* Connections, to the hundredth. */
static void print_estimate(const char *key, const char *format, __u32 estimate)
{
	char text[16];

	snprintf(text, sizeof(text), "%.2f", (double)estimate / TC_ACKWRR_ESTIMATE_ONE);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, format, text);
	print_color_float(PRINT_JSON, COLOR_NONE, key, NULL,
			  (double)estimate / TC_ACKWRR_ESTIMATE_ONE);
}

static void print_lag(__s32 lag)
{
	print_color_int(PRINT_ANY, COLOR_NONE, "lag_bytes", " lag %db", lag);
}

static int ackwrr_print_xstats(struct qdisc_util *qu, FILE *f,
			       struct rtattr *xstats)
{
	struct tc_ackwrr_xstats st;

	(void)f;
	if (!xstats)
		return 0;
	xstats_read(qu->id, &st, sizeof(st), xstats);

	print_count("enqueued", "  enqueued %" PRIu64, st.enqueued);
	print_count("purged", " purged %" PRIu64, st.purged);
	print_nl();
	print_count("not_ip", "  not_ip %" PRIu64, st.not_ip);
	print_count("portless", " portless %" PRIu64, st.portless);
	print_count("fragment", " fragment %" PRIu64, st.fragment);
	print_count("truncated", " truncated %" PRIu64, st.truncated);
	print_count("malformed", " malformed %" PRIu64, st.malformed);
	print_nl();
	print_count("flows", "  flows %" PRIu64, st.flows);
	print_count("evicted", " evicted %" PRIu64, st.evicted);
	print_count("overflow", " overflow %" PRIu64, st.overflow);
	print_nl();
	print_count("downloads", "  downloads %" PRIu64, st.downloads);
	print_count("uploads", " uploads %" PRIu64, st.uploads);
	print_estimate("down_estimate", " estimates %s", st.down_estimate);
	print_estimate("up_estimate", " %s", st.up_estimate);
	print_count("down_charged_bytes", " charged %" PRIu64 "b", st.down_charged);
	print_count("up_charged_bytes", " %" PRIu64 "b", st.up_charged);
	print_count("down_free_bytes", " free %" PRIu64 "b", st.down_free);
	print_count("up_free_bytes", " %" PRIu64 "b", st.up_free);
	print_lag(st.lag);
	print_nl();
	print_below(&st.below);
	return 0;
}

static int ackwrr_print_copt(struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	struct rtattr *tb[TCA_ACKWRR_CLASS_MAX + 1];
	__u32 value;

	(void)qu;
	(void)f;
	if (!opt)
		return 0;
	parse_rtattr_flags(tb, TCA_ACKWRR_CLASS_MAX, RTA_DATA(opt),
			   RTA_PAYLOAD(opt), NLA_F_NESTED);
	if (tb[TCA_ACKWRR_CLASS_WEIGHT]) {
		xstats_copy(&value, sizeof(value), tb[TCA_ACKWRR_CLASS_WEIGHT]);
		print_count("weight", "weight %" PRIu64 " ", value);
	}
	if (tb[TCA_ACKWRR_CLASS_CONNECTIONS]) {
		xstats_copy(&value, sizeof(value), tb[TCA_ACKWRR_CLASS_CONNECTIONS]);
		print_estimate("connections", "connections %s ", value);
	}
	return 0;
}

TC_PLUGIN_EXPORT struct qdisc_util ackwrr_qdisc_util = {
	.id		= "ackwrr",
	.parse_qopt	= ackwrr_parse_qopt,
	.print_qopt	= ackwrr_print_qopt,
	.print_xstats	= ackwrr_print_xstats,
	.parse_copt	= ackwrr_parse_copt,
	.print_copt	= ackwrr_print_copt,
};
