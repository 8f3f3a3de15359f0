// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suites: attacks on a device's lasack discipline by few packets at the right time, and by
 * packets that look like those which come first.
 *
 * Principle: as lasack_attacks.c. Bursts are rare: what they cost in the mean says little, so the
 * longest time without service counts too.
 */
#include "lasack/attacks/attacked_link.h"

#define SERVICES 6000
#define LONGEST (256U << 10)	/* bytes of others' data */
/* Packets of MSS bytes in 50 ms at 11 Mb/s, each with headers and the preamble. */
#define PROMPT	26U

/* A forged ACK of the download; it acknowledges @ack_seq. */
static void forge(struct kunit *test, struct packet victim, u32 ack_seq)
{
	victim.mark = ATTACKER;
	victim.payload = 0;
	victim.ack_seq = ack_seq;
	attack_enqueue(test, &victim);
}

/* The service of two downloads, of which the one of VICTIM is attacked. */
struct watch {
	u32	served[__MARKS];
	u32	dry, driest;	/* packets of OTHER since one of VICTIM */
};

static void watched_service(struct kunit *test, struct watch *w)
{
	enum mark who;

	keep_backlog(test, download(VICTIM, 1));
	keep_backlog(test, download(OTHER, 2));
	who = attack_serve(test);
	w->served[who]++;
	if (who == OTHER)
		w->driest = max(w->driest, ++w->dry);
	else if (who == VICTIM)
		w->dry = 0;
}

/* Every @each services come @count ACKs, each @step bytes ahead of the one before. */
static void acks_in_bursts(struct kunit *test, u32 count, u32 step, u32 each)
{
	struct watch w = {};
	u32 i, n;

	for (i = 0; i < 4 * each; i++) {
		for (n = 1; i % each == 0 && n <= count; n++)
			forge(test, download(VICTIM, 1), n * step);
		watched_service(test, &w);
	}
	KUNIT_EXPECT_GE_MSG(test, w.served[VICTIM] * 20, each * 4 * 9, "%u ACKs", count);
	KUNIT_EXPECT_LE_MSG(test, w.driest * MSS, LONGEST, "%u ACKs", count);
}

static void warm_up(struct kunit *test)
{
	struct watch w = {};
	u32 i;

	attack_forget(test);
	for (i = 0; i < WARM_UP; i++)
		watched_service(test, &w);
}

static void attack_acks_in_bursts(struct kunit *test)
{
	static const u32 counts[] = { 24, 62, 70, 140 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		warm_up(test);
		acks_in_bursts(test, counts[i], 128 << 10, 10000);
		attack_drain(test);
	}
}

/* First a few large ACKs, slowly, which are sent and taken back: they must not look ordinary. */
static void lessons_first(struct kunit *test)
{
	struct watch w = {};
	u32 i;

	warm_up(test);
	for (i = 0; i < 8000; i++) {
		if (i % 100 == 0)
			forge(test, download(VICTIM, 1), 60000);
		if (i % 100 == 80)
			forge(test, download(VICTIM, 1), 75000);
		watched_service(test, &w);
	}
	acks_in_bursts(test, 32, 128 << 10, 5000);
	attack_drain(test);
}

static void attack_lessons_first(struct kunit *test)
{
	struct attack *a = test->priv;

	lessons_first(test);
	a->ipv6 = true;
	lessons_first(test);
}

/* Of the ACKs of a burst, each tenth is behind the one before, a little. */
static void attack_stepping_back(struct kunit *test)
{
	u32 i, n, position, each = 4000;
	struct watch w = {};

	warm_up(test);
	for (i = 0; i < 2 * each; i++) {
		for (n = 1, position = 0; i % each == 0 && n <= 90; n++) {
			position += n % 10 ? 128 << 10 : -66000;
			forge(test, download(VICTIM, 1), position);
		}
		watched_service(test, &w);
	}
	attack_drain(test);
	KUNIT_EXPECT_GE(test, w.served[VICTIM] * 20, each * 2 * 9);
	KUNIT_EXPECT_LE(test, w.driest * MSS, LONGEST);
}

/*
 * An upload with an ACK for @segments of its data. Its server is on its side: after @every real
 * ACKs come four that are further and further behind. So many ACKs wait. Does it have more than
 * the download?
 */
