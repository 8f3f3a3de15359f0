// SPDX-License-Identifier: GPL-2.0-only
/* See radios.h. */
#include <linux/nl80211.h>
#include <netlink/attr.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/socket.h>
#include <stdlib.h>
#include <string.h>

#include "die.h"
#include "radios.h"

struct radio_source {
	struct nl_sock *sock;
	int family;
	struct machine *machine;
	struct device *asked;		/* whose power save is read */
	bool looking;			/* else the radios are being added */
};

struct radio_source *radios_open(void)
{
	struct radio_source *source = calloc(1, sizeof(*source));

	if (!source || !(source->sock = nl_socket_alloc()))
		die("out of memory");
	/* An answer or an error ends each request; an acknowledgement would come on top. */
	nl_socket_disable_auto_ack(source->sock);
	if (genl_connect(source->sock) < 0 ||
	    (source->family = genl_ctrl_resolve(source->sock, NL80211_GENL_NAME)) < 0) {
		radios_close(source);
		return NULL;
	}
	return source;
}

void radios_close(struct radio_source *source)
{
	if (!source)
		return;
	nl_socket_free(source->sock);
	free(source);
}

/* What the kernel refuses stays unknown. */
static void ask(struct radio_source *source, uint8_t command, int flags, int attribute,
		uint32_t value, nl_recvmsg_msg_cb_t take)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (!msg || !genlmsg_put(msg, 0, 0, source->family, 0, flags, command, 0))
		die("out of memory");
	if (attribute == NL80211_ATTR_SPLIT_WIPHY_DUMP)
		nla_put_flag(msg, attribute);
	else if (attribute)
		nla_put_u32(msg, attribute, value);
	nl_socket_modify_cb(source->sock, NL_CB_VALID, NL_CB_CUSTOM, take, source);
	if (nl_send_auto(source->sock, msg) >= 0)
		nl_recvmsgs_default(source->sock);
	nlmsg_free(msg);
}

static int take_device(struct nl_msg *msg, void *arg)
{
	static const struct nla_policy policy[NL80211_ATTR_MAX + 1] = {
		[NL80211_ATTR_IFINDEX] = { .type = NLA_U32 },
		[NL80211_ATTR_IFTYPE] = { .type = NLA_U32 },
		[NL80211_ATTR_WIPHY] = { .type = NLA_U32 },
	};
	struct nlattr *tb[NL80211_ATTR_MAX + 1];
	struct radio_source *source = arg;
	struct device *device;

	if (genlmsg_parse(nlmsg_hdr(msg), 0, tb, NL80211_ATTR_MAX, policy) < 0 ||
	    !tb[NL80211_ATTR_IFINDEX] || !tb[NL80211_ATTR_IFTYPE] || !tb[NL80211_ATTR_WIPHY])
		return NL_OK;
	device = machine_device(source->machine, nla_get_u32(tb[NL80211_ATTR_IFINDEX]));
	if (!device)
		return NL_OK;
	device->wifi = true;
	device->type = nla_get_u32(tb[NL80211_ATTR_IFTYPE]);
	device->radio = nla_get_u32(tb[NL80211_ATTR_WIPHY]);
	return NL_OK;
}

static bool has_feature(const struct nlattr *features, unsigned int feature)
{
	const uint8_t *bits = nla_data(features);

	return feature / 8 < (unsigned int)nla_len(features) && bits[feature / 8] >> feature % 8 & 1;
}

static void take_waiting(struct radio_source *source, struct radio *radio,
			 struct nlattr *stats)
{
	static const struct nla_policy policy[NL80211_TXQ_STATS_MAX + 1] = {
		[NL80211_TXQ_STATS_BACKLOG_PACKETS] = { .type = NLA_U32 },
	};
	struct nlattr *tb[NL80211_TXQ_STATS_MAX + 1];

