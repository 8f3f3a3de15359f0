/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Datagrams of a flow that behaves as QUIC does. They are not QUIC's: nothing is encrypted, a
 * packet has one kind of frame, and numbers have their full length. What a middle box sees is
 * what it sees of QUIC: UDP datagrams of one 5-tuple that it cannot read.
 */
#ifndef QUIC_WIRE_H
#define QUIC_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../record.h"
#include "ranges.h"

/* Big-endian, all of it. */
struct quic_header {
	uint32_t magic;
	uint8_t kind;
	uint8_t reserved[3];
	uint64_t connection;
} __attribute__((packed));

enum quic_kind { QUIC_HELLO = 1, QUIC_WELCOME, QUIC_DATA, QUIC_ACK };

/* What a client asks for. */
struct quic_hello {
	struct quic_header header;
	uint32_t attempt;		/* from 0 */
	uint32_t datagram;		/* bytes of each with data */
	uint64_t duration_ns;		/* what is left of it */
	uint32_t allowed;		/* chunks from the first that is missing */
	uint8_t dir;
	uint8_t reserved[3];
	char id[ID_MAX];
} __attribute__((packed));

struct quic_welcome {
	struct quic_header header;
	uint32_t attempt;		/* the one it answers */
} __attribute__((packed));

/* Filled up with zeros to its length. Payload is in chunks of one size, numbered from 0. */
struct quic_data {
	struct quic_header header;
	uint64_t packet;		/* from 0; never used again */
	uint64_t chunk;
} __attribute__((packed));

/* With one range as long as QUIC's, with a connection ID of 20 bytes: 48 bytes. */
struct quic_ack {
	struct quic_header header;
	uint64_t delay_us;		/* for which the highest packet waited for this ACK */
	uint64_t largest;		/* packet */
	uint16_t count;			/* ranges that follow, the highest first */
	uint16_t reserved[5];
} __attribute__((packed));

/* As in RFC 9000, 19.3.1, but with fixed lengths. */
struct quic_range {
	uint16_t gap;			/* packets that lack above it, less one; 0 in the first */
	uint16_t length;		/* packets, less one */
} __attribute__((packed));

#define ACK_AGE			256	/* packets */
#define QUIC_DATAGRAM_MIN	256	/* bytes of a datagram with data */
#define QUIC_DATAGRAM_MAX	65507
#define QUIC_DURATION_MAX	(10000000ULL * 1000000000)	/* ns; --seconds has the same bound */
#define QUIC_ACK_MAX	(sizeof(struct quic_ack) + RANGES_MAX * sizeof(struct quic_range))

/* Returns 0 for a datagram that is none of these. */
enum quic_kind quic_kind(const char *datagram, size_t length);

uint64_t quic_connection(const char *datagram);

void quic_header_compose(struct quic_header *header, enum quic_kind kind, uint64_t connection);

/* Each returns false if the datagram is not one of its kind in every detail. */
bool quic_hello_read(const char *datagram, size_t length, struct quic_hello *hello);
bool quic_welcome_read(const char *datagram, size_t length, uint32_t *attempt);
bool quic_data_read(const char *datagram, size_t length, uint64_t *packet, uint64_t *chunk);
bool quic_ack_read(const char *datagram, size_t length, struct ranges *acked, int64_t *delay_ns);

/*
 * Returns its length. What is further behind than 16 bits can say is left out, and ranges that are
 * older than ACK_AGE packets: the sender has heard of them (RFC 9000, 13.2.3).
 */
size_t quic_ack_write(char *datagram, uint64_t connection, const struct ranges *seen,
		      int64_t delay_ns);

#endif
