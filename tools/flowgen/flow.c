// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a TCP flow. A flow of fixed duration ends for both ends at once,
 * by a reset: what a starved queue still holds is not waited for, as it was
 * not delivered in time. Each end keeps the deadline itself, since the reset
 * may be lost on the air. A flow of fixed size ends when the receiver has all
 * of it and closes; the sender waits for that close.
 *
 * A read or write that does less than it was asked for ends its turn: to hear
 * EAGAIN too would be one more system call for each segment.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "die.h"
#include "dscp.h"
#include "flow.h"
#include "request.h"

#define CHUNK		65536		/* bytes per read or write */
#define CHUNKS_PER_TURN	16		/* then other flows get their turn */

/* Samples of the round-trip time in an interval: five a second, as flent takes them */
#define RTTS		5

/* How much earlier than the client's a server's clock may reach the deadline */
#define CLOCK_DRIFT_NS	(NSEC_PER_SEC / 10)

enum phase {
	WAITING,			/* client: for its start time */
	CONNECTING,			/* client */
	REQUESTING,			/* the request is on its way */
	TRANSFER,
	CLOSING,			/* sized sender: all handed to TCP */
};

struct flow {
	struct activity act;
	struct record rec;
	struct flow_plan plan;
	struct request request;
	size_t request_done;		/* bytes of it read or written */
	enum phase phase;
	bool client;
	int64_t deadline;		/* ns or NEVER */
	int64_t next_sample;		/* ns or NEVER */
	uint64_t handed;		/* payload bytes given to TCP */
	int64_t rtts[RTTS];		/* sender: ns, not written down yet */
	unsigned int rtt_count;
};

static struct flow *flow_of(struct activity *act)
{
	return (struct flow *)act;
}

/* Half-filled intervals too: a flow that ends between two keeps what it had. */
static void flush_rtts(struct loop *loop, struct flow *flow, int64_t now)
{
	if (flow->rtt_count)
		record_rtts(loop->out_fd, &flow->rec, now, flow->rtts, flow->rtt_count);
	flow->rtt_count = 0;
}

/* TCP's smoothed round-trip time; 0 until it has measured one. */
static void note_rtt(struct loop *loop, struct flow *flow, int64_t now)
{
	struct tcp_info info = { };
	socklen_t length = sizeof(info);

	if (getsockopt(flow->act.fd, IPPROTO_TCP, TCP_INFO, &info, &length) || !info.tcpi_rtt)
		return;
	flow->rtts[flow->rtt_count++] = info.tcpi_rtt * 1000LL;
	if (flow->rtt_count == RTTS)
		flush_rtts(loop, flow, now);
}

int64_t flow_next_sample(int64_t every, int64_t start, int64_t now)
{
	return start + ((now - start) / every + 1) * every;
}

/* When the receiver's next sample is due, or the sender's next round-trip time. */
static int64_t next_sample(const struct loop *loop, const struct flow *flow, int64_t now)
{
	int64_t every = flow->rec.sender ? loop->interval_ns / RTTS : loop->interval_ns;

	return flow_next_sample(every, flow->rec.start, now);
}

static void set_wake(struct flow *flow)
{
	flow->act.wake_ns = flow->deadline < flow->next_sample ? flow->deadline : flow->next_sample;
}

/*
 * SIOCOUTQ counts what TCP holds unacknowledged: the request, and a FIN once
 * shutdown() was called (CLOSING), are in its sequence space too.
 */
static void account_sender(struct flow *flow)
{
	int unacked = 0;

	if (ioctl(flow->act.fd, SIOCOUTQ, &unacked))
		return;
	/* The FIN is the last of what is not acknowledged. */
	if (flow->phase == CLOSING && unacked)
		unacked--;
	if ((uint64_t)unacked <= flow->handed)
		flow->rec.bytes = flow->handed - unacked;
}

