/* SPDX-License-Identifier: GPL-2.0-only */
/* The receiving end of a flow: what has come, and when to say so. */
#ifndef QUIC_RECEIVER_H
#define QUIC_RECEIVER_H

#include "ranges.h"
#include "stream.h"

struct receiver {
	struct ranges seen;		/* packet numbers */
	uint64_t next;			/* the highest packet number yet, plus 1 */
	int64_t highest_at;		/* ns, when that came */
	unsigned int unacknowledged;	/* packets since the last ACK */
	int64_t ack_due;		/* ns, or NEVER */
	uint64_t packets;		/* with payload, duplicates too */
	uint64_t delivered;		/* chunks, in order and without a gap */
	bool chunks[STREAM_WINDOW];	/* that came beyond these, by number */
};

void receiver_init(struct receiver *receiver);

/* A packet came. Returns false if no sender that keeps to the rules can have sent it. */
bool receiver_take(struct receiver *receiver, int64_t now, uint64_t packet, uint64_t chunk);

/* An ACK with all of `seen` is sent. Returns for how long, in ns, the highest packet waited. */
int64_t receiver_acknowledge(struct receiver *receiver, int64_t now);

#endif
