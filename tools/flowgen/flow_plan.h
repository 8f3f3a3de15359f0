/* SPDX-License-Identifier: GPL-2.0-only */
/* What a TCP flow is to be. */
#ifndef FLOWGEN_FLOW_PLAN_H
#define FLOWGEN_FLOW_PLAN_H

#include <stdbool.h>
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
	uint8_t dscp;			/* the sender's; 0: not marked */
	char congestion_control[CC_MAX];/* the sender's; "": system default */
	struct sockaddr_storage peer;
	socklen_t peer_length;
	/* Told when it is over, unless by a signal; may be NULL. */
	void (*over)(struct loop *loop, void *owner);
	void *owner;
};

/* Letters, digits and -._: only, so that ids need no quoting anywhere. */
bool flow_id_valid(const char *id);

#endif
