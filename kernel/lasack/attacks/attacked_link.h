/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A link under attack: a whole discipline on a device, packets for it, and who
 * was served.
 */
#ifndef LASACK_ATTACKS_ATTACKED_LINK_H
#define LASACK_ATTACKS_ATTACKED_LINK_H

#include <kunit/test.h>
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/net_namespace.h>
#include <net/netlink.h>
#include <net/sch_generic.h>
#include "common/tests/test_parameters.h"
#include "uapi/pkt_sch_lasack.h"

#define MSS	1448
#define BACKLOG	20		/* packets that the attacked keep queued */
/* Services, for what newcomers have to their credit, and stations after a pause. */
#define WARM_UP	2000
#define LINK	(10000000 / 8)	/* bytes a second, where time matters */

enum mark { NOBODY, VICTIM, OTHER, ATTACKER, PROBE, __MARKS };

struct attack {
	struct net_device	*dev;
	struct Qdisc		*sch;
	bool			ipv6;
	u8			station;	/* the attacker's packets go there */
	u32			queued[__MARKS];
	u32			serial;		/* of the attacker's packets */
	u64			sent;		/* bytes given out */
};

/* Where a packet goes, and what it says. */
struct packet {
	enum mark	mark;
	u32		station;
	u8		protocol;
	u16		sport, dport;
	u32		host;		/* number of the sender */
	u32		ack_seq;
	u32		payload;
	bool		syn, fin;
	bool		back;		/* addresses and ports the other way round */
	bool		group;		/* to a multicast address */
};

/* A download's data, to station 1. */
static struct packet download(enum mark mark, u32 host)
{
	return (struct packet) {
		.mark = mark, .station = 1, .protocol = IPPROTO_TCP, .host = host,
		.sport = 80, .dport = 4000, .payload = MSS,
	};
}

static void attack_skb_network(struct attack *a, struct sk_buff *skb, const struct packet *p,
			       u32 length)
{
	struct ethhdr *eth = skb_put_zero(skb, sizeof(*eth));

	eth->h_dest[0] = p->group ? 1 : 2;
	eth->h_dest[3] = p->station >> 16;
	eth->h_dest[4] = p->station >> 8;
	eth->h_dest[5] = p->station;
	if (a->ipv6) {
		struct ipv6hdr *ih = skb_put_zero(skb, sizeof(*ih));

		eth->h_proto = htons(ETH_P_IPV6);
		ih->version = 6;
		ih->payload_len = htons(length);
		ih->nexthdr = p->protocol;
		ih->saddr.s6_addr32[0] = htonl(0x20010db8);
		ih->saddr.s6_addr32[3] = htonl(p->host);
		ih->daddr.s6_addr32[0] = htonl(0x20010db8);
		ih->daddr.s6_addr32[3] = htonl(0x10000 + p->station);
		if (p->back)
			swap(ih->saddr, ih->daddr);
	} else {
		struct iphdr *ih = skb_put_zero(skb, sizeof(*ih));

		eth->h_proto = htons(ETH_P_IP);
		ih->version = 4;
		ih->ihl = 5;
		ih->tot_len = htons(sizeof(*ih) + length);
		ih->protocol = p->protocol;
		ih->saddr = htonl(0x0b000000 + p->host);
		ih->daddr = htonl(0x0a000000 + p->station);
		if (p->back)
			swap(ih->saddr, ih->daddr);
	}
	skb->protocol = eth->h_proto;
}

