// SPDX-License-Identifier: GPL-2.0-only
/*
 * Listens on a TCP and a UDP socket of the same port. IPv6 with IPv4 mapped
 * where the kernel has IPv6, plain IPv4 otherwise. Each QUIC-like flow gets a
 * UDP socket of its own with the same port; pulses have one for all.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "die.h"
#include "flow.h"
#include "pulse.h"
#include "quic/server.h"
#include "serve.h"

#define PER_TURN	64		/* datagrams read before others' turn */

/* Closed when there is no other descriptor left, so that a connection can be refused. */
static int spare = -1;

static void refuse(int listener)
{
	close(spare);
	close(accept(listener, NULL, NULL));
	spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void listener_ready(struct loop *loop, struct activity *act,
			   uint32_t events)
{
	int fd = accept4(act->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	(void)events;
	if (fd >= 0) {
		flow_accept(loop, fd);
		return;
	}
	switch (errno) {
	case EAGAIN:
	case EINTR:
	case ECONNABORTED:
		return;
	case EMFILE:	/* the connection would stay pending, and this be called again */
	case ENFILE:
		refuse(act->fd);
		return;
	default:	/* going on would spin: the connection stays pending */
		die(errno, "cannot accept another flow");
	}
}

static void datagrams_ready(struct loop *loop, struct activity *act,
			    uint32_t events)
{
	static char datagram[PULSE_MAX];
	struct sockaddr_storage peer;
	socklen_t length;
	ssize_t got;
	int turn;

	(void)events;
	for (turn = 0; turn < PER_TURN; turn++) {
		memset(&peer, 0, sizeof(peer));
		length = sizeof(peer);
		got = recvfrom(act->fd, datagram, sizeof(datagram), 0,
			       (struct sockaddr *)&peer, &length);
		if (got < 0) {
			if (errno != EAGAIN && errno != EINTR)
				die(errno, "cannot receive datagrams");
			return;
		}
		if (!quic_arrived(loop, act->fd, datagram, got, &peer, length))
			pulse_received(loop, act->fd, datagram, got, &peer, length);
	}
}

static int bound_socket(const struct addrinfo *address, int type)
{
	int fd = socket(address->ai_family,
			type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int on = 1, off = 0;

	if (fd < 0)
		return -1;
	if (address->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, address->ai_addr, address->ai_addrlen)) {
		close(fd);
		return -1;
	}
	return fd;
}

static const struct addrinfo *prefer_ipv6(const struct addrinfo *list)
{
	const struct addrinfo *one;

	for (one = list; one; one = one->ai_next)
		if (one->ai_family == AF_INET6)
			return one;
	return list;
}

void serve_open(struct loop *loop, const char *address, const char *port)
{
	struct addrinfo hints = {
		.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
	};
	const struct addrinfo *chosen;
	struct addrinfo *list;
	int tcp, udp, error;

	spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	error = getaddrinfo(address, port, &hints, &list);
	if (error)
		die(0, "cannot listen on %s port %s: %s", address ? address : "any address",
		    port, gai_strerror(error));
	chosen = address ? list : prefer_ipv6(list);
	tcp = bound_socket(chosen, SOCK_STREAM);
	if (tcp < 0 && chosen != list) {
		chosen = list;
		tcp = bound_socket(chosen, SOCK_STREAM);
	}
	if (tcp < 0 || listen(tcp, SOMAXCONN))
		die(errno, "cannot listen on TCP port %s", port);
	udp = bound_socket(chosen, SOCK_DGRAM);
	if (udp < 0)
		die(errno, "cannot bind UDP port %s", port);
	freeaddrinfo(list);

	loop_listen(loop, tcp, listener_ready);
	loop_listen(loop, udp, datagrams_ready);
}
