// SPDX-License-Identifier: GPL-2.0-only
/* The text that says what a frame is: see mpdu.h. */
#include <stdio.h>
#include <string.h>

#include "mpdu.h"

#define FCS_BYTES	4
#define FC0_SUBTYPE	0xfc	/* type and subtype */
#define FC0_MANAGEMENT	0x00
#define FC0_NO_DATA	0x40
#define FC1_BOTH_DS	0x03
#define FC1_PROTECTED	0x40
#define FC1_ORDER	0x80	/* HT Control, in QoS Data */
#define LLC_BYTES	8

#define ETHERTYPE_IPV4	0x0800
#define ETHERTYPE_ARP	0x0806
#define ETHERTYPE_IPV6	0x86dd
#define ETHERTYPE_EAPOL	0x888e
#define PROTOCOL_TCP	6
#define PROTOCOL_UDP	17
#define PROTOCOL_ICMP	1
#define PROTOCOL_ICMPV6	58
#define TCP_FIN		0x01
#define TCP_SYN		0x02
#define TCP_RST		0x04
#define TCP_ACK		0x10
#define TCP_BYTES	20	/* without options */
#define IPV6_BYTES	40

static unsigned int be16(const uint8_t *at)
{
	return at[0] << 8 | at[1];
}

static uint32_t be32(const uint8_t *at)
{
	return (uint32_t)be16(at) << 16 | be16(at + 2);
}

static void describe_tcp(const uint8_t *tcp, size_t captured, size_t length,
			 char text[MPDU_TEXT_MAX])
{
	size_t header;
	uint8_t flags;

	if (captured < 20) {
		snprintf(text, MPDU_TEXT_MAX, "TCP, cut short");
		return;
	}
	header = (tcp[12] >> 4) * 4;
	flags = tcp[13];
	if (flags & (TCP_SYN | TCP_FIN | TCP_RST))
		snprintf(text, MPDU_TEXT_MAX, "TCP %s%s%s seq %u ack %u",
			 flags & TCP_SYN ? "SYN" : "", flags & TCP_FIN ? "FIN" : "",
			 flags & TCP_RST ? "RST" : "", be32(tcp + 4), be32(tcp + 8));
	else if (length > header)
		snprintf(text, MPDU_TEXT_MAX, "TCP data %zu B seq %u ack %u",
			 length - header, be32(tcp + 4), be32(tcp + 8));
	else
		snprintf(text, MPDU_TEXT_MAX, "TCP ack %u", be32(tcp + 8));
}

static void describe_transport(unsigned int protocol, const uint8_t *at,
			       size_t captured, size_t length,
			       char text[MPDU_TEXT_MAX])
{
	switch (protocol) {
	case PROTOCOL_TCP:
		describe_tcp(at, captured, length, text);
		break;
	case PROTOCOL_UDP:
		snprintf(text, MPDU_TEXT_MAX, "UDP %zu B",
			 length > 8 ? length - 8 : 0);
		break;
	case PROTOCOL_ICMP:
	case PROTOCOL_ICMPV6:
		snprintf(text, MPDU_TEXT_MAX, "ICMP");
		break;
	default:
		snprintf(text, MPDU_TEXT_MAX, "IP protocol %u", protocol);
	}
}

/* An IP packet; @captured octets of it are there. */
static void describe_ip(const uint8_t *ip, size_t captured,
			char text[MPDU_TEXT_MAX])
{
	size_t header = 40, length;
	unsigned int protocol;

	if (captured < 20 || (ip[0] >> 4 == 6 && captured < header)) {
		snprintf(text, MPDU_TEXT_MAX, "IP, cut short");
		return;
	}
	if (ip[0] >> 4 == 6) {
		length = header + be16(ip + 4);
		protocol = ip[6];
	} else {
		header = (ip[0] & 15) * 4;
		length = be16(ip + 2);
		protocol = ip[9];
		if (be16(ip + 6) & 0x1fff) {
			snprintf(text, MPDU_TEXT_MAX, "IP fragment %zu B", length);
			return;
		}
	}
	if (header > captured || header > length)
		snprintf(text, MPDU_TEXT_MAX, "IP, cut short");
	else
		describe_transport(protocol, ip + header, captured - header,
				   length - header, text);
}

/* Octets of a data frame's header (8.2.3). */
static size_t data_header(const uint8_t *mpdu)
{
	size_t header = MPDU_HEADER;

	if ((mpdu[1] & FC1_BOTH_DS) == FC1_BOTH_DS)
		header += 6;
	if (mpdu[0] & FC0_QOS)
		header += MPDU_QOS + (mpdu[1] & FC1_ORDER ? 4 : 0);
	return header;
}

