// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of tcp_segment.h.
 *
 * Principle: frames are written byte by byte from the RFCs' header diagrams
 * and what they must give is read off the bytes, never computed by the code
 * under test. Every good frame is then cut at every byte and mutated.
 */
#include <kunit/test.h>
#include <linux/hex.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include "common/tests/captured_packets.h"
#include "common/tests/packet_grammar.h"

#define FRAME_MAX	256
#include "common/tests/tcp_segment_frames.h"

static void segment_ipv4(struct kunit *test)
{
	static const u8 mapped[16] = { [10] = 0xff, 0xff, 10, 0, 0, 1 };
	struct tcp_segment seg;
	struct frame frame;

	frame_set(&frame, eth_ipv4, ipv4_tcp);
	expect_seven_bytes(test, &frame);
	parse(test, &frame, &seg);
	KUNIT_EXPECT_EQ(test, (int)seg.key.family, ETH_P_IP);
	KUNIT_EXPECT_EQ(test, memcmp(&seg.key.addr[0], mapped, sizeof(mapped)), 0);
}

static void segment_ipv6(struct kunit *test)
{
	static const u8 source[16] = { 0x20, 1, 0xd, 0xb8, [15] = 1 };
	struct tcp_segment seg;
	struct frame frame;

	frame_set(&frame, eth_ipv6, ipv6_tcp);
	expect_seven_bytes(test, &frame);
	parse(test, &frame, &seg);
	KUNIT_EXPECT_EQ(test, (int)seg.key.family, ETH_P_IPV6);
	KUNIT_EXPECT_EQ(test, memcmp(&seg.key.addr[0], source, sizeof(source)), 0);
	KUNIT_EXPECT_EQ(test, (int)seg.sealed, 0);

	frame_set(&frame, eth_ipv6, ipv6_exthdrs_tcp);
	expect_seven_bytes(test, &frame);
	parse(test, &frame, &seg);
	KUNIT_EXPECT_EQ(test, (int)seg.sealed, 1);
}

static void segment_options_and_direction(struct kunit *test)
{
	struct tcp_segment data, ack;
	struct frame frame;

	frame_set(&frame, eth_ipv4, ipv4_tcp);
	parse(test, &frame, &data);
	frame_set(&frame, eth_ipv4, ipv4_options_ack);
	KUNIT_EXPECT_EQ(test, (int)parse(test, &frame, &ack), (int)SEGMENT_TCP);

	KUNIT_EXPECT_EQ(test, ack.payload, 0U);
	KUNIT_EXPECT_TRUE(test, ack.pure_ack);
	KUNIT_EXPECT_EQ(test, ack.ack_seq, 0xfffffffeU);
	KUNIT_EXPECT_EQ(test, (int)ack.reversed, 1);
	KUNIT_EXPECT_EQ(test, memcmp(&data.key, &ack.key, sizeof(ack.key)), 0);

	/* One host talking to itself: the ports alone tell the direction. */
	frame.bytes[29] = 1;
	parse(test, &frame, &ack);
	KUNIT_EXPECT_EQ(test, (int)ack.reversed, 1);
	KUNIT_EXPECT_EQ(test, (int)ntohs(ack.key.port[0]), 80);
}

/* RFC 9293, 3.1: the control bits, from CWR (0x80) to FIN (0x01). */
static void segment_flags(struct kunit *test)
{
	static const struct {
		u8 flags, pure_ack, ack, syn, fin, rst;
	} cases[] = {
		{ 0x10, 1, 1, 0, 0, 0 }, { 0xd0, 1, 1, 0, 0, 0 }, /* CWR, ECE */
		{ 0x18, 1, 1, 0, 0, 0 }, { 0x02, 0, 0, 1, 0, 0 },
		{ 0x12, 0, 1, 1, 0, 0 }, { 0x11, 0, 1, 0, 1, 0 },
		{ 0x14, 0, 1, 0, 0, 1 }, { 0x04, 0, 0, 0, 0, 1 },
		{ 0x00, 0, 0, 0, 0, 0 },
	};
	struct tcp_segment seg;
	struct frame frame;
	int i;

	frame_set(&frame, eth_ipv4, ipv4_options_ack);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		frame.bytes[14 + 24 + 13] = cases[i].flags;
		parse(test, &frame, &seg);
		KUNIT_EXPECT_EQ(test, (int)seg.pure_ack, (int)cases[i].pure_ack);
		KUNIT_EXPECT_EQ(test, (int)seg.ack, (int)cases[i].ack);
		KUNIT_EXPECT_EQ(test, (int)seg.syn, (int)cases[i].syn);
		KUNIT_EXPECT_EQ(test, (int)seg.fin, (int)cases[i].fin);
		KUNIT_EXPECT_EQ(test, (int)seg.rst, (int)cases[i].rst);
	}
}

