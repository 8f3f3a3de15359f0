/* SPDX-License-Identifier: GPL-2.0-only */
/* How late a device tells that it has sent, and so how much more it needs below: see late.c. */
#ifndef LASACK_INFLIGHT_LATE_H
#define LASACK_INFLIGHT_LATE_H

#include <linux/types.h>

/* How long several packets took from being handed down until they were freed. */
struct inflight_delays {
	u64	since;		/* ns: when the first was freed */
	u64	least;		/* ns */
	u32	count;
	u32	near;		/* of them, those near the least */
};

/* What was freed in a round, brought to the time of the delay. */
struct inflight_freed {
	u32	bytes;
	u32	packets;
};

struct inflight_ticket;

struct inflight_late {
	u64	ns;		/* so late is the device; 0: not */
	u64	suspected;	/* ns: it may be so late, and samples are wanted; 0: they are not */
	u64	learnt;		/* ns: when that was decided last */
	struct inflight_delays	any;	/* of all packets of this second */
	struct inflight_delays	samples;
	u64	round;		/* ns: begin of this round */
	struct inflight_freed	freed;	/* in it */
	u64	last;		/* ns: when a packet was freed last */
	u32	batches;	/* in this round: packets freed at once are one */
	u32	sooner;		/* of these, sooner than a device that is so late can */
	u64	period;		/* ns: begin of this period */
	struct inflight_freed	best[2];	/* a round of this period and of the last */
	u32	flat;		/* rounds without growth */
};

u64 inflight_late_at_most(const struct inflight_late *late);
void inflight_late_give_up(struct inflight_late *late, u64 now);
void inflight_late_note(struct inflight_late *late, const struct inflight_ticket *ticket,
			bool counts, u64 now);
u32 inflight_late_bytes(const struct inflight_late *late);
u32 inflight_late_packets(const struct inflight_late *late);

#endif
