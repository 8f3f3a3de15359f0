/* SPDX-License-Identifier: GPL-2.0-only */
/* The connections that "weights auto" knows: ackwrr_flows.c. */
#ifndef LASACK_ACKWRR_FLOWS_H
#define LASACK_ACKWRR_FLOWS_H

#include "ackwrr/ackwrr_flow.h"
#include "ackwrr/ackwrr_share.h"
#include "common/tcp_segment.h"

/* What a packet moves when it is sent. */
struct ackwrr_moved {
	u32	payload;	/* bytes */
	u32	ack_seq;	/* valid if ack */
	bool	ack;
	u8	reversed;	/* direction, as in tcp_segment */
};

int ackwrr_flows_init(struct ackwrr_flows *flows);
void ackwrr_flows_free(struct ackwrr_flows *flows);
void ackwrr_flows_clear(struct ackwrr_flows *flows);
void ackwrr_flows_advance(struct ackwrr_flows *flows, struct ackwrr_share *share, u64 now);

struct ackwrr_flow *ackwrr_flows_find(const struct ackwrr_flows *flows,
				      const struct tcp_segment *seg);
struct ackwrr_flow *ackwrr_flows_arrive(struct ackwrr_flows *flows,
					struct ackwrr_share *share, struct tcp_segment *seg);
u32 ackwrr_flows_sent(struct ackwrr_flows *flows, struct ackwrr_share *share,
		      struct ackwrr_flow *flow, const struct ackwrr_moved *moved);

/* Was the ACK believed when the packet came? Else it would be further than the last that was. */
static inline bool ackwrr_flow_believed(const struct ackwrr_flow *flow,
					const struct tcp_segment *seg)
{
	return seg->ack && (s32)(seg->ack_seq - flow->last_ack[seg->reversed]) <= 0;
}

#endif
