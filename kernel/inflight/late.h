/* SPDX-License-Identifier: GPL-2.0-only */
/* How late a device tells that it has sent, and so how much more it needs below: see late.c. */
#ifndef LASACK_INFLIGHT_LATE_H
#define LASACK_INFLIGHT_LATE_H

#include <linux/types.h>

/* From handing packets down until they are freed, for several packets. */
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

struct inflight_late {
	u64	ns;		/* so late is the device; 0: not */
	bool	suspected;
	u64	learnt;		/* ns: when that was learnt last */
	u64	sampled;	/* ns: when a sample was handed down last */
	struct inflight_delays	any;	/* of all packets */
	struct inflight_delays	samples;
	u64	round;		/* ns: begin of this round */
	struct inflight_freed	freed;	/* in it */
	u64	period;		/* ns: begin of this period */
	struct inflight_freed	best[2];	/* a round of this period and of the last */
	u32	flat;		/* rounds without growth */
};

bool inflight_late_wants_sample(const struct inflight_late *late, u64 now);
void inflight_late_note(struct inflight_late *late, u64 at, u32 bytes, u32 packets, bool sample,
			u64 now);
u64 inflight_late_at_most(const struct inflight_late *late);
u32 inflight_late_bytes(const struct inflight_late *late);
u32 inflight_late_packets(const struct inflight_late *late);

#endif
