/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long a driver keeps its packets: see backpressure.c.
 */
#ifndef LASACK_INFLIGHT_BACKPRESSURE_H
#define LASACK_INFLIGHT_BACKPRESSURE_H

#include <linux/types.h>
#include "uapi/pkt_sch_inflight.h"

struct net_device;

struct inflight_backpressure {
	/* what the device can do at best: see inflight_backpressure_set_link() */
	u32	kib_ns;		/* for 1024 bytes; 0: not known */
	u32	least_ns;	/* for any packet, beside its bytes */
	u64	sent_at;	/* ns: until then all that was freed can have been sent */
	u64	last;		/* ns: when the latest of what was freed was handed down */
	/* of this window */
	u8	packets;
	u8	in_transmit;	/* freed while the driver was given them */
	u8	too_soon;	/* freed before they can have been sent */
	bool	overfull;	/* more was freed too soon than a chip holds */

	bool	keeps_none;	/* the last window was freed in transmit */
	u8	rested;		/* packets in a row that were kept after a rest */
	u32	worst;		/* enum tc_inflight_backpressure, by the time below */
};

void inflight_backpressure_set_link(struct inflight_backpressure *bp, u64 bits_per_s,
				    u32 least_ns);
void inflight_backpressure_note(struct inflight_backpressure *bp, u64 at, u32 bytes,
				u64 now, bool in_transmit);

/* enum tc_inflight_backpressure */
static inline u32 inflight_backpressure_state(const struct inflight_backpressure *bp)
{
	return bp->keeps_none ? TC_INFLIGHT_NONE : bp->worst;
}

/* The device's link, under RTNL. */
void inflight_backpressure_ask(struct inflight_backpressure *bp, struct net_device *dev);

#endif
