/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Many sized flows of one client, from a file: one process runs them all.
 */
#ifndef FLOWGEN_ARRIVALS_H
#define FLOWGEN_ARRIVALS_H

#include "flow.h"

/*
 * Starts a flow for each line "ID up|down BYTES OFFSET" of the file at PATH,
 * OFFSET seconds after common->start_ns (0: after now). What a line does not
 * say is as in COMMON. Dies, with nothing started, when a line is not one.
 */
void arrivals_start(struct loop *loop, const char *path,
		    const struct flow_plan *common);

/* Fills in a line's flow, OFFSET after plan->start_ns. Returns false for one that is no arrival. */
bool arrival_parse(const char *line, struct flow_plan *plan);

#endif