/* What TCP has counted of a flow, at either end. */
static void account_segments(struct flow *flow)
{
	struct tcp_info info = { };
	socklen_t length = sizeof(info);

	if (getsockopt(flow->act.fd, IPPROTO_TCP, TCP_INFO, &info, &length))
		return;
	flow->rec.segments = flow->rec.sender ? info.tcpi_data_segs_out : info.tcpi_data_segs_in;
	if (!flow->rec.sender)
		return;
	flow->rec.retrans = info.tcpi_total_retrans;
	flow->rec.mss = info.tcpi_snd_mss;
}

static void abort_connection(int fd)
{
	struct linger now = { .l_onoff = 1, .l_linger = 0 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
}

static void conclude(struct loop *loop, struct flow *flow, int64_t end)
{
	if (flow->act.fd >= 0) {
		account_segments(flow);
		if (flow->rec.sender)
			account_sender(flow);
		if (!flow->plan.bytes || flow->rec.error[0] || end == UNSET)
			abort_connection(flow->act.fd);
	}
	flush_rtts(loop, flow, now_ns());
	flow->rec.end = end;
	record_flow(loop->out_fd, &flow->rec);
	flow->act.done = true;
	if (flow->plan.over)
		flow->plan.over(loop, flow->plan.owner);
}

static void fail(struct loop *loop, struct flow *flow, const char *what, int error)
{
	snprintf(flow->rec.error, sizeof(flow->rec.error), error ? "%s: %s" : "%s",
		 what, strerror(error));
	fprintf(stderr, "flowgen: flow %s: %s\n", flow->rec.id, flow->rec.error);
	if (flow->client)
		loop->failed = true;
	conclude(loop, flow, UNSET);
}

/*
 * The peer closed, by FIN (error 0) or reset, or the network gave up. A client
 * that leaves early says why in its own record; to the server it is no error.
 */
static void connection_over(struct loop *loop, struct flow *flow, int error)
{
	char what[64];

	if (error && error != ECONNRESET && error != EPIPE) {
		fail(loop, flow, "connection lost", error);
	} else if (flow->phase == CLOSING && !error) {
		conclude(loop, flow, now_ns());
	} else if (!flow->client) {
		conclude(loop, flow, flow->plan.bytes ? UNSET : now_ns());
	} else if (flow->plan.bytes) {
		snprintf(what, sizeof(what), "closed by the server after %llu of %llu bytes",
			 (unsigned long long)(flow->rec.sender ? flow->handed : flow->rec.bytes),
			 (unsigned long long)flow->plan.bytes);
		fail(loop, flow, what, 0);
	} else if (now_ns() < flow->deadline - CLOCK_DRIFT_NS) {
		fail(loop, flow, "closed by the server before it was done", 0);
	} else {
		conclude(loop, flow, now_ns());
	}
}

static int socket_error(int fd)
{
	int error = 0;
	socklen_t length = sizeof(error);

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length))
		return errno;
	return error;
}

/* What the plan says of the sender's socket. */
static int set_up(const struct flow *flow)
{
	const char *name = flow->plan.congestion_control;

	if (!flow->rec.sender)
		return 0;
	if (dscp_set(flow->act.fd, flow->plan.dscp))
		return -1;
	if (!name[0])
		return 0;
	return setsockopt(flow->act.fd, IPPROTO_TCP, TCP_CONGESTION, name,
			  strlen(name));
}

static void begin_transfer(struct loop *loop, struct flow *flow)
{
	flow->phase = TRANSFER;
	loop_watch(loop, &flow->act,
		   flow->rec.sender ? EPOLLOUT | EPOLLRDHUP : EPOLLIN);
}

static void send_payload(struct loop *loop, struct flow *flow)
{
	static const char payload[CHUNK];
	size_t length = CHUNK;
	ssize_t sent;
	int turn;

	for (turn = 0; turn < CHUNKS_PER_TURN; turn++) {
		if (flow->plan.bytes && flow->plan.bytes - flow->handed < CHUNK)
			length = flow->plan.bytes - flow->handed;
		sent = send(flow->act.fd, payload, length, 0);
		if (sent < 0) {
			if (errno != EAGAIN && errno != EINTR)
				connection_over(loop, flow, errno);
			return;
		}
		if (!flow->handed)
			flow->rec.first_byte = now_ns();
		flow->handed += sent;
		if (flow->handed == flow->plan.bytes) {
			/* At once: the receiver of the last byte may close before the next turn. */
			shutdown(flow->act.fd, SHUT_WR);
			flow->phase = CLOSING;
			loop_watch(loop, &flow->act, EPOLLIN);
			return;
		}
		if ((size_t)sent < length)	/* the buffer is full */
			return;
	}
}

