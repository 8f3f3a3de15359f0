// SPDX-License-Identifier: GPL-2.0-only
/*
 * Both ends of a pulse. The sender keeps an absolute schedule. The receiver
 * knows a pulse by source address and id; it is over when its last datagram
 * came, or at SIGTERM with an unknown end.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "flow.h"
#include "pulse.h"

#define PULSE_MAGIC	0x70756c73U	/* "puls" */
#define PER_TURN	64		/* datagrams read before others' turn */

struct pulse {
	struct activity act;
	struct record rec;
	struct pulse_plan plan;		/* sender: the script; receiver: peer */
	uint32_t sent;			/* datagrams whose time has come */
	int64_t delays[DELAYS_MAX];	/* receiver: not written down yet */
	unsigned int delayed;
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
	pulse->delayed = 0;
}

static void conclude(struct loop *loop, struct pulse *pulse, int64_t end)
{
	flush_delays(loop, pulse, now_ns());
	pulse->rec.end = end;
	record_flow(loop->out_fd, &pulse->rec);
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
	strcpy(pulse->rec.id, id);
	pulse->rec.dir = DIR_UP;
	pulse->rec.first_byte = UNSET;
	pulse->rec.end = UNSET;
	pulse->rec.retrans = UNSET;
	return pulse;
}

static int send_one(struct pulse *pulse)
{
	static char datagram[PULSE_MAX];
	const struct pulse_plan *plan = &pulse->plan;
	struct pulse_header header = {
		.magic = htobe32(PULSE_MAGIC),
		.sequence = htobe32(pulse->sent),
		.count = htobe32(plan->count),
		.id_length = htobe32(strlen(plan->id)),
		.sent_ns = htobe64(now_ns()),
	};
	ssize_t sent;

	memcpy(datagram, &header, sizeof(header));
	memcpy(datagram + sizeof(header), plan->id, strlen(plan->id));
	sent = send(pulse->act.fd, datagram, plan->bytes, 0);
	if (sent >= 0)
		pulse->rec.bytes += sent;
	else if (errno != EAGAIN && errno != ENOBUFS)
		return -1;		/* a full queue is a loss, not an error */
	return 0;
}

static void pulse_wake(struct loop *loop, struct activity *act, int64_t now)
{
	struct pulse *pulse = pulse_of(act);
	const struct pulse_plan *plan = &pulse->plan;

	if (!pulse->sent)
		pulse->rec.first_byte = now;
	while (act->wake_ns <= now && pulse->sent < plan->count) {
		if (send_one(pulse)) {
			snprintf(pulse->rec.error, sizeof(pulse->rec.error),
				 "cannot send: %s", strerror(errno));
			fprintf(stderr, "flowgen: pulse %s: %s\n", plan->id,
				pulse->rec.error);
			loop->failed = true;
			conclude(loop, pulse, UNSET);
			return;
		}
		pulse->sent++;
		act->wake_ns += plan->every_ns;
	}
	if (pulse->sent == plan->count)
		conclude(loop, pulse, now);
}

void pulse_start(struct loop *loop, const struct pulse_plan *plan)
{
	struct pulse *pulse = pulse_new(plan->id);
	int64_t now = now_ns();

	pulse->plan = *plan;
	pulse->rec.sender = 1;
	pulse->act.wake = pulse_wake;
	pulse->act.wake_ns = plan->start_ns > now ? plan->start_ns : now;
	pulse->rec.start = pulse->act.wake_ns;
	pulse->rec.connected = pulse->act.wake_ns;
	pulse->act.fd = socket(plan->peer.ss_family,
			       SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (pulse->act.fd < 0 ||
	    connect(pulse->act.fd, (const struct sockaddr *)&plan->peer,
		    plan->peer_length))
		die(errno, "pulse %s: cannot reach the host", plan->id);
	loop_add(loop, &pulse->act);
}

/* Receiver */

static void arrival_wake(struct loop *loop, struct activity *act, int64_t now)
{
	struct pulse *pulse = pulse_of(act);

	record_sample(loop->out_fd, &pulse->rec, now);
	flush_delays(loop, pulse, now);
	act->wake_ns = flow_next_sample(loop, pulse->rec.start, now);
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
	pulse->act.wake_ns = flow_next_sample(loop, pulse->rec.start,
					      pulse->rec.start);
	loop_add(loop, &pulse->act);
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
	    id_length > length - sizeof(*header))
		return false;
	memcpy(id, datagram + sizeof(*header), id_length);
	id[id_length] = '\0';
	return flow_id_valid(id);
}

static void note_delay(struct loop *loop, struct pulse *pulse, int64_t sent)
{
	int64_t now = now_ns();

	if (pulse->delayed == DELAYS_MAX)
		flush_delays(loop, pulse, now);
	pulse->delays[pulse->delayed++] = now - sent;
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
	note_delay(loop, pulse, be64toh(header.sent_ns));
	if (be32toh(header.sequence) + 1 == be32toh(header.count))
		conclude(loop, pulse, now_ns());
}

static void counter_ready(struct loop *loop, struct activity *act,
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
		if (got >= 0) {
			pulse_arrived(loop, datagram, got, &peer, length, false);
			continue;
		}
		if (errno != EAGAIN && errno != EINTR)
			die(errno, "cannot receive datagrams");
		return;
	}
}

void pulse_count(struct loop *loop, int fd)
{
	loop_listen(loop, fd, counter_ready);
}
