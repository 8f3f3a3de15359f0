// SPDX-License-Identifier: GPL-2.0-only
/*
 * Both ends of a pulse. The sender keeps an absolute schedule. The receiver
 * knows a pulse by source address and id; it is over when its last datagram
 * came, or at SIGTERM with an unknown end. A ping is its own receiver: the
 * other end counts and times each datagram and sends it back.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "die.h"
#include "dscp.h"
#include "flow.h"
#include "pulse.h"

#define PULSE_MAGIC	0x70756c73U	/* "puls" */
#define FRAMES		64		/* of which some datagrams came, at most */

/* A frame on its way: the datagrams that leave at one moment. */
struct frame {
	uint32_t number;
	uint32_t came;			/* datagrams of it */
	int64_t delay;			/* ns, of the slowest */
};

struct pulse {
	struct activity act;
	struct record rec;
	struct pulse_plan plan;		/* sender: the script; receiver: peer */
	uint32_t sent;			/* datagrams whose time has come */
	uint64_t answered;		/* ping: bytes that came back */
	int64_t next_flush;		/* ping: when its delays are written down */
	struct frame frames[FRAMES];	/* receiver: not whole yet, by number */
	int64_t delays[DELAYS_MAX];	/* receiver: not written down yet */
	int64_t returns[DELAYS_MAX];	/* ping: of the same, the ways back */
	unsigned int delayed;
	const struct pulse_burst *burst;/* sender: the one it is in, if there are any */
	uint32_t burst_sent;		/* frames of it */
};

static struct pulse *pulse_of(struct activity *act)
{
	return (struct pulse *)act;
}

static void flush_delays(struct loop *loop, struct pulse *pulse, int64_t now)
{
	if (pulse->delayed)
		record_delays(loop->out_fd, &pulse->rec, now, pulse->delays,
			      pulse->delayed);
	if (pulse->delayed && pulse->plan.echo)
		record_returns(loop->out_fd, &pulse->rec, now, pulse->returns,
			       pulse->delayed);
	pulse->delayed = 0;
}

static void conclude(struct loop *loop, struct pulse *pulse, int64_t end)
{
	flush_delays(loop, pulse, now_ns());
	pulse->rec.end = end;
	record_flow(loop->out_fd, &pulse->rec);
	if (pulse->plan.echo) {		/* it is its own receiver */
		pulse->rec.sender = 0;
		pulse->rec.bytes = pulse->answered;
		record_flow(loop->out_fd, &pulse->rec);
	}
	pulse->act.done = true;
}

static void pulse_interrupt(struct loop *loop, struct activity *act)
{
	conclude(loop, pulse_of(act), UNSET);
}

static struct pulse *pulse_new(const char *id)
{
	struct pulse *pulse = calloc(1, sizeof(*pulse));

	if (!pulse)
		die(errno, "out of memory for a pulse");
	pulse->act.fd = -1;
	pulse->act.wake_ns = NEVER;
	pulse->act.interrupt = pulse_interrupt;
	record_init(&pulse->rec);
	strcpy(pulse->rec.id, id);
	pulse->rec.dir = DIR_UP;
	return pulse;
}

/* Returns false for a datagram that no pulse sent. */
static bool datagram_id(const char *datagram, size_t length,
			struct pulse_header *header, char *id)
{
	size_t id_length;

	if (length < sizeof(*header))
		return false;
	memcpy(header, datagram, sizeof(*header));
	id_length = be32toh(header->id_length);
	if (header->magic != htobe32(PULSE_MAGIC) || id_length > ID_MAX ||
	    id_length > length - sizeof(*header) || !header->datagrams)
		return false;
	memcpy(id, datagram + sizeof(*header), id_length);
	id[id_length] = '\0';
	return flow_id_valid(id);
}

static void note_delay(struct loop *loop, struct pulse *pulse, int64_t delay)
{
	if (pulse->delayed == DELAYS_MAX)
		flush_delays(loop, pulse, now_ns());
	pulse->delays[pulse->delayed++] = delay;
}

static int send_one(struct pulse *pulse)
{
	static char datagram[PULSE_MAX];
	const struct pulse_plan *plan = &pulse->plan;
	struct pulse_header header = {
		.magic = htobe32(PULSE_MAGIC),
		.sequence = htobe32(pulse->sent),
		.count = htobe32(plan->count * plan->datagrams),
		.datagrams = htobe16(plan->datagrams),
		.echo = htobe16(plan->echo),
		.id_length = htobe32(strlen(plan->id)),
		.sent_ns = htobe64(now_ns()),
	};
	ssize_t sent;

	memcpy(datagram, &header, sizeof(header));
	memcpy(datagram + sizeof(header), plan->id, strlen(plan->id));
	sent = send(pulse->act.fd, datagram, plan->bytes, 0);
	if (sent < 0 && errno != EAGAIN && errno != ENOBUFS)
		return -1;
	/* A full queue is a loss, not an error: it counts as sent. */
	pulse->rec.bytes += plan->bytes;
	return 0;
}

