/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One end of a flow over UDP that acknowledges, paces itself and reacts to loss as QUIC does (RFC
 * 9000, RFC 9002), without encryption. Payload goes one way for a time, and there is always more.
 */
#ifndef QUIC_CONNECTION_H
#define QUIC_CONNECTION_H

#include <sys/socket.h>

#include "../loop.h"
#include "../record.h"

struct quic_plan {
	char id[ID_MAX + 1];
	enum direction dir;
	int64_t start_ns;		/* CLOCK_MONOTONIC; the past means now */
	int64_t duration_ns;
	uint32_t datagram;		/* UDP payload of each with data, bytes */
	uint64_t window;		/* payload that the receiver takes ahead, bytes; 0: much */
	struct sockaddr_storage peer;
	socklen_t peer_length;
};

void quic_start(struct loop *loop, const struct quic_plan *plan);

#endif
