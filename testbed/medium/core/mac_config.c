// SPDX-License-Identifier: GPL-2.0-only
/* The default configuration: see mac_config.h. */
#include <limits.h>

#include "mac_config.h"

struct mac_config mac_defaults(const struct phy_profile *phy)
{
	return (struct mac_config){
		.phy = phy,
		.eifs = true,
		.rts_threshold = UINT_MAX,
		.max_ampdu = MAC_MAX_AMPDU,
		.max_ppdu = MAC_PPDU_MAX,
		.seed = 1,
	};
}
