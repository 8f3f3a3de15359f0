/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which connections of a class count.
 *
 * Principle: a connection that moved ACKWRR_ACTIVE_BYTES within ACKWRR_WINDOW_NS
 * is active; handshakes, scans, keep-alives and requests never are. It is new
 * at first, and counts when within ACKWRR_NEW_NS it has moved three quarters of
 * what one that counts has: a short transfer, or one that TCP has not brought to
 * its share yet, uses less, and if it counted, the others of its class would get
 * the rest. In a class without any that counts, the new ones are one together,
 * and count when the time is over.
 *
 * No queue, no lock, no clock of its own.
 */
#ifndef LASACK_ACKWRR_ACTIVITY_H
#define LASACK_ACKWRR_ACTIVITY_H

#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

#define ACKWRR_WINDOW_NS	(1200 * NSEC_PER_MSEC)
#define ACKWRR_ACTIVE_BYTES	3000
#define ACKWRR_NEW_NS		NSEC_PER_SEC

/* Of a connection in one direction. */
struct ackwrr_activity {
	struct list_head	node;	/* in the line of its class, if it counts */
	u64			since;	/* ns: when counting of bytes began */
	u64			seen;	/* ns: when it last had enough of them */
	u32			bytes;	/* since then */
	u32			moved;	/* bytes of a new one, to be compared */
	u64			begun;	/* ns: when counting of those began */
	s64			begun_at;	/* what the class's clock was then */
};

/* Of a class. */
struct ackwrr_active {
	struct list_head	line;	/* those that count, the latest last */
	u32			count;
	u64			new_seen;	/* ns: when a new one was last active, or 0 */
};

static inline void ackwrr_active_clear(struct ackwrr_active *active)
{
	*active = (struct ackwrr_active) {};
	INIT_LIST_HEAD(&active->line);
}

static inline bool ackwrr_activity_counts(const struct ackwrr_activity *activity)
{
	return !list_empty(&activity->node);
}

/* Does a new one use its share? If not, the comparison starts anew. */
static inline bool ackwrr_activity_lasts(struct ackwrr_activity *activity, s64 clock,
					 u64 now)
{
	s64 moved = activity->moved;

	if (now - activity->begun < ACKWRR_NEW_NS)
		return false;
	activity->moved = 0;
	return 4 * moved >= 3 * (clock - activity->begun_at);
}

/* One that counts is active at @now. */
static inline void ackwrr_activity_refresh(struct ackwrr_active *active,
					   struct ackwrr_activity *activity, u64 now)
{
	if (!ackwrr_activity_counts(activity))
		return;
	list_move_tail(&activity->node, &active->line);
	activity->seen = now;
}

static inline void ackwrr_activity_stop(struct ackwrr_active *active,
					struct ackwrr_activity *activity)
{
	activity->moved = 0;
	if (!ackwrr_activity_counts(activity))
		return;
	list_del_init(&activity->node);
	active->count--;
}

/**
 * ackwrr_activity_moved() - a connection moved bytes
 * @active: its class
 * @activity: the connection's, in this direction
 * @clock: the bytes one that counts has moved
 * @bytes: how many
 * @now: ns
 */
static inline void ackwrr_activity_moved(struct ackwrr_active *active,
					 struct ackwrr_activity *activity, s64 clock,
					 u32 bytes, u64 now)
{
	if (!bytes)
		return;
	if (now - activity->since > ACKWRR_WINDOW_NS) {
		activity->since = now;
		activity->bytes = 0;
		activity->moved = 0;
	}
	if (!activity->moved) {
		activity->begun = now;
		activity->begun_at = clock;
	}
	activity->bytes += bytes;
	activity->moved = min_t(u64, (u64)activity->moved + bytes, U32_MAX);
	if (activity->bytes < ACKWRR_ACTIVE_BYTES)
		return;
	activity->since = now;
	activity->bytes = 0;
	if (ackwrr_activity_counts(activity)) {
		ackwrr_activity_refresh(active, activity, now);
		return;
	}
	active->new_seen = now;
	if (!ackwrr_activity_lasts(activity, clock, now))
		return;
	list_add_tail(&activity->node, &active->line);
	activity->seen = now;
	active->count++;
}

/* One that counts and has been silent for too long, or NULL. */
static inline struct ackwrr_activity *ackwrr_active_silent(struct ackwrr_active *active,
							   u64 now)
{
	struct ackwrr_activity *first;

	first = list_first_entry_or_null(&active->line, struct ackwrr_activity, node);
	return first && now - first->seen > ACKWRR_WINDOW_NS ? first : NULL;
}

/* What a class is served for. */
static inline u32 ackwrr_active_connections(const struct ackwrr_active *active, u64 now)
{
	if (active->count)
		return active->count;
	return active->new_seen && now - active->new_seen <= ACKWRR_WINDOW_NS;
}

#endif
