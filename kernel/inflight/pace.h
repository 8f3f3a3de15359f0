/* SPDX-License-Identifier: GPL-2.0-only */
/* How fast a device sends, and so how much it needs below: see pace.c. */
#ifndef LASACK_INFLIGHT_PACE_H
#define LASACK_INFLIGHT_PACE_H

#include <linux/time64.h>
#include <linux/types.h>

#define INFLIGHT_PACE_NS	(4 * NSEC_PER_MSEC)
#define INFLIGHT_PACE_SHORT	512U	/* bytes: a shorter packet is as long */

/* What leaves in INFLIGHT_PACE_NS at best, in this second and the one before. */
struct inflight_pace {
	u64	begin;		/* ns: of the batch under way */
	u64	last;		/* ns: its latest packet */
	u32	bytes;
	u32	packets;
	u64	second;		/* ns: begin of this second */
	u32	best_bytes[2];
	u32	best_packets[2];
	u32	alone;		/* packets that left one by one; see inflight_pace_alone() */
	u64	together;	/* ns: when two were freed at a time last */
	u64	alone_until;	/* ns: so long the device counts as one that sends one by one */
};

u32 inflight_pace_bytes(const struct inflight_pace *pace);
u32 inflight_pace_packets(const struct inflight_pace *pace, u64 now);
u32 inflight_pace_run(const struct inflight_pace *pace, u64 now);
void inflight_pace_note(struct inflight_pace *pace, u64 at, u32 bytes, u32 packets, u32 others,
			u64 now);

#endif
