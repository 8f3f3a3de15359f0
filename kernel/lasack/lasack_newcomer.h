/* SPDX-License-Identifier: GPL-2.0-only */
/* Flows and stations that are new, or come back after a pause. See lasack_newcomer.c. */
#ifndef LASACK_NEWCOMER_H
#define LASACK_NEWCOMER_H

#include "lasack/lasack_state.h"

/* The credit of all newcomers together: their sum is less by so many bytes. */
#define LASACK_CREDIT	65535U
/* All connections that began a while ago have the service of so many flows together. */
#define LASACK_OPENED_SHARES	3
/* And so do all that their stations asked for. */
#define LASACK_SOLICITED_SHARES	24
/* A call counts for so long after its last packet: a second, in the queue's time. */
#define LASACK_CALL_AGE	((u32)(1ULL * NSEC_PER_SEC >> FLOW_TIME_SHIFT))
/*
 * A flow that has paused: its sum is at most so many bytes below the largest, or no less than the
 * largest was a second ago, within the second distance.
 */
#define LASACK_LAG	(1024U << 10)
#define LASACK_LAG_MAX	(4096U << 10)
/* Likewise of a station, unless something was given back to it. */
#define LASACK_STATION_LAG	(256U << 10)

void lasack_account_begin(const struct lasack_queue *q, struct lasack_level *level,
			  struct lasack_account *account);
void lasack_flow_begin_anew(struct lasack_queue *q, struct lasack_flow *flow);
void lasack_flow_begin(struct lasack_queue *q, struct lasack_flow *flow,
		       const struct sk_buff *skb);
void lasack_flow_opened(struct lasack_queue *q, struct lasack_flow *flow);
void lasack_flow_admit_newcomer(struct lasack_queue *q, struct lasack_flow *flow, u32 bytes,
				bool waits);
void lasack_flow_readmit(struct lasack_queue *q, struct lasack_flow *flow, u32 bytes);
void lasack_station_begin(struct lasack_queue *q, struct lasack_station *station);
void lasack_station_returned(struct lasack_queue *q, struct lasack_station *station);
void lasack_station_shared_sent(struct lasack_queue *q, u32 bytes);

/* A packet that waits from now on, or is sent, is charged with these @bytes. */
static inline void lasack_flow_admit(struct lasack_queue *q, struct lasack_flow *flow, u32 bytes,
				     bool waits)
{
	u32 credit = flow->account.credit;

	if (lasack_has_station(q, flow))
		credit |= lasack_station_at(q, flow)->account.credit;
	if (credit)
		lasack_flow_admit_newcomer(q, flow, bytes, waits);
}

#endif