/* A ping's delays belong to an interval as a receiver's do, though nothing wakes it for that. */
static void note_answer(struct loop *loop, struct pulse *pulse, const struct pulse_header *header)
{
	int64_t now = now_ns();

	if (now >= pulse->next_flush) {
		flush_delays(loop, pulse, now);
		pulse->next_flush = flow_next_sample(loop->interval_ns, pulse->rec.start, now);
	}
	if (pulse->delayed == DELAYS_MAX)
		flush_delays(loop, pulse, now);
	pulse->returns[pulse->delayed] = now - (int64_t)be64toh(header->turned_ns);
	note_delay(loop, pulse, now - (int64_t)be64toh(header->sent_ns));
}

static void answer_ready(struct loop *loop, struct activity *act, uint32_t events)
{
	static char datagram[PULSE_MAX];
	struct pulse *pulse = pulse_of(act);
	struct pulse_header header;
	char id[ID_MAX + 1];
	ssize_t got;

	(void)events;
	while ((got = recv(act->fd, datagram, sizeof(datagram), 0)) >= 0) {
		if (!datagram_id(datagram, got, &header, id) ||
		    be16toh(header.echo) != ECHO_ANSWER)
			continue;
		pulse->answered += got;
		note_answer(loop, pulse, &header);
		if (be32toh(header.sequence) + 1 == be32toh(header.count)) {
			conclude(loop, pulse, now_ns());
			return;
		}
	}
	if (errno != EAGAIN && errno != EINTR && errno != ECONNREFUSED)
		die(errno, "pulse %s: cannot receive", pulse->rec.id);
}

/* The moment of the frame after this one. */
static int64_t next_frame(struct pulse *pulse, int64_t this_one)
{
	if (!pulse->burst || ++pulse->burst_sent < pulse->burst->count)
		return this_one + pulse->plan.every_ns;
	pulse->burst++;
	pulse->burst_sent = 0;
	return pulse->rec.start + pulse->burst->offset_ns;
}

static void pulse_wake(struct loop *loop, struct activity *act, int64_t now)
{
	struct pulse *pulse = pulse_of(act);
	const struct pulse_plan *plan = &pulse->plan;

	if (!pulse->sent)
		pulse->rec.first_byte = now;
	while (act->wake_ns <= now && pulse->sent < plan->count * plan->datagrams) {
		if (send_one(pulse)) {
			snprintf(pulse->rec.error, sizeof(pulse->rec.error),
				 "cannot send: %s", strerror(errno));
			fprintf(stderr, "flowgen: pulse %s: %s\n", plan->id,
				pulse->rec.error);
			loop->failed = true;
			conclude(loop, pulse, UNSET);
			return;
		}
		if (++pulse->sent % plan->datagrams == 0 &&
		    pulse->sent < plan->count * plan->datagrams)
			act->wake_ns = next_frame(pulse, act->wake_ns);
	}
	if (pulse->sent < plan->count * plan->datagrams)
		return;
	act->wake_ns = NEVER;		/* a ping waits for its last answer */
	if (!plan->echo)
		conclude(loop, pulse, now);
}

