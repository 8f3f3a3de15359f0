// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite: attacks on the lasack discipline of a device.
 *
 * Principle: the device's root discipline is driven as the kernel does it, with whole packets,
 * and what is counted is whose packets it gives out. Who is attacked keeps a backlog, as
 * a TCP has; the attacker's packets come three for each one that goes. What is asked for comes
 * from what packets cost: beside short packets of OVERHEAD bytes each, a fair share
 * of a download's is at least a quarter of them.
 *
 * selftests/qdisc/attacks.sh makes the device and loads this, after test_parameters.
 */
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
#include "lasack/attacks/attacked_link.h"

#define PLACES	256		/* for stations */
#define PROBES	12U		/* beside each flood */

enum flood { DUPLICATE_ACKS, NEW_PORTS, SYNS, EMPTY, __FLOODS };

static const char * const flood_names[] = {
	"duplicate ACKs", "new ports", "SYNs", "empty datagrams"
};

static void flood_one(struct kunit *test, enum flood flood)
{
	struct attack *a = test->priv;
	u32 n = ++a->serial;
	struct packet p = {
		.mark = ATTACKER, .station = a->station, .protocol = IPPROTO_TCP, .host = 100,
		.sport = 5000, .dport = 443, .ack_seq = 77777,
	};

	switch (flood) {
	case DUPLICATE_ACKS:
		break;
	case NEW_PORTS:
		p.protocol = IPPROTO_UDP;
		p.sport = 1024 + n % 60000;
		p.host = 1000 + n / 60000;
		break;
	case SYNS:
		p.syn = true;
		p.host = 10000 + n;
		break;
	default:
		p.protocol = IPPROTO_UDP;
		break;
	}
	attack_enqueue(test, &p);
}

/* Of 600 packets, the download's. */
static u32 services_beside(struct kunit *test, enum flood flood)
{
	u32 i, j, count = 0;

	attack_forget(test);
	for (i = 0; i < WARM_UP + 600; i++) {
		keep_backlog(test, download(VICTIM, 1));
		for (j = 0; j < 3; j++)
			flood_one(test, flood);
		count += attack_serve(test) == VICTIM && i >= WARM_UP;
	}
	return count;
}

static void attack_each(struct kunit *test, void (*attempt)(struct kunit *test))
{
	struct attack *a = test->priv;

	for (a->ipv6 = 0; ; a->ipv6 = 1) {
		for (a->station = 1; a->station <= 2; a->station++) {
			kunit_info(test, "IPv%d, the attacker behind %s station\n",
				   a->ipv6 ? 6 : 4, a->station == 1 ? "the same" : "another");
			attempt(test);
		}
		if (a->ipv6)
			break;
	}
}

static void try_floods(struct kunit *test)
{
	enum flood flood;
	u32 count;

	for (flood = 0; flood < __FLOODS; flood++) {
		count = services_beside(test, flood);
		KUNIT_EXPECT_GE_MSG(test, count, 150U, "%s", flood_names[flood]);
	}
}

static void attack_floods(struct kunit *test)
{
	attack_each(test, try_floods);
}

/* ARP, DNS, DHCP and a neighbour's solicitation. */
static struct packet probe(u32 which, u8 station)
{
	static const u8 protocols[] = { 0, IPPROTO_UDP, IPPROTO_UDP, IPPROTO_ICMPV6 };
	static const u16 ports[] = { 0, 53, 67, 0 };

	return (struct packet) {
		.mark = PROBE, .station = station, .protocol = protocols[which % 4],
		.sport = ports[which % 4], .dport = 40000, .host = 7, .payload = 100,
	};
}