static void receive_payload(struct loop *loop, struct flow *flow)
{
	static char payload[CHUNK];
	size_t length = CHUNK;
	ssize_t got;
	int turn;

	for (turn = 0; turn < CHUNKS_PER_TURN; turn++) {
		if (flow->plan.bytes && flow->plan.bytes - flow->rec.bytes < CHUNK)
			length = flow->plan.bytes - flow->rec.bytes;
		got = recv(flow->act.fd, payload, length, 0);
		if (got <= 0) {
			if (!got || (errno != EAGAIN && errno != EINTR))
				connection_over(loop, flow, got ? errno : 0);
			return;
		}
		if (!flow->rec.bytes)
			flow->rec.first_byte = now_ns();
		flow->rec.bytes += got;
		if (flow->rec.bytes == flow->plan.bytes) {
			conclude(loop, flow, now_ns());
			return;
		}
		if ((size_t)got < length)	/* it is empty, or this was the end */
			return;
	}
}

static void await_close(struct loop *loop, struct flow *flow)
{
	char byte;
	ssize_t got = recv(flow->act.fd, &byte, 1, 0);

	if (got > 0)
		fail(loop, flow, "the receiver sent data", 0);
	else if (!got || (errno != EAGAIN && errno != EINTR))
		connection_over(loop, flow, got ? errno : 0);
}

static void send_request(struct loop *loop, struct flow *flow)
{
	const char *from = (const char *)&flow->request + flow->request_done;
	ssize_t sent;

	/* let an upload's request share a segment with its first payload */
	sent = send(flow->act.fd, from,
		    sizeof(flow->request) - flow->request_done,
		    flow->rec.sender ? MSG_MORE : 0);
	if (sent < 0) {
		if (errno != EAGAIN && errno != EINTR)
			connection_over(loop, flow, errno);
		return;
	}
	flow->request_done += sent;
	if (flow->request_done == sizeof(flow->request))
		begin_transfer(loop, flow);
}

static void finish_connect(struct loop *loop, struct flow *flow)
{
	int error = socket_error(flow->act.fd);

	if (error) {
		fail(loop, flow, "cannot connect", error);
		return;
	}
	flow->rec.connected = now_ns();
	request_compose(&flow->request, &flow->plan, flow->deadline - now_ns());
	flow->phase = REQUESTING;
	send_request(loop, flow);
}

static void receive_request(struct loop *loop, struct flow *flow)
{
	char *to = (char *)&flow->request + flow->request_done;
	int64_t now;
	ssize_t got;

	got = recv(flow->act.fd, to, sizeof(flow->request) - flow->request_done, 0);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got > 0) {
		flow->request_done += got;
		if (flow->request_done < sizeof(flow->request))
			return;
	}
	if (got <= 0 || !request_adopt(&flow->request, &flow->plan)) {
		fputs("flowgen: a connection without a valid request was closed\n", stderr);
		flow->act.done = true;
		return;
	}
	memcpy(flow->rec.id, flow->plan.id, sizeof(flow->rec.id));
	flow->rec.dir = flow->plan.dir;
	flow->rec.sender = flow->plan.dir == DIR_DOWN;
	now = now_ns();
	if (flow->plan.duration_ns)
		flow->deadline = now + flow->plan.duration_ns;
	flow->next_sample = next_sample(loop, flow, now);
	set_wake(flow);
	if (set_up(flow))
		fail(loop, flow, "congestion control or DSCP not available", errno);
	else
		begin_transfer(loop, flow);
}

