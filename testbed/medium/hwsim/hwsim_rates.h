/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Translates rates between mac80211 and the MAC core. mac80211 names a rate by an
 * index, and by flags that say into which table (struct ieee80211_tx_rate).
 */
#ifndef DCFMEDIUM_HWSIM_RATES_H
#define DCFMEDIUM_HWSIM_RATES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/phy/phy_profile.h"
#include "core/phy/rate_chain.h"
#include "hwsim_abi.h"

/* What the kernel's rate control wants for one frame. */
struct hwsim_rates {
	struct hwsim_tx_rate tries[HWSIM_TX_RATES];
	uint16_t flags[HWSIM_TX_RATES];		/* HWSIM_RATE_* */
};

/*
 * Index in hwsim's rate table of the band of @freq of @rate (100 kb/s), or of
 * the highest below it: received frames have legacy rates only.
 */
uint32_t hwsim_rate_index(uint32_t freq, unsigned int rate);

/*
 * The chain of @rates for a station of @phy in the band of @freq (MHz). False
 * if one of them is none of the profile's; the chain is empty then, as it is
 * where the kernel named no rate.
 */
bool hwsim_rate_chain(const struct hwsim_rates *rates, uint32_t freq,
		      const struct phy_profile *phy, struct rate_chain *chain);

/*
 * @rate (100 kb/s) of a station of @phy as MCS and flags, if it is one of HT or VHT. False
 * for a legacy rate, which its index alone names.
 */
bool hwsim_rate_mcs(unsigned int rate, const struct phy_profile *phy,
		    struct hwsim_tx_rate_flag *mcs);

/* Into @done the first @attempts of @tries, each in its place; -1 elsewhere. */
void hwsim_tries_done(const struct hwsim_tx_rate *tries, unsigned int attempts,
		      struct hwsim_tx_rate *done);

#endif
