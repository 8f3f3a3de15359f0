// SPDX-License-Identifier: GPL-2.0-only
/* Talk spurts from a file: drawn beforehand, as all that is random is. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "die.h"
#include "pulse.h"

#define OFFSET_MAX_S	1e7	/* a double keeps every nanosecond up to it */

const struct pulse_burst *pulse_bursts(const char *path, uint32_t most, uint32_t *frames)
{
	struct pulse_burst *bursts = NULL;
	FILE *file = fopen(path, "re");
	unsigned int n = 0;
	long long count;
	double offset;
	char end;
	int got;

	if (!file)
		die(errno, "cannot read %s", path);
	*frames = 0;
	while ((got = fscanf(file, "%lf %lld%c", &offset, &count, &end)) != EOF) {
		if (got != 3 || end != '\n' || count < 1 || !(offset >= 0 && offset <= OFFSET_MAX_S) ||
		    (n && llround(offset * NSEC_PER_SEC) <= bursts[n - 1].offset_ns))
			die(0, "%s line %u: expected OFFSET COUNT, rising, like 0.5 40",
			    path, n + 1);
		if (count > most - *frames)
			die(0, "%s line %u: more than %u frames in all", path, n + 1, most);
		bursts = realloc(bursts, (n + 1) * sizeof(*bursts));
		if (!bursts)
			die(errno, "out of memory for talk spurts");
		bursts[n++] = (struct pulse_burst){ llround(offset * NSEC_PER_SEC), count };
		*frames += count;
	}
	if (ferror(file))
		die(errno, "cannot read %s", path);
	if (!n)
		die(0, "%s has no talk spurts", path);
	fclose(file);
	return bursts;
}