static void segment_tags(struct kunit *test)
{
	struct tcp_segment seg;
	struct frame frame;

	frame_set(&frame, eth_vlan_ipv4, ipv4_tcp);
	expect_seven_bytes(test, &frame);
	frame_set(&frame, eth_qinq_ipv6, ipv6_tcp);
	expect_seven_bytes(test, &frame);
	frame_set(&frame, eth_pppoe_ipv4, ipv4_tcp);
	expect_seven_bytes(test, &frame);
	frame_set(&frame, eth_vlan_pppoe_ipv6, ipv6_tcp);
	expect_seven_bytes(test, &frame);

	/* PPP's own control protocol (LCP, 0xc021) is not IP. */
	frame_set(&frame, eth_pppoe_ipv4, ipv4_tcp);
	frame.bytes[20] = 0xc0;
	KUNIT_EXPECT_EQ(test, (int)parse(test, &frame, &seg), (int)SEGMENT_NOT_IP);
}

/* RFC 791, 3.1: flags and offset in the seventh and eighth byte. */
static void segment_ipv4_fragments(struct kunit *test)
{
	static const struct {
		u8 high, low, class;
	} cases[] = {
		{ 0x00, 0, SEGMENT_TCP },	/* whole */
		{ 0x40, 0, SEGMENT_TCP },	/* whole, do not fragment */
		{ 0x20, 0, SEGMENT_FRAGMENT },	/* first */
		{ 0x20, 3, SEGMENT_FRAGMENT },	/* middle */
		{ 0x00, 3, SEGMENT_FRAGMENT },	/* last */
	};
	struct tcp_segment seg;
	struct frame frame;
	int i;

	frame_set(&frame, eth_ipv4, ipv4_tcp);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		frame.bytes[14 + 6] = cases[i].high;
		frame.bytes[14 + 7] = cases[i].low;
		KUNIT_EXPECT_EQ(test, (int)parse(test, &frame, &seg), (int)cases[i].class);
		if (cases[i].class != SEGMENT_FRAGMENT)
			continue;
		/* All pieces of a datagram in one flow: no ports in the key. */
		KUNIT_EXPECT_EQ(test, (int)ntohs(seg.key.port[0]), 0);
		KUNIT_EXPECT_EQ(test, (int)ntohs(seg.key.port[1]), 0);
		KUNIT_EXPECT_EQ(test, seg.payload, 27U);
		KUNIT_EXPECT_FALSE(test, seg.ack);
	}
}

/* RFC 8200, 4.5, and RFC 6946 for the atomic fragment. */
static void segment_ipv6_fragments(struct kunit *test)
{
	static const char ipv6_fragment[] =
		"60000000 0023 2c40 " IPV6_A IPV6_B
		"0600 0001 00000007 "
		TCP_SEVEN;
	struct tcp_segment seg;
	struct frame frame;

	frame_set(&frame, eth_ipv6, ipv6_fragment);
	KUNIT_EXPECT_EQ(test, (int)parse(test, &frame, &seg), (int)SEGMENT_FRAGMENT);
	KUNIT_EXPECT_EQ(test, (int)seg.key.protocol, (int)IPPROTO_TCP);
	KUNIT_EXPECT_EQ(test, seg.payload, 27U);

	frame.bytes[14 + 43] = 0x18;	/* offset 3, the last */
	KUNIT_EXPECT_EQ(test, (int)parse(test, &frame, &seg), (int)SEGMENT_FRAGMENT);
	frame.bytes[14 + 43] = 0;
	expect_seven_bytes(test, &frame);
}

/* Whatever is cut off, the headers claim more than there is. */
static void cut_at_every_byte(struct kunit *test, const struct frame *frame)
{
	struct tcp_segment seg;
	u32 length, linear;

	for (length = 0; length < frame->length; length++) {
		parse_cut(test, frame, length, length, &seg);
		KUNIT_EXPECT_EQ(test, (int)seg.class, (int)SEGMENT_TRUNCATED);
	}
	/* Whole, but not in one piece. */
	for (linear = 0; linear <= frame->length; linear++) {
		parse_cut(test, frame, frame->length, linear, &seg);
		KUNIT_EXPECT_EQ(test, (int)seg.class, (int)SEGMENT_TCP);
	}
}

