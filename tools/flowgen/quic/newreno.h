/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much a QUIC sender may have in flight, and how it spreads that over a round trip: RFC 9002,
 * section 7. The window is halved at once when a packet is lost, and no packet is sent before that.
 */
#ifndef QUIC_NEWRENO_H
#define QUIC_NEWRENO_H

#include <stdbool.h>
#include <stdint.h>

#define QUIC_BURST	10	/* datagrams at once: the initial window (7.2, 7.7) */

struct newreno {
	uint32_t datagram;		/* bytes of each */
	uint64_t window;		/* bytes */
	uint64_t threshold;		/* of slow start, bytes */
	uint64_t in_flight;		/* bytes */
	int64_t recovery_start;		/* ns; what was sent later ends the recovery */
	bool underused;			/* something else than the window holds the sender up */
	int64_t due;			/* ns: of the next datagram, if none goes in a burst */
};

void newreno_init(struct newreno *cc, uint32_t datagram);

/* Is there room for one more datagram? */
bool newreno_has_room(const struct newreno *cc);

/* Datagrams were sent, acknowledged or lost. SENT: when that one, or the last of them, was sent. */
void newreno_sent(struct newreno *cc, int64_t now, int64_t smoothed_rtt);
void newreno_acked(struct newreno *cc, int64_t sent);
void newreno_lost(struct newreno *cc, uint64_t datagrams, int64_t sent, int64_t now);

/* All that was sent for long is lost. */
void newreno_persistent(struct newreno *cc);

/* Time between two datagrams, in ns. */
int64_t newreno_interval(const struct newreno *cc, int64_t smoothed_rtt);

/* When the next datagram may leave; in the past: now. */
int64_t newreno_release(const struct newreno *cc, int64_t smoothed_rtt);

#endif
