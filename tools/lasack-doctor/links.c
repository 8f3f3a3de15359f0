// SPDX-License-Identifier: GPL-2.0-only
/* See links.h. */
#include <linux/gen_stats.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <stdlib.h>
#include <string.h>

#include "../../kernel/uapi/pkt_sch_ackwrr.h"
#include "../../kernel/uapi/pkt_sch_lasack.h"
#include "die.h"
#include "links.h"

#define OPTIONS_MAX	16
/* A change during a dump makes it be asked for again, so many times. */
#define DUMP_TRIES	10

/* The option of each of our kinds that bounds the packets below it. */
static const struct {
	const char *kind;
	int bound;
} ours[] = {
	{ "lasack", TCA_LASACK_INFLIGHT },
	{ "ackwrr", TCA_ACKWRR_INFLIGHT },
	{ "inflight", TCA_INFLIGHT_LIMIT },
};

struct nl_sock *links_open(void)
{
	struct nl_sock *sock = nl_socket_alloc();
	int err;

	if (!sock)
		die("out of memory");
	err = nl_connect(sock, NETLINK_ROUTE);
	if (err < 0)
		die("cannot open a netlink socket: %s", nl_geterror(err));
	return sock;
}

/* FORGET undoes what a dump that is asked for again has filled. */
static void dump(struct nl_sock *sock, int type, nl_recvmsg_msg_cb_t take,
		 void (*forget)(struct machine *machine), struct machine *machine)
{
	/* Larger than any of the headers; what is zero selects all. */
	char header[sizeof(struct ifinfomsg) + sizeof(struct tcmsg)] = { };
	int err = 0;

	nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, take, machine);
	for (int i = 0; i < DUMP_TRIES; i++) {
		forget(machine);
		err = nl_send_simple(sock, type, NLM_F_DUMP, header,
				     type == RTM_GETLINK ? sizeof(struct ifinfomsg) :
				     type == RTM_GETROUTE ? sizeof(struct rtmsg) :
				     sizeof(struct tcmsg));
		if (err >= 0)
			err = nl_recvmsgs_default(sock);
		if (err != -NLE_DUMP_INTR)
			break;
	}
	if (err < 0 && err != -NLE_DUMP_INTR)
		die("cannot read the network devices: %s", nl_geterror(err));
}

static int take_link(struct nl_msg *msg, void *arg)
{
	static const struct nla_policy policy[IFLA_MAX + 1] = {
		[IFLA_IFNAME] = { .type = NLA_STRING },
		[IFLA_MASTER] = { .type = NLA_U32 },
		[IFLA_LINKINFO] = { .type = NLA_NESTED },
	};
	static const struct nla_policy info_policy[IFLA_INFO_MAX + 1] = {
		[IFLA_INFO_KIND] = { .type = NLA_STRING },
	};
	struct nlattr *tb[IFLA_MAX + 1], *info[IFLA_INFO_MAX + 1];
	struct machine *machine = arg;
	const struct ifinfomsg *ifi;
	struct device *device;

	if (nlmsg_parse(nlmsg_hdr(msg), sizeof(*ifi), tb, IFLA_MAX, policy) < 0 ||
	    !tb[IFLA_IFNAME])
		return NL_OK;
	ifi = nlmsg_data(nlmsg_hdr(msg));
	device = machine_add_device(machine);
	device->index = ifi->ifi_index;
	device->up = ifi->ifi_flags & IFF_UP;
	nla_strlcpy(device->name, tb[IFLA_IFNAME], sizeof(device->name));
	if (tb[IFLA_MASTER])
		device->master = nla_get_u32(tb[IFLA_MASTER]);
	if (tb[IFLA_LINKINFO] &&
	    nla_parse_nested(info, IFLA_INFO_MAX, tb[IFLA_LINKINFO], info_policy) >= 0 &&
	    info[IFLA_INFO_KIND])
		nla_strlcpy(device->kind, info[IFLA_INFO_KIND], sizeof(device->kind));
	return NL_OK;
}

static void leads_to_internet(struct machine *machine, uint32_t ifindex)
{
	struct device *device = machine_device(machine, ifindex);

	if (device)
		device->to_internet = true;
}

/* A default route has one way, or several. */
static int take_route(struct nl_msg *msg, void *arg)
{
	static const struct nla_policy policy[RTA_MAX + 1] = {
		[RTA_OIF] = { .type = NLA_U32 },
	};
	struct nlattr *tb[RTA_MAX + 1];
	const struct rtmsg *route;

	if (nlmsg_parse(nlmsg_hdr(msg), sizeof(*route), tb, RTA_MAX, policy) < 0)
		return NL_OK;
	route = nlmsg_data(nlmsg_hdr(msg));
	if (route->rtm_dst_len || route->rtm_type != RTN_UNICAST)
		return NL_OK;
	if (tb[RTA_OIF])
		leads_to_internet(arg, nla_get_u32(tb[RTA_OIF]));
	if (tb[RTA_MULTIPATH]) {
		struct rtnexthop *hop = nla_data(tb[RTA_MULTIPATH]);
		int left = nla_len(tb[RTA_MULTIPATH]);

		for (; RTNH_OK(hop, left); left -= RTNH_ALIGN(hop->rtnh_len),
		     hop = RTNH_NEXT(hop))
			leads_to_internet(arg, hop->rtnh_ifindex);
	}
	return NL_OK;
}