/* A probe that was dropped waits for nothing: each must also come out. */
static void try_probes(struct kunit *test)
{
	struct attack *a = test->priv;
	u64 since, longest = 0;
	enum flood flood;
	u32 i, j, n, came;

	for (flood = 0; flood < __FLOODS; flood++) {
		attack_forget(test);
		for (i = 0; i < 300; i++) {
			keep_backlog(test, download(VICTIM, 1));
			for (j = 0; j < 30; j++)
				flood_one(test, flood);
			attack_serve(test);
		}
		for (i = 0, came = 0; i < PROBES; i++) {
			struct packet p = probe(a->ipv6 || i % 4 != 3 ? i : 0, 3);

			since = a->sent;
			attack_enqueue(test, &p);
			for (n = 0; a->queued[PROBE] && n < 1000; n++) {
				for (j = 0; j < 3; j++)
					flood_one(test, flood);
				keep_backlog(test, download(VICTIM, 1));
				came += attack_serve(test) == PROBE;
			}
			longest = max(longest, a->sent - since);
		}
		KUNIT_EXPECT_EQ_MSG(test, came, PROBES, "%s", flood_names[flood]);
		KUNIT_EXPECT_LE_MSG(test, longest, LINK / 20ULL, "%s", flood_names[flood]);
	}
}

static void attack_probes(struct kunit *test)
{
	attack_each(test, try_probes);
}

/* Of two equal downloads the second has a SYN inside it every 50 services. */
static void try_syn_inside(struct kunit *test)
{
	struct packet other = download(OTHER, 2), syn = other;
	u32 i, served[__MARKS] = {};

	attack_forget(test);
	syn.syn = true;
	syn.payload = 0;
	syn.mark = ATTACKER;
	for (i = 0; i < 2000; i++) {
		keep_backlog(test, download(VICTIM, 1));
		keep_backlog(test, other);
		if (i % 50 == 0)
			attack_enqueue(test, &syn);
		served[attack_serve(test)]++;
	}
	KUNIT_EXPECT_LE(test, abs((int)served[VICTIM] - (int)served[OTHER]), 2000 / 20);
}

static void attack_syn_inside(struct kunit *test)
{
	attack_each(test, try_syn_inside);
}

enum forgery { NONE, AHEAD, CLIMBING, BURSTS, PAIRS, __FORGERIES };

static const char * const forgery_names[] = {
	"none", "ahead of the last real one", "ahead of the last forged one",
	"ten at once, each ahead of the one before", "two at once, the second little ahead"
};

/* Ten of them a second at the rate of the link: that is one for each 43 services. */
static void forge(struct kunit *test, struct packet ack, enum forgery kind, u32 jump, u32 i)
{
	struct attack *a = test->priv;
	u32 times = kind == BURSTS ? 10 : kind == PAIRS ? 2 : 1, n;

	if (kind == NONE || i % (43 * times) != 42)
		return;
	ack.mark = ATTACKER;
	if (kind == CLIMBING && a->serial)
		ack.ack_seq = a->serial;
	for (n = 0; n < times; n++) {
		ack.ack_seq += kind == PAIRS && n ? 1 : jump;
		attack_enqueue(test, &ack);
	}
	a->serial = ack.ack_seq;
}

/*
 * An upload's ACKs beside a download: @window of them wait, and each acknowledges two segments.
 * Return: by how much the download is ahead at most, bytes.
 */
static s64 lead_with_forged(struct kunit *test, enum forgery kind, u32 jump, u32 window)
{
	struct attack *a = test->priv;
	struct packet ack = {
		.mark = OTHER, .station = a->station, .protocol = IPPROTO_TCP, .host = 9,
		.sport = 5001, .dport = 6000,
	};
	s64 down = 0, up = 0, lead = 0;
	u32 i;

	attack_forget(test);
	a->serial = 0;
	for (i = 0; i < 6000; i++) {
		keep_backlog(test, download(VICTIM, 1));
		while (a->queued[OTHER] < window) {
			ack.ack_seq += 2 * MSS;
			up += 2 * MSS;
			attack_enqueue(test, &ack);
		}
		forge(test, ack, kind, jump, i);
		if (attack_serve(test) == VICTIM)
			down += MSS;
		if (i >= WARM_UP)
			lead = max(lead, down - up);
	}
	return lead;
}

