// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of what LAS-ACK counts of the packets that come in, and what it does to them.
 *
 * Principle: bytes are added up by hand. A packet is made byte by byte, once as it
 * comes in and once as its answer goes out, and must be of one flow both times.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/udp.h>
#include "lasack/tests/lasack_datagrams.h"

static u64 attained_by(struct kunit *test, struct tcp_segment seg)
{
	struct lasack_queue *q = test->priv;

	return flow_of(q, &seg)->account.sum;
}

static void observe_charges_the_upload(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	comes_in(test, datagram(1, 1200));
	comes_in(test, datagram(1, 1200));
	add(test, datagram(1, 40), 1);
	KUNIT_EXPECT_EQ(test, attained_by(test, datagram(1, 0)), 2400ULL);
	add(test, datagram(1, 40), 2);		/* charged once */
	KUNIT_EXPECT_EQ(test, attained_by(test, datagram(1, 0)), 2400ULL);
	comes_in(test, datagram(1, 100));
	add(test, datagram(1, 40), 3);
	serve(test);
	KUNIT_EXPECT_EQ(test, attained_by(test, datagram(1, 0)), 2540ULL);
	KUNIT_EXPECT_EQ(test, q->observer->sum.packets, 3ULL);
	KUNIT_EXPECT_EQ(test, q->observer->sum.bytes, 2500ULL);
}

static void observe_orders_by_it(struct kunit *test)
{
	comes_in(test, datagram(1, 100000));
	add(test, datagram(1, 40), 1);
	add(test, datagram(2, 1000), 2);
	add(test, datagram(2, 1000), 3);
	KUNIT_EXPECT_EQ(test, serve(test), 2U);
	KUNIT_EXPECT_EQ(test, serve(test), 3U);
	KUNIT_EXPECT_EQ(test, serve(test), 1U);
}

/* Who sends in another's name is charged for it at most himself. */
static void observe_believes_no_other_station(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct tcp_segment seg = datagram(1, 100000);

	lasack_observer_note(q->observer, &seg, 0x020000000007ULL);
	add(test, datagram(1, 40), 1);		/* to 02:00:00:00:00:01 */
	KUNIT_EXPECT_EQ(test, attained_by(test, datagram(1, 0)), 0ULL);
	add_to(test, 7, datagram(1, 40), 2);
	KUNIT_EXPECT_EQ(test, lasack_queue_flow(q, &seg, STATION)->account.sum, 0ULL);
	KUNIT_EXPECT_EQ(test, lasack_queue_flow(q, &seg, MAC_OF(7))->account.sum, 100000ULL);
}

/* The ACKs tell of TCP: counting both would charge it twice. */
static void observe_leaves_tcp_alone(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	comes_in(test, data(1, 5000));
	add(test, ack(1, 1), 1);
	add(test, ack(1, 5001), 2);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 5000ULL);
	KUNIT_EXPECT_EQ(test, q->observer->sum.packets, 0ULL);
}

static void observe_leaves_keyless_alone(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct tcp_segment arp = { .class = SEGMENT_NOT_IP, .payload = 28 };

	comes_in(test, arp);
	add(test, arp, 1);
	KUNIT_EXPECT_EQ(test, q->observer->sum.packets, 0ULL);
	KUNIT_EXPECT_EQ(test, lasack_shared(q, LASACK_LINK)->account.sum, 0ULL);
}

/* What the largest TCP window holds is the most at once, as for ACKs. */
static void observe_is_clamped(struct kunit *test)
{
	u32 i;

	for (i = 0; i < 20000; i++)
		comes_in(test, datagram(1, 65507));
	add(test, datagram(1, 0), 1);
	KUNIT_EXPECT_EQ(test, attained_by(test, datagram(1, 0)), 1073725440ULL);
}

/* A camera that nothing answers for long: the first answer is charged with a second of it. */
static void observe_forgets_old_bytes(struct kunit *test)
{
	u32 i;

	for (i = 0; i < 5; i++) {
		comes_in(test, datagram(1, 60000));
		msleep(700);
	}
	comes_in(test, datagram(1, 1000));
	add(test, datagram(1, 0), 1);
	KUNIT_EXPECT_EQ(test, attained_by(test, datagram(1, 0)), 61000ULL);
	msleep(1100);
	comes_in(test, datagram(1, 300));
	add(test, datagram(1, 0), 2);
	KUNIT_EXPECT_EQ(test, attained_by(test, datagram(1, 0)), 61300ULL);
	comes_in(test, datagram(1, 60000));
	msleep(1100);
	add(test, datagram(1, 0), 3);
	KUNIT_EXPECT_EQ(test, attained_by(test, datagram(1, 0)), 61300ULL);
}

