/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The receiver's reorder buffer and the sender's BlockAckReq (IEEE Std
 * 802.11-2012, 9.21.7). Under block ack, MPDUs are passed on in order. An MPDU
 * that arrives before an earlier one is held back until the earlier one arrives.
 * It is also passed on when the window moves past the earlier one, because of a
 * BlockAckReq or of an MPDU beyond the window.
 * Internal to the MAC core.
 */
#ifndef DCFMEDIUM_REORDER_H
#define DCFMEDIUM_REORDER_H

#include "state.h"

/* @frame of station @s, sent under block ack, has arrived for the first time. */
void reorder_receive(struct mac *mac, struct mac_station *s,
		     struct mac_frame *frame);

/* The BlockAckReq of @s has arrived: nothing older than its queue is to come. */
void reorder_request(struct mac *mac, struct mac_station *s);

/* Put a BlockAckReq to @to at the head of the queue of @s, if none is there. */
void reorder_ask(struct mac *mac, struct mac_station *s, int to);

/* Give back, by ops->done(), what is still held and nobody else has. */
void reorder_end(struct mac *mac);

#endif
