// SPDX-License-Identifier: GPL-2.0-only
/*
 * The options of LAS-ACK: their defaults, their ranges, and how they are read.
 *
 * Principle: everything is validated before anything is changed. If a value is refused, the
 * message names the option and says what to give.
 */
#include <linux/minmax.h>
#include <linux/netdevice.h>
#include <net/netlink.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>
#include "common/wireless.h"
#include "inflight/inflight.h"
#include "lasack/lasack_config.h"
#include "lasack/airtime/lasack_rates.h"
#include "uapi/pkt_sch_lasack.h"

#define LASACK_FLOWS		1024
/* No fewer than packets, or one station's flows could have a packet in every place. */
#define LASACK_FLOWS_WIFI	LASACK_LIMIT_TARGET
#define LASACK_MEMORY_LIMIT	(32 << 20)	/* bytes, as fq_codel has */
/* RFC 4787, REQ-5: for how long a NAT should remember a mapping, at least. */
#define LASACK_IDLE		(5 * 60 * MSEC_PER_SEC)

/*
 * IEEE 802.3, 3.1.1 and 4.4.2: the shortest frame with its preamble, start of frame
 * delimiter, frame check sequence and the gap before the next one.
 */
#define LASACK_OVERHEAD_WIRE	84
/* Packets of a queue on Wi-Fi without a target. */
#define LASACK_LIMIT_WIFI	300
/* With one: 490 Mb/s in full packets for 100 ms. */
#define LASACK_LIMIT_TARGET	4096
/*
 * IEEE 802.11b at 11 Mb/s, long preamble: a frame of 40 bytes of IP takes 0.87 ms with
 * its contention and ACK, one of 1500 bytes 1.93 ms. So it costs as much as 0.45 of these.
 */
#define LASACK_OVERHEAD_WIFI	640
/*
 * Of 50, 100, 150 and 200 ms the least that costs hardly any goodput on 802.11b
 * (Documentation/measurements/rivals.md).
 */
#define LASACK_TARGET		100	/* ms */
/*
 * Of what a flow that starves and the new flows of its station get. With 25 one of ten uploads
 * starves in spite of it (Documentation/measurements/long-flows.md).
 */
#define LASACK_FLOOR		35	/* percent */

static struct netlink_range_validation lasack_limit_range = {
	.min = 1, .max = TC_LASACK_LIMIT_MAX,
};

static struct netlink_range_validation lasack_memory_range = {
	.min = TC_LASACK_MEMORY_MIN, .max = U32_MAX,
};

static struct netlink_range_validation lasack_flows_range = {
	.min = 1, .max = TC_LASACK_FLOWS_MAX,
};

/* 0 is off. Values between 0 and the least are refused below. */
static struct netlink_range_validation lasack_time_range = {
	.max = TC_LASACK_TIME_MAX,
};

static const struct nla_policy lasack_policy[TCA_LASACK_MAX + 1] = {
	[TCA_LASACK_LIMIT]	= NLA_POLICY_FULL_RANGE(NLA_U32, &lasack_limit_range),
	[TCA_LASACK_INFLIGHT]	= { .type = NLA_U32 },
	[TCA_LASACK_MEMORY_LIMIT] = NLA_POLICY_FULL_RANGE(NLA_U32, &lasack_memory_range),
	[TCA_LASACK_FLOWS]	= NLA_POLICY_FULL_RANGE(NLA_U32, &lasack_flows_range),
	[TCA_LASACK_IDLE]	= NLA_POLICY_FULL_RANGE(NLA_U32, &lasack_time_range),
	[TCA_LASACK_HALFLIFE]	= NLA_POLICY_FULL_RANGE(NLA_U32, &lasack_time_range),
	[TCA_LASACK_QUANTUM]	= { .type = NLA_U32 },
	[TCA_LASACK_FLOOR]	= NLA_POLICY_MAX(NLA_U32, TC_LASACK_FLOOR_MAX),
	[TCA_LASACK_OBSERVE]	= NLA_POLICY_MAX(NLA_U32, 1),
	[TCA_LASACK_MODE]	= NLA_POLICY_MAX(NLA_U32, __TC_LASACK_MODES - 1),
	[TCA_LASACK_FAIR]	= NLA_POLICY_MAX(NLA_U32, __TC_LASACK_FAIR - 1),
	[TCA_LASACK_OVERHEAD]	= { .type = NLA_U32 },
	[TCA_LASACK_TARGET]	= { .type = NLA_U32 },
	[TCA_LASACK_UNIT]	= NLA_POLICY_MAX(NLA_U32, __TC_LASACK_UNITS - 1),
};