/* Nor is a sender told of what waited long ago. */
static void observe_forgets_to_tell(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct tcp_segment seg = datagram(1, 1000);
	u32 i, told = 0;

	comes_in(test, seg);
	lasack_observer_slow(q->observer, &seg.key, 0x020000000001ULL);
	msleep(1100);
	for (i = 0; i < 3 * LASACK_SEEN_TELL; i++)
		told += comes_in(test, seg);
	KUNIT_EXPECT_EQ(test, told, 0U);

	/* But of what was late just now, however long it waited. */
	msleep(1100);
	lasack_observer_slow(q->observer, &seg.key, 0x020000000001ULL);
	for (i = 0; i < 3 * LASACK_SEEN_TELL; i++)
		told += comes_in(test, seg);
	KUNIT_EXPECT_EQ(test, told, 1U);
}

/* A flow that only comes in takes no place of one that also goes out. */
static void observe_keeps_what_goes_out(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct tcp_segment seg = datagram(1, 1000);
	struct lasack_seen *set = lasack_observer_set(q->observer, &seg.key);
	u32 i, used = 0;

	comes_in(test, seg);
	for (i = 2; i < 10000 && used < LASACK_SEEN_WAYS; i++) {
		struct tcp_segment other = datagram(i, 1000);

		if (lasack_observer_set(q->observer, &other.key) != set)
			continue;
		lasack_observer_take(q->observer, &seg.key, 0x020000000001ULL);
		comes_in(test, other);
		used++;
	}
	KUNIT_ASSERT_EQ(test, used, (u32)LASACK_SEEN_WAYS);
	lasack_observer_slow(q->observer, &seg.key, 0x020000000001ULL);
	for (i = 1; i < LASACK_SEEN_TELL; i++)
		KUNIT_EXPECT_FALSE(test, comes_in(test, seg));
	KUNIT_EXPECT_TRUE(test, comes_in(test, seg));
}

/* A flood of new flows takes no place of one that goes on. */
static void observe_survives_a_flood(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct tcp_segment kept = datagram(1, 1000);
	u32 i, in = 0;

	/* The same hash in each run: four of 20 may fall on one set. */
	q->observer->hash_key = (siphash_key_t) {{ 1, 2 }};
	for (i = 0; i < 100000; i++) {
		comes_in(test, datagram(1000 + i, 1000));
		if (i % 20)
			continue;
		in += lasack_observer_take(q->observer, &kept.key, 0x020000000001ULL);
		comes_in(test, kept);
	}
	KUNIT_EXPECT_EQ(test, in, 4999U * 1000);
}

/* 10.0.0.1:1000 and 10.0.0.2:2000, 100 bytes: from the second or from the first. */
static struct sk_buff *udp_packet(struct kunit *test, bool answer)
{
	const __be32 addr[] = { htonl(0x0a000001), htonl(0x0a000002) };
	const __be16 port[] = { htons(1000), htons(2000) };
	struct sk_buff *skb = alloc_skb(256, GFP_KERNEL);
	struct ethhdr *eth;
	struct iphdr *ih;
	struct udphdr *uh;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	eth = skb_put_zero(skb, sizeof(*eth));
	eth->h_proto = htons(ETH_P_IP);
	ih = skb_put_zero(skb, sizeof(*ih));
	ih->version = 4;
	ih->ihl = 5;
	ih->tot_len = htons(sizeof(*ih) + sizeof(*uh) + 100);
	ih->protocol = IPPROTO_UDP;
	ih->saddr = addr[!answer];
	ih->daddr = addr[answer];
	ih->check = ip_fast_csum(ih, ih->ihl);
	uh = skb_put_zero(skb, sizeof(*uh));
	uh->source = port[!answer];
	uh->dest = port[answer];
	skb_put_zero(skb, 100);
	skb->protocol = htons(ETH_P_IP);
	skb_reset_mac_header(skb);
	return skb;
}

/* As the stack hands it to netfilter. */
static struct sk_buff *udp_packet_in(struct kunit *test)
{
	struct sk_buff *skb = udp_packet(test, false);

