/* SPDX-License-Identifier: GPL-2.0-only */
/* What lasack-top is looking at, and how. */
#ifndef LASACK_TOP_TOP_H
#define LASACK_TOP_TOP_H

#include <stdbool.h>

#include "read.h"
#include "snapshot.h"

#define NSEC_PER_SEC	1000000000

struct top {
	struct source *source;
	int ifindex;
	const char *device;
	enum sort_key sort;
	int64_t interval_ns;
	bool once, json;
	struct snapshot now, before;
};

/* Looks again; ends the program if the queue discipline has gone. */
void top_look(struct top *top);

/* CLOCK_MONOTONIC, in ns. */
int64_t monotonic_ns(void);

#endif