static void describe_data(const uint8_t *mpdu, size_t captured, size_t length,
			  char text[MPDU_TEXT_MAX])
{
	size_t header = data_header(mpdu);
	const uint8_t *llc = mpdu + header;

	snprintf(text, MPDU_TEXT_MAX, "data %zu B",
		 length > header + FCS_BYTES ? length - header - FCS_BYTES : 0);
	if (mpdu[0] & FC0_NO_DATA) {
		snprintf(text, MPDU_TEXT_MAX, "null");
	} else if (mpdu[1] & FC1_PROTECTED) {
		snprintf(text, MPDU_TEXT_MAX, "encrypted %zu B",
			 length - header - FCS_BYTES);
	} else if (captured >= header + LLC_BYTES && be32(llc) == 0xaaaa0300) {
		snprintf(text, MPDU_TEXT_MAX, "data %zu B",
			 length - header - LLC_BYTES - FCS_BYTES);
		switch (be16(llc + 6)) {
		case ETHERTYPE_IPV4:
		case ETHERTYPE_IPV6:
			describe_ip(llc + LLC_BYTES, captured - header - LLC_BYTES,
				    text);
			break;
		case ETHERTYPE_ARP:
			snprintf(text, MPDU_TEXT_MAX, "ARP");
			break;
		case ETHERTYPE_EAPOL:
			snprintf(text, MPDU_TEXT_MAX, "EAPOL");
			break;
		}
	}
}

/* Whether @tcp, all of a segment of @length, acknowledges and does nothing else. */
static bool is_bare_ack(const uint8_t *tcp, size_t length)
{
	return length >= TCP_BYTES && (size_t)(tcp[12] >> 4) * 4 == length &&
	       (tcp[13] & (TCP_SYN | TCP_FIN | TCP_RST | TCP_ACK)) == TCP_ACK;
}

/* Of an IP packet, @length octets of which are there. */
static bool ip_is_tcp_ack(const uint8_t *ip, size_t length)
{
	size_t header, total;

	if (length < TCP_BYTES)
		return false;
	if (ip[0] >> 4 == 6) {
		header = IPV6_BYTES;
		total = header + be16(ip + 4);
		if (ip[6] != PROTOCOL_TCP)
			return false;
	} else {
		header = (ip[0] & 15) * 4;
		total = be16(ip + 2);
		if (ip[0] >> 4 != 4 || ip[9] != PROTOCOL_TCP || be16(ip + 6) & 0x3fff)
			return false;
	}
	return total <= length && header < total &&
	       is_bare_ack(ip + header, total - header);
}

bool mpdu_is_tcp_ack(const uint8_t *mpdu, size_t length)
{
	size_t header;
	const uint8_t *llc;

	if (length < MPDU_HEADER || (mpdu[0] & FC0_TYPE) != FC0_TYPE_DATA ||
	    mpdu[0] & FC0_NO_DATA || mpdu[1] & FC1_PROTECTED)
		return false;
	header = data_header(mpdu);
	if (length < header + LLC_BYTES)
		return false;
	llc = mpdu + header;
	if (be32(llc) != 0xaaaa0300 || (be16(llc + 6) != ETHERTYPE_IPV4 &&
					be16(llc + 6) != ETHERTYPE_IPV6))
		return false;
	return ip_is_tcp_ack(llc + LLC_BYTES, length - header - LLC_BYTES);
}

void mpdu_describe(const uint8_t *mpdu, size_t captured, size_t length,
		   char text[MPDU_TEXT_MAX])
{
	static const struct {
		uint8_t type;
		const char *name;
	} names[] = {
		{ FC0_RTS, "RTS" }, { FC0_CTS, "CTS" }, { FC0_ACK, "ACK" },
		{ FC0_BLOCK_ACK, "block ack" }, { FC0_BLOCK_ACK_REQ, "block ack request" },
		{ 0xa4, "PS-Poll" }, { 0x00, "association request" },
		{ 0x10, "association response" }, { 0x20, "reassociation request" },
		{ 0x30, "reassociation response" }, { 0x40, "probe request" },
		{ 0x50, "probe response" }, { 0x80, "beacon" },
		{ 0xa0, "disassociation" }, { 0xb0, "authentication" },
		{ 0xc0, "deauthentication" }, { 0xd0, "action" },
	};

	if ((mpdu[0] & FC0_TYPE) == FC0_TYPE_DATA) {
		describe_data(mpdu, captured, length, text);
		return;
	}
	snprintf(text, MPDU_TEXT_MAX, "%s",
		 (mpdu[0] & FC0_TYPE) == FC0_MANAGEMENT ? "management" : "control");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if ((mpdu[0] & FC0_SUBTYPE) == names[i].type)
			snprintf(text, MPDU_TEXT_MAX, "%s", names[i].name);
}
