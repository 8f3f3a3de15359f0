/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frames made from a grammar of headers, for fuzzing.
 *
 * Principle: random bytes never get past the first check of a parser, so what
 * is random here is the choice: which header follows which (IEEE 802.1Q tags,
 * PPPoE, IPv4 with options, IPv6 with extension headers, tunnels in tunnels,
 * transports), and now and then one field that lies.
 */
#ifndef LASACK_TESTS_PACKET_GRAMMAR_H
#define LASACK_TESTS_PACKET_GRAMMAR_H

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ipv6.h>
#include <linux/prandom.h>
#include <linux/string.h>
#include <net/ipv6.h>

#define GRAMMAR_FRAME_MAX	2048
#define GRAMMAR_DEPTH_MAX	3	/* tunnels */

struct grammar {
	struct rnd_state rng;
	u32		length;
	u8		bytes[GRAMMAR_FRAME_MAX];
};

/* A random number below @n. */
static inline u32 grammar_pick(struct grammar *g, u32 n)
{
	return prandom_u32_state(&g->rng) % n;
}

/* Once in @n times. */
static inline bool grammar_once_in(struct grammar *g, u32 n)
{
	return !grammar_pick(g, n);
}

static inline void grammar_put(struct grammar *g, const void *bytes, u32 count)
{
	count = min(count, GRAMMAR_FRAME_MAX - g->length);
	memcpy(g->bytes + g->length, bytes, count);
	g->length += count;
}

static inline void grammar_put16(struct grammar *g, u16 value)
{
	const u8 bytes[] = { value >> 8, value & 0xff };

	grammar_put(g, bytes, sizeof(bytes));
}

static inline void grammar_put_random(struct grammar *g, u32 count)
{
	count = min(count, GRAMMAR_FRAME_MAX - g->length);
	prandom_bytes_state(&g->rng, g->bytes + g->length, count);
	g->length += count;
}

/* A length that was not known when its field was written; rarely a wrong one. */
static inline void grammar_patch16(struct grammar *g, u32 at, u32 value)
{
	if (grammar_once_in(g, 24))
		value += (int)grammar_pick(g, 81) - 40;
	if (grammar_once_in(g, 96))
		value = prandom_u32_state(&g->rng);
	if (at + 2 > GRAMMAR_FRAME_MAX)
		return;
	g->bytes[at] = value >> 8;
	g->bytes[at + 1] = value & 0xff;
}

/* Few hosts and few ports, so that flows come again; sometimes any. */
static inline void grammar_address(struct grammar *g, u32 size)
{
	u8 address[16] = { 0x20, 1, 0xd, 0xb8 };

	if (grammar_once_in(g, 8)) {
		grammar_put_random(g, size);
		return;
	}
	address[size - 1] = 1 + grammar_pick(g, 4);
	grammar_put(g, address, size);
}

static inline void grammar_port(struct grammar *g)
{
	grammar_put16(g, grammar_once_in(g, 8) ? prandom_u32_state(&g->rng) :
						 1024 + grammar_pick(g, 16));
}

static inline void grammar_payload(struct grammar *g)
{
	static const u16 sizes[] = { 1, 7, 64, 64, 512, 1500 };

	grammar_put_random(g, grammar_pick(g, sizes[grammar_pick(g, ARRAY_SIZE(sizes))]));
}

/* RFC 9293, 3.1. */
static inline void grammar_tcp(struct grammar *g)
{
	static const u8 flags[] = { 0x10, 0x10, 0x18, 0x18, 0x02, 0x12, 0x11, 0x14, 0x04 };
	u32 start = g->length, words = 5 + grammar_pick(g, 3) * grammar_pick(g, 6);

	grammar_port(g);
	grammar_port(g);
	grammar_put_random(g, 8);
	if (grammar_once_in(g, 16))
		words = grammar_pick(g, 16);
	grammar_put16(g, words << 12 | (grammar_once_in(g, 8) ? grammar_pick(g, 512) :
					flags[grammar_pick(g, ARRAY_SIZE(flags))]));
	grammar_put_random(g, 6);
	if (words * 4 > g->length - start)
		grammar_put_random(g, words * 4 - (g->length - start));
	if (grammar_pick(g, 2))
		grammar_payload(g);
}

static inline void grammar_udp(struct grammar *g)
{
	u32 start = g->length;

	grammar_port(g);
	grammar_port(g);
	grammar_put_random(g, 4);
	grammar_payload(g);
	grammar_patch16(g, start + 4, g->length - start);
}

static inline void grammar_ip(struct grammar *g, u16 protocol, u32 depth);

