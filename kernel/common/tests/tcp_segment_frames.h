/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frames for the suite of the packet parser, put together from headers in
 * hexadecimal, and what parsing them has to give whichever way it is done.
 */
#ifndef LASACK_TESTS_TCP_SEGMENT_FRAMES_H
#define LASACK_TESTS_TCP_SEGMENT_FRAMES_H

#include <kunit/test.h>
#include <linux/hex.h>
#include "common/tcp_segment.c"

struct frame {
	u8	bytes[FRAME_MAX];
	u32	length;
};

/* Frames in hexadecimal, a header a line. */
#define MACS	"020000000001 020000000002 "

/* 10.0.0.1:80 > 10.0.0.2:4660, ACK 0x01020304, 7 bytes: the lesser endpoint sends */
#define TCP_SEVEN "0050 1234 00000001 01020304 5018 ffff 0000 0000 7061796c6f6164 "

static const char eth_ipv4[] = MACS "0800";
static const char ipv4_tcp[] =
	"4500 002f 0001 4000 4006 0000 0a000001 0a000002 "
	TCP_SEVEN;

/* The other way, a pure ACK: IP options (router alert), TCP timestamps. */
#define TCP_TIMESTAMPS "0101 080a 00000001 00000002 "
#define TCP_ACK "1234 0050 00000001 fffffffe 8010 ffff 0000 0000 " TCP_TIMESTAMPS

static const char ipv4_options_ack[] =
	"4600 0038 0001 4000 4006 0000 0a000002 0a000001 94040000 "
	TCP_ACK;

#define IPV6_A	"20010db8000000000000000000000001 "
#define IPV6_B	"20010db8000000000000000000000002 "

static const char eth_ipv6[] = MACS "86dd";
static const char ipv6_tcp[] =
	"60000000 001b 0640 " IPV6_A IPV6_B
	TCP_SEVEN;

/* hop-by-hop (8 bytes), destination options (16), AH (24), TCP (27): 75 */
#define HOP_BY_HOP "3c00 010400000000 "
#define DESTINATION_OPTIONS "3301 010c000000000000000000000000 "
#define AH "0604 0000 00000001 00000001 090909090909090909090909 "

static const char ipv6_exthdrs_tcp[] =
	"60000000 004b 0040 " IPV6_A IPV6_B
	HOP_BY_HOP DESTINATION_OPTIONS AH
	TCP_SEVEN;

static const char eth_vlan_ipv4[] = MACS "8100 0005 0800";
static const char eth_qinq_ipv6[] = MACS "88a8 0007 8100 0005 86dd";
static const char eth_pppoe_ipv4[] = MACS "8864 1100 0009 0031 0021";
static const char eth_vlan_pppoe_ipv6[] = MACS "8100 0005 8864 1100 0009 0045 0057";

static void frame_add(struct frame *frame, const char *hex)
{
	for (; *hex; hex++) {
		if (*hex == ' ')
			continue;
		frame->bytes[frame->length++] = hex_to_bin(hex[0]) << 4 |
						hex_to_bin(hex[1]);
		hex++;
	}
}

static void frame_set(struct frame *frame, const char *link, const char *network)
{
	frame->length = 0;
	frame_add(frame, link);
	frame_add(frame, network);
}

/*
 * All but @linear bytes in a page fragment, so that a read past the linear
 * part has to go through skb_header_pointer().
 */
static struct sk_buff *frame_skb(struct kunit *test, const struct frame *frame,
				 u32 length, u32 linear)
{
	struct sk_buff *skb = alloc_skb(max(linear, 1U), GFP_KERNEL);
	struct page *page;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	linear = min(linear, length);
	skb_put_data(skb, frame->bytes, linear);
	if (linear == length)
		return skb;

	page = alloc_page(GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, page);
	memcpy(page_address(page), frame->bytes + linear, length - linear);
	skb_add_rx_frag(skb, 0, page, 0, length - linear, PAGE_SIZE);
	return skb;
}

