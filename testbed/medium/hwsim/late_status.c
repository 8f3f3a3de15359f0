// SPDX-License-Identifier: GPL-2.0-only
/* TX statuses that radios hear of late: see late_status.h. */
#include <stdlib.h>

#include "late_status.h"
#include "options.h"

void late_status_give(struct late_statuses *late, int station, ns_t now,
		      ns_t delay, const struct hwsim_status *status)
{
	struct late_status **link = &late->head, *one;
	ns_t due = now + delay;

	if (!delay) {
		hwsim_report(late->link, status);
		return;
	}
	one = malloc(sizeof(*one));
	if (!one)
		fatal("out of memory");
	while (*link && (*link)->due <= due)
		link = &(*link)->next;
	*one = (struct late_status){ *link, due, station, *status };
	*link = one;
	late->of_station[station]++;
}

ns_t late_status_next(const struct late_statuses *late)
{
	return late->head ? late->head->due : NS_NEVER;
}

static void remove_first(struct late_statuses *late)
{
	struct late_status *first = late->head;

	late->head = first->next;
	late->of_station[first->station]--;
	free(first);
}

void late_status_report(struct late_statuses *late, ns_t now)
{
	for (; late->head && late->head->due <= now; remove_first(late))
		hwsim_report(late->link, &late->head->status);
}

void late_status_end(struct late_statuses *late)
{
	while (late->head)
		remove_first(late);
}
