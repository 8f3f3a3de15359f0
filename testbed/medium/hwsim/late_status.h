/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TX statuses that radios hear of late, as those behind USB or a firmware do
 * (--station ...,status-delay=). Until then such a frame counts as in hardware.
 */
#ifndef DCFMEDIUM_LATE_STATUS_H
#define DCFMEDIUM_LATE_STATUS_H

#include "core/mac.h"
#include "hwsim_link.h"

struct late_status {
	struct late_status *next;
	ns_t due;
	int station;
	struct hwsim_status status;
};

/* Those on their way, earliest first. */
struct late_statuses {
	struct hwsim_link *link;
	struct late_status *head;
	unsigned int of_station[MAC_MAX_STATIONS];
};

/* Report @status of a frame of @station @delay after @now: at once if that is 0. */
void late_status_give(struct late_statuses *late, int station, ns_t now,
		      ns_t delay, const struct hwsim_status *status);

/* When the first of them is due; NS_NEVER if there is none. */
ns_t late_status_next(const struct late_statuses *late);

/* Report those that are due at @now. */
void late_status_report(struct late_statuses *late, ns_t now);

void late_status_end(struct late_statuses *late);

#endif