static void expect_same(struct kunit *test, const struct tcp_segment *seg,
			const struct tcp_segment *slow)
{
	KUNIT_EXPECT_EQ(test, memcmp(&seg->key, &slow->key, sizeof(slow->key)), 0);
	KUNIT_EXPECT_EQ(test, (int)seg->class, (int)slow->class);
	KUNIT_EXPECT_EQ(test, (int)seg->reversed, (int)slow->reversed);
	KUNIT_EXPECT_EQ(test, (int)seg->pure_ack, (int)slow->pure_ack);
	KUNIT_EXPECT_EQ(test, (int)seg->sealed, (int)slow->sealed);
	KUNIT_EXPECT_EQ(test, (int)seg->ack, (int)slow->ack);
	KUNIT_EXPECT_EQ(test, (int)seg->syn, (int)slow->syn);
	KUNIT_EXPECT_EQ(test, (int)seg->fin, (int)slow->fin);
	KUNIT_EXPECT_EQ(test, (int)seg->rst, (int)slow->rst);
	KUNIT_EXPECT_EQ(test, seg->payload, slow->payload);
	KUNIT_EXPECT_EQ(test, seg->ack_seq, slow->ack_seq);
}

/*
 * The fast way is a short cut of the slow one and no more. Nor does it matter whether a packet goes
 * out or comes in, where it has no Ethernet header.
 */
static void expect_slow_agrees(struct kunit *test, struct sk_buff *skb,
			       const struct tcp_segment *seg)
{
	struct tcp_segment slow, received;

	tcp_segment_parse_slow(skb, &slow);
	expect_same(test, seg, &slow);
	if (slow.class == SEGMENT_TCP)
		KUNIT_EXPECT_EQ(test, seg->transport, slow.transport);
	if (skb_headlen(skb) < ETH_HLEN)
		return;
	skb->protocol = ((const struct ethhdr *)skb->data)->h_proto;
	__skb_pull(skb, ETH_HLEN);
	skb_reset_network_header(skb);
	memset(&received, 0xa5, sizeof(received));
	tcp_segment_parse_received(skb, &received);
	expect_same(test, &received, &slow);
	if (slow.class == SEGMENT_TCP)
		KUNIT_EXPECT_EQ(test, received.transport, slow.transport - ETH_HLEN);
}

static enum segment_class parse_cut(struct kunit *test, const struct frame *frame,
				    u32 length, u32 linear, struct tcp_segment *seg)
{
	struct sk_buff *skb = frame_skb(test, frame, length, linear);
	enum segment_class class;

	memset(seg, 0xa5, sizeof(*seg));
	class = tcp_segment_parse(skb, seg);
	KUNIT_EXPECT_EQ(test, (int)class, (int)seg->class);
	expect_slow_agrees(test, skb, seg);
	kfree_skb(skb);
	return class;
}

static enum segment_class parse(struct kunit *test, const struct frame *frame,
				struct tcp_segment *seg)
{
	return parse_cut(test, frame, frame->length, frame->length, seg);
}

/* What both ipv4_tcp and ipv6_tcp say. */
static void expect_seven_bytes(struct kunit *test, const struct frame *frame)
{
	struct tcp_segment seg;

	KUNIT_EXPECT_EQ(test, (int)parse(test, frame, &seg), (int)SEGMENT_TCP);
	KUNIT_EXPECT_EQ(test, seg.payload, 7U);
	KUNIT_EXPECT_TRUE(test, seg.ack);
	KUNIT_EXPECT_EQ(test, seg.ack_seq, 0x01020304U);
	KUNIT_EXPECT_FALSE(test, seg.pure_ack);
	KUNIT_EXPECT_EQ(test, (int)seg.reversed, 0);
	KUNIT_EXPECT_EQ(test, (int)ntohs(seg.key.port[0]), 80);
	KUNIT_EXPECT_EQ(test, (int)ntohs(seg.key.port[1]), 0x1234);
	KUNIT_EXPECT_EQ(test, (int)seg.key.protocol, (int)IPPROTO_TCP);
}

#endif