static void try_forged(struct kunit *test)
{
	static const u32 jumps[] = { 64000, 128000, 190000, 256000, 1000000, 1U << 24, 1U << 30,
				     (1U << 31) - 1, 1U << 31, (1U << 31) + 1000 };
	u32 i, window, kind;
	s64 without;

	for (window = 1; window <= 16; window += 15) {
		without = lead_with_forged(test, NONE, 0, window);
		for (kind = AHEAD; kind < __FORGERIES; kind++) {
			for (i = 0; i < ARRAY_SIZE(jumps); i++) {
				s64 lead = lead_with_forged(test, kind, jumps[i], window);

				KUNIT_EXPECT_LE_MSG(test, lead - without, 256000, "%u %s; %u wait",
						    jumps[i], forgery_names[kind], window);
			}
		}
	}
}

static void attack_forged_acks(struct kunit *test)
{
	attack_each(test, try_forged);
}

/* Fifty connections to one station, one to another. */
static void attack_many_connections(struct kunit *test)
{
	struct attack *a = test->priv;
	u32 i, served[__MARKS] = {};
	struct packet p;

	for (a->ipv6 = 0; ; a->ipv6 = 1) {
		attack_forget(test);
		memset(served, 0, sizeof(served));
		for (i = 0; i < WARM_UP + 3000; i++) {
			keep_backlog(test, download(VICTIM, 1));
			p = download(ATTACKER, 10 + i % 50);
			p.station = 2;
			attack_enqueue(test, &p);
			served[attack_serve(test)] += i >= WARM_UP;
		}
		KUNIT_EXPECT_GE(test, served[ATTACKER] * 10, served[VICTIM] * 9);
		KUNIT_EXPECT_LE(test, served[ATTACKER] * 10, served[VICTIM] * 11);
		if (a->ipv6)
			break;
	}
}

/*
 * @pace packets for each one that is sent. Each address has @each of them, ten addresses at a time
 * by turns, and then is gone. All together have the service of one station. A station that comes
 * later has as much as each of the others, once as many packets were sent as there are places for
 * stations; but with several packets each, addresses keep their places for longer.
 */
static void attack_addresses(struct kunit *test, u32 pace, u32 each)
{
	u32 i, j, number, served[__MARKS] = {};
	struct packet p;

	attack_forget(test);
	for (i = 0; i < WARM_UP + 6000; i++) {
		if (i == WARM_UP || i == WARM_UP + 3000)
			memset(served, 0, sizeof(served));
		keep_backlog(test, download(VICTIM, 1));
		p = download(OTHER, 2);
		p.station = 2;
		if (i >= WARM_UP + 3000 - 3 * PLACES)
			keep_backlog(test, p);
		/* As TCP would, it tries again: then it may find a place of its own. */
		if (i >= WARM_UP + 3000 - 3 * PLACES && i < WARM_UP + 3000 && i % 32 == 0)
			attack_enqueue(test, &p);
		for (j = 0; j < pace; j++) {
			p = download(ATTACKER, 10);
			number = i * pace + j;
			p.station = 100 + number / (10 * each) * 10 + number % 10;
			p.host = p.station;
			attack_enqueue(test, &p);
		}
		served[attack_serve(test)]++;
		if (i == WARM_UP + 3000 - 3 * PLACES - 1) {
			KUNIT_EXPECT_GE(test, served[ATTACKER] * 10, served[VICTIM] * 9);
			KUNIT_EXPECT_LE(test, served[ATTACKER] * 10, served[VICTIM] * 11);
		}
	}
	if (each == 1)
		KUNIT_EXPECT_GE(test, served[OTHER] * 10, served[VICTIM] * 9);
	KUNIT_EXPECT_LE(test, served[OTHER] * 10, served[VICTIM] * 11);
	KUNIT_EXPECT_LE(test, served[ATTACKER] * 10, served[VICTIM] * 11);
}

static void attack_many_addresses(struct kunit *test)
{
	attack_addresses(test, 1, 1);
	attack_addresses(test, 10, 1);
	attack_addresses(test, 1, 10);
	attack_addresses(test, 10, 10);
}