static int lasack_refuse(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	switch (nla_type(attr)) {
	case TCA_LASACK_LIMIT:
		NL_SET_ERR_MSG_ATTR(extack, attr, "limit: give 1 to 1048576 packets");
		break;
	case TCA_LASACK_MEMORY_LIMIT:
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "memory_limit: give 65536 to 4294967295 bytes");
		break;
	case TCA_LASACK_FLOWS:
		NL_SET_ERR_MSG_ATTR(extack, attr, "flows: give 1 to 65535");
		break;
	case TCA_LASACK_IDLE:
		NL_SET_ERR_MSG_ATTR(extack, attr, "idle: give 100 to 86400000 ms, or 0");
		break;
	case TCA_LASACK_HALFLIFE:
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "halflife: give 100 to 86400000 ms, or 0");
		break;
	case TCA_LASACK_QUANTUM:
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "quantum: give 1000 to 16777216 bytes, 0, or auto");
		break;
	case TCA_LASACK_FLOOR:
		NL_SET_ERR_MSG_ATTR(extack, attr, "floor: give 1 to 100 percent, or 0");
		break;
	case TCA_LASACK_OBSERVE:
		NL_SET_ERR_MSG_ATTR(extack, attr, "observe: give 1, or 0");
		break;
	case TCA_LASACK_MODE:
		NL_SET_ERR_MSG_ATTR(extack, attr, "mode: give 0 (default) or 1 (paper)");
		break;
	case TCA_LASACK_FAIR:
		NL_SET_ERR_MSG_ATTR(extack, attr, "fair: give 0 (flow) or 1 (station)");
		break;
	case TCA_LASACK_UNIT:
		NL_SET_ERR_MSG_ATTR(extack, attr, "unit: give 0 (bytes) or 1 (airtime)");
		break;
	case TCA_LASACK_TARGET:
		NL_SET_ERR_MSG_ATTR(extack, attr, "target: give 1 to 10000 ms, 0, or auto");
		break;
	case TCA_LASACK_OVERHEAD:
		NL_SET_ERR_MSG_ATTR(extack, attr, "overhead: give 0 to 65535 bytes, or auto");
		break;
	}
	return -ERANGE;
}

/* On Wi-Fi the queue is this one. On a wire the bottleneck may be elsewhere. */
static u32 lasack_default_target(const struct net_device *dev)
{
	return device_is_wireless(dev) ? TC_LASACK_TARGET_AUTO : 0;
}

/*
 * On Wi-Fi a target bounds the queue by time. The limit only has to leave room for what a fast cell
 * sends in the target. Without one, less than the 1000 packets of ether_setup(): a window that long
 * is uploaded before its first ACK has left, which no order of ACKs can mend.
 */
static u32 lasack_default_limit(const struct net_device *dev, u32 target)
{
	u32 limit = dev->tx_queue_len ?: DEFAULT_TX_QUEUE_LEN;

	if (device_is_wireless(dev))
		limit = target ? LASACK_LIMIT_TARGET : min_t(u32, limit, LASACK_LIMIT_WIFI);
	return clamp_t(u32, limit, 1, TC_LASACK_LIMIT_MAX);
}

/* On Wi-Fi stations share the air. More connections should not give a station more of it. */
static u32 lasack_default_fair(const struct net_device *dev)
{
	return device_is_wireless(dev) ? TC_LASACK_FAIR_STATION : TC_LASACK_FAIR_FLOW;
}