/* What fits is copied: the module may be older or newer than this program. */
static void copy_attribute(void *to, size_t size, const struct nlattr *nla)
{
	size_t there = nla_len(nla);

	memcpy(to, nla_data(nla), there < size ? there : size);
}

static void take_stats(struct queue *queue, struct nlattr *stats)
{
	struct nlattr *tb[TCA_STATS_MAX + 1];
	struct gnet_stats_queue counts = { };

	if (!stats || nla_parse_nested(tb, TCA_STATS_MAX, stats, NULL) < 0)
		return;
	if (tb[TCA_STATS_QUEUE])
		copy_attribute(&counts, sizeof(counts), tb[TCA_STATS_QUEUE]);
	queue->drops = counts.drops;
	queue->packets = counts.qlen;
	if (queue->ours && tb[TCA_STATS_APP])
		copy_attribute(&queue->below, sizeof(queue->below), tb[TCA_STATS_APP]);
}

/* Whether it limits the rate; cake only if it was given one. */
static bool has_rate(const char *kind, struct nlattr *options)
{
	static const char *const shapers[] = { "htb", "hfsc", "tbf", NULL };
	struct nlattr *tb[TCA_CAKE_MAX + 1];

	for (const char *const *shaper = shapers; *shaper; shaper++)
		if (!strcmp(kind, *shaper))
			return true;
	return (!strcmp(kind, "cake") || !strcmp(kind, "cake_mq")) && options &&
	       nla_parse_nested(tb, TCA_CAKE_MAX, options, NULL) >= 0 &&
	       tb[TCA_CAKE_BASE_RATE64] &&
	       nla_len(tb[TCA_CAKE_BASE_RATE64]) == sizeof(uint64_t) &&
	       nla_get_u64(tb[TCA_CAKE_BASE_RATE64]);
}

static void take_bound(struct queue *queue, struct nlattr *options)
{
	struct nlattr *tb[OPTIONS_MAX + 1];

	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++) {
		if (strcmp(queue->kind, ours[i].kind))
			continue;
		queue->ours = true;
		if (options && nla_parse_nested(tb, OPTIONS_MAX, options, NULL) >= 0 &&
		    tb[ours[i].bound] && nla_len(tb[ours[i].bound]) == sizeof(uint32_t))
			queue->bound = nla_get_u32(tb[ours[i].bound]);
	}
}

/* At its root: the mean of all looks, and what was dropped since the first. */
static void note_root(struct machine *machine, struct device *device,
		      const struct queue *queue)
{
	device->packets += (queue->packets - device->packets) / machine->looks;
	if (machine->looks == 1) {
		device->root = queue->handle;
		device->first_drops = queue->drops;
	}
	if (device->root == queue->handle && queue->drops >= device->first_drops)
		device->drops = queue->drops - device->first_drops;
}

static int take_queue(struct nl_msg *msg, void *arg)
{
	static const struct nla_policy policy[TCA_MAX + 1] = {
		[TCA_KIND] = { .type = NLA_STRING },
	};
	struct nlattr *tb[TCA_MAX + 1];
	struct machine *machine = arg;
	const struct tcmsg *tcm;
	struct device *device;
	struct queue *queue;

	if (nlmsg_parse(nlmsg_hdr(msg), sizeof(*tcm), tb, TCA_MAX, policy) < 0 || !tb[TCA_KIND])
		return NL_OK;
	tcm = nlmsg_data(nlmsg_hdr(msg));
	device = machine_device(machine, tcm->tcm_ifindex);
	if (!device || tcm->tcm_parent == TC_H_INGRESS)
		return NL_OK;
	queue = device_add_queue(device);
	nla_strlcpy(queue->kind, tb[TCA_KIND], sizeof(queue->kind));
	queue->handle = tcm->tcm_handle;
	queue->parent = tcm->tcm_parent;
	queue->limits_rate = has_rate(queue->kind, tb[TCA_OPTIONS]);
	take_bound(queue, tb[TCA_OPTIONS]);
	take_stats(queue, tb[TCA_STATS2]);
	return NL_OK;
}

static void forget_links(struct machine *machine)
{
	machine_clear(machine);
}

static void forget_routes(struct machine *machine)
{
	for (size_t i = 0; i < machine->device_count; i++)
		machine->devices[i].to_internet = false;
}

static void forget_queues(struct machine *machine)
{
	for (size_t i = 0; i < machine->device_count; i++)
		machine->devices[i].queue_count = 0;
}

void links_read(struct nl_sock *sock, struct machine *machine)
{
	dump(sock, RTM_GETLINK, take_link, forget_links, machine);
	dump(sock, RTM_GETROUTE, take_route, forget_routes, machine);
}

void links_look(struct nl_sock *sock, struct machine *machine)
{
	const struct queue *root;

	machine->looks++;
	dump(sock, RTM_GETQDISC, take_queue, forget_queues, machine);
	for (size_t i = 0; i < machine->device_count; i++) {
		root = device_root(&machine->devices[i]);
		if (root)
			note_root(machine, &machine->devices[i], root);
	}
}