static void an_upload_hides(struct kunit *test, u32 segments, u32 every, u32 waiting)
{
	struct packet up = {
		.mark = ATTACKER, .station = 2, .protocol = IPPROTO_TCP, .host = 9,
		.sport = 5001, .dport = 6000, .ack_seq = 1000000,
	}, untrue;
	u32 i, k, n, real = 0, served[__MARKS] = {};
	struct attack *a = test->priv;

	attack_forget(test);
	untrue = up;
	untrue.mark = OTHER;
	for (i = 0; i < WARM_UP + SERVICES; i++) {
		keep_backlog(test, download(VICTIM, 1));
		for (k = 0; k < waiting && a->queued[ATTACKER] < waiting; k++) {
			up.ack_seq += segments * MSS;
			attack_enqueue(test, &up);
			if (++real % every)
				continue;
			untrue.ack_seq = up.ack_seq - (256 << 10);
			for (n = 0; n < 4; n++, untrue.ack_seq -= 8 << 20)
				attack_enqueue(test, &untrue);
		}
		served[attack_serve(test)] += i >= WARM_UP;
	}
	attack_drain(test);
	KUNIT_EXPECT_LE_MSG(test, served[ATTACKER] * segments * 8, served[VICTIM] * 9,
			    "%u segments, every %u, %u wait", segments, every, waiting);
}

static void attack_retreating_acks(struct kunit *test)
{
	an_upload_hides(test, 2, 100, 8);
	an_upload_hides(test, 20, 20, 8);
}

/* Its receiver acknowledges little more than is believed at once; nobody lies. */
static void attack_stretched_acks(struct kunit *test)
{
	an_upload_hides(test, 80, U32_MAX, 8);
	an_upload_hides(test, 100, U32_MAX, 8);
}

/* The ACKs of a receiver that merges segments, as many as a window of 6 MB has. */
static void attack_many_merged_acks(struct kunit *test)
{
	an_upload_hides(test, 20, U32_MAX, 120);
	an_upload_hides(test, 44, U32_MAX, 60);
	an_upload_hides(test, 44, U32_MAX, 90);
}

/*
 * Datagrams from port 53, two for each service, and @new to ever new ports and addresses, which
 * fill the queue. The @probe is of another kind.
 */
static void beside_dns(struct kunit *test, struct packet probe, u32 new)
{
	struct packet dns = {
		.mark = ATTACKER, .station = 1, .protocol = IPPROTO_UDP, .sport = 53,
		.host = 7, .payload = 1400,
	}, other = download(OTHER, 0);
	u32 i, n, waited = 0, worst = 0, sent = 0, came = 0;
	struct attack *a = test->priv;

	attack_forget(test);
	for (i = 0; i < WARM_UP + SERVICES; i++) {
		keep_backlog(test, download(VICTIM, 1));
		for (n = 0; n < 2; n++) {
			dns.dport = 1024 + i;
			attack_enqueue(test, &dns);
		}
		for (n = 0; n < new; n++) {
			other.protocol = IPPROTO_UDP;
			other.host = 1000 + new * i + n;
			other.station = other.host;
			attack_enqueue(test, &other);
		}
		if (i >= WARM_UP && i % 100 == 0 && !a->queued[PROBE]) {
			attack_enqueue(test, &probe);
			waited = 0;
			sent++;
		}
		came += attack_serve(test) == PROBE;
		waited += a->queued[PROBE] != 0;
		worst = max(worst, waited);
	}
	attack_drain(test);
	KUNIT_EXPECT_EQ(test, sent, 60U);
	KUNIT_EXPECT_EQ(test, came, sent);
	KUNIT_EXPECT_LE(test, worst, PROMPT);
}

static void attack_dns_flood(struct kunit *test)
{
	struct packet probe = {
		.mark = PROBE, .station = 3, .host = 8, .sport = 67, .dport = 68, .payload = 100,
	};
	struct attack *a = test->priv;

	beside_dns(test, probe, 0);	/* ARP */
	beside_dns(test, probe, 3);
	probe.protocol = IPPROTO_UDP;
	beside_dns(test, probe, 0);	/* DHCP */
	beside_dns(test, probe, 3);
	probe.protocol = IPPROTO_ICMPV6;
	a->ipv6 = true;
	beside_dns(test, probe, 0);
}

static struct kunit_case lasack_burst_cases[] = {
	KUNIT_CASE(attack_acks_in_bursts),
	KUNIT_CASE(attack_lessons_first),
	KUNIT_CASE(attack_stepping_back),
	KUNIT_CASE(attack_retreating_acks),
	KUNIT_CASE(attack_stretched_acks),
	KUNIT_CASE(attack_many_merged_acks),
	KUNIT_CASE(attack_dns_flood),
	{}
};

static struct kunit_suite lasack_burst_suite = {
	.name		= "lasack_burst_attacks",
	.init		= attack_init,
	.exit		= attack_exit,
	.test_cases	= lasack_burst_cases,
};

