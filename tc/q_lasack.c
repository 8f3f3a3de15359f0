// SPDX-License-Identifier: GPL-2.0-only
/*
 * tc plugin of the lasack queue discipline.
 *
 * Principle: text for people, raw numbers in JSON; statistics of an older or
 * newer module are read as far as both know them.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdint.h>
#include <string.h>
#include "../kernel/uapi/pkt_sch_inflight.h"
#include "../kernel/uapi/pkt_sch_lasack.h"
#include "qdisc_options.h"

static const char lasack_usage[] =
	"Usage: ... lasack [ limit PACKETS ] [ memory_limit BYTES ] [ flows NUMBER ]\n"
	"                  [ idle { off | TIME } ] [ halflife { off | TIME } ]\n"
	"                  [ quantum { auto | off | BYTES } ] [ floor { off | PERCENT } ]\n"
	"                  [ observe { on | off } ] [ inflight { auto | off | PACKETS } ]\n"
	"                  [ mode { default | paper } ] [ fair { flow | station } ]\n"
	"                  [ overhead { auto | BYTES } ] [ target { auto | off | TIME } ]\n"
	"                  [ unit { bytes | airtime } ]\n"
	"  limit         most packets queued, 1 to 1048576; default: 4096 with a target\n"
	"                on Wi-Fi, without one at most 300; else the device's txqueuelen\n"
	"  memory_limit  most memory they may use, 64k to 4294967295 bytes; default: 32m\n"
	"  flows         flows remembered, 1 to 65535; default: 4096 on Wi-Fi, else 1024\n"
	"  idle          time after which a flow without packets is forgotten,\n"
	"                100ms to 86400s; default: 300s\n"
	"  halflife      time in which every sum decays to half, 100ms to 86400s;\n"
	"                default: off\n"
	"  quantum       bytes sent to one station before switching, 1000 to 16m;\n"
	"                default: auto on Wi-Fi with stations: two aggregates; else off\n"
	"  floor         percent of what new flows get for one that starves, 1 to 100;\n"
	"                default: 35; off with mode paper\n"
	"  observe       count the bytes that arrive, to charge uploads that are not TCP,\n"
	"                and tell their senders; default: on on Wi-Fi, else off\n"
	"  inflight      most packets in flight, 1 to 65535; default: auto on Wi-Fi,\n"
	"                else off\n"
	"  mode          paper: only the rules of the paper that tc-lasack(8) names;\n"
	"                default: default\n"
	"  fair          who gets equal shares: flows, or first stations and then the\n"
	"                flows of each; default: station on Wi-Fi, else flow\n"
	"  overhead      the least number of bytes a packet is charged, 0 to 65535;\n"
	"                default: auto, which is 640 on Wi-Fi, else 84\n"
	"  target        how long the packets of a flow should wait at most: senders are\n"
	"                told to send less, 1ms to 10s; auto: 100ms, or 50ms if they\n"
	"                leave in aggregates, and less for near servers;\n"
	"                default: auto on Wi-Fi, else off\n"
	"  unit          what is equal between stations: bytes, or airtime at the rate\n"
	"                of each; default: airtime on Wi-Fi that tells rates, else bytes\n"
	"Example: tc qdisc replace dev wlan0 root lasack\n";

static const struct option_word lasack_inflight_words[] = {
	{ "auto", TC_INFLIGHT_AUTO },
	{ "off", TC_INFLIGHT_OFF },
	{ NULL, 0 },
};

static const struct option_word lasack_off[] = {
	{ "off", 0 },
	{ NULL, 0 },
};

static const struct option_word lasack_on_off[] = {
	{ "on", 1 },
	{ "off", 0 },
	{ NULL, 0 },
};

static const struct option_word lasack_modes[] = {
	{ "default", TC_LASACK_MODE_DEFAULT },
	{ "paper", TC_LASACK_MODE_PAPER },
	{ NULL, 0 },
};

static const struct option_word lasack_fair[] = {
	{ "flow", TC_LASACK_FAIR_FLOW },
	{ "station", TC_LASACK_FAIR_STATION },
	{ NULL, 0 },
};

static const struct option_word lasack_units[] = {
	{ "bytes", TC_LASACK_UNIT_BYTES },
	{ "airtime", TC_LASACK_UNIT_AIRTIME },
	{ NULL, 0 },
};

static const struct option_word lasack_auto[] = {
	{ "auto", TC_LASACK_OVERHEAD_AUTO },
	{ NULL, 0 },
};

static const struct option_word lasack_quantum[] = {
	{ "auto", TC_LASACK_QUANTUM_AUTO },
	{ "off", 0 },
	{ NULL, 0 },
};

static const struct option_word lasack_target[] = {
	{ "auto", TC_LASACK_TARGET_AUTO },
	{ "off", 0 },
	{ NULL, 0 },
};

static const struct qdisc_option lasack_options[] = {
	{ "limit", TCA_LASACK_LIMIT, UNIT_PACKETS, 1, TC_LASACK_LIMIT_MAX, NULL },
	{ "memory_limit", TCA_LASACK_MEMORY_LIMIT, UNIT_BYTES,
	  TC_LASACK_MEMORY_MIN, UINT32_MAX, NULL },
	{ "flows", TCA_LASACK_FLOWS, UNIT_NONE, 1, TC_LASACK_FLOWS_MAX, NULL },
	{ "idle", TCA_LASACK_IDLE, UNIT_TIME,
	  TC_LASACK_TIME_MIN, TC_LASACK_TIME_MAX, lasack_off },
	{ "halflife", TCA_LASACK_HALFLIFE, UNIT_TIME,
	  TC_LASACK_TIME_MIN, TC_LASACK_TIME_MAX, lasack_off },
	{ "quantum", TCA_LASACK_QUANTUM, UNIT_BYTES,
	  TC_LASACK_QUANTUM_MIN, TC_LASACK_QUANTUM_MAX, lasack_quantum },
	{ "floor", TCA_LASACK_FLOOR, UNIT_PERCENT, 1, TC_LASACK_FLOOR_MAX, lasack_off },
	{ "observe", TCA_LASACK_OBSERVE, UNIT_WORD, 0, 0, lasack_on_off },
	{ "inflight", TCA_LASACK_INFLIGHT, UNIT_PACKETS, 1, TC_INFLIGHT_MAX,
	  lasack_inflight_words },
	{ "mode", TCA_LASACK_MODE, UNIT_WORD, 0, 0, lasack_modes },
	{ "fair", TCA_LASACK_FAIR, UNIT_WORD, 0, 0, lasack_fair },
	{ "overhead", TCA_LASACK_OVERHEAD, UNIT_BYTES, 0, TC_LASACK_OVERHEAD_MAX, lasack_auto },
	{ "target", TCA_LASACK_TARGET, UNIT_TIME, 1, TC_LASACK_TARGET_MAX, lasack_target },
	{ "unit", TCA_LASACK_UNIT, UNIT_WORD, 0, 0, lasack_units },
	{ .name = NULL },
};

static int lasack_parse_qopt(struct qdisc_util *qu, int argc, char **argv,
			     struct nlmsghdr *n, const char *dev)
{
	(void)dev;
	return qdisc_options_parse(qu->id, lasack_options, lasack_usage, argc,
				    argv, n);
}

static int lasack_print_qopt(struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	(void)f;
	qdisc_options_print(qu->id, lasack_options, opt);
	return 0;
}

static int lasack_print_xstats(struct qdisc_util *qu, FILE *f,
			       struct rtattr *xstats)
{
	struct tc_lasack_xstats st;

	(void)f;
	if (!xstats)
		return 0;
	xstats_read(qu->id, &st, sizeof(st), xstats);

	print_count("flows", "  flows %" PRIu64, st.flows);
	print_count("pushed_out", " pushed_out %" PRIu64, st.pushed_out);
	print_count("evicted", " evicted %" PRIu64, st.evicted);
	print_count("overflow", " overflow %" PRIu64, st.overflow);
	print_nl();
	print_count("active", "  active %" PRIu64, st.active);
	print_count("expired", " expired %" PRIu64, st.expired);
	print_count("collisions", " collisions %" PRIu64, st.collisions);
	print_count("memory_bytes", " memory %" PRIu64 "b", st.memory);
	print_nl();
	print_count("sum_p50", "  sums p50 %" PRIu64, st.sum_p50);
	print_count("sum_p90", " p90 %" PRIu64, st.sum_p90);
	print_count("sum_p99", " p99 %" PRIu64 " bytes", st.sum_p99);
	print_nl();
	print_count("small_delay_us", "  delay small %" PRIu64 "us", st.small_delay);
	print_count("small_delay_max_us", " max %" PRIu64 "us", st.small_delay_max);
	print_count("large_delay_us", " large %" PRIu64 "us", st.large_delay);
	print_count("large_delay_max_us", " max %" PRIu64 "us", st.large_delay_max);
	print_nl();
	print_count("enqueued", "  enqueued %" PRIu64, st.enqueued);
	print_count("purged", " purged %" PRIu64, st.purged);
	print_nl();
	print_count("observed", "  observed %" PRIu64, st.observed);
	print_count("observed_bytes", " bytes %" PRIu64, st.observed_bytes);
	print_count("slowed", " slowed %" PRIu64, st.slowed);
	print_nl();
	print_count("stations", "  stations %" PRIu64, st.stations);
	print_count("overhead_bytes", " overhead %" PRIu64 "b", st.overhead);
	print_count("resynchronised", " resynchronised %" PRIu64, st.resynchronised);
	print_count("rated", " rated %" PRIu64, st.rated);
	print_nl();
	print_count("late", "  late %" PRIu64, st.late);
	print_count("marked", " marked %" PRIu64, st.marked);
	print_count("thinned", " thinned %" PRIu64, st.thinned);
	print_count("windows", " windows %" PRIu64, st.windows);
	print_nl();
	print_count("not_ip", "  not_ip %" PRIu64, st.not_ip);
	print_count("portless", " portless %" PRIu64, st.portless);
	print_count("fragment", " fragment %" PRIu64, st.fragment);
	print_count("truncated", " truncated %" PRIu64, st.truncated);
	print_count("malformed", " malformed %" PRIu64, st.malformed);
	print_nl();
	print_below(&st.below);
	return 0;
}

static void print_endpoint(const struct tc_lasack_flow *flow, int end)
{
	static const __u8 mapped[12] = { [10] = 0xff, 0xff };
	const __u8 *address = flow->addr[end];
	bool ipv4 = !memcmp(address, mapped, sizeof(mapped));
	bool to = flow->to == end;
	char text[INET6_ADDRSTRLEN];

	inet_ntop(ipv4 ? AF_INET : AF_INET6,
		  ipv4 ? address + sizeof(mapped) : address, text, sizeof(text));
	print_color_string(PRINT_ANY, COLOR_NONE, to ? "to" : "from",
			   to ? "to %s " : "from %s ", text);
	print_color_uint(PRINT_ANY, COLOR_NONE, to ? "to_port" : "from_port",
			 "port %u ", ntohs(flow->port[end]));
}

/* What is known of the flow's station, with unit airtime. */
static void print_rates(const struct tc_lasack_flow *flow)
{
	if (!flow->tx_price)
		return;
	print_count("tx_rate_kbps", "tx_rate %" PRIu64 "kbit ", flow->tx_rate * 100ULL);
	print_count("rx_rate_kbps", "rx_rate %" PRIu64 "kbit ", flow->rx_rate * 100ULL);
	print_count("tx_price_percent", "tx_price %" PRIu64 "%% ", flow->tx_price);
	print_count("rx_price_percent", "rx_price %" PRIu64 "%% ", flow->rx_price);
}

