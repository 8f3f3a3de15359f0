// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of what LAS-ACK counts of the packets that come in.
 *
 * Principle: bytes are added up by hand. A packet is made byte by byte, once as it
 * comes in and once as its answer goes out, and must be of one flow both times.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/udp.h>
#include "lasack/tests/lasack_packets.h"

static int observe_test_init(struct kunit *test)
{
	int err = lasack_test_init(test);
	struct lasack_queue *q = test->priv;

	if (err)
		return err;
	q->observer = lasack_observer_alloc();
	KUNIT_ASSERT_NOT_NULL(test, q->observer);
	return 0;
}

static void observe_test_exit(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	lasack_observer_free(q->observer);
	lasack_test_exit(test);
}

/* A datagram of flow @id, up or down. */
static struct tcp_segment datagram(u32 id, u32 payload)
{
	struct tcp_segment seg = data(id, payload);

	seg.class = SEGMENT_PORTS;
	seg.key.class = SEGMENT_PORTS;
	return seg;
}

static void comes_in(struct kunit *test, struct tcp_segment seg)
{
	struct lasack_queue *q = test->priv;

	lasack_observer_note(q->observer, &seg);
}

static u64 attained_by(struct kunit *test, struct tcp_segment seg)
{
	struct lasack_queue *q = test->priv;

	return lasack_queue_flow(q, &seg)->account.sum;
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
	KUNIT_EXPECT_EQ(test, q->observer->packets, 3ULL);
	KUNIT_EXPECT_EQ(test, q->observer->bytes, 2500ULL);
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

/* The ACKs tell of TCP: counting both would charge it twice. */
static void observe_leaves_tcp_alone(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	comes_in(test, data(1, 5000));
	add(test, ack(1, 1), 1);
	add(test, ack(1, 5001), 2);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 5000ULL);
	KUNIT_EXPECT_EQ(test, q->observer->packets, 0ULL);
}

static void observe_leaves_keyless_alone(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct tcp_segment arp = { .class = SEGMENT_NOT_IP, .payload = 28 };

	comes_in(test, arp);
	add(test, arp, 1);
	KUNIT_EXPECT_EQ(test, q->observer->packets, 0ULL);
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

/* A flood of new flows takes no place of one that goes on. */
static void observe_survives_a_flood(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	u32 i, in = 0;

	/* The same hash in each run: four of 20 may fall on one set. */
	q->observer->hash_key = (siphash_key_t) {{ 1, 2 }};
	for (i = 0; i < 100000; i++) {
		comes_in(test, datagram(1000 + i, 1000));
		if (i % 20)
			continue;
		comes_in(test, datagram(1, 1000));
		in += 1000;
	}
	add(test, datagram(1, 0), 1);
	KUNIT_EXPECT_EQ(test, attained_by(test, datagram(1, 0)), (u64)in);
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
	uh = skb_put_zero(skb, sizeof(*uh));
	uh->source = port[!answer];
	uh->dest = port[answer];
	skb_put_zero(skb, 100);
	skb->protocol = htons(ETH_P_IP);
	skb_reset_mac_header(skb);
	return skb;
}

/* As the stack hands it to a tap, and as a discipline gets the answer. */
static void observe_knows_the_flow_again(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct sk_buff *in = udp_packet(test, false), *out = udp_packet(test, true);
	struct tcp_segment seg;

	skb_pull(in, ETH_HLEN);
	skb_reset_network_header(in);
	lasack_tap(skb_get(in), NULL, &q->observer->tap, NULL);
	KUNIT_EXPECT_EQ(test, refcount_read(&in->users), 1U);	/* its own is gone */
	KUNIT_EXPECT_EQ(test, q->observer->bytes, 100ULL);

	KUNIT_EXPECT_EQ(test, tcp_segment_parse(out, &seg), SEGMENT_PORTS);
	KUNIT_EXPECT_EQ(test, lasack_observer_take(q->observer, &seg.key), 100U);
	kfree_skb(in);
	kfree_skb(out);
}

static struct kunit_case lasack_observe_cases[] = {
	KUNIT_CASE(observe_charges_the_upload),
	KUNIT_CASE(observe_orders_by_it),
	KUNIT_CASE(observe_leaves_tcp_alone),
	KUNIT_CASE(observe_leaves_keyless_alone),
	KUNIT_CASE(observe_is_clamped),
	KUNIT_CASE(observe_survives_a_flood),
	KUNIT_CASE(observe_knows_the_flow_again),
	{}
};

static struct kunit_suite lasack_observe_suite = {
	.name		= "lasack_observe",
	.init		= observe_test_init,
	.exit		= observe_test_exit,
	.test_cases	= lasack_observe_cases,
};

kunit_test_suite(lasack_observe_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of what LAS-ACK counts of packets that come in");