/* RFC 2784 and 2890: GRE with any of its options, then a packet. */
static inline void grammar_gre(struct grammar *g, u32 depth)
{
	u16 inner = grammar_pick(g, 2) ? ETH_P_IP : ETH_P_IPV6;
	u16 flags = (grammar_pick(g, 8) << 12) & 0xb000;

	grammar_put16(g, flags);
	grammar_put16(g, inner);
	grammar_put_random(g, 4 * hweight16(flags));
	grammar_ip(g, inner, depth + 1);
}

static inline void grammar_transport(struct grammar *g, u8 protocol, u32 depth)
{
	switch (protocol) {
	case IPPROTO_TCP:
		grammar_tcp(g);
		break;
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
		grammar_udp(g);
		break;
	case IPPROTO_IPIP:
		grammar_ip(g, ETH_P_IP, depth + 1);
		break;
	case IPPROTO_IPV6:
		grammar_ip(g, ETH_P_IPV6, depth + 1);
		break;
	case IPPROTO_GRE:
		grammar_gre(g, depth);
		break;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		/* Often an error: type, code, checksum, unused, what it is about. */
		grammar_put_random(g, 8);
		if (grammar_pick(g, 2))
			grammar_ip(g, protocol == IPPROTO_ICMP ? ETH_P_IP : ETH_P_IPV6,
				   depth + 1);
		break;
	default:
		grammar_port(g);
		grammar_port(g);
		grammar_payload(g);
	}
}

static inline u8 grammar_protocol(struct grammar *g, u32 depth)
{
	static const u8 protocols[] = {
		IPPROTO_TCP, IPPROTO_TCP, IPPROTO_TCP, IPPROTO_TCP, IPPROTO_UDP,
		IPPROTO_UDP, IPPROTO_UDPLITE, IPPROTO_SCTP, IPPROTO_DCCP,
		IPPROTO_ESP, IPPROTO_AH, IPPROTO_ICMP, IPPROTO_ICMPV6,
		IPPROTO_IPIP, IPPROTO_IPV6, IPPROTO_GRE,
	};
	u32 choices = ARRAY_SIZE(protocols) - (depth >= GRAMMAR_DEPTH_MAX ? 5 : 0);

	if (grammar_once_in(g, 32))
		return depth < GRAMMAR_DEPTH_MAX ? grammar_pick(g, 256) : IPPROTO_ESP;
	return protocols[grammar_pick(g, choices)];
}

/* RFC 791, 3.1. */
static inline void grammar_ipv4(struct grammar *g, u32 depth)
{
	u32 start = g->length, words = 5 + grammar_once_in(g, 4) * grammar_pick(g, 11);
	u8 protocol = grammar_protocol(g, depth);
	u16 fragment = 0x4000;

	if (grammar_once_in(g, 24))
		words = grammar_pick(g, 16);
	if (grammar_once_in(g, 8))
		fragment = grammar_pick(g, 8) << 13 | grammar_pick(g, 4) * grammar_pick(g, 400);
	grammar_put16(g, (grammar_once_in(g, 48) ? grammar_pick(g, 16) : 4) << 12 | words << 8);
	grammar_put_random(g, 4);	/* the first two: length, patched below */
	grammar_put16(g, fragment);
	grammar_put16(g, 64 << 8 | protocol);
	grammar_put_random(g, 2);
	grammar_address(g, 4);
	grammar_address(g, 4);
	if (words > 5)
		grammar_put_random(g, (words - 5) * 4);
	grammar_transport(g, protocol, depth);
	grammar_patch16(g, start + 2, g->length - start);
}

/* One of RFC 8200, 4; AH (RFC 4302) counts its length in words, less two. */
static inline void grammar_extension(struct grammar *g, u8 header, u8 next)
{
	u32 units = grammar_once_in(g, 4) ? grammar_pick(g, 4) : 0;
	u32 size = header == NEXTHDR_AUTH ? (units + 2) * 4 : (units + 1) * 8;

	if (header == NEXTHDR_FRAGMENT)
		size = 8;
	if (grammar_once_in(g, 32))
		units = grammar_pick(g, 256);
	grammar_put16(g, next << 8 | units);
	if (header == NEXTHDR_FRAGMENT)
		grammar_put16(g, grammar_pick(g, 2) * grammar_pick(g, 0x10000));
	else
		grammar_put_random(g, 2);
	grammar_put_random(g, size - 4);
}

