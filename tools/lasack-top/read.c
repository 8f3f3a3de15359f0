// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots from the kernel: see read.h. Queue disciplines and classes come by
 * two dumps, so their counters are of moments a few microseconds apart.
 */
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <math.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "die.h"
#include "discipline.h"
#include "read.h"
#include "shell_word.h"

/* The kernel fills messages as large as we have room for: a dump is one or two. */
#define RECEIVE_BYTES	32768
/* A change during a dump makes it be asked for again, so many times. */
#define DUMP_TRIES	10

struct source {
	struct nl_sock *sock;
	int ifindex;			/* of the qdiscs wanted; 0: any */
	struct snapshot *snapshot;	/* to fill, or NULL: */
	int *devices;			/* those that have a lasack */
	size_t device_count;
};

struct source *source_open(void)
{
	struct source *source = calloc(1, sizeof(*source));
	int err;

	if (!source || !(source->sock = nl_socket_alloc()))
		die("out of memory");
	err = nl_connect(source->sock, NETLINK_ROUTE);
	if (err < 0)
		die("cannot open a netlink socket: %s", nl_geterror(err));
	nl_socket_set_msg_buf_size(source->sock, RECEIVE_BYTES);
	return source;
}

void source_close(struct source *source)
{
	nl_socket_free(source->sock);
	free(source->devices);
	free(source);
}

/* What fits is copied: the module may be older or newer than this program. */
static void copy_attribute(void *to, size_t size, const struct nlattr *nla)
{
	size_t there = nla_len(nla);

	memcpy(to, nla_data(nla), there < size ? there : size);
}

static void take_options(struct qdisc *qdisc, struct nlattr *options)
{
	struct nlattr *tb[OPTIONS_MAX + 1];

	if (!options || nla_parse_nested(tb, OPTIONS_MAX, options, NULL) < 0)
		return;
	for (int i = 1; i <= OPTIONS_MAX; i++) {
		if (!tb[i] || nla_len(tb[i]) != sizeof(qdisc->option[i]))
			continue;
		qdisc->option[i] = nla_get_u32(tb[i]);
		qdisc->options |= 1U << i;
	}
}

static void take_stats(struct qdisc *qdisc, struct nlattr *stats)
{
	struct nlattr *tb[TCA_STATS_MAX + 1];
	struct gnet_stats_basic basic = { };
	struct gnet_stats_queue queue = { };

	if (!stats || nla_parse_nested(tb, TCA_STATS_MAX, stats, NULL) < 0)
		return;
	if (tb[TCA_STATS_BASIC])
		copy_attribute(&basic, sizeof(basic), tb[TCA_STATS_BASIC]);
	qdisc->bytes = basic.bytes;
	qdisc->packets = basic.packets;
	if (tb[TCA_STATS_PKT64])	/* where 32 bits do not do */
		copy_attribute(&qdisc->packets, sizeof(qdisc->packets),
			       tb[TCA_STATS_PKT64]);
	if (tb[TCA_STATS_QUEUE])
		copy_attribute(&queue, sizeof(queue), tb[TCA_STATS_QUEUE]);
	qdisc->drops = queue.drops;
	qdisc->overlimits = queue.overlimits;
	qdisc->backlog_bytes = queue.backlog;
	qdisc->backlog_packets = queue.qlen;
	if (tb[TCA_STATS_APP])
		copy_attribute(&qdisc->xstats, qdisc->of->xstats_size, tb[TCA_STATS_APP]);
}

static void take_qdisc(struct source *source, const struct discipline *of,
		       const struct tcmsg *tcm, struct nlattr **tb)
{
	struct qdisc *qdisc = snapshot_add_qdisc(source->snapshot);

	qdisc->of = of;
	qdisc->handle = tcm->tcm_handle;
	qdisc->parent = tcm->tcm_parent;
	take_options(qdisc, tb[TCA_OPTIONS]);
	take_stats(qdisc, tb[TCA_STATS2]);
}

static void take_flow(struct source *source, const struct tcmsg *tcm,
		      struct nlattr **tb)
{
	struct nlattr *inner[TCA_LASACK_CLASS_MAX + 1], *stats[TCA_STATS_MAX + 1];
	struct gnet_stats_queue queue = { };
	struct flow *flow;

	if (!tb[TCA_OPTIONS] ||
	    nla_parse_nested(inner, TCA_LASACK_CLASS_MAX, tb[TCA_OPTIONS], NULL) < 0 ||
	    !inner[TCA_LASACK_CLASS_FLOW])
		return;
	flow = snapshot_add_flow(source->snapshot);
	flow->qdisc = TC_H_MAJ(tcm->tcm_handle);
	flow->class = tcm->tcm_handle;
	copy_attribute(&flow->seen, sizeof(flow->seen), inner[TCA_LASACK_CLASS_FLOW]);
	flow->seen.to &= 1;
	if (tb[TCA_STATS2] &&
	    nla_parse_nested(stats, TCA_STATS_MAX, tb[TCA_STATS2], NULL) >= 0 &&
	    stats[TCA_STATS_QUEUE])
		copy_attribute(&queue, sizeof(queue), stats[TCA_STATS_QUEUE]);
	flow->backlog_bytes = queue.backlog;
	flow->backlog_packets = queue.qlen;
}

