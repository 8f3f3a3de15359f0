// SPDX-License-Identifier: GPL-2.0-only
/* The digest of a run: see digest.h. */
#include "digest.h"
#include "rng.h"

/*
 * The digest holds decisions (who, what, how it ended), not times: two runs
 * that decide the same compare equal though a guest's clock differs by a tick.
 */
void digest_add(struct mac *mac, const struct mac_station *s,
		enum mac_outcome what, uint64_t detail)
{
	uint64_t state = mac->digest ^ s->id ^ ((uint64_t)what << 56);

	state = splitmix64(&state) ^ detail;
	mac->digest = splitmix64(&state);
}
