// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a packet to its flow and to what it says about TCP.
 *
 * Principle: every byte is fetched with skb_header_pointer(), and every length that a header
 * claims is checked against the bytes that are there. So a packet that is cut or forged at any
 * byte gets a class of its own, and is never read past its end. Nothing is written and nothing
 * is pulled, because a queue discipline does not own the packet's layout.
 *
 * Sources: RFC 791 (IPv4), RFC 8200 (IPv6 and its extension headers), RFC 4302
 * (AH), RFC 9293 (TCP), IEEE 802.1Q/802.1ad (VLAN tags), RFC 2516 (PPPoE).
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/minmax.h>
#include <linux/ppp_defs.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/tcp.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/tcp.h>
#include "common/tcp_segment.h"

/* Tags before the network header: 802.1ad + 802.1Q is the deepest in use. */
#define SEGMENT_MAX_TAGS	4
/* IPv6 extension headers: RFC 8200, 4.1 names six; a longer chain is forged. */
#define SEGMENT_MAX_EXTHDRS	8

/* RFC 2516, 4 and RFC 1661, 2: the session header and the PPP protocol. */
struct segment_pppoe {
	u8	version_type;
	u8	code;
	__be16	session;
	__be16	length;
	__be16	protocol;
};

/* Order the endpoints so that both directions give the same key. Both addresses are set. */
static void segment_canonical(struct tcp_segment *seg, __be16 sport, __be16 dport)
{
	struct segment_key *key = &seg->key;
	int order = memcmp(&key->addr[0], &key->addr[1], sizeof(key->addr[0]));

	seg->reversed = order > 0 || (!order && ntohs(sport) > ntohs(dport));
	if (seg->reversed)
		swap(key->addr[0], key->addr[1]);
	key->port[seg->reversed] = sport;
	key->port[!seg->reversed] = dport;
	key->class = seg->class;
}

/* What the TCP header, which begins at @offset, says of a segment with @payload bytes. */
static void segment_set_tcp(struct tcp_segment *seg, const struct tcphdr *th, u32 payload,
			    u32 offset)
{
	seg->flags = tcp_flag_byte(th);
	seg->pure_ack = !payload && (seg->flags & (TCPHDR_ACK | TCPHDR_SYN | TCPHDR_FIN |
						   TCPHDR_RST)) == TCPHDR_ACK;
	seg->payload = payload;
	seg->ack_seq = ntohl(th->ack_seq);
	seg->transport = offset;
}

static int segment_parse_tcp(const struct sk_buff *skb, int offset,
			     u32 length, struct tcp_segment *seg,
				    __be16 *sport, __be16 *dport)
{
	const struct tcphdr *th;
	struct tcphdr _th;
	u32 header;

	th = skb_header_pointer(skb, offset, sizeof(_th), &_th);
	if (!th)
		return SEGMENT_TRUNCATED;

	header = th->doff * 4;
	if (header < sizeof(*th) || header > length)
		return SEGMENT_MALFORMED;

	*sport = th->source;
	*dport = th->dest;
	segment_set_tcp(seg, th, length - header, offset);
	return SEGMENT_TCP;
}

/* UDP, UDP-Lite, DCCP and SCTP begin with the same two port fields. */
static u32 segment_ports_header(u8 protocol)
{
	switch (protocol) {
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
		return 8;
	case IPPROTO_DCCP:
	case IPPROTO_SCTP:
		return 12;
	default:
		return 0;
	}
}

/*
 * The transport header at @offset, @length bytes with what follows it, all of
 * them known to be there.
 */
static void segment_parse_transport(const struct sk_buff *skb,
				    int offset, u32 length,
					   struct tcp_segment *seg)
{
	u8 protocol = seg->key.protocol;
	u32 header = segment_ports_header(protocol);
	__be16 sport = 0, dport = 0;
	const __be16 *ports;
	__be16 _ports[2];

	seg->payload = length;
	if (seg->class == SEGMENT_FRAGMENT) {
		/* Only the first piece has ports: none may use them. */
	} else if (protocol == IPPROTO_TCP) {
		if (length < sizeof(struct tcphdr))
			seg->class = SEGMENT_MALFORMED;
		else
			seg->class = segment_parse_tcp(skb, offset, length, seg,
						       &sport, &dport);
	} else if (!header) {
		seg->class = SEGMENT_PORTLESS;
	} else if (length < header) {
		seg->class = SEGMENT_MALFORMED;
	} else {
		ports = skb_header_pointer(skb, offset, sizeof(_ports), _ports);
		if (ports) {
			sport = ports[0];
			dport = ports[1];
			seg->payload = length - header;
			seg->class = SEGMENT_PORTS;
		} else {
			seg->class = SEGMENT_TRUNCATED;
		}
	}
	segment_canonical(seg, sport, dport);
}

