/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PHY profiles: the constants of one 802.11 physical layer and the airtime
 * of a frame under it.
 *
 * Source: IEEE Std 802.11-2012, the clause named in each row of phy.c.
 * Times are nanoseconds, rates 100 kb/s (as in nl80211), lengths bytes.
 */
#ifndef DCFMEDIUM_PHY_H
#define DCFMEDIUM_PHY_H

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t ns_t;

#define NS_PER_US	1000ULL
#define NS_PER_S	1000000000ULL
#define NS_NEVER	UINT64_MAX

/* MPDU lengths with the FCS (8.3.1): ACK and CTS 14, RTS 20. */
#define PHY_ACK_BYTES	14
#define PHY_CTS_BYTES	14
#define PHY_RTS_BYTES	20
#define PHY_BLOCK_ACK_BYTES	32	/* compressed (8.3.1.9) */
#define PHY_BLOCK_ACK_REQ_BYTES	24	/* (8.3.1.8) */

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

/* TXTIME of a PSDU of @bytes, an MPDU with its FCS or an A-MPDU, at @rate. */
ns_t phy_airtime(const struct phy_profile *phy, unsigned int rate,
		 unsigned int bytes);

ns_t phy_slot(const struct phy_profile *phy);
ns_t phy_sifs(const struct phy_profile *phy);
/* DIFS = SIFS + 2 slots (9.3.7). */
ns_t phy_difs(const struct phy_profile *phy);
/* A CTS-to-self and SIFS before a frame at @rate (9.23.2), where one is due. */
ns_t phy_protection(const struct phy_profile *phy, unsigned int rate);
/* EIFS = SIFS + an ACK at the lowest mandatory rate + DIFS (9.3.7). */
ns_t phy_eifs(const struct phy_profile *phy);
/* ACKTimeout = SIFS + slot + aPHY-RX-START-Delay (9.3.2.8); CTSTimeout too. */
ns_t phy_ack_timeout(const struct phy_profile *phy);

#endif
