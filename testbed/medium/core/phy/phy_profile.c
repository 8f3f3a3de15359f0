// SPDX-License-Identifier: GPL-2.0-only
/* The table of PHY profiles. To add a rate of a family, add a row. */
#include <stddef.h>
#include <string.h>

#include "phy_profile.h"

/*
 * DSSS (clause 16): Table 16-2: slot 20 us, SIFS 10 us, aCWmin 31, aCWmax 1023,
 * long PLCP 144 + 48 us, mandatory rates 1 and 2 Mb/s.
 * HR/DSSS (clause 17): Table 17-5: the same; short PLCP 72 + 24 us. The basic
 * rate set is the one every 802.11 DSSS station has, 1 and 2 Mb/s, so an ACK to
 * an 11 Mb/s frame goes at 2 Mb/s.
 */
#define DSSS_ROW(name_, clause_, plcp, rate)				\
	{								\
		.name = (name_), .clause = (clause_), .kind = PHY_DSSS,	\
		.slot_us = 20, .sifs_us = 10,				\
		.plcp_us = (plcp), .rx_start_us = (plcp),		\
		.data_rate = (rate), .lowest_rate = 10,			\
		.mandatory_rate = 10, .basic_rates = { 10, 20 },	\
		.cw_min = 32, .cw_max = 1024,				\
	}

/*
 * OFDM, 20 MHz (clause 18): Table 18-17: slot 9 us, SIFS 16 us, aCWmin 15,
 * aCWmax 1023, PLCP 16 + 4 us, mandatory rates 6, 12 and 24 Mb/s.
 */
#define OFDM_ROW(mbps)							\
	{								\
		.name = "ofdm-" #mbps,					\
		.clause = "802.11-2012 clause 18, 20 MHz",		\
		.kind = PHY_OFDM, .slot_us = 9, .sifs_us = 16,		\
		.plcp_us = 20, .rx_start_us = 25,			\
		.data_rate = 10 * (mbps), .lowest_rate = 60,		\
		.mandatory_rate = 60, .basic_rates = { 60, 120, 240 },	\
		.cw_min = 16, .cw_max = 1024,				\
	},

/*
 * ERP-OFDM (clause 19): Table 19-8: slot 9 us, or 20 us with 802.11b stations
 * about; SIFS 10 us; aCWmin(1) 15; signal extension 6 us (19.3.2.4); mandatory
 * rates those of clauses 17 and 18, so EIFS has an ACK at 1 Mb/s. A response to
 * an OFDM frame is an OFDM frame (9.7.6.5.2). With protection a CTS-to-self
 * goes first at a rate every 802.11b station has (9.23.2), 2 Mb/s, and what all
 * must hear at 1 Mb/s.
 */
#define ERP_ROW(name_, mbps, slot, lowest, protection)			\
	{								\
		.name = (name_), .clause = "802.11-2012 clause 19",	\
		.kind = PHY_ERP, .slot_us = (slot), .sifs_us = 10,	\
		.plcp_us = 20, .rx_start_us = 24,			\
		.data_rate = 10 * (mbps), .lowest_rate = (lowest),	\
		.mandatory_rate = 10, .protection_rate = (protection),	\
		.basic_rates = { 60, 120, 240 },			\
		.cw_min = 16, .cw_max = 1024,				\
	},
#define ERP_SHORT_SLOT(mbps)	ERP_ROW("erp-ofdm-" #mbps, mbps, 9, 60, 0)
#define ERP_LONG_SLOT(mbps)						\
	ERP_ROW("erp-ofdm-" #mbps "-longslot", mbps, 20, 60, 0)
#define ERP_PROTECTED(mbps)						\
	ERP_ROW("erp-ofdm-" #mbps "-protected", mbps, 20, 10, 20)

#define FOR_OFDM_RATES(ROW)						\
	ROW(6) ROW(9) ROW(12) ROW(18) ROW(24) ROW(36) ROW(48) ROW(54)

/*
 * HT, 20 MHz, one stream, 5 GHz, mixed format (clause 20): Table 20-25 (slot,
 * SIFS and CW as clause 18, aPHY-RX-START-Delay 33 us); preamble 20.4.3: legacy
 * 16, L-SIG 4, HT-SIG 8, HT-STF 4, HT-LTF 4 us; 800 ns guard interval, rates
 * Table 20-30; A-MPDU of 65,535 bytes (8.4.2.58.3).
 * VHT, 80 MHz, one stream (802.11ac-2013, clause 22): Table 22-29; 22.4.3: the
 * same, with VHT-SIG-B 4 us; rates 22.5; A-MPDU of 1,048,575 bytes
 * (8.4.2.160.2).
 */
#define HT_ROW(kind_, name_, clause_, rate, plcp, rx_start, longest)	\
	{								\
		.name = (name_), .clause = (clause_), .kind = (kind_),	\
		.slot_us = 9, .sifs_us = 16,				\
		.plcp_us = (plcp), .rx_start_us = (rx_start),		\
		.data_rate = (rate), .lowest_rate = 60,			\
		.mandatory_rate = 60, .basic_rates = { 60, 120, 240 },	\
		.cw_min = 16, .cw_max = 1024, .ampdu_bytes = (longest),	\
	}
#define HT20_ROW(name, rate)						\
	HT_ROW(PHY_HT, name, "802.11-2012 clause 20, 20 MHz", rate, 36, 33, 65535)
#define VHT80_ROW(name, rate)						\
	HT_ROW(PHY_VHT, name, "802.11ac-2013 clause 22, 80 MHz", rate, 40, 44, \
	       1048575)

static const struct phy_profile profiles[] = {
	DSSS_ROW("dsss-2", "802.11-2012 clause 16", 192, 20),
	DSSS_ROW("hrdsss-11", "802.11-2012 clause 17, long PLCP", 192, 110),
	DSSS_ROW("hrdsss-11-short", "802.11-2012 clause 17, short PLCP", 96, 110),
	FOR_OFDM_RATES(OFDM_ROW)
	FOR_OFDM_RATES(ERP_SHORT_SLOT)
	FOR_OFDM_RATES(ERP_LONG_SLOT)
	FOR_OFDM_RATES(ERP_PROTECTED)
	HT20_ROW("ht20", 650),
	HT20_ROW("ht20-mcs0", 65),
	HT20_ROW("ht20-mcs1", 130),
	HT20_ROW("ht20-mcs2", 195),
	HT20_ROW("ht20-mcs3", 260),
	HT20_ROW("ht20-mcs4", 390),
	HT20_ROW("ht20-mcs5", 520),
	HT20_ROW("ht20-mcs6", 585),
	HT20_ROW("ht20-mcs7", 650),
	VHT80_ROW("vht80", 3900),
	VHT80_ROW("vht80-mcs0", 293),
	VHT80_ROW("vht80-mcs1", 585),
	VHT80_ROW("vht80-mcs2", 878),
	VHT80_ROW("vht80-mcs3", 1170),
	VHT80_ROW("vht80-mcs4", 1755),
	VHT80_ROW("vht80-mcs5", 2340),
	VHT80_ROW("vht80-mcs6", 2633),
	VHT80_ROW("vht80-mcs7", 2925),
	VHT80_ROW("vht80-mcs8", 3510),
	VHT80_ROW("vht80-mcs9", 3900),
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
	return "dsss-2, hrdsss-11, hrdsss-11-short, ofdm-R, erp-ofdm-R, "
	       "erp-ofdm-R-longslot, erp-ofdm-R-protected (R is 6, 9, 12, 18, "
	       "24, 36, 48 or 54), ht20, ht20-mcs0 to 7, vht80, vht80-mcs0 to 9";
}