static void segment_parse_ipv4(const struct sk_buff *skb, int offset,
			       struct tcp_segment *seg)
{
	u32 header, total, there = skb->len - offset;
	const struct iphdr *ih;
	struct iphdr _ih;

	ih = skb_header_pointer(skb, offset, sizeof(_ih), &_ih);
	if (!ih) {
		seg->class = SEGMENT_TRUNCATED;
		return;
	}

	header = ih->ihl * 4;
	total = ntohs(ih->tot_len);
	/* BIG TCP: too long for the field, until it is segmented. */
	if (!total && skb_is_gso(skb))
		total = there;
	if (ih->version != 4 || header < sizeof(*ih) || total < header) {
		seg->class = SEGMENT_MALFORMED;
		return;
	}
	if (total > there) {
		seg->class = SEGMENT_TRUNCATED;
		return;
	}

	seg->key.family = ETH_P_IP;
	seg->key.protocol = ih->protocol;
	ipv6_addr_set_v4mapped(ih->saddr, &seg->key.addr[0]);
	ipv6_addr_set_v4mapped(ih->daddr, &seg->key.addr[1]);
	seg->class = ip_is_fragment(ih) ? SEGMENT_FRAGMENT : SEGMENT_PORTLESS;
	segment_parse_transport(skb, offset + header, total - header, seg);
}

static bool segment_is_exthdr(u8 nexthdr)
{
	return nexthdr == NEXTHDR_HOP || nexthdr == NEXTHDR_ROUTING ||
	       nexthdr == NEXTHDR_DEST || nexthdr == NEXTHDR_MOBILITY ||
	       nexthdr == NEXTHDR_AUTH || nexthdr == NEXTHDR_FRAGMENT;
}

/* In bytes. AH counts in words and the fragment header not at all. */
static u32 segment_exthdr_length(u8 nexthdr, const struct ipv6_opt_hdr *eh)
{
	if (nexthdr == NEXTHDR_AUTH)
		return ipv6_authlen(eh);
	if (nexthdr == NEXTHDR_FRAGMENT)
		return sizeof(struct frag_hdr);
	return ipv6_optlen(eh);
}

/*
 * Walks the extension headers from *offset and sets key.protocol. On return
 * *offset and *length are those of the first header that is none, or of what
 * follows a fragment header: the rest is not in every piece.
 *
 * Return: PORTLESS when a transport header may follow, else what ended the walk.
 */
static int segment_walk_exthdrs(const struct sk_buff *skb, int *offset,
				u32 *length, u8 nexthdr,
				       struct tcp_segment *seg)
{
	const struct ipv6_opt_hdr *eh;
	struct ipv6_opt_hdr _eh;
	const struct frag_hdr *fh;
	struct frag_hdr _fh;
	bool fragment = false;
	u32 header;
	int i;

	for (i = 0; segment_is_exthdr(nexthdr) && !fragment; i++) {
		if (i == SEGMENT_MAX_EXTHDRS)
			return SEGMENT_MALFORMED;
		eh = skb_header_pointer(skb, *offset, sizeof(_eh), &_eh);
		if (!eh)
			return SEGMENT_MALFORMED;
		header = segment_exthdr_length(nexthdr, eh);
		if (header > *length)
			return SEGMENT_MALFORMED;

		if (nexthdr == NEXTHDR_FRAGMENT) {
			fh = skb_header_pointer(skb, *offset, sizeof(_fh), &_fh);
			if (!fh)
				return SEGMENT_MALFORMED;
			/* Offset 0 and no more to come is a whole datagram. */
			fragment = fh->frag_off & htons(IP6_OFFSET | IP6_MF);
		}
		seg->sealed |= nexthdr == NEXTHDR_AUTH;
		nexthdr = eh->nexthdr;
		*offset += header;
		*length -= header;
	}
	seg->key.protocol = nexthdr;
	return fragment ? SEGMENT_FRAGMENT : SEGMENT_PORTLESS;
}

static void segment_parse_ipv6(const struct sk_buff *skb, int offset,
			       struct tcp_segment *seg)
{
	u32 length, there = skb->len - offset;
	const struct ipv6hdr *ih;
	struct ipv6hdr _ih;

	ih = skb_header_pointer(skb, offset, sizeof(_ih), &_ih);
	if (!ih) {
		seg->class = SEGMENT_TRUNCATED;
		return;
	}

	length = ntohs(ih->payload_len);
	/* BIG TCP, until it is segmented. A jumbogram (RFC 2675) has no place here. */
	if (!length && skb_is_gso(skb))
		length = there - sizeof(*ih);
	if (ih->version != 6 || (!length && ih->nexthdr != NEXTHDR_NONE)) {
		seg->class = SEGMENT_MALFORMED;
		return;
	}
	if (length > there - sizeof(*ih)) {
		seg->class = SEGMENT_TRUNCATED;
		return;
	}