/*
 * On Wi-Fi stations upload over QUIC or a VPN, too. On a wire both directions have their own
 * bottleneck. The paper counts TCP alone.
 */
static u32 lasack_default_observe(const struct lasack_config *config, const struct net_device *dev)
{
	return IS_ENABLED(CONFIG_NETFILTER_INGRESS) && device_is_wireless(dev) &&
	       config->mode == TC_LASACK_MODE_DEFAULT;
}

/* On Wi-Fi a slow station's bytes take long. Where rates are told, it pays for that. */
static u32 lasack_default_unit(const struct lasack_config *config, const struct net_device *dev)
{
	return config->fair == TC_LASACK_FAIR_STATION && lasack_rates_told(dev) ?
	       TC_LASACK_UNIT_AIRTIME : TC_LASACK_UNIT_BYTES;
}

/* A bound tells how the device aggregates. What it aggregates is a station's. */
static u32 lasack_default_quantum(const struct lasack_config *config, const struct net_device *dev)
{
	return config->fair == TC_LASACK_FAIR_STATION && device_is_wireless(dev) ?
	       TC_LASACK_QUANTUM_AUTO : 0;
}

/**
 * lasack_config_init() - the defaults
 * @config: filled in completely
 * @sch: of this queue discipline
 */
void lasack_config_init(struct lasack_config *config, const struct Qdisc *sch)
{
	const struct net_device *dev = qdisc_dev(sch);

	*config = (struct lasack_config) {
		.limit = lasack_default_limit(dev, lasack_default_target(dev)),
		.memory_limit = LASACK_MEMORY_LIMIT,
		.flows = device_is_wireless(dev) ? LASACK_FLOWS_WIFI : LASACK_FLOWS,
		.idle = LASACK_IDLE,
		.mode = TC_LASACK_MODE_DEFAULT,
		.fair = lasack_default_fair(dev),
		.floor = LASACK_FLOOR,
		.overhead = TC_LASACK_OVERHEAD_AUTO,
		.target = lasack_default_target(dev),
		.inflight = inflight_default_limit(sch),
	};
	config->observe = lasack_default_observe(config, dev);
	config->unit = lasack_default_unit(config, dev);
	config->quantum = lasack_default_quantum(config, dev);
}

/* Off, or at least @min. Return: 0 or -ERANGE. */
static int lasack_get_at_least(u32 *value, const struct nlattr *attr, u32 min,
			       struct netlink_ext_ack *extack)
{
	if (!attr)
		return 0;
	*value = nla_get_u32(attr);
	return *value && *value < min ? lasack_refuse(attr, extack) : 0;
}

static void lasack_get(u32 *value, const struct nlattr *attr)
{
	if (attr)
		*value = nla_get_u32(attr);
}

/*
 * What the mode decides: the paper knows flows alone, no target and no floor.
 * Return: 0 or an error.
 */
static int lasack_get_mode(struct lasack_config *config, const struct net_device *dev,
			   struct nlattr **tb, struct netlink_ext_ack *extack)
{
	u32 before = config->mode;
	bool paper;

	lasack_get(&config->mode, tb[TCA_LASACK_MODE]);
	paper = config->mode == TC_LASACK_MODE_PAPER;
	if (config->mode != before) {
		config->fair = paper ? TC_LASACK_FAIR_FLOW : lasack_default_fair(dev);
		config->target = paper ? 0 : lasack_default_target(dev);
		config->floor = paper ? 0 : LASACK_FLOOR;
		config->observe = lasack_default_observe(config, dev);
	}
	lasack_get(&config->floor, tb[TCA_LASACK_FLOOR]);
	lasack_get(&config->observe, tb[TCA_LASACK_OBSERVE]);
	if (config->observe && !IS_ENABLED(CONFIG_NETFILTER_INGRESS)) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_LASACK_OBSERVE],
				    "observe: give 0: this kernel has no CONFIG_NETFILTER_INGRESS");
		return -EOPNOTSUPP;
	}
	lasack_get(&config->fair, tb[TCA_LASACK_FAIR]);
	lasack_get(&config->target, tb[TCA_LASACK_TARGET]);
	if (config->target > TC_LASACK_TARGET_MAX && config->target != TC_LASACK_TARGET_AUTO)
		return lasack_refuse(tb[TCA_LASACK_TARGET], extack);
	if (paper && config->target) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_LASACK_TARGET],
				    "target: give 0, or mode default: the paper knows no target");
		return -EINVAL;
	}
	if (paper && config->fair != TC_LASACK_FAIR_FLOW) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_LASACK_FAIR],
				    "fair: give flow, or mode default: the paper knows no stations");
		return -EINVAL;
	}
	return 0;
}

