// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which connections of a class count.
 *
 * Principle: a connection is active if it moved ACKWRR_ACTIVE_BYTES within ACKWRR_WINDOW_NS.
 * Handshakes, scans, keep-alives and requests never are. A connection is new at first. It
 * begins to count when it has moved, within ACKWRR_NEW_NS, at least three quarters of what a
 * connection that counts has moved.
 *
 * Short transfers move less, and so do those that TCP has not brought to their share yet. If
 * these counted, the other connections of the class would get what they leave unused.
 *
 * If no connection of a class counts, all its new ones together count as one. Then each of them
 * counts after ACKWRR_NEW_NS.
 *
 * A FIN or RST ends a connection at once. Anybody may have sent it: one that goes on
 * moving bytes counts again at once too. No more than ACKWRR_COUNTED of a class
 * count, whatever is forged: no weight is larger with fixed weights.
 *
 * No queue, no lock, no clock of its own.
 */
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>
#include "ackwrr/ackwrr_activity.h"

#define ACKWRR_WINDOW_NS	(1200 * NSEC_PER_MSEC)
#define ACKWRR_ACTIVE_BYTES	3000
#define ACKWRR_NEW_NS		NSEC_PER_SEC

void ackwrr_active_clear(struct ackwrr_active *active)
{
	*active = (struct ackwrr_active) {};
	INIT_LIST_HEAD(&active->line);
}

/* One that counts is active at @now (ns). */
void ackwrr_activity_refresh(struct ackwrr_active *active,
			     struct ackwrr_activity *activity, u64 now)
{
	if (activity->seen == now || !ackwrr_activity_counts(activity))
		return;
	list_move_tail(&activity->node, &active->line);
	activity->seen = now;
}

static void ackwrr_activity_start(struct ackwrr_active *active,
				  struct ackwrr_activity *activity, u64 now)
{
	if (active->count >= ACKWRR_COUNTED)
		return;
	list_add_tail(&activity->node, &active->line);
	activity->seen = now;
	activity->ended = false;
	active->count++;
}

/* It falls silent, or, if @ended, has said that it ends. */
void ackwrr_activity_stop(struct ackwrr_active *active, struct ackwrr_activity *activity,
			  bool ended)
{
	activity->moved = 0;
	if (!ackwrr_activity_counts(activity))
		return;
	list_del_init(&activity->node);
	activity->ended = ended;
	active->count--;
}

/* It counted when it said that it ends, and has gone on since. */
static bool ackwrr_activity_goes_on(const struct ackwrr_activity *activity, u64 now)
{
	return activity->ended && now - activity->seen <= ACKWRR_WINDOW_NS;
}

/* Does a new connection use its share? If not, the comparison starts anew. */
static bool ackwrr_activity_lasts(struct ackwrr_activity *activity, s64 clock, u64 now)
{
	s64 moved = activity->moved;

	if (now - activity->begun < ACKWRR_NEW_NS)
		return false;
	activity->moved = 0;
	return 4 * moved >= 3 * (clock - activity->begun_at);
}

/**
 * ackwrr_activity_moved() - a connection moved bytes
 * @active: its class
 * @activity: the connection's, in this direction
 * @clock: the bytes one that counts has moved
 * @bytes: how many
 * @now: ns
 */
void ackwrr_activity_moved(struct ackwrr_active *active, struct ackwrr_activity *activity,
			   s64 clock, u32 bytes, u64 now)
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
	activity->moved = min_t(u64, (u64)activity->moved + bytes, S32_MAX);
	if (activity->bytes < ACKWRR_ACTIVE_BYTES)
		return;
	activity->since = now;
	activity->bytes = 0;
	if (ackwrr_activity_counts(activity)) {
		ackwrr_activity_refresh(active, activity, now);
		return;
	}
	active->new_seen = now;
	if (ackwrr_activity_goes_on(activity, now) || ackwrr_activity_lasts(activity, clock, now))
		ackwrr_activity_start(active, activity, now);
}

/* A connection that counts, but has been silent for too long at @now (ns); or NULL. */
struct ackwrr_activity *ackwrr_active_silent(struct ackwrr_active *active, u64 now)
{
	struct ackwrr_activity *first;

	first = list_first_entry_or_null(&active->line, struct ackwrr_activity, node);
	return first && now - first->seen > ACKWRR_WINDOW_NS ? first : NULL;
}

/* The number of connections that a class is served for at @now (ns). */
u32 ackwrr_active_connections(const struct ackwrr_active *active, u64 now)
{
	if (active->count)
		return active->count;
	return active->new_seen && now - active->new_seen <= ACKWRR_WINDOW_NS;
}
