/* SPDX-License-Identifier: GPL-2.0-only */
/* What a QUIC-like flow is to be. */
#ifndef QUIC_PLAN_H
#define QUIC_PLAN_H

#include <sys/socket.h>

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

#endif
