/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUIC_SERVER_H
#define QUIC_SERVER_H

#include <stdbool.h>
#include <sys/socket.h>

#include "../loop.h"

/*
 * A datagram came to the server's socket LISTENER from PEER. Returns false if it is none of a
 * QUIC-like flow. One that begins a flow gets a socket of its own, and so does all after it.
 */
bool quic_arrived(struct loop *loop, int listener, const char *datagram, size_t length,
		  const struct sockaddr_storage *peer, socklen_t peer_length);

#endif