static struct sk_buff *attack_skb(struct kunit *test, const struct packet *p)
{
	struct attack *a = test->priv;
	struct sk_buff *skb = alloc_skb(2048, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb->dev = a->dev;
	skb->mark = p->mark;
	skb_reset_mac_header(skb);
	if (p->protocol == IPPROTO_TCP) {
		struct tcphdr *th;

		attack_skb_network(a, skb, p, sizeof(*th) + p->payload);
		th = skb_put_zero(skb, sizeof(*th));
		th->source = htons(p->back ? p->dport : p->sport);
		th->dest = htons(p->back ? p->sport : p->dport);
		th->doff = sizeof(*th) / 4;
		th->ack = !p->syn;
		th->syn = p->syn;
		th->fin = p->fin;
		th->ack_seq = htonl(p->ack_seq);
	} else {
		struct udphdr *uh;

		/* ICMPv6 has neither ports nor a length there; nobody looks. */
		attack_skb_network(a, skb, p, sizeof(*uh) + p->payload);
		uh = skb_put_zero(skb, sizeof(*uh));
		uh->source = htons(p->sport);
		uh->dest = htons(p->dport);
		uh->len = htons(sizeof(*uh) + p->payload);
	}
	skb_put_zero(skb, p->payload);
	if (!p->protocol)	/* ARP */
		((struct ethhdr *)skb->data)->h_proto = htons(ETH_P_ARP);
	return skb;
}

static void attack_enqueue(struct kunit *test, const struct packet *p)
{
	struct sk_buff *skb = attack_skb(test, p), *to_free = NULL, *gone;
	struct attack *a = test->priv;

	qdisc_skb_cb(skb)->pkt_len = skb->len;
	qdisc_skb_cb_set_segs(skb, 1);
	a->queued[p->mark]++;
	local_bh_disable();
	spin_lock(qdisc_lock(a->sch));
	a->sch->enqueue(skb, a->sch, &to_free);
	spin_unlock(qdisc_lock(a->sch));
	local_bh_enable();
	for (gone = to_free; gone; gone = gone->next)
		a->queued[gone->mark]--;
	kfree_skb_list(to_free);
}

static void keep_backlog(struct kunit *test, struct packet p)
{
	struct attack *a = test->priv;
	u32 i;

	/* As often as there is room for: what is dropped may be its own. */
	for (i = 0; i < BACKLOG && a->queued[p.mark] < BACKLOG; i++)
		attack_enqueue(test, &p);
}

static struct sk_buff *attack_dequeue(struct attack *a)
{
	struct sk_buff *skb;

	local_bh_disable();
	spin_lock(qdisc_lock(a->sch));
	skb = a->sch->dequeue(a->sch);
	spin_unlock(qdisc_lock(a->sch));
	local_bh_enable();
	return skb;
}

/* Whose packet goes. */
static enum mark attack_serve(struct kunit *test)
{
	struct attack *a = test->priv;
	struct sk_buff *skb = attack_dequeue(a);
	enum mark mark = NOBODY;

	if (skb) {
		mark = skb->mark;
		a->queued[mark]--;
		a->sent += skb->len;
	}
	kfree_skb(skb);
	return mark;
}

/* Nothing waits after it; packets that a reset took were not counted. */
static void attack_drain(struct kunit *test)
{
	struct attack *a = test->priv;

	while (attack_serve(test) != NOBODY)
		;
	memset(a->queued, 0, sizeof(a->queued));
}

static int attack_init(struct kunit *test)
{
	struct attack *a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, a);
	test->priv = a;
	a->dev = dev_get_by_name(&init_net, test_device);
	if (!a->dev)
		return -ENODEV;
	rtnl_lock();
	a->sch = rtnl_dereference(a->dev->qdisc);
	rtnl_unlock();
	return 0;
}

/* What was attained before says nothing about what comes. */
static void attack_forget(struct kunit *test)
{
	struct attack *a = test->priv;

	attack_drain(test);
	rtnl_lock();
	dev_deactivate(a->dev, true);
	dev_activate(a->dev);
	rtnl_unlock();
}

/* The most packets that may wait. */
static void __maybe_unused attack_set_limit(struct kunit *test, u32 packets)
{
	struct {
		struct nlattr	nest;
		struct nlattr	limit;
		u32		value;
	} options = {
		.nest = { .nla_len = sizeof(options), .nla_type = TCA_OPTIONS | NLA_F_NESTED },
		.limit = { .nla_len = NLA_HDRLEN + sizeof(u32), .nla_type = TCA_LASACK_LIMIT },
		.value = packets,
	};
	struct attack *a = test->priv;

	rtnl_lock();
	KUNIT_EXPECT_EQ(test, a->sch->ops->change(a->sch, &options.nest, NULL), 0);
	rtnl_unlock();
}

static void attack_exit(struct kunit *test)
{
	struct attack *a = test->priv;

	if (!a || !a->dev)
		return;
	attack_drain(test);
	dev_put(a->dev);
}

#endif
