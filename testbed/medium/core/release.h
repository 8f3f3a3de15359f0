/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which stations may count down again when a PPDU ends, and which attempts are
 * then known to have failed.
 * Internal to the MAC core.
 */
#ifndef DCFMEDIUM_RELEASE_H
#define DCFMEDIUM_RELEASE_H

#include "digest.h"
#include "state.h"

/* All that hear the end of @ppdu, but those that will hear station @follower. */
void release_hearers(struct mac *mac, int from, const struct mac_ppdu *ppdu,
		     int follower, enum mac_outcome what);

#endif
