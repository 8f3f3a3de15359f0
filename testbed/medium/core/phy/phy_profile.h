/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PHY profiles: the constants of one 802.11 physical layer.
 *
 * Source: IEEE Std 802.11-2012, the clause named in each row of phy_profile.c.
 * Times are nanoseconds, rates 100 kb/s (as in nl80211), lengths bytes.
 */
#ifndef DCFMEDIUM_PHY_PROFILE_H
#define DCFMEDIUM_PHY_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t ns_t;

#define NS_PER_US	1000ULL
#define NS_PER_S	1000000000ULL
#define NS_NEVER	UINT64_MAX

#define PHY_BASIC_MAX	4

/* HT and VHT frames are OFDM with a longer preamble; see phy_airtime(). */
enum phy_kind {
	PHY_DSSS,	/* DSSS and HR/DSSS: PLCP, then bits at the rate */
	PHY_OFDM,	/* OFDM: PLCP, then symbols of 4 us */
	PHY_ERP,	/* OFDM with signal extension; DSSS rates too */
	PHY_HT,		/* single MPDUs or A-MPDUs; control frames as OFDM */
	PHY_VHT,	/* the same, and each data frame is an A-MPDU */
};

struct phy_profile {
	const char *name;
	const char *clause;
	enum phy_kind kind;
	unsigned int slot_us;
	unsigned int sifs_us;
	unsigned int plcp_us;		/* preamble and PLCP header of data */
	unsigned int rx_start_us;	/* aPHY-RX-START-Delay */
	unsigned int data_rate;
	unsigned int lowest_rate;	/* of group-addressed and management */
	unsigned int mandatory_rate;	/* the lowest mandatory one, for EIFS */
	unsigned int protection_rate;	/* of a CTS-to-self; 0 = none is sent */
	/* Of the data's modulation class, for control frames; ascending, 0 ends */
	unsigned int basic_rates[PHY_BASIC_MAX];
	unsigned int cw_min;		/* number of values, aCWmin + 1 */
	unsigned int cw_max;		/* number of values, aCWmax + 1 */
	unsigned int ampdu_bytes;	/* longest A-MPDU; 0 = none is sent */
};

/* The profile called @name, or NULL. */
const struct phy_profile *phy_find(const char *name);

/* Names of all profiles, those of one family as a pattern, for messages. */
const char *phy_names(void);

#endif