static void segment_truncated_at_every_byte(struct kunit *test)
{
	struct frame frame;

	frame_set(&frame, eth_ipv4, ipv4_options_ack);
	cut_at_every_byte(test, &frame);
	frame_set(&frame, eth_ipv6, ipv6_tcp);
	cut_at_every_byte(test, &frame);
	frame_set(&frame, eth_ipv6, ipv6_exthdrs_tcp);
	cut_at_every_byte(test, &frame);
	frame_set(&frame, eth_qinq_ipv6, ipv6_exthdrs_tcp);
	cut_at_every_byte(test, &frame);
	frame_set(&frame, eth_vlan_pppoe_ipv6, ipv6_tcp);
	cut_at_every_byte(test, &frame);
}

/* One byte of a good frame says something impossible. */
static void segment_malformed(struct kunit *test)
{
	static const struct {
		u8 ipv6, offset, value;
	} cases[] = {
		{ 0, 0, 0x55 },		/* version 5 */
		{ 0, 0, 0x44 },		/* ihl 4: 16 bytes */
		{ 0, 3, 19 },		/* total length below the header's */
		{ 0, 3, 39 },		/* ... one byte too few for TCP */
		{ 0, 32, 0x40 },	/* data offset 4: 16 bytes */
		{ 0, 32, 0x00 },
		{ 0, 32, 0x70 },	/* data offset 7: 28 bytes of 27 */
		{ 0, 32, 0xf0 },
		{ 1, 0, 0x50 },		/* version 5 */
		{ 1, 5, 0 },		/* a jumbogram's length */
		{ 1, 5, 19 },		/* one byte too few for TCP */
		{ 1, 40, 9 },		/* with next header 0 below: 80 bytes of 27 */
	};
	struct tcp_segment seg;
	struct frame frame;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		if (cases[i].ipv6)
			frame_set(&frame, eth_ipv6, ipv6_tcp);
		else
			frame_set(&frame, eth_ipv4, ipv4_tcp);
		if (cases[i].offset == 40) {
			frame.bytes[14 + 6] = 0;
			frame.bytes[14 + 41] = cases[i].value;
		} else {
			frame.bytes[14 + cases[i].offset] = cases[i].value;
		}
		KUNIT_EXPECT_EQ_MSG(test, (int)parse(test, &frame, &seg),
				    (int)SEGMENT_MALFORMED, "case %d", i);
		KUNIT_EXPECT_EQ(test, (int)seg.key.protocol, 0);
	}
}

/* A chain of extension headers costs bounded work. */
static void segment_endless_exthdrs(struct kunit *test)
{
	static const char ipv6[] = "60000000 0063 3c40 " IPV6_A IPV6_B;
	struct tcp_segment seg;
	struct frame frame;
	int i;

	frame_set(&frame, eth_ipv6, ipv6);
	for (i = 0; i < 9; i++)
		frame_add(&frame, HOP_BY_HOP);
	frame_add(&frame, TCP_SEVEN);
	frame.bytes[14 + 40 + 8 * 8] = 6;
	KUNIT_EXPECT_EQ(test, (int)parse(test, &frame, &seg), (int)SEGMENT_MALFORMED);

	/* The same with the eighth as the last: as deep as it goes. */
	frame.bytes[14 + 5] = 91;
	frame.bytes[14 + 40 + 7 * 8] = 6;
	memmove(frame.bytes + 14 + 40 + 64, frame.bytes + 14 + 40 + 72, 27);
	frame.length -= 8;
	expect_seven_bytes(test, &frame);
}

static void segment_other_protocols(struct kunit *test)
{
	static const struct {
		u8 protocol, class;
		u32 payload, port;
	} cases[] = {
		{ 17, SEGMENT_PORTS, 19, 80 },	/* UDP: 27 - 8 */
		{ 136, SEGMENT_PORTS, 19, 80 },	/* UDP-Lite */
		{ 132, SEGMENT_PORTS, 15, 80 },	/* SCTP: 27 - 12 */
		{ 1, SEGMENT_PORTLESS, 27, 0 },	/* ICMP */
		{ 47, SEGMENT_PORTLESS, 27, 0 }, /* GRE */
		{ 50, SEGMENT_PORTLESS, 27, 0 }, /* ESP */
		{ 4, SEGMENT_PORTLESS, 27, 0 },	/* IP in IP */
	};
	struct tcp_segment seg;
	struct frame frame;
	int i;

	frame_set(&frame, eth_ipv4, ipv4_tcp);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		frame.bytes[14 + 9] = cases[i].protocol;
		KUNIT_EXPECT_EQ(test, (int)parse(test, &frame, &seg), (int)cases[i].class);
		KUNIT_EXPECT_EQ(test, seg.payload, cases[i].payload);
		KUNIT_EXPECT_EQ(test, (u32)ntohs(seg.key.port[0]), cases[i].port);
	}

	frame_set(&frame, MACS "0806", ipv4_tcp);
	KUNIT_EXPECT_EQ(test, (int)parse(test, &frame, &seg), (int)SEGMENT_NOT_IP);
	KUNIT_EXPECT_EQ(test, seg.key.family, (u16)ETH_P_ARP);
	frame_set(&frame, MACS "888e", ipv4_tcp);
	KUNIT_EXPECT_EQ(test, (int)parse(test, &frame, &seg), (int)SEGMENT_NOT_IP);
	KUNIT_EXPECT_EQ(test, seg.key.family, (u16)ETH_P_PAE);
	frame_set(&frame, MACS "0026", ipv4_tcp);
	KUNIT_EXPECT_EQ(test, (int)parse(test, &frame, &seg), (int)SEGMENT_NOT_IP);
}