	seg->key.family = ETH_P_IPV6;
	seg->key.addr[0] = ih->saddr;
	seg->key.addr[1] = ih->daddr;
	offset += sizeof(*ih);
	seg->class = segment_walk_exthdrs(skb, &offset, &length, ih->nexthdr, seg);
	if (segment_has_key(seg))
		segment_parse_transport(skb, offset, length, seg);
}

/*
 * Steps over VLAN tags and a PPPoE session header from @offset, where what
 * @protocol names begins. Returns the protocol of the network header, or 0
 * when the packet ends first.
 */
static __be16 segment_network_protocol(const struct sk_buff *skb,
				       int *offset, __be16 protocol)
{
	const struct vlan_hdr *vh;
	struct vlan_hdr _vh;
	const struct segment_pppoe *sh;
	struct segment_pppoe _sh;
	int i;

	for (i = 0; i < SEGMENT_MAX_TAGS && eth_type_vlan(protocol); i++) {
		vh = skb_header_pointer(skb, *offset, sizeof(_vh), &_vh);
		if (!vh)
			return 0;
		protocol = vh->h_vlan_encapsulated_proto;
		*offset += sizeof(_vh);
	}
	if (protocol != htons(ETH_P_PPP_SES))
		return protocol;

	sh = skb_header_pointer(skb, *offset, sizeof(_sh), &_sh);
	if (!sh)
		return 0;
	*offset += sizeof(_sh);
	switch (ntohs(sh->protocol)) {
	case PPP_IP:
		return htons(ETH_P_IP);
	case PPP_IPV6:
		return htons(ETH_P_IPV6);
	default:
		return protocol;	/* LCP, IPCP...: control, not IP */
	}
}

/* The packet from @offset on, where what @protocol names begins. */
static enum segment_class segment_parse_at(const struct sk_buff *skb,
					   int offset, __be16 protocol,
						  struct tcp_segment *seg)
{
	protocol = segment_network_protocol(skb, &offset, protocol);
	if (!protocol)
		seg->class = SEGMENT_TRUNCATED;
	else if (protocol == htons(ETH_P_IP))
		segment_parse_ipv4(skb, offset, seg);
	else if (protocol == htons(ETH_P_IPV6))
		segment_parse_ipv6(skb, offset, seg);
	else
		seg->class = SEGMENT_NOT_IP;

	if (!segment_has_key(seg))
		memset(&seg->key, 0, sizeof(seg->key));
	if (seg->class == SEGMENT_NOT_IP)
		seg->key.family = ntohs(protocol);
	return seg->class;
}

/*
 * The rest of the key of a packet as most are, written as one word: it is about to be read as
 * one.
 */
static void segment_set_ports(struct tcp_segment *seg, const struct tcphdr *th, u16 family)
{
	u32 ports = get_unaligned((const u32 *)th);

	if (seg->reversed)
		ports = rol32(ports, 16);
#ifdef __LITTLE_ENDIAN
	seg->key.words[4] = (u64)family << 48 | (u64)SEGMENT_TCP << 40 |
			    (u64)IPPROTO_TCP << 32 | ports;
#else
	seg->key.words[4] = (u64)ports << 32 | IPPROTO_TCP << 24 | SEGMENT_TCP << 16 | family;
#endif
}

/* IPv4 without options and TCP, all headers in the linear part. As segment_parse_fast(). */
static bool segment_parse_fast_ipv4(const struct sk_buff *skb, u32 offset, struct tcp_segment *seg)
{
	const struct iphdr *ih = (const void *)(skb->data + offset);
	const struct tcphdr *th = (const void *)(ih + 1);
	u64 mapped = 0xffffULL << 32, source, dest;
	u32 length;

	if (skb_headlen(skb) < offset + sizeof(*ih) + sizeof(*th))
		return false;
	length = ntohs(ih->tot_len);
	if (*(const u8 *)ih != 0x45 || ih->protocol != IPPROTO_TCP || ip_is_fragment(ih) ||
	    length > skb->len - offset || th->doff < sizeof(*th) / 4 ||
	    length < sizeof(*ih) + th->doff * 4U)
		return false;
	source = ntohl(ih->saddr);
	dest = ntohl(ih->daddr);
	seg->reversed = (source << 16 | ntohs(th->source)) > (dest << 16 | ntohs(th->dest));
	seg->key.words[0] = 0;
	seg->key.words[1] = (__force u64)cpu_to_be64(mapped | min(source, dest));
	seg->key.words[2] = 0;
	seg->key.words[3] = (__force u64)cpu_to_be64(mapped | max(source, dest));
	segment_set_ports(seg, th, ETH_P_IP);
	seg->sealed = 0;
	segment_set_tcp(seg, th, length - sizeof(*ih) - th->doff * 4, offset + sizeof(*ih));
	return true;
}

