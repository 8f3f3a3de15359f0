/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One TCP flow, either end. A client asks for a flow with a fixed header right
 * after connecting; then payload goes one way, from the client (up) or from
 * the server (down), for a time or for a number of bytes.
 */
#ifndef FLOWGEN_FLOW_H
#define FLOWGEN_FLOW_H

#include "flow_plan.h"
#include "loop.h"
#include "record.h"

void flow_start(struct loop *loop, const struct flow_plan *plan);

/* A flow for a connection just accepted. */
void flow_accept(struct loop *loop, int fd);

/* The first moment later than now that lies a multiple of EVERY (ns) after start. */
int64_t flow_next_sample(int64_t every, int64_t start, int64_t now);

#endif
