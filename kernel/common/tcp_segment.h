/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From a packet to its flow and to what it says about TCP. See tcp_segment.c.
 */
#ifndef COMMON_TCP_SEGMENT_H
#define COMMON_TCP_SEGMENT_H

#include <asm/byteorder.h>
#include <linux/in6.h>
#include <linux/types.h>

struct sk_buff;

/* What the packet is, hence how much of its key identifies the flow. */
enum segment_class {
	SEGMENT_TCP,		/* addresses and ports; the TCP fields are valid */
	SEGMENT_PORTS,		/* addresses and ports of another transport */
	SEGMENT_PORTLESS,	/* addresses and protocol: tunnels, ESP, ICMP */
	SEGMENT_FRAGMENT,	/* addresses and protocol: every piece of a datagram */
	SEGMENT_NOT_IP,		/* no key but its family: ARP, EAPOL, LLC */
	SEGMENT_TRUNCATED,	/* no key: fewer bytes than the headers claim */
	SEGMENT_MALFORMED,	/* no key: headers that contradict themselves */
	__SEGMENT_CLASSES
};

/*
 * A connection is one flow in both directions, so the lesser endpoint always
 * comes first. No padding: the key is hashed and compared as words.
 */
struct segment_key {
	union {
		struct {
			struct in6_addr	addr[2];	/* IPv4 as ::ffff:a.b.c.d */
			__be16		port[2];	/* 0 where the class has none */
			u8		protocol;	/* IPPROTO_* */
			u8		class;		/* enum segment_class */
			u16		family;		/* ETH_P_*, host order; alone without IP */
		};
		u64	words[5];
	};
};

struct tcp_segment {
	struct segment_key key;
	u8	class;		/* enum segment_class */
	u8	reversed;	/* 1 if the source is key.addr[1]: the direction */
	union {
		u8	flags;	/* TCPHDR_*, as in the header */
		struct {
#ifdef __LITTLE_ENDIAN_BITFIELD
			u8	fin:1, syn:1, rst:1, psh:1,
				ack:1,	/* ack_seq is valid */
				urg:1, ece:1, cwr:1;
#else
			u8	cwr:1, ece:1, urg:1,
				ack:1,	/* ack_seq is valid */
				psh:1, rst:1, syn:1, fin:1;
#endif
		};
	};
	u8	pure_ack;	/* ACK, no payload, no SYN, FIN or RST */
	u8	sealed;		/* an AH header covers it: its receiver drops it if it is changed */
	u32	payload;	/* bytes above the transport (or network) header */
	u32	ack_seq;	/* the next byte the sender of this packet expects */
	u32	transport;	/* where the TCP header begins, bytes from skb->data */
};

static inline bool segment_key_equal(const struct segment_key *a, const struct segment_key *b)
{
	return !((a->words[0] ^ b->words[0]) | (a->words[1] ^ b->words[1]) |
		 (a->words[2] ^ b->words[2]) | (a->words[3] ^ b->words[3]) |
		 (a->words[4] ^ b->words[4]));
}

static inline bool segment_has_key(const struct tcp_segment *seg)
{
	return seg->class < SEGMENT_NOT_IP;
}

enum segment_class tcp_segment_parse(const struct sk_buff *skb, struct tcp_segment *seg);
enum segment_class tcp_segment_parse_slow(const struct sk_buff *skb, struct tcp_segment *seg);
enum segment_class tcp_segment_parse_received(const struct sk_buff *skb,
					      struct tcp_segment *seg);

#endif
