// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sockets and timers of a flow. The client says hello until anything comes back; the payload
 * begins when the server has heard it (down) or the client knows that it did (up). Each end keeps
 * the deadline itself. A server stays for a while after that, so that a hello which comes late
 * begins nothing.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

#include "../die.h"
#include "../flow.h"
#include "connection.h"
#include "state.h"
#include "wire.h"

#define LINGER_NS	(3 * NSEC_PER_SEC)	/* RFC 9000, 10.2: three probe timeouts */

static struct connection *connection_of(struct activity *act)
{
	return (struct connection *)act;
}

static uint32_t chunk_bytes(const struct connection *conn)
{
	return conn->plan.datagram - sizeof(struct quic_data);
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void set_wake(struct connection *conn)
{
	int64_t wake = earlier(conn->deadline, conn->next_sample);

	if (conn->phase == WAITING || conn->phase == OVER)
		return;
	if (conn->phase == GREETING)
		wake = earlier(wake, conn->hello_due);
	else if (!conn->rec.sender)
		wake = earlier(wake, conn->receiver.ack_due);
	else if (conn->held_up)
		wake = earlier(wake, sender_timer(&conn->sender));
	else
		wake = earlier(wake, earlier(sender_timer(&conn->sender),
					     sender_release(&conn->sender)));
	conn->act.wake_ns = wake;
}

static void flush_rtts(struct loop *loop, struct connection *conn, int64_t now)
{
	if (conn->rtt_count)
		record_rtts(loop->out_fd, &conn->rec, now, conn->rtts, conn->rtt_count);
	conn->rtt_count = 0;
}

static void account(struct connection *conn)
{
	if (conn->rec.sender) {
		conn->rec.bytes = conn->sender.delivered * chunk_bytes(conn);
		conn->rec.segments = conn->sender.next_packet;
		conn->rec.retrans = conn->sender.retransmitted;
		conn->rec.mss = chunk_bytes(conn);
	} else {
		conn->rec.bytes = conn->receiver.delivered * chunk_bytes(conn);
		conn->rec.segments = conn->receiver.packets;
	}
}

/* When the receiver's next sample is due, or the sender's next round-trip time. */
static void set_next_sample(const struct loop *loop, struct connection *conn, int64_t now)
{
	int64_t every = conn->rec.sender ? loop->interval_ns / QUIC_RTTS : loop->interval_ns;

	conn->next_sample = flow_next_sample(every, conn->rec.start, now);
}

static void sample(struct loop *loop, struct connection *conn, int64_t now)
{
	set_next_sample(loop, conn, now);
	account(conn);
	if (!conn->rec.sender) {
		record_sample(loop->out_fd, &conn->rec, now);
	} else if (conn->sender.rtt.sampled) {
		conn->rtts[conn->rtt_count++] = conn->sender.rtt.smoothed;
		if (conn->rtt_count == QUIC_RTTS)
			flush_rtts(loop, conn, now);
	}
}

static void conclude(struct loop *loop, struct connection *conn, int64_t end)
{
	int64_t now = now_ns();

	account(conn);
	flush_rtts(loop, conn, now);
	conn->rec.end = end;
	record_flow(loop->out_fd, &conn->rec);
	conn->phase = OVER;
	if (conn->held_up)
		loop_watch(loop, &conn->act, EPOLLIN);
	conn->act.wake_ns = now + LINGER_NS;
	conn->act.done = conn->client;
}

static void fail(struct loop *loop, struct connection *conn, const char *what, int error)
{
	snprintf(conn->rec.error, sizeof(conn->rec.error), "%s: %s", what, strerror(error));
	fprintf(stderr, "flowgen: flow %s: %s\n", conn->rec.id, conn->rec.error);
	loop->failed = true;
	conclude(loop, conn, UNSET);
}

/* To a server that is the end of a client. */
void connection_unreachable(struct loop *loop, struct connection *conn, int error)
{
	if (conn->client)
		fail(loop, conn, conn->phase == GREETING ? "cannot connect" : "connection lost",
		     error);
	else
		conclude(loop, conn, now_ns());
}

static void connection_ready(struct loop *loop, struct activity *act, uint32_t events)
{
	struct connection *conn = connection_of(act);
	int64_t now = now_ns();

	if (events & (EPOLLIN | EPOLLERR))
		exchange_receive(loop, conn, now);
	if (conn->phase == OVER)
		return;
	if (conn->held_up && (events & EPOLLOUT)) {
		conn->held_up = false;
		loop_watch(loop, act, EPOLLIN);
	}
	if (conn->phase == TRANSFER && conn->rec.sender)
		exchange_data(loop, conn, now);
	set_wake(conn);
}

static void open_socket(struct loop *loop, struct connection *conn, int64_t now)
{
	const struct sockaddr *peer = (const struct sockaddr *)&conn->plan.peer;
	int fd = socket(peer->sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int error;

	conn->rec.start = now;
	conn->deadline = now + conn->plan.duration_ns;
	conn->phase = GREETING;
	set_next_sample(loop, conn, now);
	if (fd < 0 || connect(fd, peer, conn->plan.peer_length)) {
		error = errno;
		if (fd >= 0)
			close(fd);
		fail(loop, conn, "cannot connect", error);
		return;
	}
	loop_attach(loop, &conn->act, fd, EPOLLIN);
	exchange_hello(loop, conn, now);
}

static void timers(struct loop *loop, struct connection *conn, int64_t now)
{
	if (conn->phase == GREETING && conn->hello_due <= now)
		exchange_hello(loop, conn, now);
	if (conn->phase != TRANSFER)
		return;
	if (!conn->rec.sender) {
		exchange_ack(loop, conn, now);
		return;
	}
	if (sender_timer(&conn->sender) <= now)
		sender_timeout(&conn->sender, now);
	exchange_data(loop, conn, now);
}

static void connection_wake(struct loop *loop, struct activity *act, int64_t now)
{
	struct connection *conn = connection_of(act);

	if (conn->phase == OVER) {
		act->done = true;
		return;
	}
	if (conn->phase == WAITING)
		open_socket(loop, conn, now);
	else if (conn->next_sample <= now)
		sample(loop, conn, now);
	if (conn->phase != OVER && conn->deadline <= now) {
		if (conn->phase == GREETING) {
			/* It starved. That is a result: its record has no error. */
			fprintf(stderr, "flowgen: flow %s: no connection within its time\n",
				conn->rec.id);
			loop->failed = true;
		}
		conclude(loop, conn, conn->phase == GREETING ? UNSET : now);
	}
	if (conn->phase != OVER)
		timers(loop, conn, now);
	set_wake(conn);
}

static void connection_interrupt(struct loop *loop, struct activity *act)
{
	if (connection_of(act)->phase != OVER)
		conclude(loop, connection_of(act), UNSET);
}

static struct connection *connection_new(const struct quic_plan *plan, uint32_t allowed,
					 bool client)
{
	struct connection *conn = calloc(1, sizeof(*conn));

	if (!conn)
		die(errno, "out of memory for a flow");
	conn->act.fd = -1;
	conn->act.wake_ns = NEVER;
	conn->act.ready = connection_ready;
	conn->act.wake = connection_wake;
	conn->act.interrupt = connection_interrupt;
	conn->plan = *plan;
	conn->client = client;
	conn->allowed = allowed;
	conn->deadline = NEVER;
	conn->next_sample = NEVER;
	conn->hello_due = NEVER;
	record_init(&conn->rec);
	memcpy(conn->rec.id, plan->id, sizeof(conn->rec.id));
	conn->rec.dir = plan->dir;
	conn->rec.sender = client == (plan->dir == DIR_UP);
	conn->rec.ignored = 0;
	if (conn->rec.sender)
		sender_init(&conn->sender, plan->datagram, allowed);
	else
		receiver_init(&conn->receiver);
	return conn;
}

/* At least what RFC 9002 begins with, so that a window is never too small to begin. */
static uint32_t chunks_allowed(const struct quic_plan *plan)
{
	uint64_t chunks = plan->window / (plan->datagram - sizeof(struct quic_data));

	if (!plan->window || chunks > STREAM_WINDOW)
		return STREAM_WINDOW;
	return chunks > QUIC_BURST ? chunks : QUIC_BURST;
}

void quic_start(struct loop *loop, const struct quic_plan *plan)
{
	struct connection *conn = connection_new(plan, chunks_allowed(plan), true);
	int64_t now = now_ns();

	if (getrandom(&conn->number, sizeof(conn->number), 0) != sizeof(conn->number))
		die(errno, "flow %s: no connection id", plan->id);
	conn->act.wake_ns = plan->start_ns > now ? plan->start_ns : now;
	loop_add(loop, &conn->act);
}

void connection_answer(struct loop *loop, int fd, uint64_t number, const struct quic_hello *hello)
{
	struct quic_plan plan = {
		.dir = hello->dir,
		.duration_ns = hello->duration_ns,
		.datagram = hello->datagram,
	};
	int64_t now = now_ns();
	struct connection *conn;

	memcpy(plan.id, hello->id, ID_MAX);
	conn = connection_new(&plan, hello->allowed, false);
	conn->number = number;
	conn->phase = TRANSFER;
	conn->rec.start = now;
	conn->rec.connected = now;
	conn->deadline = now + plan.duration_ns;
	set_next_sample(loop, conn, now);
	loop_add(loop, &conn->act);
	loop_attach(loop, &conn->act, fd, EPOLLIN);
	exchange_welcome(loop, conn, hello->attempt);
	if (conn->phase == TRANSFER && conn->rec.sender)
		exchange_data(loop, conn, now);
	set_wake(conn);
}

bool connection_is(const struct activity *act, uint64_t *number)
{
	if (act->ready != connection_ready)
		return false;
	*number = ((const struct connection *)act)->number;
	return true;
}
