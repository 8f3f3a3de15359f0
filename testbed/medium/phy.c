// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of PHY profiles and the airtime formulas of IEEE Std 802.11-2012.
 * Another PHY of the same kinds is one more row.
 */
#include <stddef.h>
#include <string.h>

#include "phy.h"

/*
 * DSSS (clause 16): Table 16-2: slot 20 us, SIFS 10 us, aCWmin 31, aCWmax 1023,
 * long PLCP 144 + 48 us, mandatory rates 1 and 2 Mb/s.
 * HR/DSSS (clause 17): Table 17-5: the same; short PLCP 72 + 24 us. The basic
 * rate set is the one every 802.11 DSSS station has, 1 and 2 Mb/s, so an ACK to
 * an 11 Mb/s frame goes at 2 Mb/s.
 * OFDM, 20 MHz (clause 18): Table 18-17: slot 9 us, SIFS 16 us, aCWmin 15,
 * aCWmax 1023, PLCP 16 + 4 us, mandatory rates 6, 12 and 24 Mb/s.
 */
static const struct phy_profile profiles[] = {
	{
		.name = "dsss-2", .clause = "802.11-2012 clause 16",
		.kind = PHY_DSSS,
		.slot_us = 20, .sifs_us = 10, .plcp_us = 192, .rx_start_us = 192,
		.data_rate = 20, .basic_rates = { 10, 20 },
		.cw_min = 32, .cw_max = 1024,
	}, {
		.name = "hrdsss-11", .clause = "802.11-2012 clause 17, long PLCP",
		.kind = PHY_DSSS,
		.slot_us = 20, .sifs_us = 10, .plcp_us = 192, .rx_start_us = 192,
		.data_rate = 110, .basic_rates = { 10, 20 },
		.cw_min = 32, .cw_max = 1024,
	}, {
		.name = "hrdsss-11-short",
		.clause = "802.11-2012 clause 17, short PLCP",
		.kind = PHY_DSSS,
		.slot_us = 20, .sifs_us = 10, .plcp_us = 96, .rx_start_us = 96,
		.data_rate = 110, .basic_rates = { 10, 20 },
		.cw_min = 32, .cw_max = 1024,
	}, {
		.name = "ofdm-12", .clause = "802.11-2012 clause 18, 20 MHz",
		.kind = PHY_OFDM,
		.slot_us = 9, .sifs_us = 16, .plcp_us = 20, .rx_start_us = 25,
		.data_rate = 120, .basic_rates = { 60, 120, 240 },
		.cw_min = 16, .cw_max = 1024,
	}, {
		.name = "ofdm-54", .clause = "802.11-2012 clause 18, 20 MHz",
		.kind = PHY_OFDM,
		.slot_us = 9, .sifs_us = 16, .plcp_us = 20, .rx_start_us = 25,
		.data_rate = 540, .basic_rates = { 60, 120, 240 },
		.cw_min = 16, .cw_max = 1024,
	},
};

#define N_PROFILES (sizeof(profiles) / sizeof(profiles[0]))

const struct phy_profile *phy_find(const char *name)
{
	for (size_t i = 0; i < N_PROFILES; i++)
		if (!strcmp(profiles[i].name, name))
			return &profiles[i];
	return NULL;
}

const char *phy_names(void)
{
	return "dsss-2, hrdsss-11, hrdsss-11-short, ofdm-12, ofdm-54";
}

unsigned int phy_lowest_rate(const struct phy_profile *phy)
{
	return phy->basic_rates[0];
}

unsigned int phy_control_rate(const struct phy_profile *phy, unsigned int rate)
{
	unsigned int best = phy->basic_rates[0];

	for (int i = 1; i < PHY_BASIC_MAX && phy->basic_rates[i]; i++)
		if (phy->basic_rates[i] <= rate)
			best = phy->basic_rates[i];
	return best;
}

/* 17.3.4: Ceiling(8 * PSDU / rate) us. The short PLCP exists from 2 Mb/s up. */
static ns_t dsss_airtime_us(const struct phy_profile *phy, unsigned int rate,
			    unsigned int bytes)
{
	unsigned int plcp_us = rate == 10 ? 192 : phy->plcp_us;

	return plcp_us + (80ULL * bytes + rate - 1) / rate;
}

/* 18.4.3: SERVICE (16 bits), PSDU and tail (6 bits) in whole 4 us symbols. */
static ns_t ofdm_airtime_us(const struct phy_profile *phy, unsigned int rate,
			    unsigned int bytes)
{
	unsigned int bits_per_symbol = rate * 4 / 10;
	uint64_t bits = 16 + 8ULL * bytes + 6;

	return phy->plcp_us + 4 * ((bits + bits_per_symbol - 1) / bits_per_symbol);
}

ns_t phy_airtime(const struct phy_profile *phy, unsigned int rate,
		 unsigned int bytes)
{
	if (phy->kind == PHY_OFDM)
		return ofdm_airtime_us(phy, rate, bytes) * NS_PER_US;
	return dsss_airtime_us(phy, rate, bytes) * NS_PER_US;
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

ns_t phy_eifs(const struct phy_profile *phy)
{
	return phy_sifs(phy) +
	       phy_airtime(phy, phy_lowest_rate(phy), PHY_ACK_BYTES) +
	       phy_difs(phy);
}

ns_t phy_ack_timeout(const struct phy_profile *phy)
{
	return phy_sifs(phy) + phy_slot(phy) + phy->rx_start_us * NS_PER_US;
}
