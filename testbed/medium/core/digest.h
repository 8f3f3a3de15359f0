/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The digest of a run: who decided what, and how it ended. Internal to the MAC
 * core.
 */
#ifndef DCFMEDIUM_DIGEST_H
#define DCFMEDIUM_DIGEST_H

#include <stdint.h>

#include "state.h"

/* What the digest records; its values are part of the digest's meaning. */
enum mac_outcome {
	OUTCOME_DRAW,
	OUTCOME_ACKED,
	OUTCOME_COLLIDED,
	OUTCOME_UNANSWERED,
	OUTCOME_BROADCAST,
	OUTCOME_LOST,
	OUTCOME_ACK_LOST,
	OUTCOME_INTERNAL,
	OUTCOME_ACK_COLLIDED,
};

/* @s has decided, or what it sent has ended, as @what. */
void digest_add(struct mac *mac, const struct mac_station *s,
		enum mac_outcome what, uint64_t detail);

#endif
