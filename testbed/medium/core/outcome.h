/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is done when an attempt ends: for counters, digest and trace, for the
 * queue, and for the window and the next backoff. Internal to the MAC core.
 */
#ifndef DCFMEDIUM_OUTCOME_H
#define DCFMEDIUM_OUTCOME_H

#include "digest.h"
#include "state.h"

/* Time from @start to @end, without what lies before the mark. */
ns_t outcome_measured(const struct mac *mac, ns_t start, ns_t end);

/* What @s sent ended as @what, at @end: count it and tell who traces. */
void outcome_count(struct mac *mac, struct mac_station *s, enum mac_outcome what,
		   ns_t end);

/*
 * The attempt of @s is over; bit i of @acked says that its i-th frame was
 * acknowledged. What was, and what has no attempt left, leaves the queue. The
 * window shrinks back after an acknowledgment or when the first frame is given
 * up, and doubles otherwise (9.3.3); a backoff is drawn either way (9.3.4.2),
 * and only then the owner hears.
 */
void outcome_settle(struct mac *mac, struct mac_station *s, uint64_t acked);

#endif