/*
 * The queue is new. One station has @spent bytes and stops. Then a packet comes to one address
 * after the other that nobody has, eight of which wait, beside a station with a download. It has
 * at least nine tenths of a half.
 */
static void attack_addresses_at_first(struct kunit *test, u32 spent, u32 backlog)
{
	struct packet p = download(ATTACKER, 50), v = download(VICTIM, 1);
	u32 i, n, served[__MARKS] = {};
	struct attack *a = test->priv;

	attack_forget(test);
	p.station = 3;
	for (i = 0; i < spent / MSS; i++) {
		attack_enqueue(test, &p);
		attack_serve(test);
	}
	for (i = 0, n = 1000; i < 20000; i++) {
		while (a->queued[VICTIM] < backlog)
			attack_enqueue(test, &v);
		for (; a->queued[ATTACKER] < 8; n++) {
			p.station = n;
			p.host = n;
			attack_enqueue(test, &p);
		}
		served[attack_serve(test)]++;
	}
	KUNIT_EXPECT_GE_MSG(test, served[VICTIM], 9000, "%u bytes, %u packets", spent, backlog);
	attack_drain(test);
}

static void attack_a_new_queue(struct kunit *test)
{
	static const u32 spent[] = { 0, 16000, 60000 }, backlogs[] = { 1, 2, 10, 30 };
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(spent); i++) {
		for (j = 0; j < ARRAY_SIZE(backlogs); j++)
			attack_addresses_at_first(test, spent[i], backlogs[j]);
	}
}

/* The driver has given packets back, the limit becomes smaller, another packet comes. */
static void attack_requeued(struct kunit *test)
{
	struct packet p = download(VICTIM, 1);
	struct attack *a = test->priv;
	struct Qdisc *sch = a->sch;
	u32 i, was = sch->limit;
	struct sk_buff *skb;

	keep_backlog(test, p);
	for (i = 0; i < 8; i++) {
		skb = attack_dequeue(a);
		KUNIT_ASSERT_NOT_NULL(test, skb);
		__skb_queue_tail(i & 1 ? &sch->gso_skb : &sch->skb_bad_txq, skb);
		qdisc_qstats_backlog_inc(sch, skb);
		qdisc_qlen_inc(sch);
	}
	attack_set_limit(test, 1);
	KUNIT_EXPECT_EQ(test, sch->q.qlen, 1U);
	attack_enqueue(test, &p);
	KUNIT_EXPECT_EQ(test, sch->q.qlen, 1U);

	while ((skb = __skb_dequeue(&sch->gso_skb) ?: __skb_dequeue(&sch->skb_bad_txq))) {
		qdisc_qstats_backlog_dec(sch, skb);
		qdisc_qlen_dec(sch);
		kfree_skb(skb);
	}
	attack_set_limit(test, was);
	attack_drain(test);
	KUNIT_EXPECT_EQ(test, sch->q.qlen, 0U);
	KUNIT_EXPECT_EQ(test, sch->qstats.backlog, 0U);
}

static struct kunit_case lasack_attack_cases[] = {
	KUNIT_CASE(attack_requeued),
	KUNIT_CASE(attack_floods),
	KUNIT_CASE(attack_probes),
	KUNIT_CASE(attack_syn_inside),
	KUNIT_CASE(attack_forged_acks),
	{}
};

static struct kunit_case lasack_station_cases[] = {
	KUNIT_CASE(attack_many_connections),
	KUNIT_CASE(attack_many_addresses),
	KUNIT_CASE(attack_a_new_queue),
	{}
};

static struct kunit_suite lasack_attack_suite = {
	.name		= "lasack_attacks",
	.init		= attack_init,
	.exit		= attack_exit,
	.test_cases	= lasack_attack_cases,
};

static struct kunit_suite lasack_station_suite = {
	.name		= "lasack_station_attacks",
	.init		= attack_init,
	.exit		= attack_exit,
	.test_cases	= lasack_station_cases,
};

kunit_test_suites(&lasack_attack_suite, &lasack_station_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suites of attacks on a device's lasack discipline");