/* A call, a packet in twenty services. Then come packets to ever new addresses, three a service. */
static void attack_addresses_beside_a_call(struct kunit *test)
{
	struct packet call = download(PROBE, 3), p = download(ATTACKER, 50);
	u32 i, n, new = 0, waited = 0, worst = 0, came = 0;
	struct attack *a = test->priv;

	call.station = 77;
	call.protocol = IPPROTO_UDP;
	call.payload = 200;
	p.protocol = IPPROTO_UDP;
	attack_forget(test);
	for (i = 0; i < 4000 + SERVICES; i++) {
		keep_backlog(test, download(VICTIM, 1));
		if (!a->queued[PROBE] && i % 20 == 0) {
			attack_enqueue(test, &call);
			waited = 0;
		}
		for (n = 0; i >= 4000 && n < 3 && a->queued[ATTACKER] < 900; n++) {
			p.host = 1000 + new++;
			p.station = p.host;
			attack_enqueue(test, &p);
		}
		came += attack_serve(test) == PROBE && i >= 4000;
		waited += a->queued[PROBE] != 0;
		if (i >= 4000)
			worst = max(worst, waited);
	}
	attack_drain(test);
	KUNIT_EXPECT_EQ(test, came, SERVICES / 20U);
	KUNIT_EXPECT_LE(test, worst, PROMPT);
}

#define SINGLES 310U

/* The number of the connection that a packet of attack_single_packets() belongs to. */
static u32 single_number(const struct sk_buff *skb)
{
	return ntohl(((const struct iphdr *)(skb->data + ETH_HLEN))->saddr) - 0x0b000000 - 1000;
}

/* As attack_enqueue(); @has says which connections have a packet that waits. */
static void single_enqueue(struct kunit *test, const struct packet *p, u8 *has)
{
	struct sk_buff *skb = attack_skb(test, p), *to_free = NULL, *gone;
	struct attack *a = test->priv;

	qdisc_skb_cb(skb)->pkt_len = skb->len;
	qdisc_skb_cb_set_segs(skb, 1);
	if (p->mark == ATTACKER)
		has[single_number(skb)]++;
	local_bh_disable();
	spin_lock(qdisc_lock(a->sch));
	a->sch->enqueue(skb, a->sch, &to_free);
	spin_unlock(qdisc_lock(a->sch));
	local_bh_enable();
	for (gone = to_free; gone; gone = gone->next) {
		if (gone->mark == ATTACKER)
			has[single_number(gone)]--;
	}
	kfree_skb_list(to_free);
}

/*
 * A station has as many connections as packets may wait, each with one packet. Its neighbour asks
 * for half of what the link carries, in bursts of ten.
 */
static void attack_single_packets(struct kunit *test)
{
	u8 *has = kunit_kzalloc(test, SINGLES, GFP_KERNEL);
	struct packet p = download(ATTACKER, 0), victim = download(VICTIM, 1);
	u32 i, n, sent, came = 0, offered = 0;
	struct attack *a = test->priv;
	u32 was = a->sch->limit;
	struct sk_buff *skb;

	KUNIT_ASSERT_NOT_NULL(test, has);
	attack_set_limit(test, 300);
	p.station = 2;
	attack_forget(test);
	for (i = 0; i < 20000 + SERVICES; i++) {
		for (n = 0; i % 20 == 0 && n < 10; n++) {
			single_enqueue(test, &victim, has);
			offered += i >= 20000;
		}
		for (n = 0, sent = 0; sent < 2 && n < SINGLES; n++) {
			if (has[n])
				continue;
			p.host = 1000 + n;
			single_enqueue(test, &p, has);
			sent++;
		}
		skb = attack_dequeue(a);
		if (skb && skb->mark == ATTACKER)
			has[single_number(skb)]--;
		came += skb && skb->mark == VICTIM && i >= 20000;
		kfree_skb(skb);
	}
	attack_drain(test);
	attack_set_limit(test, was);
	KUNIT_EXPECT_GE(test, came * 10, offered * 9);
}

static struct kunit_case lasack_address_cases[] = {
	KUNIT_CASE(attack_addresses_beside_a_call),
	KUNIT_CASE(attack_single_packets),
	{}
};

static struct kunit_suite lasack_address_suite = {
	.name		= "lasack_address_attacks",
	.init		= attack_init,
	.exit		= attack_exit,
	.test_cases	= lasack_address_cases,
};

kunit_test_suites(&lasack_burst_suite, &lasack_address_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suites of bursts and invented addresses at a device's lasack discipline");
