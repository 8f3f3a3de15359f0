// SPDX-License-Identifier: GPL-2.0-only
/* The airtime formulas of IEEE Std 802.11-2012 and 802.11ac-2013. */
#include "phy.h"
#include "phy_rate.h"

/* 17.3.4: Ceiling(8 * PSDU / rate) us. The short PLCP exists from 2 Mb/s up. */
static ns_t dsss_airtime_us(const struct phy_profile *phy, unsigned int rate,
			    unsigned int bytes)
{
	bool long_plcp = rate == 10 || phy->kind != PHY_DSSS;

	return (long_plcp ? 192 : phy->plcp_us) +
	       (80ULL * bytes + rate - 1) / rate;
}

/*
 * 18.4.3, and 20.4.3 and 22.4.3 with one encoder: SERVICE (16 bits), PSDU and
 * tail (6 bits) in whole 4 us symbols; 19.8.3.1: and ERP's signal extension.
 */
static ns_t ofdm_airtime_us(const struct phy_profile *phy, unsigned int rate,
			    unsigned int bytes)
{
	unsigned int bits_per_symbol = rate * 4 / 10;
	uint64_t bits = 16 + 8ULL * bytes + 6;

	return (phy_own_format(phy, rate) ? phy->plcp_us : 20) +
	       4 * ((bits + bits_per_symbol - 1) / bits_per_symbol) +
	       (phy->kind == PHY_ERP ? 6 : 0);
}

ns_t phy_airtime(const struct phy_profile *phy, unsigned int rate,
		 unsigned int bytes)
{
	if (phy->kind == PHY_DSSS ||
	    (phy->kind == PHY_ERP && phy_rate_is_dsss(rate)))
		return dsss_airtime_us(phy, rate, bytes) * NS_PER_US;
	return ofdm_airtime_us(phy, rate, bytes) * NS_PER_US;
}

ns_t phy_slot(const struct phy_profile *phy)
{
	return phy->slot_us * NS_PER_US;
}

ns_t phy_sifs(const struct phy_profile *phy)
{
	return phy->sifs_us * NS_PER_US;
}

ns_t phy_difs(const struct phy_profile *phy)
{
	return phy_sifs(phy) + 2 * phy_slot(phy);
}

ns_t phy_protection(const struct phy_profile *phy, unsigned int rate)
{
	if (!phy->protection_rate || phy_rate_is_dsss(rate))
		return 0;
	return phy_airtime(phy, phy->protection_rate, PHY_CTS_BYTES) +
	       phy_sifs(phy);
}

ns_t phy_eifs(const struct phy_profile *phy)
{
	return phy_sifs(phy) +
	       phy_airtime(phy, phy->mandatory_rate, PHY_ACK_BYTES) +
	       phy_difs(phy);
}

ns_t phy_ack_timeout(const struct phy_profile *phy)
{
	return phy_sifs(phy) + phy_slot(phy) + phy->rx_start_us * NS_PER_US;
}
