// SPDX-License-Identifier: GPL-2.0-only
/* Rates as mac80211 names them: see hwsim_rates.h. */
#include <string.h>

#include "core/phy/phy_rate.h"
#include "hwsim_rates.h"

/* hwsim's legacy rates in order; above 2.4 GHz its table begins at 6 Mb/s. */
static const unsigned int legacy[] = {
	10, 20, 55, 110, 60, 90, 120, 180, 240, 360, 480, 540,
};

#define N_LEGACY	(sizeof(legacy) / sizeof(legacy[0]))

static unsigned int first_legacy(uint32_t freq)
{
	return freq > 3000 ? 4 : 0;
}

uint32_t hwsim_rate_index(uint32_t freq, unsigned int rate)
{
	unsigned int first = first_legacy(freq), best = first;

	for (unsigned int i = first; i < N_LEGACY; i++)
		if (legacy[i] <= rate && legacy[i] >= legacy[best])
			best = i;
	return best - first;
}

/*
 * The rate of one entry in 100 kb/s; 0 if there is none such here. An index of
 * HT counts streams too, one of VHT has them in its upper four bits: one stream
 * is 0 to 7, and 0 to 9.
 */
static unsigned int rate_of(int index, uint16_t flags, uint32_t freq,
			    const struct phy_profile *phy)
{
	const struct phy_rate *row;
	unsigned int rate = 0;

	if (flags & (HWSIM_RATE_SHORT_GI | HWSIM_RATE_40_MHZ |
		     HWSIM_RATE_160_MHZ))
		return 0;
	if (flags & HWSIM_RATE_VHT_MCS) {
		row = phy_rate_by_index(PHY_FORMAT_VHT, index);
		if (row && flags & HWSIM_RATE_80_MHZ)
			rate = row->rate;
	} else if (flags & HWSIM_RATE_MCS) {
		row = phy_rate_by_index(PHY_FORMAT_HT, index);
		if (row)
			rate = row->rate;
	} else if (first_legacy(freq) + index < N_LEGACY) {
		rate = legacy[first_legacy(freq) + index];
	}
	row = phy_rate_of(phy, rate);
	/* 58.5 Mb/s is a rate of HT and one of VHT. */
	if (row && flags & HWSIM_RATE_MCS && row->format != PHY_FORMAT_HT)
		return 0;
	return row ? rate : 0;
}

bool hwsim_rate_chain(const struct hwsim_rates *rates, uint32_t freq,
		      const struct phy_profile *phy, struct rate_chain *chain)
{
	int n = 0;

	memset(chain, 0, sizeof(*chain));
	for (int i = 0; i < HWSIM_TX_RATES && rates->tries[i].index >= 0; i++) {
		unsigned int rate;

		if (!rates->tries[i].count)
			continue;
		rate = rate_of(rates->tries[i].index, rates->flags[i], freq, phy);
		if (!rate) {
			memset(chain, 0, sizeof(*chain));
			return false;
		}
		chain->rate[n] = rate;
		chain->count[n++] = rates->tries[i].count;
	}
	return true;
}

bool hwsim_rate_mcs(unsigned int rate, const struct phy_profile *phy,
		    struct hwsim_tx_rate_flag *mcs)
{
	const struct phy_rate *row = phy_rate_of(phy, rate);

	if (!row || row->format < PHY_FORMAT_HT)
		return false;
	mcs->index = row->index;
	mcs->flags = row->format == PHY_FORMAT_HT ?
		     HWSIM_RATE_MCS : HWSIM_RATE_VHT_MCS | HWSIM_RATE_80_MHZ;
	return true;
}

void hwsim_tries_done(const struct hwsim_tx_rate *tries, unsigned int attempts,
		      struct hwsim_tx_rate *done)
{
	for (int i = 0; i < HWSIM_TX_RATES; i++) {
		unsigned int count = 0;

		if (tries[i].index >= 0)
			count = attempts < tries[i].count ? attempts : tries[i].count;
		attempts -= count;
		done[i] = (struct hwsim_tx_rate){ count ? tries[i].index : -1, count };
	}
}
