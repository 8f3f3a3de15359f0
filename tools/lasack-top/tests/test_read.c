// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of the kernel, as this module's version, an older and a newer one
 * would send them, and mutated ones. read.c is part of this file: what takes a
 * message is its own.
 */
#include <netlink/msg.h>
#include <stdlib.h>

#include "../read.c"
#include "die.h"
#include "tap.h"

#define MUTATED		200000	/* messages */
#define LARGER		8	/* bytes that a newer module adds */

static struct nl_msg *begin(int type, const char *kind, uint32_t handle)
{
	struct tcmsg tcm = { .tcm_ifindex = 1, .tcm_handle = handle, .tcm_parent = TC_H_ROOT };
	struct nl_msg *msg = nlmsg_alloc_simple(type, 0);

	if (!msg || nlmsg_append(msg, &tcm, sizeof(tcm), NLMSG_ALIGNTO) < 0 ||
	    nla_put_string(msg, TCA_KIND, kind) < 0)
		die("out of memory");
	return msg;
}

/* A lasack whose xstats have so many bytes of this version's, and more. */
static struct nl_msg *lasack_message(size_t xstats_size)
{
	uint8_t bytes[sizeof(struct tc_lasack_xstats) + LARGER];
	struct tc_lasack_xstats st = { .flows = 7, .untracked = 9, .purged = 11 };
	struct gnet_stats_queue queue = { .qlen = 3, .backlog = 4500, .drops = 2 };
	struct gnet_stats_basic basic = { .bytes = 1ULL << 40, .packets = 5 };
	struct nl_msg *msg = begin(RTM_NEWQDISC, "lasack", 0x20000);
	struct nlattr *nest;
	uint64_t packets = 1ULL << 33;

	memset(bytes, 0xff, sizeof(bytes));
	memcpy(bytes, &st, sizeof(st));
	nest = nla_nest_start(msg, TCA_OPTIONS);
	nla_put_u32(msg, TCA_LASACK_LIMIT, 100);
	nla_put_u64(msg, TCA_LASACK_IDLE, 100);		/* not as wide as ours */
	nla_put_u32(msg, OPTIONS_MAX + 1, 100);		/* of a newer module */
	nla_nest_end(msg, nest);
	nest = nla_nest_start(msg, TCA_STATS2);
	nla_put(msg, TCA_STATS_BASIC, sizeof(basic), &basic);
	nla_put(msg, TCA_STATS_PKT64, sizeof(packets), &packets);
	nla_put(msg, TCA_STATS_QUEUE, sizeof(queue), &queue);
	nla_put(msg, TCA_STATS_APP, xstats_size, bytes);
	nla_nest_end(msg, nest);
	return msg;
}

static struct nl_msg *flow_message(void)
{
	struct tc_lasack_flow seen = { .protocol = 6, .to = 1, .sent = 12, .received = 34 };
	struct gnet_stats_queue queue = { .qlen = 3, .backlog = 4500 };
	struct nl_msg *msg = begin(RTM_NEWTCLASS, "lasack", 0x20001);
	struct nlattr *nest = nla_nest_start(msg, TCA_OPTIONS);

	nla_put(msg, TCA_LASACK_CLASS_FLOW, sizeof(seen), &seen);
	nla_nest_end(msg, nest);
	nest = nla_nest_start(msg, TCA_STATS2);
	nla_put(msg, TCA_STATS_QUEUE, sizeof(queue), &queue);
	nla_nest_end(msg, nest);
	return msg;
}

static struct nl_msg *class_message(void)
{
	struct nl_msg *msg = begin(RTM_NEWTCLASS, "ackwrr", 0x10002);
	struct nlattr *nest = nla_nest_start(msg, TCA_OPTIONS);

	nla_put_u32(msg, TCA_ACKWRR_CLASS_WEIGHT, 2);
	nla_put_u32(msg, TCA_ACKWRR_CLASS_CONNECTIONS, 384);
	nla_nest_end(msg, nest);
	return msg;
}

static void take(struct snapshot *snapshot, struct nl_msg *msg)
{
	struct source source = { .snapshot = snapshot };

	take_message(msg, &source);
	nlmsg_free(msg);
}

