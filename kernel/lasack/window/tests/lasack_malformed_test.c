// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of packets whose headers are not where, or not what, they were taken for. */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include "lasack/tests/lasack_frames.h"

/*
 * Who looks twice may see two headers: those of a jumbogram's segments are eight bytes nearer, and
 * a program may write to what it sends. A header shorter than a TCP header has no options.
 */
static void malformed_accept(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct frame f = accepts();
	struct lasack_flow *flow;
	struct tcp_segment seg;
	struct sk_buff *skb;
	u8 doff;

	for (doff = 0; doff < 16; doff++) {
		f.other = doff;
		skb = packet_of(test, &f);
		tcp_segment_parse(skb, &seg);
		flow = flow_of(q, &seg);
		((struct tcphdr *)(skb->data + seg.transport))->doff = doff;
		lasack_aqm_accepted(q, flow, skb, &seg);
		if (doff * 4 < sizeof(struct tcphdr))
			KUNIT_EXPECT_FALSE(test, lasack_aqm_of(q, flow)->scale.known);
		kfree_skb(skb);
	}
}

/*
 * Two tags, of which the inner one is in the frame: the kernel takes it for the network header, and
 * would mark it. As VLAN 257 it looks like ECT(1). So nothing is marked, and late packets are
 * dropped.
 */
static void malformed_tags_are_not_marked(struct kunit *test)
{
	struct frame like = {
		.flags = TCPHDR_ACK, .ack_seq = 1, .payload = MSS, .ect = true, .vlan = true,
	};
	struct lasack_queue *q = test->priv;
	u32 i, sent = 0, changed = 0;
	struct sk_buff *skb;
	u8 queued[64];

	lasack_queue_advance(q, ktime_get_ns());
	for (i = 0; i < 30; i++) {
		skb = enqueue(test, like);
		skb->protocol = htons(ETH_P_8021Q);
		skb_set_network_header(skb, ETH_HLEN);
		((struct vlan_hdr *)(skb->data + ETH_HLEN))->h_vlan_TCI = htons(257);
		memcpy(queued, skb->data, sizeof(queued));
	}
	for (i = 0; i < 60; i++) {
		msleep(TARGET * 3 / 10);
		lasack_queue_advance(q, ktime_get_ns());
		skb = dequeue(test);
		if (!skb)
			break;
		sent++;
		changed += !!memcmp(queued, skb->data, sizeof(queued));
		kfree_skb(skb);
	}
	KUNIT_EXPECT_EQ(test, changed, 0U);
	KUNIT_EXPECT_EQ(test, q->aqm->codel_stats.ecn_mark, 0U);
	KUNIT_EXPECT_GE(test, q->aqm->codel_stats.drop_count, 2U);
	KUNIT_EXPECT_EQ(test, sent + q->aqm->codel_stats.drop_count, 30U);
}

static struct kunit_case lasack_malformed_test_cases[] = {
	KUNIT_CASE(malformed_accept),
	KUNIT_CASE(malformed_tags_are_not_marked),
	{}
};

static struct kunit_suite lasack_malformed_test_suite = {
	.name = "lasack_malformed",
	.init = lasack_aqm_test_init,
	.exit = lasack_test_exit,
	.test_cases = lasack_malformed_test_cases,
};

kunit_test_suite(lasack_malformed_test_suite);

MODULE_LICENSE("GPL");
