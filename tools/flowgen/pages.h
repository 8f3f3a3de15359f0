/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A user who fetches one page after the other: a closed loop, from a file.
 */
#ifndef FLOWGEN_PAGES_H
#define FLOWGEN_PAGES_H

#include "flow.h"

/*
 * Lines "ID up|down BYTES THINK": a page is asked for THINK seconds after the one
 * before it is there; the first after common->start_ns (0: after now). A line with
 * THINK "-" is of the same page as the line above, and starts with it. What a line
 * does not say is as in COMMON. Dies, with nothing started, when a line is not one.
 */
void pages_start(struct loop *loop, const char *path,
		 const struct flow_plan *common);

#endif
