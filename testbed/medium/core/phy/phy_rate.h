/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rates of the physical layers: modulation, code and format of each. Within a
 * profile no two formats have the same rate, so a rate in 100 kb/s also says the
 * format.
 *
 * Source: IEEE Std 802.11-2012, Tables 18-4 (OFDM) and 20-30 (HT, 20 MHz, one
 * stream, 800 ns guard interval), 16.4.6.4 and 17.4.6.5 (DSSS and HR/DSSS);
 * 802.11ac-2013, 22.5 (VHT, the same at 80 MHz).
 */
#ifndef DCFMEDIUM_PHY_RATE_H
#define DCFMEDIUM_PHY_RATE_H

#include <stdbool.h>
#include <stddef.h>

#include "phy_profile.h"

enum phy_format {
	PHY_FORMAT_DSSS,	/* clauses 16 and 17 */
	PHY_FORMAT_OFDM,	/* non-HT */
	PHY_FORMAT_HT,
	PHY_FORMAT_VHT,
};

enum phy_modulation {
	PHY_DBPSK,
	PHY_DQPSK,
	PHY_CCK_5_5,
	PHY_CCK_11,
	PHY_BPSK,
	PHY_QPSK,
	PHY_16QAM,
	PHY_64QAM,
	PHY_256QAM,
};

/* The convolutional code, punctured (18.3.5.6; 5/6: clause 20). */
enum phy_code {
	PHY_UNCODED,
	PHY_CODE_1_2,
	PHY_CODE_2_3,
	PHY_CODE_3_4,
	PHY_CODE_5_6,
};

struct phy_rate {
	unsigned int rate;		/* 100 kb/s */
	enum phy_format format;
	enum phy_modulation modulation;
	enum phy_code code;
	unsigned int index;		/* MCS; of a legacy rate, its place */
	unsigned int reference;		/* non-HT reference rate (Table 9-5) */
};

#define PHY_N_RATES	30

/* All of them; a place in this table is what per-rate counters go by. */
extern const struct phy_rate phy_rates[PHY_N_RATES];

/* The row of @rate if a station of @phy can send it, else NULL. */
const struct phy_rate *phy_rate_of(const struct phy_profile *phy,
				   unsigned int rate);

/* The row of MCS or place @index among those of @format, or NULL. */
const struct phy_rate *phy_rate_by_index(enum phy_format format,
					 unsigned int index);

/* The rates of @phy in Mb/s, "1, 2, 5.5", into @text of @size. */
void phy_rate_list(const struct phy_profile *phy, char *text, size_t size);

/* Whether @rate is one of clauses 16 and 17, long preamble but for HR/DSSS. */
bool phy_rate_is_dsss(unsigned int rate);

/* Whether @rate is one of clause 18: of what HT and VHT call a non-HT frame. */
bool phy_rate_is_ofdm(unsigned int rate);

/*
 * Rate of the control frame that answers (ACK, CTS) or announces (RTS) a frame
 * sent at @rate: the highest basic rate of its modulation class that is not
 * above it (9.7.6.5.2); of an HT or VHT frame, not above the non-HT rate of its
 * constellation and code (Table 9-5).
 */
unsigned int phy_control_rate(const struct phy_profile *phy, unsigned int rate);

/*
 * Whether a frame at @rate has the format of HT or VHT, the profile's own, with
 * its preamble and A-MPDUs; a non-HT rate means a non-HT frame.
 */
bool phy_own_format(const struct phy_profile *phy, unsigned int rate);

#endif