static void flow_ready(struct loop *loop, struct activity *act, uint32_t events)
{
	struct flow *flow = flow_of(act);

	switch (flow->phase) {
	case WAITING:
		break;
	case CONNECTING:
		finish_connect(loop, flow);
		break;
	case REQUESTING:
		if (flow->client)
			send_request(loop, flow);
		else
			receive_request(loop, flow);
		break;
	case TRANSFER:
		if (!flow->rec.sender)
			receive_payload(loop, flow);
		else if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
			connection_over(loop, flow, socket_error(act->fd));
		else
			send_payload(loop, flow);
		break;
	case CLOSING:
		await_close(loop, flow);
		break;
	}
}

static void open_connection(struct loop *loop, struct flow *flow, int64_t now)
{
	const struct sockaddr *peer = (const struct sockaddr *)&flow->plan.peer;
	int fd;

	flow->rec.start = now;
	if (flow->plan.duration_ns)
		flow->deadline = now + flow->plan.duration_ns;
	flow->next_sample = next_sample(loop, flow, now);
	set_wake(flow);

	fd = socket(peer->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		fail(loop, flow, "cannot make a socket", errno);
		return;
	}
	flow->phase = CONNECTING;
	flow->act.fd = fd;
	if (set_up(flow)) {
		fail(loop, flow, "congestion control or DSCP not available", errno);
		return;
	}
	if (connect(fd, peer, flow->plan.peer_length) && errno != EINPROGRESS) {
		fail(loop, flow, "cannot connect", errno);
		return;
	}
	loop_attach(loop, &flow->act, fd, EPOLLOUT);
}

static void flow_wake(struct loop *loop, struct activity *act, int64_t now)
{
	struct flow *flow = flow_of(act);

	if (flow->phase == WAITING) {
		open_connection(loop, flow, now);
		return;
	}
	if (flow->next_sample <= now) {
		if (flow->rec.sender)
			note_rtt(loop, flow, now);
		else
			record_sample(loop->out_fd, &flow->rec, now);
		flow->next_sample = next_sample(loop, flow, now);
		set_wake(flow);
	}
	if (flow->deadline > now)
		return;
	if (flow->phase == CONNECTING) {
		/* It starved. That is a result: its record has no error. */
		fprintf(stderr, "flowgen: flow %s: no connection within its time\n", flow->rec.id);
		loop->failed = true;
	}
	conclude(loop, flow, flow->phase == CONNECTING ? UNSET : now);
}

static void flow_interrupt(struct loop *loop, struct activity *act)
{
	struct flow *flow = flow_of(act);

	flow->plan.over = NULL;
	if (flow->rec.id[0])
		conclude(loop, flow, UNSET);
}

static struct flow *flow_new(bool client)
{
	struct flow *flow = calloc(1, sizeof(*flow));

	if (!flow)
		die(errno, "out of memory for a flow");
	flow->act.fd = -1;
	flow->act.wake_ns = NEVER;
	flow->act.ready = flow_ready;
	flow->act.wake = flow_wake;
	flow->act.interrupt = flow_interrupt;
	flow->client = client;
	flow->deadline = NEVER;
	flow->next_sample = NEVER;
	record_init(&flow->rec);
	return flow;
}

void flow_start(struct loop *loop, const struct flow_plan *plan)
{
	struct flow *flow = flow_new(true);
	int64_t now = now_ns();

	flow->plan = *plan;
	memcpy(flow->rec.id, plan->id, sizeof(flow->rec.id));
	flow->rec.dir = plan->dir;
	flow->rec.sender = plan->dir == DIR_UP;
	flow->phase = WAITING;
	flow->act.wake_ns = plan->start_ns > now ? plan->start_ns : now;
	loop_add(loop, &flow->act);
}

void flow_accept(struct loop *loop, int fd)
{
	struct flow *flow = flow_new(false);

	flow->rec.start = now_ns();
	flow->rec.connected = flow->rec.start;
	flow->phase = REQUESTING;
	loop_add(loop, &flow->act);
	loop_attach(loop, &flow->act, fd, EPOLLIN);
}
