/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options of LAS-ACK: where they come from, what they may be.
 *
 * Principle: one table describes every option, so that each is validated, and
 * shown again, by the same few lines; an attribute out of its range names the
 * option and the range, and nothing is changed.
 */
#ifndef LASACK_CONFIG_H
#define LASACK_CONFIG_H

#include <linux/netlink.h>
#include <net/netlink.h>
#include "uapi/pkt_sch_lasack.h"

struct lasack_config {
	u32	limit;		/* packets */
	u32	memory_limit;	/* bytes of truesize */
	u32	flows;		/* places in the table */
	u32	idle;		/* ms, 0: off */
	u32	halflife;	/* ms, 0: off */
	u32	quantum;	/* bytes, 0: off */
	u32	floor;		/* percent, 0: off */
	u32	observe;	/* 1: on, 0: off */
};

struct lasack_option {
	size_t	offset;		/* in struct lasack_config; of a u32 */
	u32	min;
	u32	max;
	bool	may_be_off;	/* 0, whatever min says */
};

#define LASACK_OPTION(member, ...) \
	{ offsetof(struct lasack_config, member), __VA_ARGS__ }

/* By attribute; those with a max of 0 are not numbers of this kind. */
static const struct lasack_option lasack_options[TCA_LASACK_MAX + 1] = {
	[TCA_LASACK_LIMIT] =
		LASACK_OPTION(limit, 1, TC_LASACK_LIMIT_MAX),
	[TCA_LASACK_MEMORY_LIMIT] =
		LASACK_OPTION(memory_limit, TC_LASACK_MEMORY_MIN, U32_MAX),
	[TCA_LASACK_FLOWS] =
		LASACK_OPTION(flows, 1, TC_LASACK_FLOWS_MAX),
	[TCA_LASACK_IDLE] =
		LASACK_OPTION(idle, TC_LASACK_TIME_MIN, TC_LASACK_TIME_MAX, true),
	[TCA_LASACK_HALFLIFE] =
		LASACK_OPTION(halflife, TC_LASACK_TIME_MIN, TC_LASACK_TIME_MAX, true),
	[TCA_LASACK_QUANTUM] =
		LASACK_OPTION(quantum, TC_LASACK_QUANTUM_MIN, TC_LASACK_QUANTUM_MAX, true),
	[TCA_LASACK_FLOOR] =
		LASACK_OPTION(floor, 1, TC_LASACK_FLOOR_MAX, true),
	[TCA_LASACK_OBSERVE] =
		LASACK_OPTION(observe, 1, 1, true),
};

static inline u32 *lasack_option_value(struct lasack_config *config,
				       const struct lasack_option *option)
{
	return (void *)config + option->offset;
}

static inline int lasack_refuse(const struct nlattr *attr,
				struct netlink_ext_ack *extack)
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
				    "quantum: give 1000 to 16777216 bytes, or 0");
		break;
	case TCA_LASACK_FLOOR:
		NL_SET_ERR_MSG_ATTR(extack, attr, "floor: give 1 to 100 percent, or 0");
		break;
	case TCA_LASACK_OBSERVE:
		NL_SET_ERR_MSG_ATTR(extack, attr, "observe: give 1, or 0");
		break;
	}
	return -ERANGE;
}

/**
 * lasack_config_parse() - options from attributes
 * @config: those that are given are set, unless one of them is bad
 * @tb: by attribute
 * @extack: says which one is bad
 *
 * Return: 0 or -ERANGE.
 */
static inline int lasack_config_parse(struct lasack_config *config,
				      struct nlattr **tb,
				      struct netlink_ext_ack *extack)
{
	struct lasack_config wanted = *config;
	const struct lasack_option *option;
	u32 value;
	int i;

	for (i = 0; i <= TCA_LASACK_MAX; i++) {
		option = &lasack_options[i];
		if (!tb[i] || !option->max)
			continue;
		value = nla_get_u32(tb[i]);
		if ((value < option->min || value > option->max) &&
		    (value || !option->may_be_off))
			return lasack_refuse(tb[i], extack);
		*lasack_option_value(&wanted, option) = value;
	}
	*config = wanted;
	return 0;
}

/* Return: 0 or -EMSGSIZE. */
static inline int lasack_config_put(struct lasack_config config,
				    struct sk_buff *skb)
{
	const struct lasack_option *option;
	int i;

	for (i = 0; i <= TCA_LASACK_MAX; i++) {
		option = &lasack_options[i];
		if (option->max &&
		    nla_put_u32(skb, i, *lasack_option_value(&config, option)))
			return -EMSGSIZE;
	}
	return 0;
}

#endif