/* IPv6 without extension headers and TCP, as above. */
static bool segment_parse_fast_ipv6(const struct sk_buff *skb, u32 offset, struct tcp_segment *seg)
{
	const struct ipv6hdr *ih = (const void *)(skb->data + offset);
	const struct tcphdr *th = (const void *)(ih + 1);
	u64 source, dest;
	u32 length;

	if (skb_headlen(skb) < offset + sizeof(*ih) + sizeof(*th))
		return false;
	length = ntohs(ih->payload_len);
	if (ih->version != 6 || ih->nexthdr != IPPROTO_TCP || th->doff < sizeof(*th) / 4 ||
	    length > skb->len - offset - sizeof(*ih) || length < th->doff * 4U)
		return false;
	source = get_unaligned_be64(&ih->saddr);
	dest = get_unaligned_be64(&ih->daddr);
	if (source == dest) {
		source = get_unaligned_be64(&ih->saddr.s6_addr[8]);
		dest = get_unaligned_be64(&ih->daddr.s6_addr[8]);
	}
	seg->reversed = source > dest ||
			(source == dest && ntohs(th->source) > ntohs(th->dest));
	seg->key.addr[seg->reversed] = ih->saddr;
	seg->key.addr[!seg->reversed] = ih->daddr;
	segment_set_ports(seg, th, ETH_P_IPV6);
	seg->sealed = 0;
	segment_set_tcp(seg, th, length - th->doff * 4, offset + sizeof(*ih));
	return true;
}

/*
 * The packet as most are: IPv4 without options or IPv6 without extension headers, TCP, all headers
 * in the linear part. Says the same of it as the slow way.
 *
 * Return: true if it is such a packet and nothing is wrong with it.
 */
static bool segment_parse_fast(const struct sk_buff *skb, u32 offset, __be16 protocol,
			       struct tcp_segment *seg)
{
	seg->class = SEGMENT_TCP;
	if (protocol == htons(ETH_P_IP))
		return segment_parse_fast_ipv4(skb, offset, seg);
	if (protocol == htons(ETH_P_IPV6))
		return segment_parse_fast_ipv6(skb, offset, seg);
	return false;
}

/* An Ethernet frame without tags. */
static bool segment_parse_fast_frame(const struct sk_buff *skb, struct tcp_segment *seg)
{
	const struct ethhdr *eth = (const void *)skb->data;

	return skb_headlen(skb) >= ETH_HLEN &&
	       segment_parse_fast(skb, ETH_HLEN, eth->h_proto, seg);
}

/**
 * tcp_segment_parse_slow() - as tcp_segment_parse(), for every packet alike
 * @skb: the packet
 * @seg: filled in completely
 *
 * Return: seg->class.
 */
enum segment_class tcp_segment_parse_slow(const struct sk_buff *skb, struct tcp_segment *seg)
{
	const struct ethhdr *eth;
	__be16 protocol = skb->protocol;
	struct ethhdr _eth;
	int offset;

	memset(seg, 0, sizeof(*seg));
	if (skb->dev && skb->dev->type != ARPHRD_ETHER) {
		offset = skb_network_offset(skb);
	} else {
		eth = skb_header_pointer(skb, 0, sizeof(_eth), &_eth);
		protocol = eth ? eth->h_proto : 0;
		offset = sizeof(_eth);
	}

	return segment_parse_at(skb, offset, protocol, seg);
}

/**
 * tcp_segment_parse() - say what a packet on its way out is
 * @skb: the packet as a queue discipline sees it: skb->data at the Ethernet
 *	 header, or at the network header on a device that has none
 * @seg: filled in completely; key is zero unless segment_has_key()
 *
 * Return: seg->class.
 */
enum segment_class tcp_segment_parse(const struct sk_buff *skb, struct tcp_segment *seg)
{
	if (likely(!skb->dev || skb->dev->type == ARPHRD_ETHER) &&
	    segment_parse_fast_frame(skb, seg))
		return SEGMENT_TCP;
	return tcp_segment_parse_slow(skb, seg);
}

/**
 * tcp_segment_parse_received() - say what a packet is that has come in
 * @skb: the packet as a protocol's handler sees it: skb->data at the network
 *	 header, which skb->protocol names
 * @seg: as in tcp_segment_parse()
 *
 * Return: seg->class.
 */
enum segment_class tcp_segment_parse_received(const struct sk_buff *skb, struct tcp_segment *seg)
{
	int offset = skb_network_offset(skb);

	if (likely(!offset) && segment_parse_fast(skb, 0, skb->protocol, seg))
		return SEGMENT_TCP;
	memset(seg, 0, sizeof(*seg));
	return segment_parse_at(skb, offset, skb->protocol, seg);
}