/* IEEE 802.3, 3.2.8: short frames are padded; padding is not payload. */
static void segment_padding(struct kunit *test)
{
	struct tcp_segment seg;
	struct frame frame;

	frame_set(&frame, eth_ipv4, ipv4_options_ack);
	frame_add(&frame, "eeeeeeeeeeeeeeeeeeee");
	parse(test, &frame, &seg);
	KUNIT_EXPECT_EQ(test, seg.payload, 0U);
	KUNIT_EXPECT_TRUE(test, seg.pure_ack);
}

/* Whatever arrives: a known class, no payload that is not there, no crash. */
static void segment_random_damage(struct kunit *test)
{
	struct tcp_segment seg;
	struct rnd_state rng;
	struct frame frame;
	int i, hits;

	prandom_seed_state(&rng, 1);
	for (i = 0; i < 20000; i++) {
		u32 random = prandom_u32_state(&rng);

		if (random & 1)
			frame_set(&frame, eth_vlan_ipv4, ipv4_options_ack);
		else
			frame_set(&frame, eth_vlan_pppoe_ipv6, ipv6_exthdrs_tcp);
		for (hits = 1 + (random >> 1) % 8; hits > 0; hits--) {
			random = prandom_u32_state(&rng);
			frame.bytes[(random >> 8) % frame.length] = random;
		}
		random = prandom_u32_state(&rng) % (frame.length + 1);
		parse_cut(test, &frame, frame.length, random, &seg);
		KUNIT_ASSERT_LT(test, (int)seg.class, (int)__SEGMENT_CLASSES);
		KUNIT_ASSERT_LE(test, seg.payload, frame.length);
	}
}

/* What was captured in a network, what a grammar makes, and both damaged. */
static void segment_fast_is_slow(struct kunit *test)
{
	struct grammar *g = kunit_kzalloc(test, sizeof(*g), GFP_KERNEL);
	const struct captured_packet *captured;
	struct tcp_segment seg;
	struct frame *frame;
	u32 i, tcp = 0, length;

	frame = kunit_kzalloc(test, sizeof(*frame), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, g);
	KUNIT_ASSERT_NOT_NULL(test, frame);
	prandom_seed_state(&g->rng, 7);
	for (i = 0; i < 20000; i++) {
		captured = &captured_packets[i % ARRAY_SIZE(captured_packets)];
		if (i & 1) {
			grammar_make_frame(g);
		} else {
			g->length = captured->length;
			memcpy(g->bytes, captured->bytes, g->length);
		}
		if (i & 2)
			grammar_mutate(g);
		frame->length = min_t(u32, g->length, sizeof(frame->bytes));
		memcpy(frame->bytes, g->bytes, frame->length);
		length = i & 4 ? grammar_pick(g, frame->length + 1) : frame->length;
		tcp += parse_cut(test, frame, length, i & 8 ? length : grammar_pick(g, length + 1),
				 &seg) == SEGMENT_TCP;
	}
	KUNIT_EXPECT_GT(test, tcp, 2000U);
}

static struct kunit_case tcp_segment_cases[] = {
	KUNIT_CASE(segment_ipv4),
	KUNIT_CASE(segment_ipv6),
	KUNIT_CASE(segment_options_and_direction),
	KUNIT_CASE(segment_flags),
	KUNIT_CASE(segment_tags),
	KUNIT_CASE(segment_ipv4_fragments),
	KUNIT_CASE(segment_ipv6_fragments),
	KUNIT_CASE(segment_truncated_at_every_byte),
	KUNIT_CASE(segment_malformed),
	KUNIT_CASE(segment_endless_exthdrs),
	KUNIT_CASE(segment_other_protocols),
	KUNIT_CASE(segment_padding),
	KUNIT_CASE(segment_random_damage),
	KUNIT_CASE(segment_fast_is_slow),
	{}
};

static struct kunit_suite tcp_segment_suite = {
	.name		= "tcp_segment",
	.test_cases	= tcp_segment_cases,
};

kunit_test_suite(tcp_segment_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of the TCP segment parser");
