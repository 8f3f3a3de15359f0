/* SPDX-License-Identifier: GPL-2.0-only */
/* The round-trip time as QUIC estimates it, and the times that follow from it. */
#ifndef QUIC_RTT_H
#define QUIC_RTT_H

#include <stdbool.h>
#include <stdint.h>

#define QUIC_MS			1000000LL	/* ns */
#define QUIC_INITIAL_RTT	(333 * QUIC_MS)	/* RFC 9002, 6.2.2 */
#define QUIC_GRANULARITY	QUIC_MS		/* RFC 9002, 6.1.2 */
#define QUIC_MAX_ACK_DELAY	(25 * QUIC_MS)	/* RFC 9000, 18.2 */

/* All in ns. */
struct rtt {
	bool sampled;
	int64_t first_sample;		/* when it was taken */
	int64_t latest;
	int64_t smoothed;
	int64_t variation;
	int64_t least;			/* no delay of an ACK is taken off */
};

void rtt_init(struct rtt *rtt);

/* A packet was acknowledged LATEST after it was sent; its receiver kept the ACK for ACK_DELAY. */
void rtt_sample(struct rtt *rtt, int64_t now, int64_t latest, int64_t ack_delay);

/* So old is a packet that is lost when a later one is acknowledged. RFC 9002, 6.1.2. */
int64_t rtt_loss_delay(const struct rtt *rtt);

/* How long to wait for an ACK before a probe is sent. RFC 9002, 6.2.1. */
int64_t rtt_probe_timeout(const struct rtt *rtt);

/* What is lost for longer than this is persistent congestion. RFC 9002, 7.6.1. */
int64_t rtt_persistent(const struct rtt *rtt);

#endif
