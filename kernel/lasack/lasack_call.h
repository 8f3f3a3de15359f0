/* SPDX-License-Identifier: GPL-2.0-only */
/* A call goes before what its station asks for meanwhile. See lasack_call.c. */
#ifndef LASACK_CALL_H
#define LASACK_CALL_H

#include "lasack/lasack_state.h"

/* A flow that has had a queue for so long is none: four seconds. */
#define LASACK_CALL_BACKLOG	((u32)(4ULL * NSEC_PER_SEC >> FLOW_TIME_SHIFT))
/*
 * If a flow is new, or nobody asked for it, it is one if its station has sent so many bytes, and
 * this part of what it got. A client begins a page over QUIC with one or two packets of 1200 bytes.
 */
#define LASACK_CALL_LEAST	3000
#define LASACK_CALL_PART	24
/* If its station sends so many times what it gets, it is an upload. */
#define LASACK_CALL_UPLOAD	16
/* Of what their station gets, calls may have one byte in so many before others, */
#define LASACK_CALL_SHARE	4
/* and so many at once. */
#define LASACK_CALL_MOST	(128 << 10)

bool lasack_call_came(struct lasack_queue *q, struct lasack_flow *flow);
bool lasack_call_sent(struct lasack_queue *q, struct lasack_flow *flow, u32 cost);

#endif
