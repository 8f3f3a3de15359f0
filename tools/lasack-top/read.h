/* SPDX-License-Identifier: GPL-2.0-only */
/* Snapshots from the kernel, by rtnetlink; no privilege is needed. */
#ifndef LASACK_TOP_READ_H
#define LASACK_TOP_READ_H

#include <stdbool.h>

#include "snapshot.h"

#define ATTACH_ONE	"attach one: tc qdisc replace dev DEVICE root lasack"

struct source;

struct source *source_open(void);
void source_close(struct source *source);

/*
 * The index of DEVICE, or with NULL of the only device that has a lasack or an
 * ackwrr; ends the program with one line if there is no such device, or several.
 */
int source_find(struct source *source, const char *device);

/* Fills an empty snapshot. Returns false: the device has neither (any more). */
bool source_read(struct source *source, int ifindex, struct snapshot *snapshot);

#endif
