/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the fields of an MPDU are, and a text that says what an MPDU is.
 *
 * Source: IEEE Std 802.11-2012, 8.2 and 8.3; RFC 1042, RFC 791, RFC 8200 and
 * RFC 9293 for what is in it.
 */
#ifndef DCFMEDIUM_MPDU_H
#define DCFMEDIUM_MPDU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MPDU_ADDR1	4
#define MPDU_ADDR2	10
#define MPDU_ADDR3	16
#define MPDU_SEQUENCE	22
#define MPDU_HEADER	24
#define MPDU_QOS	2	/* QoS Control */
#define FC0_TYPE	0x0c
#define FC0_TYPE_DATA	0x08
#define FC0_QOS		0x80
#define FC0_RTS		0xb4
#define FC0_CTS		0xc4
#define FC0_ACK		0xd4
#define FC0_BLOCK_ACK	0x94
#define FC0_BLOCK_ACK_REQ 0x84
/* Frame Control, second octet: Retry (8.2.4.1.7). */
#define FC1_RETRY	0x08

/* Compressed bitmap, of a block ack's BA Control (8.3.1.9). */
#define BA_COMPRESSED	0x0004

#define MPDU_TEXT_MAX	160

/*
 * Whether the MPDU of @length without FCS carries a TCP ACK and nothing else: IPv4
 * or IPv6 without extension headers, no payload, none of SYN, FIN and RST. Of what
 * is encrypted nobody knows: false.
 */
bool mpdu_is_tcp_ack(const uint8_t *mpdu, size_t length);

/*
 * What the MPDU of @length with FCS, of which the first @captured octets are
 * there, is: "TCP data 1448 B seq 1 ack 7", "beacon", "ACK". For people.
 */
void mpdu_describe(const uint8_t *mpdu, size_t captured, size_t length,
		   char text[MPDU_TEXT_MAX]);

#endif