/* Only stations have rates, and only their device tells them. Return: 0 or a negative error. */
static int lasack_get_unit(struct lasack_config *config, const struct net_device *dev,
			   const struct nlattr *attr, u32 fair_before,
			   struct netlink_ext_ack *extack)
{
	if (config->fair != fair_before)
		config->unit = lasack_default_unit(config, dev);
	lasack_get(&config->unit, attr);
	if (config->unit == TC_LASACK_UNIT_BYTES)
		return 0;
	if (config->fair != TC_LASACK_FAIR_STATION) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "unit: give 0 (bytes), or mode default fair station");
		return -EINVAL;
	}
	if (!lasack_rates_told(dev)) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "unit: give 0 (bytes): this device tells no stations' rates");
		return -EOPNOTSUPP;
	}
	return 0;
}

/* Return: 0, -ERANGE or -EINVAL. */
static int lasack_get_quantum(struct lasack_config *config, const struct net_device *dev,
			      const struct nlattr *attr, u32 fair_before,
			      struct netlink_ext_ack *extack)
{
	/* Bytes that somebody gave stay. */
	if (config->fair != fair_before &&
	    (!config->quantum || config->quantum == TC_LASACK_QUANTUM_AUTO))
		config->quantum = lasack_default_quantum(config, dev);
	lasack_get(&config->quantum, attr);
	if (config->quantum == TC_LASACK_QUANTUM_AUTO) {
		if (config->fair == TC_LASACK_FAIR_STATION)
			return 0;
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "quantum: give bytes, 0, or mode default fair station");
		return -EINVAL;
	}
	if (config->quantum > TC_LASACK_QUANTUM_MAX ||
	    (config->quantum && config->quantum < TC_LASACK_QUANTUM_MIN))
		return lasack_refuse(attr, extack);
	return 0;
}

/* Without a limit of its own, a queue has what is usual for the target. */
static void lasack_get_limit(struct lasack_config *config, const struct net_device *dev,
			     const struct nlattr *attr, u32 target_before)
{
	if (config->limit == lasack_default_limit(dev, target_before))
		config->limit = lasack_default_limit(dev, config->target);
	lasack_get(&config->limit, attr);
}

/* Checks everything except the ranges, which the policy checks. */
static int lasack_config_get(struct lasack_config *config, const struct net_device *dev,
			     struct nlattr **tb, struct netlink_ext_ack *extack)
{
	u32 fair = config->fair, target = config->target;
	int err;

	lasack_get(&config->memory_limit, tb[TCA_LASACK_MEMORY_LIMIT]);
	lasack_get(&config->flows, tb[TCA_LASACK_FLOWS]);
	lasack_get(&config->overhead, tb[TCA_LASACK_OVERHEAD]);
	if (config->overhead > TC_LASACK_OVERHEAD_MAX &&
	    config->overhead != TC_LASACK_OVERHEAD_AUTO)
		return lasack_refuse(tb[TCA_LASACK_OVERHEAD], extack);
	err = lasack_get_at_least(&config->idle, tb[TCA_LASACK_IDLE],
				  TC_LASACK_TIME_MIN, extack) ?:
	      lasack_get_at_least(&config->halflife, tb[TCA_LASACK_HALFLIFE],
				  TC_LASACK_TIME_MIN, extack) ?:
	      lasack_get_mode(config, dev, tb, extack) ?:
	      lasack_get_unit(config, dev, tb[TCA_LASACK_UNIT], fair, extack) ?:
	      lasack_get_quantum(config, dev, tb[TCA_LASACK_QUANTUM], fair, extack);
	lasack_get_limit(config, dev, tb[TCA_LASACK_LIMIT], target);
	return err ?: inflight_parse_bound(tb[TCA_LASACK_INFLIGHT], &config->inflight, extack);
}

