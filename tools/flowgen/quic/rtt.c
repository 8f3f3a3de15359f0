// SPDX-License-Identifier: GPL-2.0-only
/* RFC 9002, section 5.3, and the timers of sections 6 and 7 that are multiples of its values. */
#include "rtt.h"

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

void rtt_init(struct rtt *rtt)
{
	*rtt = (struct rtt) {
		.smoothed = QUIC_INITIAL_RTT,
		.variation = QUIC_INITIAL_RTT / 2,
	};
}

void rtt_sample(struct rtt *rtt, int64_t now, int64_t latest, int64_t ack_delay)
{
	int64_t adjusted = latest, apart;

	rtt->latest = latest;
	if (!rtt->sampled) {
		rtt->sampled = true;
		rtt->first_sample = now;
		rtt->least = latest;
		rtt->smoothed = latest;
		rtt->variation = latest / 2;
		return;
	}
	if (latest < rtt->least)
		rtt->least = latest;
	if (ack_delay > QUIC_MAX_ACK_DELAY)
		ack_delay = QUIC_MAX_ACK_DELAY;
	if (latest > rtt->least + ack_delay)
		adjusted = latest - ack_delay;
	apart = rtt->smoothed > adjusted ? rtt->smoothed - adjusted : adjusted - rtt->smoothed;
	rtt->variation = (3 * rtt->variation + apart) / 4;
	rtt->smoothed = (7 * rtt->smoothed + adjusted) / 8;
}

int64_t rtt_loss_delay(const struct rtt *rtt)
{
	return larger(larger(rtt->latest, rtt->smoothed) * 9 / 8, QUIC_GRANULARITY);
}

int64_t rtt_probe_timeout(const struct rtt *rtt)
{
	return rtt->smoothed + larger(4 * rtt->variation, QUIC_GRANULARITY) + QUIC_MAX_ACK_DELAY;
}

int64_t rtt_persistent(const struct rtt *rtt)
{
	return 3 * rtt_probe_timeout(rtt);
}
