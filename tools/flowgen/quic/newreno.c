// SPDX-License-Identifier: GPL-2.0-only
/*
 * NewReno for QUIC. The pacer keeps the moment at which the next datagram is due if all are
 * evenly spread, and lets them leave up to a burst ahead of it. That is a leaky bucket (7.7).
 */
#include "newreno.h"

#define INITIAL_BYTES	14720	/* 7.2: or two datagrams, if these are more */
#define LEAST		2	/* datagrams (7.2) */
#define NO_RECOVERY	INT64_MIN

static uint64_t least_window(const struct newreno *cc)
{
	return LEAST * (uint64_t)cc->datagram;
}

void newreno_init(struct newreno *cc, uint32_t datagram)
{
	uint64_t most = INITIAL_BYTES;

	*cc = (struct newreno) {
		.datagram = datagram,
		.window = QUIC_BURST * (uint64_t)datagram,
		.threshold = UINT64_MAX,
		.recovery_start = NO_RECOVERY,
	};
	if (most < least_window(cc))
		most = least_window(cc);
	if (cc->window > most)
		cc->window = most;
}

bool newreno_has_room(const struct newreno *cc)
{
	return cc->in_flight + cc->datagram <= cc->window;
}

/* 5/4 of a window in a round trip. */
int64_t newreno_interval(const struct newreno *cc, int64_t smoothed_rtt)
{
	return smoothed_rtt * cc->datagram / (int64_t)cc->window * 4 / 5;
}

int64_t newreno_release(const struct newreno *cc, int64_t smoothed_rtt)
{
	return cc->due - (QUIC_BURST - 1) * newreno_interval(cc, smoothed_rtt);
}

void newreno_sent(struct newreno *cc, int64_t now, int64_t smoothed_rtt)
{
	if (cc->due < now)
		cc->due = now;
	cc->due += newreno_interval(cc, smoothed_rtt);
	cc->in_flight += cc->datagram;
}

void newreno_acked(struct newreno *cc, int64_t sent)
{
	cc->in_flight -= cc->datagram;
	if (cc->underused || sent <= cc->recovery_start)
		return;
	if (cc->window < cc->threshold)
		cc->window += cc->datagram;
	else
		cc->window += (uint64_t)cc->datagram * cc->datagram / cc->window;
}

void newreno_lost(struct newreno *cc, uint64_t datagrams, int64_t sent, int64_t now)
{
	cc->in_flight -= datagrams * cc->datagram;
	if (sent <= cc->recovery_start)
		return;
	cc->recovery_start = now;
	cc->threshold = cc->window / 2;
	cc->window = cc->threshold > least_window(cc) ? cc->threshold : least_window(cc);
}

void newreno_persistent(struct newreno *cc)
{
	cc->window = least_window(cc);
	cc->recovery_start = NO_RECOVERY;
}
