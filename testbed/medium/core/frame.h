/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A frame on its way through the MAC core, from mac_enqueue() until
 * ops->done().
 */
#ifndef DCFMEDIUM_FRAME_H
#define DCFMEDIUM_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "phy/phy_profile.h"
#include "phy/rate_chain.h"

/* Receivers that are not the index of a station. */
#define MAC_NOBODY		(-1)
#define MAC_EVERYBODY		(-2)

struct mac_frame {
	struct mac_frame *next;
	int to;			/* station, MAC_EVERYBODY or MAC_NOBODY */
	unsigned int bytes;	/* MPDU with FCS */
	bool wants_ack;
	unsigned int rate;	/* 100 kb/s; 0 = by @basic_rate and the station */
	struct rate_chain chain;	/* goes before @rate and the retry limit */
	bool basic_rate;	/* at the lowest basic rate, not the data rate */
	bool carries_data;	/* unicast data with payload, for the counters */
	bool is_tcp_ack;	/* its payload is a TCP ACK and no more; for the counters */
	unsigned int attempts;	/* transmissions so far; the core counts */
	unsigned int src, lrc;	/* of them, failed: short and long; the core's */
	bool arrived;		/* has reached its receiver already; the core's */
	/* The rest is the core's. */
	bool ordered;		/* under block ack, so delivered in order */
	uint32_t sequence;	/* among such to its receiver */
	bool is_bar;		/* a BlockAckReq */
	bool held;		/* by the receiver, for those before it */
	bool settled;		/* its status has been told */
	struct mac_frame *held_next;
};

/* The rate @frame is sent at with @phy, one that phy_rate_of() knows. */
static inline unsigned int frame_rate(const struct phy_profile *phy,
				      const struct mac_frame *frame)
{
	if (frame->rate)
		return frame->rate;
	return frame->basic_rate ? phy->lowest_rate : phy->data_rate;
}

#endif
