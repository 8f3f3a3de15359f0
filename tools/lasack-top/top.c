// SPDX-License-Identifier: GPL-2.0-only
/* See top.h. */
#include <time.h>

#include "die.h"
#include "shell_word.h"
#include "top.h"

int64_t monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

void top_look(struct top *top)
{
	bool first = !top->now.qdisc_count;
	struct snapshot next = { };

	if (!source_read(top->source, top->ifindex, &next))
		die("no lasack or ackwrr on %s%s", shell_word(top->device).text,
		    first ? "; " ATTACH_ONE : " any more");
	snapshot_clear(&top->before);
	top->before = top->now;
	top->now = next;
	snapshot_compare(&top->now, first ? NULL : &top->before);
	snapshot_sort(&top->now, top->sort);
}
