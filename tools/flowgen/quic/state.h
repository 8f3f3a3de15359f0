/* SPDX-License-Identifier: GPL-2.0-only */
/* One end of a flow, for those who run it. */
#ifndef QUIC_STATE_H
#define QUIC_STATE_H

#include "../loop.h"
#include "plan.h"
#include "receiver.h"
#include "sender.h"

#define QUIC_RTTS	5	/* samples of the round-trip time in an interval, as TCP's */

enum phase {
	WAITING,			/* client: for its start time */
	GREETING,			/* client: for an answer */
	TRANSFER,
	OVER,				/* server: passes over what still comes */
};

struct connection {
	struct activity act;
	struct record rec;
	struct quic_plan plan;
	uint64_t number;		/* the connection id */
	uint32_t allowed;		/* chunks that the receiver takes ahead */
	enum phase phase;
	bool client;
	bool held_up;			/* sender: the socket is full */
	int64_t deadline;		/* ns or NEVER */
	int64_t next_sample;		/* ns or NEVER */
	int64_t hello_due;		/* client: the next one, ns or NEVER */
	int64_t hello_sent;		/* the last */
	uint32_t hellos;
	int64_t rtts[QUIC_RTTS];	/* sender: ns, not written down yet */
	unsigned int rtt_count;
	union {				/* by rec.sender */
		struct sender sender;
		struct receiver receiver;
	};
};

struct quic_hello;

/* The server's end of a flow that a client asked for, at the connected socket FD. */
void connection_answer(struct loop *loop, int fd, uint64_t number, const struct quic_hello *hello);

/* Whether it is a flow's end; then NUMBER is its connection id. */
bool connection_is(const struct activity *act, uint64_t *number);

/* The network says that there is no one. The flow is over after that. */
void connection_unreachable(struct loop *loop, struct connection *conn, int error);

/* What goes over the socket; the flow may be over after each of these. */
void exchange_hello(struct loop *loop, struct connection *conn, int64_t now);
void exchange_welcome(struct loop *loop, struct connection *conn, uint32_t attempt);

/* An ACK, if it is due, and all payload that may leave now. */
void exchange_ack(struct loop *loop, struct connection *conn, int64_t now);
void exchange_data(struct loop *loop, struct connection *conn, int64_t now);

/* Reads what has come; counts what makes no sense. */
void exchange_receive(struct loop *loop, struct connection *conn, int64_t now);

#endif
