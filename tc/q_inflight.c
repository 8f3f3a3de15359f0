// SPDX-License-Identifier: GPL-2.0-only
/*
 * tc plugin of the inflight queue discipline.
 *
 * Principle: besides the counters it says whether holding packets back works; on
 * a device that frees packets before it sends them it cannot.
 */
#include "../kernel/uapi/pkt_sch_inflight.h"
#include "qdisc_options.h"

static const char inflight_usage[] =
	"Usage: ... inflight [ limit { auto | PACKETS } ] [ stall TIME ]\n"
	"  limit  most packets in flight, 1 to 65535; default: auto\n"
	"  stall  if none of a station's packets is freed for this long, it may be\n"
	"         asleep; 10ms to 60s; default: 100ms\n"
	"Any qdisc can be attached to its class :1. Example:\n"
	"  tc qdisc replace dev wlan0 root handle 1: inflight limit auto\n"
	"  tc qdisc replace dev wlan0 parent 1:1 fq_codel\n";

static const struct option_word inflight_limit_words[] = {
	{ "auto", TC_INFLIGHT_AUTO },
	{ NULL, 0 },
};

static const struct qdisc_option inflight_options[] = {
	{ "limit", TCA_INFLIGHT_LIMIT, UNIT_PACKETS, 1, TC_INFLIGHT_MAX,
	  inflight_limit_words },
	{ .name = "stall", .attribute = TCA_INFLIGHT_STALL, .unit = UNIT_TIME,
	  .min = TC_INFLIGHT_STALL_MIN, .max = TC_INFLIGHT_STALL_MAX },
	{ .name = NULL },
};

static int inflight_parse_qopt(struct qdisc_util *qu, int argc, char **argv,
			       struct nlmsghdr *n, const char *dev)
{
	(void)dev;
	return qdisc_options_parse(qu->id, inflight_options, inflight_usage,
				    argc, argv, n);
}

static int inflight_print_qopt(struct qdisc_util *qu, FILE *f,
			       struct rtattr *opt)
{
	(void)f;
	qdisc_options_print(qu->id, inflight_options, opt);
	return 0;
}

static int inflight_print_xstats(struct qdisc_util *qu, FILE *f,
				 struct rtattr *xstats)
{
	struct tc_inflight_xstats st;

	(void)f;
	if (!xstats)
		return 0;
	xstats_read(qu->id, &st, sizeof(st), xstats);
	print_below(&st);
	return 0;
}

TC_PLUGIN_EXPORT struct qdisc_util inflight_qdisc_util = {
	.id		= "inflight",
	.parse_qopt	= inflight_parse_qopt,
	.print_qopt	= inflight_print_qopt,
	.print_xstats	= inflight_print_xstats,
};
