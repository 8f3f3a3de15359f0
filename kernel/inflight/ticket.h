/* SPDX-License-Identifier: GPL-2.0-only */
/* What is remembered with a packet that is out below a discipline. */
#ifndef LASACK_INFLIGHT_TICKET_H
#define LASACK_INFLIGHT_TICKET_H

#include <linux/types.h>

struct inflight_ticket {
	u64	at;		/* ns: when it was handed down */
	u32	bytes;
	u32	epoch;		/* the station's, if it counts */
	u32	number;		/* of its tracker's packets, wraps: the tracker's own */
	u16	station:14,	/* its place */
		urgent:1,	/* it may overtake what came before it */
		first:1;	/* it counts, and nothing that counts was below */
	u16	packets;	/* more than one if it is GSO */
};

#endif