static void take_class(struct source *source, const struct discipline *of,
		       const struct tcmsg *tcm, struct nlattr **tb)
{
	struct class *class = snapshot_add_class(source->snapshot);
	struct nlattr *inner[TCA_ACKWRR_CLASS_MAX + 1];
	struct qdisc same = { .of = of };
	uint32_t estimate = 0;

	take_stats(&same, tb[TCA_STATS2]);
	class->of = of;
	class->id = tcm->tcm_handle;
	class->bytes = same.bytes;
	class->packets = same.packets;
	class->drops = same.drops;
	class->backlog_bytes = same.backlog_bytes;
	class->backlog_packets = same.backlog_packets;
	class->connections = NAN;
	if (!tb[TCA_OPTIONS] ||
	    nla_parse_nested(inner, TCA_ACKWRR_CLASS_MAX, tb[TCA_OPTIONS], NULL) < 0)
		return;
	if (inner[TCA_ACKWRR_CLASS_WEIGHT])
		copy_attribute(&class->weight, sizeof(class->weight),
			       inner[TCA_ACKWRR_CLASS_WEIGHT]);
	if (inner[TCA_ACKWRR_CLASS_CONNECTIONS]) {
		copy_attribute(&estimate, sizeof(estimate),
			       inner[TCA_ACKWRR_CLASS_CONNECTIONS]);
		class->connections = estimate / (double)TC_ACKWRR_ESTIMATE_ONE;
	}
}

static void note_device(struct source *source, int ifindex)
{
	for (size_t i = 0; i < source->device_count; i++)
		if (source->devices[i] == ifindex)
			return;
	source->devices = realloc(source->devices,
				  (source->device_count + 1) * sizeof(int));
	if (!source->devices)
		die("out of memory");
	source->devices[source->device_count++] = ifindex;
}

static int take_message(struct nl_msg *msg, void *arg)
{
	static const struct nla_policy policy[TCA_MAX + 1] = {
		[TCA_KIND] = { .type = NLA_STRING },
	};
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	const struct discipline *of = NULL;
	struct nlattr *tb[TCA_MAX + 1];
	struct source *source = arg;
	const struct tcmsg *tcm;

	if (nlmsg_parse(nlh, sizeof(*tcm), tb, TCA_MAX, policy) < 0 || !tb[TCA_KIND])
		return NL_OK;
	tcm = nlmsg_data(nlh);
	if (source->ifindex && tcm->tcm_ifindex != source->ifindex)
		return NL_OK;
	for (const struct discipline *const *d = disciplines; *d; d++)
		if (!nla_strcmp(tb[TCA_KIND], (*d)->kind))
			of = *d;
	if (!of)
		return NL_OK;
	if (!source->snapshot) {
		if (of->shown)
			note_device(source, tcm->tcm_ifindex);
	} else if (nlh->nlmsg_type == RTM_NEWQDISC) {
		take_qdisc(source, of, tcm, tb);
	} else if (of == &lasack) {
		take_flow(source, tcm, tb);
	} else if (of->text_class) {
		take_class(source, of, tcm, tb);
	}
	return NL_OK;
}

/* A libnl error, 0 if all went well. */
static int dump(struct source *source, int type)
{
	struct tcmsg tcm = { .tcm_family = AF_UNSPEC, .tcm_ifindex = source->ifindex };
	int err;

	nl_socket_modify_cb(source->sock, NL_CB_VALID, NL_CB_CUSTOM, take_message, source);
	err = nl_send_simple(source->sock, type, NLM_F_DUMP, &tcm, sizeof(tcm));
	if (err >= 0)
		err = nl_recvmsgs_default(source->sock);
	return err < 0 ? err : 0;
}

static bool can_be_shown(const struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->qdisc_count; i++)
		if (snapshot->qdiscs[i].of->shown)
			return true;
	return false;
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

bool source_read(struct source *source, int ifindex, struct snapshot *snapshot)
{
	int err = 0;

	source->ifindex = ifindex;
	source->snapshot = snapshot;
	for (int i = 0; i < DUMP_TRIES; i++) {
		snapshot_clear(snapshot);
		if (!if_indextoname(ifindex, snapshot->device))
			return false;
		err = dump(source, RTM_GETQDISC);
		if (!err && !can_be_shown(snapshot))
			return false;
		snapshot->wall_ns = clock_ns(CLOCK_REALTIME);
		snapshot->taken_ns = clock_ns(CLOCK_MONOTONIC);
		if (!err)
			err = dump(source, RTM_GETTCLASS);
		if (err != -NLE_DUMP_INTR)
			break;
	}
	if (err)
		die("cannot read the queue disciplines: %s", nl_geterror(err));
	return true;
}

static int only_device(const struct source *source)
{
	char names[512] = "", name[IFNAMSIZ];
	size_t length = 0;

	if (!source->device_count)
		die("no device has a lasack or ackwrr; " ATTACH_ONE);
	if (source->device_count == 1)
		return source->devices[0];
	for (size_t i = 0; i < source->device_count && length < sizeof(names); i++)
		length += snprintf(names + length, sizeof(names) - length, "%s%s",
				   i ? ", " : "",
				   shell_word(if_indextoname(source->devices[i], name) ?: "?").text);
	die("several devices have a lasack or ackwrr, choose one with --device: %s", names);
}

int source_find(struct source *source, const char *device)
{
	int ifindex, err;

	if (device) {
		ifindex = if_nametoindex(device);
		if (!ifindex)
			die("no device %s; ip link lists them", device);
		return ifindex;
	}
	source->ifindex = 0;
	source->snapshot = NULL;
	source->device_count = 0;
	err = dump(source, RTM_GETQDISC);
	if (err && err != -NLE_DUMP_INTR)
		die("cannot read the queue disciplines: %s", nl_geterror(err));
	return only_device(source);
}