/**
 * lasack_config_parse() - options from attributes
 * @config: those that are given are set; of no use after an error
 * @dev: the device they are for
 * @opt: TCA_OPTIONS
 * @extack: says which one is bad, and what to give
 *
 * Return: 0 or a negative error.
 */
int lasack_config_parse(struct lasack_config *config, const struct net_device *dev,
			const struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_LASACK_MAX + 1];
	int err;

	err = nla_parse_nested(tb, TCA_LASACK_MAX, opt, lasack_policy, extack);
	if (err == -ERANGE && extack && extack->bad_attr)
		return lasack_refuse(extack->bad_attr, extack);
	return err < 0 ? err : lasack_config_get(config, dev, tb, extack);
}

/* Return: 0 or -EMSGSIZE. */
int lasack_config_put(const struct lasack_config *config, struct sk_buff *skb)
{
	if (nla_put_u32(skb, TCA_LASACK_LIMIT, config->limit) ||
	    nla_put_u32(skb, TCA_LASACK_MEMORY_LIMIT, config->memory_limit) ||
	    nla_put_u32(skb, TCA_LASACK_FLOWS, config->flows) ||
	    nla_put_u32(skb, TCA_LASACK_IDLE, config->idle) ||
	    nla_put_u32(skb, TCA_LASACK_HALFLIFE, config->halflife) ||
	    nla_put_u32(skb, TCA_LASACK_QUANTUM, config->quantum) ||
	    nla_put_u32(skb, TCA_LASACK_FLOOR, config->floor) ||
	    nla_put_u32(skb, TCA_LASACK_OBSERVE, config->observe) ||
	    nla_put_u32(skb, TCA_LASACK_MODE, config->mode) ||
	    nla_put_u32(skb, TCA_LASACK_FAIR, config->fair) ||
	    nla_put_u32(skb, TCA_LASACK_OVERHEAD, config->overhead) ||
	    nla_put_u32(skb, TCA_LASACK_TARGET, config->target) ||
	    nla_put_u32(skb, TCA_LASACK_UNIT, config->unit) ||
	    nla_put_u32(skb, TCA_LASACK_INFLIGHT, config->inflight))
		return -EMSGSIZE;
	return 0;
}

/* What a queue must be made for. */
struct lasack_shape lasack_config_shape(const struct lasack_config *config)
{
	return (struct lasack_shape) {
		.flows = config->flows,
		.paper = config->mode == TC_LASACK_MODE_PAPER,
		.by_station = config->fair == TC_LASACK_FAIR_STATION,
		.runs = config->quantum && config->quantum != TC_LASACK_QUANTUM_AUTO,
		.aqm = config->target,
	};
}

/* The least number of bytes that a packet is charged. */
u32 lasack_config_overhead(const struct lasack_config *config, const struct net_device *dev)
{
	if (config->mode == TC_LASACK_MODE_PAPER)
		return 0;
	if (config->overhead != TC_LASACK_OVERHEAD_AUTO)
		return config->overhead;
	return device_is_wireless(dev) ? LASACK_OVERHEAD_WIFI : LASACK_OVERHEAD_WIRE;
}

/* How long packets may wait, with a target and without aggregates: ms. */
u32 lasack_config_target(const struct lasack_config *config)
{
	return config->target == TC_LASACK_TARGET_AUTO ? LASACK_TARGET : config->target;
}

/* Without the bound auto nobody knows whether a Wi-Fi device sends aggregates: it may. */
bool lasack_config_aggregates(const struct lasack_config *config, const struct net_device *dev)
{
	return config->inflight != TC_INFLIGHT_AUTO && device_is_wireless(dev);
}
