// SPDX-License-Identifier: GPL-2.0-only
/*
 * The options of ackwrr and of its classes, and the messages when a value is refused.
 *
 * Principle: everything is read and checked before anything is changed. A message names the
 * option and its range.
 */
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/types.h>
#include <net/netlink.h>
#include "ackwrr/ackwrr_config.h"
#include "inflight/inflight.h"
#include "uapi/pkt_sch_ackwrr.h"

static const struct nla_policy ackwrr_policy[TCA_ACKWRR_MAX + 1] = {
	[TCA_ACKWRR_LIMIT]	= { .type = NLA_U32 },
	[TCA_ACKWRR_INFLIGHT]	= { .type = NLA_U32 },
	[TCA_ACKWRR_WEIGHT_DATA] = { .type = NLA_U32 },
	[TCA_ACKWRR_WEIGHT_ACK]	= { .type = NLA_U32 },
};

static const struct nla_policy ackwrr_class_policy[TCA_ACKWRR_CLASS_MAX + 1] = {
	[TCA_ACKWRR_CLASS_WEIGHT] = { .type = NLA_U32 },
	[TCA_ACKWRR_CLASS_CONNECTIONS] = { .type = NLA_REJECT },
};

static bool ackwrr_is_weight(const struct nlattr *attr)
{
	u32 weight = attr ? nla_get_u32(attr) : 0;

	return weight >= 1 && weight <= TC_ACKWRR_WEIGHT_MAX;
}

/* Weights are given both or not at all. */
static int ackwrr_parse_weights(u8 *weights, struct nlattr **tb,
				struct netlink_ext_ack *extack)
{
	const struct nlattr *data = tb[TCA_ACKWRR_WEIGHT_DATA];
	const struct nlattr *ack = tb[TCA_ACKWRR_WEIGHT_ACK];

	if (!data && !ack)
		return 0;
	if (data && nla_get_u32(data) == TC_ACKWRR_AUTO && !ack) {
		memset(weights, TC_ACKWRR_AUTO, ACKWRR_CLASSES);
		return 0;
	}
	if (!ackwrr_is_weight(data) || !ackwrr_is_weight(ack)) {
		NL_SET_ERR_MSG_ATTR(extack, data ?: ack,
				    "weights: give 1 to 255 for DATA and for ACK, or auto");
		return -ERANGE;
	}
	weights[ACKWRR_DATA] = nla_get_u32(data);
	weights[ACKWRR_ACK] = nla_get_u32(ack);
	return 0;
}

static int ackwrr_parse_limit(u32 *limit, const struct nlattr *attr,
			      struct netlink_ext_ack *extack)
{
	u32 value;

	if (!attr)
		return 0;
	value = nla_get_u32(attr);
	if (value < 1 || value > TC_ACKWRR_LIMIT_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "limit: give 1 to 1048576 packets");
		return -ERANGE;
	}
	*limit = value;
	return 0;
}

/**
 * ackwrr_config_parse() - the options of a qdisc
 * @config: what it has; what is given is changed, after an error too
 * @opt: TCA_OPTIONS
 * @extack: says what is not taken
 *
 * Return: 0 or -errno.
 */
int ackwrr_config_parse(struct ackwrr_config *config, struct nlattr *opt,
			struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_ACKWRR_MAX + 1];
	int err;

	err = nla_parse_nested(tb, TCA_ACKWRR_MAX, opt, ackwrr_policy, extack);
	if (err < 0)
		return err;
	return ackwrr_parse_weights(config->weights, tb, extack) ?:
	       ackwrr_parse_limit(&config->limit, tb[TCA_ACKWRR_LIMIT], extack) ?:
	       inflight_parse_bound(tb[TCA_ACKWRR_INFLIGHT], &config->inflight, extack);
}

/**
 * ackwrr_class_config_parse() - the options of a class
 * @weight: where its weight goes, after success
 * @opt: TCA_OPTIONS, or NULL
 * @extack: says what is not taken
 *
 * Return: 0 or -errno.
 */
int ackwrr_class_config_parse(u8 *weight, struct nlattr *opt,
			      struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_ACKWRR_CLASS_MAX + 1] = {};
	int err = opt ? nla_parse_nested(tb, TCA_ACKWRR_CLASS_MAX, opt,
					 ackwrr_class_policy, extack) : 0;

	if (err < 0)
		return err;
	if (!ackwrr_is_weight(tb[TCA_ACKWRR_CLASS_WEIGHT])) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_ACKWRR_CLASS_WEIGHT],
				    "weight: give 1 to 255");
		return -ERANGE;
	}
	*weight = nla_get_u32(tb[TCA_ACKWRR_CLASS_WEIGHT]);
	return 0;
}
