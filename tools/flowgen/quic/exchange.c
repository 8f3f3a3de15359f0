// SPDX-License-Identifier: GPL-2.0-only
/* The datagrams of a flow: composed, sent, read and handed to those who know the rules. */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "state.h"
#include "wire.h"

#define PER_TURN	64		/* datagrams read before others' turn */
#define HELLO_NS	(3 * QUIC_INITIAL_RTT)	/* RFC 9002, 6.2.2: a second */
#define DOUBLINGS_MAX	10		/* of it */

/*
 * Returns false if the socket is full, or the flow is over. A datagram that the device refuses is
 * lost, as one that a router drops.
 */
static bool put(struct loop *loop, struct connection *conn, const void *datagram, size_t length)
{
	if (send(conn->act.fd, datagram, length, 0) >= 0 || errno == ENOBUFS)
		return true;
	if (errno != EAGAIN && errno != EINTR)
		connection_unreachable(loop, conn, errno);
	return false;
}

void exchange_hello(struct loop *loop, struct connection *conn, int64_t now)
{
	unsigned int doublings = conn->hellos < DOUBLINGS_MAX ? conn->hellos : DOUBLINGS_MAX;
	struct quic_hello hello = {
		.attempt = htobe32(conn->hellos),
		.datagram = htobe32(conn->plan.datagram),
		.allowed = htobe32(conn->allowed),
		.duration_ns = htobe64(conn->deadline - now),
		.dir = conn->plan.dir,
	};

	conn->hellos++;
	conn->hello_sent = now;
	conn->hello_due = now + (HELLO_NS << doublings);
	quic_header_compose(&hello.header, QUIC_HELLO, conn->number);
	memcpy(hello.id, conn->plan.id, strlen(conn->plan.id));
	put(loop, conn, &hello, sizeof(hello));
}

void exchange_welcome(struct loop *loop, struct connection *conn, uint32_t attempt)
{
	struct quic_welcome welcome = { .attempt = htobe32(attempt) };

	quic_header_compose(&welcome.header, QUIC_WELCOME, conn->number);
	put(loop, conn, &welcome, sizeof(welcome));
}

void exchange_ack(struct loop *loop, struct connection *conn, int64_t now)
{
	struct receiver *receiver = &conn->receiver;
	char ack[QUIC_ACK_MAX];
	int64_t delay;

	if (receiver->ack_due > now)
		return;
	delay = receiver_acknowledge(receiver, now);
	put(loop, conn, ack, quic_ack_write(ack, conn->number, &receiver->seen, delay));
}

void exchange_data(struct loop *loop, struct connection *conn, int64_t now)
{
	static char datagram[QUIC_DATAGRAM_MAX];
	struct sender *sender = &conn->sender;
	struct quic_data data = { };
	uint64_t chunk;

	while (!conn->held_up && sender_release(sender) <= now) {
		chunk = sender_chunk(sender);
		quic_header_compose(&data.header, QUIC_DATA, conn->number);
		data.packet = htobe64(sender->next_packet);
		data.chunk = htobe64(chunk);
		memcpy(datagram, &data, sizeof(data));
		if (!put(loop, conn, datagram, conn->plan.datagram)) {
			if (conn->phase == OVER)
				return;
			conn->held_up = true;
			sender_held_up(sender);
			loop_watch(loop, &conn->act, EPOLLIN | EPOLLOUT);
			return;
		}
		if (!sender->next_packet)
			conn->rec.first_byte = now;
		sender_sent(sender, now, chunk);
	}
}

static void take_welcome(struct connection *conn, int64_t now, uint32_t attempt)
{
	conn->rec.connected = now;
	conn->phase = TRANSFER;
	if (conn->rec.sender && attempt + 1 == conn->hellos)
		rtt_sample(&conn->sender.rtt, now, now - conn->hello_sent, 0);
}

static bool take_data(struct loop *loop, struct connection *conn, int64_t now,
		      const char *datagram, size_t length)
{
	uint64_t packet, chunk;

	if (conn->rec.sender || length != conn->plan.datagram ||
	    !quic_data_read(datagram, length, &packet, &chunk) ||
	    !receiver_take(&conn->receiver, now, packet, chunk))
		return false;
	if (conn->phase == GREETING)
		take_welcome(conn, now, 0);
	if (conn->rec.first_byte == UNSET)
		conn->rec.first_byte = now;
	exchange_ack(loop, conn, now);
	return true;
}

/* Returns false for a datagram that the other end cannot have sent. */
static bool take(struct loop *loop, struct connection *conn, int64_t now,
		 const char *datagram, size_t length)
{
	struct quic_hello hello;
	struct ranges acked;
	int64_t ack_delay;
	uint32_t attempt;

	if (!quic_kind(datagram, length) || quic_connection(datagram) != conn->number)
		return false;
	switch (quic_kind(datagram, length)) {
	case QUIC_HELLO:
		if (conn->client || !quic_hello_read(datagram, length, &hello))
			return false;
		exchange_welcome(loop, conn, hello.attempt);
		return true;
	case QUIC_WELCOME:
		if (!conn->client || !quic_welcome_read(datagram, length, &attempt) ||
		    attempt >= conn->hellos)
			return false;
		if (conn->phase == GREETING)
			take_welcome(conn, now, attempt);
		return true;
	case QUIC_DATA:
		return take_data(loop, conn, now, datagram, length);
	case QUIC_ACK:
		return conn->rec.sender && conn->phase == TRANSFER &&
		       quic_ack_read(datagram, length, &acked, &ack_delay) &&
		       sender_acked(&conn->sender, now, &acked, ack_delay);
	}
	return false;
}

void exchange_receive(struct loop *loop, struct connection *conn, int64_t now)
{
	static char datagram[QUIC_DATAGRAM_MAX];
	ssize_t got;
	int turn;

	for (turn = 0; turn < PER_TURN && !conn->act.done; turn++) {
		got = recv(conn->act.fd, datagram, sizeof(datagram), 0);
		if (got < 0) {
			if (errno != EAGAIN && errno != EINTR && conn->phase != OVER)
				connection_unreachable(loop, conn, errno);
			return;
		}
		if (conn->phase != OVER && !take(loop, conn, now, datagram, got))
			conn->rec.ignored++;
	}
}