	if (nla_parse_nested(tb, NL80211_TXQ_STATS_MAX, stats, policy) < 0 ||
	    !tb[NL80211_TXQ_STATS_BACKLOG_PACKETS])
		return;
	radio->counts = true;
	if (source->looking)
		radio->packets += (nla_get_u32(tb[NL80211_TXQ_STATS_BACKLOG_PACKETS]) -
				   radio->packets) / source->machine->looks;
}

/* The kernel tells of a radio in several messages. */
static int take_radio(struct nl_msg *msg, void *arg)
{
	static const struct nla_policy policy[NL80211_ATTR_MAX + 1] = {
		[NL80211_ATTR_WIPHY] = { .type = NLA_U32 },
		[NL80211_ATTR_WIPHY_NAME] = { .type = NLA_STRING },
		[NL80211_ATTR_TXQ_STATS] = { .type = NLA_NESTED },
	};
	struct nlattr *tb[NL80211_ATTR_MAX + 1];
	struct radio_source *source = arg;
	struct radio *radio;
	uint32_t number;

	if (genlmsg_parse(nlmsg_hdr(msg), 0, tb, NL80211_ATTR_MAX, policy) < 0 ||
	    !tb[NL80211_ATTR_WIPHY])
		return NL_OK;
	number = nla_get_u32(tb[NL80211_ATTR_WIPHY]);
	radio = machine_radio(source->machine, number);
	if (!radio && source->looking)
		return NL_OK;
	if (!radio) {
		radio = machine_add_radio(source->machine);
		radio->number = number;
	}
	if (tb[NL80211_ATTR_WIPHY_NAME])
		nla_strlcpy(radio->name, tb[NL80211_ATTR_WIPHY_NAME], sizeof(radio->name));
	if (tb[NL80211_ATTR_EXT_FEATURES]) {
		struct nlattr *features = tb[NL80211_ATTR_EXT_FEATURES];

		radio->airtime_fairness =
			has_feature(features, NL80211_EXT_FEATURE_AIRTIME_FAIRNESS);
		radio->aql = has_feature(features, NL80211_EXT_FEATURE_AQL);
	}
	if (tb[NL80211_ATTR_TXQ_STATS])
		take_waiting(source, radio, tb[NL80211_ATTR_TXQ_STATS]);
	return NL_OK;
}

static int take_power_save(struct nl_msg *msg, void *arg)
{
	static const struct nla_policy policy[NL80211_ATTR_MAX + 1] = {
		[NL80211_ATTR_PS_STATE] = { .type = NLA_U32 },
	};
	struct nlattr *tb[NL80211_ATTR_MAX + 1];
	struct radio_source *source = arg;

	if (genlmsg_parse(nlmsg_hdr(msg), 0, tb, NL80211_ATTR_MAX, policy) < 0 ||
	    !tb[NL80211_ATTR_PS_STATE])
		return NL_OK;
	source->asked->power_save =
		nla_get_u32(tb[NL80211_ATTR_PS_STATE]) == NL80211_PS_ENABLED ?
		POWER_SAVE_ON : POWER_SAVE_OFF;
	return NL_OK;
}

static void dump_radios(struct radio_source *source)
{
	ask(source, NL80211_CMD_GET_WIPHY, NLM_F_DUMP, NL80211_ATTR_SPLIT_WIPHY_DUMP, 0,
	    take_radio);
}

void radios_read(struct radio_source *source, struct machine *machine)
{
	source->machine = machine;
	source->looking = false;
	ask(source, NL80211_CMD_GET_INTERFACE, NLM_F_DUMP, 0, 0, take_device);
	dump_radios(source);
	for (size_t i = 0; i < machine->device_count; i++) {
		source->asked = &machine->devices[i];
		if (source->asked->wifi)
			ask(source, NL80211_CMD_GET_POWER_SAVE, 0, NL80211_ATTR_IFINDEX,
			    source->asked->index, take_power_save);
	}
}

void radios_look(struct radio_source *source, struct machine *machine)
{
	source->machine = machine;
	source->looking = true;
	dump_radios(source);
}
