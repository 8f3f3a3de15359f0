/* SPDX-License-Identifier: GPL-2.0-only */
/* Which connections of a class count: ackwrr_activity.c. */
#ifndef LASACK_ACKWRR_ACTIVITY_H
#define LASACK_ACKWRR_ACTIVITY_H

#include <linux/list.h>
#include <linux/types.h>
#include "uapi/pkt_sch_ackwrr.h"

/* Of a connection in one direction. */
struct ackwrr_activity {
	struct list_head	node;	/* in the line of its class, if it counts */
	u64			since;	/* ns: when counting of bytes began */
	u64			seen;	/* ns: when it last had enough of them */
	u32			bytes;	/* since then */
	u32			moved:31,	/* bytes of a new one, to be compared */
				ended:1;	/* it counted until it said that it ends */
	u64			begun;	/* ns: when counting of those began */
	s64			begun_at;	/* what the class's clock was then */
};

#define ACKWRR_COUNTED	TC_ACKWRR_WEIGHT_MAX	/* connections of a class, at most */

/* Of a class. */
struct ackwrr_active {
	struct list_head	line;	/* those that count, the latest last */
	u32			count;
	u64			new_seen;	/* ns: when a new one was last active, or 0 */
};

static inline bool ackwrr_activity_counts(const struct ackwrr_activity *activity)
{
	return !list_empty(&activity->node);
}

void ackwrr_active_clear(struct ackwrr_active *active);
struct ackwrr_activity *ackwrr_active_silent(struct ackwrr_active *active, u64 now);
u32 ackwrr_active_connections(const struct ackwrr_active *active, u64 now);

void ackwrr_activity_refresh(struct ackwrr_active *active,
			     struct ackwrr_activity *activity, u64 now);
void ackwrr_activity_stop(struct ackwrr_active *active, struct ackwrr_activity *activity,
			  bool ended);
void ackwrr_activity_moved(struct ackwrr_active *active, struct ackwrr_activity *activity,
			   s64 clock, u32 bytes, u64 now);

#endif
