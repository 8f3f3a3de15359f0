// SPDX-License-Identifier: GPL-2.0-only
/* Each flow has a connected socket, so what its peer sends comes there, and it waits alone. */
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server.h"
#include "state.h"
#include "wire.h"

#define SERVED_MAX	1000		/* flows at a time */

/* A socket of the flow's own, bound as LISTENER is; only what PEER sends comes there. */
static int answering_socket(int listener, const struct sockaddr_storage *peer, socklen_t length)
{
	struct sockaddr_storage own;
	socklen_t own_length = sizeof(own);
	int fd, on = 1;

	if (getsockname(listener, (struct sockaddr *)&own, &own_length))
		return -1;
	fd = socket(own.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(fd, (const struct sockaddr *)&own, own_length) ||
	    connect(fd, (const struct sockaddr *)peer, length)) {
		close(fd);
		return -1;
	}
	return fd;
}

static void begin(struct loop *loop, int listener, uint64_t number, const struct quic_hello *hello,
		  const struct sockaddr_storage *peer, socklen_t peer_length)
{
	int fd = answering_socket(listener, peer, peer_length);

	if (fd >= 0)
		connection_answer(loop, fd, number, hello);
	else
		perror("flowgen: no socket for a flow");
}

bool quic_arrived(struct loop *loop, int listener, const char *datagram, size_t length,
		  const struct sockaddr_storage *peer, socklen_t peer_length)
{
	struct quic_hello hello;
	struct activity *act;
	unsigned int served = 0;
	uint64_t number;
	bool known = false;

	if (!quic_kind(datagram, length))
		return false;
	for (act = loop->activities; act; act = act->next) {
		if (!connection_is(act, &number))
			continue;
		served++;
		known |= number == quic_connection(datagram);
	}
	if (known || served >= SERVED_MAX || quic_kind(datagram, length) != QUIC_HELLO ||
	    !quic_hello_read(datagram, length, &hello))
		loop->strays++;
	else
		begin(loop, listener, quic_connection(datagram), &hello, peer, peer_length);
	return true;
}
