/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One end of a flow over UDP that acknowledges, paces itself and reacts to loss as QUIC does (RFC
 * 9000, RFC 9002), without encryption. Payload goes one way for a time, and there is always more.
 */
#ifndef QUIC_CONNECTION_H
#define QUIC_CONNECTION_H

#include "../loop.h"
#include "plan.h"

void quic_start(struct loop *loop, const struct quic_plan *plan);

#endif