void pulse_start(struct loop *loop, const struct pulse_plan *plan)
{
	struct pulse *pulse = pulse_new(plan->id);
	int64_t now = now_ns();

	pulse->plan = *plan;
	pulse->rec.sender = 1;
	pulse->act.wake = pulse_wake;
	pulse->act.ready = answer_ready;
	pulse->act.wake_ns = plan->start_ns > now ? plan->start_ns : now;
	pulse->rec.start = pulse->act.wake_ns;
	pulse->rec.connected = pulse->act.wake_ns;
	pulse->burst = plan->bursts;
	if (pulse->burst)
		pulse->act.wake_ns += pulse->burst->offset_ns;
	pulse->act.fd = socket(plan->peer.ss_family,
			       SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (pulse->act.fd < 0 || dscp_set(pulse->act.fd, plan->dscp) ||
	    connect(pulse->act.fd, (const struct sockaddr *)&plan->peer,
		    plan->peer_length))
		die(errno, "pulse %s: cannot reach the host", plan->id);
	loop_add(loop, &pulse->act);
	if (plan->echo)
		loop_attach(loop, &pulse->act, pulse->act.fd, EPOLLIN);
}

/* Receiver */

static void arrival_wake(struct loop *loop, struct activity *act, int64_t now)
{
	struct pulse *pulse = pulse_of(act);

	record_sample(loop->out_fd, &pulse->rec, now);
	flush_delays(loop, pulse, now);
	act->wake_ns = flow_next_sample(loop->interval_ns, pulse->rec.start, now);
}

static struct pulse *find_pulse(struct loop *loop, const char *id,
				const struct sockaddr_storage *peer,
				socklen_t length)
{
	struct activity *act;
	struct pulse *pulse;

	for (act = loop->activities; act; act = act->next) {
		if (act->done || act->wake != arrival_wake)
			continue;
		pulse = pulse_of(act);
		if (!strcmp(pulse->rec.id, id) &&
		    pulse->plan.peer_length == length &&
		    !memcmp(&pulse->plan.peer, peer, length))
			return pulse;
	}
	pulse = pulse_new(id);
	pulse->plan.peer = *peer;
	pulse->plan.peer_length = length;
	pulse->rec.start = now_ns();
	pulse->rec.connected = pulse->rec.start;
	pulse->rec.first_byte = pulse->rec.start;
	pulse->act.wake = arrival_wake;
	pulse->act.wake_ns = flow_next_sample(loop->interval_ns, pulse->rec.start,
					      pulse->rec.start);
	loop_add(loop, &pulse->act);
	return pulse;
}

/* Notes the delay of a frame once all its datagrams are here; one that never is whole is lost. */
static void note_arrival(struct loop *loop, struct pulse *pulse, const struct pulse_header *header)
{
	uint32_t datagrams = be16toh(header->datagrams);
	uint32_t number = be32toh(header->sequence) / datagrams;
	int64_t delay = now_ns() - (int64_t)be64toh(header->sent_ns);
	struct frame *frame = &pulse->frames[number % FRAMES];

	if (frame->number != number || !frame->came)
		*frame = (struct frame) { .number = number };
	if (frame->delay < delay)
		frame->delay = delay;
	if (++frame->came < datagrams)
		return;
	note_delay(loop, pulse, frame->delay);
	frame->came = 0;
}

void pulse_arrived(struct loop *loop, const char *datagram, size_t length,
		   const struct sockaddr_storage *peer, socklen_t peer_length,
		   bool tap)
{
	struct pulse_header header;
	char id[ID_MAX + 1];
	struct pulse *pulse;

	if (!datagram_id(datagram, length, &header, id))
		return;
	pulse = find_pulse(loop, id, peer, peer_length);
	pulse->rec.tap = tap;
	pulse->rec.bytes += length;
	note_arrival(loop, pulse, &header);
	if (be32toh(header.sequence) + 1 == be32toh(header.count))
		conclude(loop, pulse, now_ns());
}

/* Where a ping turns, its requests are counted and timed as a pulse's datagrams are. */
static void note_turn(struct loop *loop, const struct pulse_header *header, const char *id,
		      size_t length, const struct sockaddr_storage *peer, socklen_t peer_length)
{
	struct pulse *pulse = find_pulse(loop, id, peer, peer_length);

	pulse->rec.turn = true;
	pulse->rec.bytes += length;
	note_delay(loop, pulse, now_ns() - (int64_t)be64toh(header->sent_ns));
	if (be32toh(header->sequence) + 1 == be32toh(header->count))
		conclude(loop, pulse, now_ns());
}

/* Sends a ping's datagram back, marked: two servers never answer each other. */
static bool answered(struct loop *loop, int fd, char *datagram, size_t length,
		     const struct sockaddr_storage *peer, socklen_t peer_length)
{
	struct pulse_header header;
	char id[ID_MAX + 1];

	if (!datagram_id(datagram, length, &header, id) || !header.echo)
		return false;
	if (be16toh(header.echo) == ECHO_REQUEST) {
		note_turn(loop, &header, id, length, peer, peer_length);
		header.echo = htobe16(ECHO_ANSWER);
		header.turned_ns = htobe64(now_ns());
		memcpy(datagram, &header, sizeof(header));
		sendto(fd, datagram, length, 0, (const struct sockaddr *)peer, peer_length);
	}
	return true;
}

void pulse_received(struct loop *loop, int fd, char *datagram, size_t length,
		    const struct sockaddr_storage *peer, socklen_t peer_length)
{
	if (!answered(loop, fd, datagram, length, peer, peer_length))
		pulse_arrived(loop, datagram, length, peer, peer_length, false);
}