	skb_pull(skb, ETH_HLEN);
	skb_reset_network_header(skb);
	return skb;
}

/* And as a discipline gets the answer. */
static void observe_knows_the_flow_again(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct sk_buff *in = udp_packet_in(test), *out = udp_packet(test, true);
	struct tcp_segment seg;

	KUNIT_EXPECT_EQ(test, lasack_observer_hook(q->observer, in, NULL), (unsigned int)NF_ACCEPT);
	KUNIT_EXPECT_EQ(test, q->observer->sum.bytes, 100ULL);

	KUNIT_EXPECT_EQ(test, tcp_segment_parse(out, &seg), SEGMENT_PORTS);
	KUNIT_EXPECT_EQ(test, lasack_observer_take(q->observer, &seg.key, 0), 100U);
	kfree_skb(in);
	kfree_skb(out);
}

/* One packet tells the sender, and only the sender that was meant. */
static void observe_drops_one_packet(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct sk_buff *in = udp_packet_in(test), *out = udp_packet(test, true);
	struct tcp_segment seg, other = datagram(1, 1200);
	u32 i, dropped = 0;

	tcp_segment_parse(out, &seg);
	lasack_observer_slow(q->observer, &seg.key, 0);	/* of whom nothing came yet */
	lasack_observer_hook(q->observer, in, NULL);
	comes_in(test, other);
	lasack_observer_slow(q->observer, &seg.key, 0);
	KUNIT_EXPECT_FALSE(test, comes_in(test, other));
	for (i = 0; i < 3 * LASACK_SEEN_TELL; i++)
		dropped += lasack_observer_hook(q->observer, in, NULL) == NF_DROP;
	KUNIT_EXPECT_EQ(test, dropped, 1U);
	KUNIT_EXPECT_EQ(test, q->observer->sum.slowed, 1ULL);
	kfree_skb(in);
	kfree_skb(out);
}

/* Who knows ECN loses nothing. Who else has the packet sees it as it was. */
static void observe_marks_ecn(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct sk_buff *in = udp_packet_in(test), *clone;
	struct iphdr *ih = ip_hdr(in);
	struct tcp_segment seg;
	u32 i;

	ih->tos = INET_ECN_ECT_0;
	ih->check = 0;
	ih->check = ip_fast_csum(ih, ih->ihl);
	clone = skb_clone(in, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, clone);
	lasack_observer_hook(q->observer, in, NULL);
	tcp_segment_parse_received(in, &seg);
	lasack_observer_slow(q->observer, &seg.key, 0);
	for (i = 0; i < LASACK_SEEN_TELL; i++)
		KUNIT_EXPECT_EQ(test, lasack_observer_hook(q->observer, in, NULL),
				(unsigned int)NF_ACCEPT);
	ih = ip_hdr(in);
	KUNIT_EXPECT_EQ(test, ih->tos & INET_ECN_MASK, INET_ECN_CE);
	KUNIT_EXPECT_FALSE(test, ip_fast_csum(ih, ih->ihl));
	KUNIT_EXPECT_EQ(test, ip_hdr(clone)->tos & INET_ECN_MASK, INET_ECN_ECT_0);
	KUNIT_EXPECT_EQ(test, q->observer->sum.slowed, 1ULL);
	kfree_skb(clone);
	kfree_skb(in);
}

static struct kunit_case lasack_observe_cases[] = {
	KUNIT_CASE(observe_charges_the_upload),
	KUNIT_CASE(observe_orders_by_it),
	KUNIT_CASE(observe_believes_no_other_station),
	KUNIT_CASE(observe_leaves_tcp_alone),
	KUNIT_CASE(observe_leaves_keyless_alone),
	KUNIT_CASE(observe_is_clamped),
	KUNIT_CASE(observe_forgets_old_bytes),
	KUNIT_CASE(observe_forgets_to_tell),
	KUNIT_CASE(observe_keeps_what_goes_out),
	KUNIT_CASE(observe_survives_a_flood),
	KUNIT_CASE(observe_knows_the_flow_again),
	KUNIT_CASE(observe_drops_one_packet),
	KUNIT_CASE(observe_marks_ecn),
	{}
};

static struct kunit_suite lasack_observe_suite = {
	.name		= "lasack_observe",
	.init		= observe_test_init,
	.exit		= lasack_test_exit,
	.test_cases	= lasack_observe_cases,
};

kunit_test_suite(lasack_observe_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of what LAS-ACK counts of packets that come in");
