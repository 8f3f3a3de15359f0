/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A scripted UDP source: frame i, one datagram or several at once, leaves at
 * start + i * interval, whatever became of the ones before. It takes no feedback and draws no random number,
 * so two runs offer exactly the same load. Each datagram says when it was sent:
 * where both ends read one clock, as the network namespaces of one machine do,
 * the receiver knows how long it was on its way.
 */
#ifndef FLOWGEN_PULSE_H
#define FLOWGEN_PULSE_H

#include <sys/socket.h>

#include "loop.h"
#include "record.h"

#define PULSE_MAX	65507		/* largest UDP payload over IPv4, bytes */
#define DATAGRAMS_MAX	1000		/* of a frame */

/* First bytes of a datagram; the id follows. Integers are big-endian. */
struct pulse_header {
	uint32_t magic;
	uint32_t sequence;		/* from 0 */
	uint32_t count;			/* datagrams in the pulse */
	uint32_t id_length;		/* bytes */
	uint16_t datagrams;		/* that leave at one moment: a frame */
	uint16_t echo;			/* 0, or one of enum pulse_echo */
	uint64_t sent_ns;		/* CLOCK_MONOTONIC of the sender's machine */
	uint64_t turned_ns;		/* of an answer: when the request came; CLOCK_MONOTONIC */
} __attribute__((packed));

enum pulse_echo { ECHO_REQUEST = 1, ECHO_ANSWER };

/* A talk spurt: so many frames, from so long after the start. */
struct pulse_burst {
	int64_t offset_ns;
	uint32_t count;
};

struct pulse_plan {
	char id[ID_MAX + 1];
	int64_t start_ns;		/* CLOCK_MONOTONIC; the past means now */
	int64_t every_ns;
	uint32_t count;			/* frames */
	uint32_t datagrams;		/* of each frame */
	uint32_t bytes;			/* UDP payload of each datagram */
	uint8_t dscp;			/* 0: not marked */
	bool echo;			/* a ping: the other end answers each */
	const struct pulse_burst *bursts;	/* NULL: one frame every every_ns */
	struct sockaddr_storage peer;
	socklen_t peer_length;
};

/*
 * Reads lines "OFFSET COUNT", times rising, with all frames of one before the next; tells how
 * many frames they are. Dies when a line is not one. The result is never freed.
 */
const struct pulse_burst *pulse_bursts(const char *path, uint32_t most, uint32_t *frames);

void pulse_start(struct loop *loop, const struct pulse_plan *plan);

/* A datagram came to a server's socket FD from PEER. A ping is sent back; others are counted. */
void pulse_received(struct loop *loop, int fd, char *datagram, size_t length,
		    const struct sockaddr_storage *peer, socklen_t peer_length);

/*
 * A datagram's payload came from PEER, or was seen on its way there (TAP). One
 * that no pulse sent is passed over.
 */
void pulse_arrived(struct loop *loop, const char *datagram, size_t length,
		   const struct sockaddr_storage *peer, socklen_t peer_length,
		   bool tap);

#endif
