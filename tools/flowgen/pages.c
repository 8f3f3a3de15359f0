// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sizes and think times are drawn beforehand, by whoever plans an experiment;
 * when a page is asked for follows from how long the one before took. All pages
 * are known from the start; only one is under way.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrivals.h"
#include "die.h"
#include "pages.h"

struct pages {
	struct flow_plan *flows;	/* start_ns: the think time, or UNSET: of the page before */
	unsigned int n, next;
	unsigned int open;		/* of the page under way, not over */
};

static void start_page(struct loop *loop, struct pages *pages, int64_t from);

/* One of a page's flows is over. */
static void object_over(struct loop *loop, void *owner)
{
	struct pages *pages = owner;

	if (!--pages->open && pages->next < pages->n)
		start_page(loop, pages, now_ns());
}

static void start_page(struct loop *loop, struct pages *pages, int64_t from)
{
	int64_t start = from + pages->flows[pages->next].start_ns;

	do {
		struct flow_plan plan = pages->flows[pages->next++];

		plan.start_ns = start;
		plan.over = object_over;
		plan.owner = pages;
		pages->open++;
		flow_start(loop, &plan);
	} while (pages->next < pages->n && pages->flows[pages->next].start_ns == UNSET);
}

/* Returns false for a line that is none of a page. */
static bool parse_object(char *line, struct flow_plan *plan, bool first)
{
	char *think = strrchr(line, ' ');
	bool same = think && !strcmp(think, " -\n");

	if (same && first)
		return false;
	if (same)
		strcpy(think, " 0\n");
	plan->start_ns = 0;
	if (!arrival_parse(line, plan))
		return false;
	if (same)
		plan->start_ns = UNSET;
	return true;
}

void pages_start(struct loop *loop, const char *path,
		 const struct flow_plan *common)
{
	struct pages *pages = calloc(1, sizeof(*pages));
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;

	if (!file)
		die(errno, "cannot read %s", path);
	while (pages && getline(&line, &size, file) >= 0) {
		pages->flows = realloc(pages->flows, (pages->n + 1) * sizeof(*pages->flows));
		if (!pages->flows)
			break;
		pages->flows[pages->n] = *common;
		pages->n++;
		if (!parse_object(line, &pages->flows[pages->n - 1], pages->n == 1))
			die(0, "%s line %u: expected ID up|down BYTES THINK, like f1 down 9000 0.5",
			    path, pages->n);
	}
	if (!pages || (pages->n && !pages->flows))
		die(errno, "out of memory for pages");
	if (ferror(file))
		die(errno, "cannot read %s", path);
	if (!pages->n)
		die(0, "%s has no pages", path);
	free(line);
	fclose(file);
	start_page(loop, pages, common->start_ns ? common->start_ns : now_ns());
}