/* A class is a flow. Its packets go from one end to the other, and ACKs back. */
static int lasack_print_copt(struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	struct rtattr *tb[TCA_LASACK_CLASS_MAX + 1];
	struct tc_lasack_flow flow;

	(void)qu;
	(void)f;
	if (!opt)
		return 0;
	parse_rtattr_flags(tb, TCA_LASACK_CLASS_MAX, RTA_DATA(opt),
			   RTA_PAYLOAD(opt), NLA_F_NESTED);
	if (!tb[TCA_LASACK_CLASS_FLOW])
		return 0;
	xstats_copy(&flow, sizeof(flow), tb[TCA_LASACK_CLASS_FLOW]);
	print_color_uint(PRINT_ANY, COLOR_NONE, "protocol", "protocol %u ",
			 flow.protocol);
	print_endpoint(&flow, !flow.to);
	print_endpoint(&flow, flow.to);
	print_count("attained_bytes", "attained %" PRIu64 "b ", flow.attained);
	print_count("sent_bytes", "sent %" PRIu64 "b ", flow.sent);
	print_count("received_bytes", "received %" PRIu64 "b ", flow.received);
	print_rates(&flow);
	return 0;
}

TC_PLUGIN_EXPORT struct qdisc_util lasack_qdisc_util = {
	.id		= "lasack",
	.parse_qopt	= lasack_parse_qopt,
	.print_qopt	= lasack_print_qopt,
	.print_xstats	= lasack_print_xstats,
	.print_copt	= lasack_print_copt,
};
