/* SPDX-License-Identifier: GPL-2.0-only */
/* Whose ACK goes next, with "weights auto": ackwrr_turn.c. */
#ifndef LASACK_ACKWRR_TURN_H
#define LASACK_ACKWRR_TURN_H

#include "ackwrr/ackwrr_flow.h"

/* Bytes that any ACK takes of a turn: two segments, as receivers acknowledge them (RFC 5681). */
#define ACKWRR_TURN_LEAST	2896

void ackwrr_turn_join(struct ackwrr_flows *flows, struct ackwrr_flow *flow);
struct ackwrr_flow *ackwrr_turn_next(struct ackwrr_flows *flows);
void ackwrr_turn_taken(struct ackwrr_flow *flow);
void ackwrr_turn_charge(struct ackwrr_flow *flow, u32 bytes);
void ackwrr_turn_refund(struct ackwrr_flow *flow, u32 bytes);

#endif