static inline void grammar_ipv6(struct grammar *g, u32 depth)
{
	static const u8 headers[] = {
		NEXTHDR_HOP, NEXTHDR_DEST, NEXTHDR_ROUTING, NEXTHDR_AUTH,
		NEXTHDR_MOBILITY, NEXTHDR_FRAGMENT,
	};
	u32 start = g->length, chain = grammar_once_in(g, 3) ? grammar_pick(g, 11) : 0;
	u8 protocol = grammar_protocol(g, depth);
	u8 header = chain ? headers[grammar_pick(g, ARRAY_SIZE(headers))] : protocol;
	u8 next;

	grammar_put16(g, (grammar_once_in(g, 48) ? grammar_pick(g, 16) : 6) << 12);
	grammar_put_random(g, 4);	/* the last two: length, patched below */
	grammar_put16(g, header << 8 | 64);
	grammar_address(g, 16);
	grammar_address(g, 16);
	for (; chain; chain--) {
		next = chain > 1 ? headers[grammar_pick(g, ARRAY_SIZE(headers))] : protocol;
		grammar_extension(g, header, next);
		header = next;
	}
	grammar_transport(g, protocol, depth);
	grammar_patch16(g, start + 4, g->length - start - 40);
}

/* @protocol: ETH_P_IP, ETH_P_IPV6 or something else. */
static inline void grammar_ip(struct grammar *g, u16 protocol, u32 depth)
{
	if (protocol == ETH_P_IP)
		grammar_ipv4(g, depth);
	else if (protocol == ETH_P_IPV6)
		grammar_ipv6(g, depth);
	else
		grammar_put_random(g, grammar_pick(g, 64));
}

static inline u16 grammar_ethertype(struct grammar *g)
{
	static const u16 types[] = {
		ETH_P_IP, ETH_P_IP, ETH_P_IP, ETH_P_IP, ETH_P_IPV6, ETH_P_IPV6,
		ETH_P_IPV6, ETH_P_IPV6, ETH_P_ARP, ETH_P_PAE, ETH_P_PPP_DISC,
	};

	return grammar_once_in(g, 48) ? grammar_pick(g, 0x10000) :
					types[grammar_pick(g, ARRAY_SIZE(types))];
}

/* RFC 2516, 4: version and type 1, code 0, session, length, PPP protocol. */
static inline void grammar_pppoe(struct grammar *g)
{
	static const u16 protocols[] = { 0x0021, 0x0057, 0xc021, 0x8021 };
	u16 protocol = protocols[grammar_pick(g, ARRAY_SIZE(protocols))];
	u32 start = g->length;

	grammar_put16(g, 0x1100);
	grammar_put_random(g, 4);
	grammar_put16(g, protocol);
	grammar_ip(g, protocol == 0x0021 ? ETH_P_IP : protocol == 0x0057 ? ETH_P_IPV6 : 0, 0);
	grammar_patch16(g, start + 4, g->length - start - 6);
}

/* A frame without its link's header, and what it is. */
static inline u16 grammar_make_network(struct grammar *g)
{
	u16 protocol = grammar_ethertype(g);

	g->length = 0;
	grammar_ip(g, protocol, 0);
	return protocol;
}

/* A whole Ethernet frame. Return: its outermost protocol. */
static inline u16 grammar_make_frame(struct grammar *g)
{
	u32 tags = grammar_once_in(g, 3) ? grammar_pick(g, 6) : 0, i;
	u16 protocol = grammar_once_in(g, 8) ? ETH_P_PPP_SES : grammar_ethertype(g);

	g->length = 0;
	for (i = 0; i < 2; i++) {
		u8 mac[ETH_ALEN] = { 2, [5] = grammar_pick(g, 5) };

		mac[0] |= grammar_once_in(g, 16);	/* to a group */
		grammar_put(g, mac, sizeof(mac));
	}
	for (; tags; tags--) {
		grammar_put16(g, grammar_pick(g, 2) ? ETH_P_8021Q : ETH_P_8021AD);
		grammar_put_random(g, 2);
	}
	grammar_put16(g, protocol);
	if (protocol == ETH_P_PPP_SES)
		grammar_pppoe(g);
	else
		grammar_ip(g, protocol, 0);
	return g->bytes[12] << 8 | g->bytes[13];
}

/* One to eight bytes say something else. */
static inline void grammar_mutate(struct grammar *g)
{
	u32 hits = g->length ? 1 + grammar_pick(g, 8) : 0;

	/* Most of the structure is in front. */
	for (; hits; hits--)
		g->bytes[grammar_pick(g, grammar_pick(g, 2) ? g->length : min(g->length, 80U))] =
			prandom_u32_state(&g->rng);
}

#endif
