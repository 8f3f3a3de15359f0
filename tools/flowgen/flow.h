/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One TCP flow, either end. A client asks for a flow with a fixed header right
 * after connecting; then payload goes one way, from the client (up) or from
 * the server (down), for a time or for a number of bytes.
 */
#ifndef FLOWGEN_FLOW_H
#define FLOWGEN_FLOW_H

#include <sys/socket.h>

#include "loop.h"
#include "record.h"

#define CC_MAX	16		/* TCP_CA_NAME_MAX */

/* Start of a client's flow; sending less than `request` is impossible. */
struct flow_plan {
	char id[ID_MAX + 1];
	enum direction dir;
	int64_t start_ns;		/* CLOCK_MONOTONIC; the past means now */
	int64_t duration_ns;		/* 0: by bytes */
	uint64_t bytes;			/* 0: by duration */
	char congestion_control[CC_MAX];/* the sender's; "": system default */
	struct sockaddr_storage peer;
	socklen_t peer_length;
};

/* Letters, digits and -._: only, so that ids need no quoting anywhere. */
bool flow_id_valid(const char *id);

void flow_start(struct loop *loop, const struct flow_plan *plan);

/* A flow for a connection just accepted. */
void flow_accept(struct loop *loop, int fd);

/* The first multiple of the sampling interval after start later than now. */
int64_t flow_next_sample(const struct loop *loop, int64_t start, int64_t now);

#endif
