// SPDX-License-Identifier: GPL-2.0-only
/*
 * A list of arrivals is drawn beforehand, by whoever plans an experiment, so
 * that every scheduler meets the same ones; nothing here is random. All flows
 * wait in the event loop for their times.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrivals.h"
#include "die.h"

#define OFFSET_MAX_S	1e7	/* a double keeps every nanosecond up to it */

bool arrival_parse(const char *line, struct flow_plan *plan)
{
	char id[ID_MAX + 2], dir[5], bytes[19];
	double offset;
	int end = 0;

	if (sscanf(line, "%33s %4s %18[0-9] %lf %n", id, dir, bytes, &offset, &end) != 4 ||
	    line[end] || !flow_id_valid(id))
		return false;
	if (!(offset >= 0 && offset <= OFFSET_MAX_S))
		return false;
	if (!strcmp(dir, "down"))
		plan->dir = DIR_DOWN;
	else if (!strcmp(dir, "up"))
		plan->dir = DIR_UP;
	else
		return false;
	strcpy(plan->id, id);
	plan->bytes = strtoull(bytes, NULL, 10);
	plan->start_ns += llround(offset * NSEC_PER_SEC);
	return plan->bytes > 0;
}

void arrivals_start(struct loop *loop, const char *path,
		    const struct flow_plan *common)
{
	int64_t origin = common->start_ns ? common->start_ns : now_ns();
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	int number = 0;

	if (!file)
		die(errno, "cannot read %s", path);
	while (getline(&line, &size, file) >= 0) {
		struct flow_plan plan = *common;

		number++;
		plan.start_ns = origin;
		if (!arrival_parse(line, &plan))
			die(0, "%s line %d: expected ID up|down BYTES OFFSET, like t1 up 9000 0.5",
			    path, number);
		flow_start(loop, &plan);
	}
	if (ferror(file))
		die(errno, "cannot read %s", path);
	if (!number)
		die(0, "%s has no arrivals", path);
	free(line);
	fclose(file);
}