static void test_this_version(int *failures)
{
	struct snapshot snapshot = { };

	take(&snapshot, lasack_message(sizeof(struct tc_lasack_xstats)));
	take(&snapshot, flow_message());
	take(&snapshot, class_message());
	take(&snapshot, begin(RTM_NEWQDISC, "fq_codel", 0x30000));
	EXPECT_EQ(snapshot.qdisc_count, 1);
	EXPECT(snapshot.qdiscs[0].of == &lasack);
	EXPECT_EQ(snapshot.qdiscs[0].bytes, 1LL << 40);
	EXPECT_EQ(snapshot.qdiscs[0].packets, 1LL << 33);
	EXPECT_EQ(snapshot.qdiscs[0].drops, 2);
	EXPECT_EQ(snapshot.qdiscs[0].backlog_bytes, 4500);
	EXPECT_EQ(snapshot.qdiscs[0].options, 1 << TCA_LASACK_LIMIT);
	EXPECT_EQ(snapshot.qdiscs[0].xstats.lasack.purged, 11);
	EXPECT_EQ(snapshot.flow_count, 1);
	EXPECT_EQ(snapshot.flows[0].seen.received, 34);
	EXPECT_EQ(snapshot.flows[0].backlog_packets, 3);
	EXPECT_EQ(snapshot.class_count, 1);
	EXPECT_EQ(snapshot.classes[0].weight, 2);
	EXPECT_EQ(snapshot.classes[0].connections * 100, 150);
	snapshot_clear(&snapshot);
}

static void test_other_versions(int *failures)
{
	struct snapshot snapshot = { };

	take(&snapshot, lasack_message(offsetof(struct tc_lasack_xstats, purged)));
	take(&snapshot, lasack_message(sizeof(struct tc_lasack_xstats) + LARGER));
	EXPECT_EQ(snapshot.qdiscs[0].xstats.lasack.purged, 0);
	EXPECT_EQ(snapshot.qdiscs[0].xstats.lasack.untracked, 9);
	EXPECT_EQ(snapshot.qdiscs[1].xstats.lasack.purged, 11);
	snapshot_clear(&snapshot);
}

/* Numerical Recipes' 64-bit LCG; any will do. */
static uint32_t draw(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 33;
}

/* In a block of the message's very size, so that any byte past it is noticed. */
static void test_mutated(int *failures)
{
	struct snapshot snapshot = { };
	struct source source = { .snapshot = &snapshot };
	uint64_t state = 1;
	int taken = 0;

	for (int i = 0; i < MUTATED; i++) {
		struct nl_msg *whole = i % 3 == 0 ? lasack_message(100) :
				       i % 3 == 1 ? flow_message() : class_message();
		struct nlmsghdr *nlh = nlmsg_hdr(whole), *copy;
		uint32_t length = nlh->nlmsg_len;
		struct nl_msg *msg;

		for (int n = draw(&state) % 4; n >= 0; n--)
			((uint8_t *)nlh)[NLMSG_HDRLEN + draw(&state) %
					 (length - NLMSG_HDRLEN)] = draw(&state);
		if (draw(&state) % 4 == 0)
			length = NLMSG_HDRLEN + draw(&state) % (length - NLMSG_HDRLEN);
		copy = malloc(length);
		memcpy(copy, nlh, length);
		copy->nlmsg_len = length;
		msg = nlmsg_convert(copy);
		take_message(msg, &source);
		nlmsg_free(msg);
		free(copy);
		nlmsg_free(whole);
		taken += snapshot.qdisc_count + snapshot.flow_count + snapshot.class_count;
		for (size_t k = 0; k < snapshot.flow_count; k++)
			EXPECT(snapshot.flows[k].seen.to <= 1);
		snapshot_clear(&snapshot);
	}
	EXPECT(taken > MUTATED / 10);	/* most are still worth a look */
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "what this version's modules send", test_this_version },
		{ "older and newer modules", test_other_versions },
		{ "mutated messages", test_mutated },
		{ NULL, NULL },
	};

	return tap_run(cases);
}
