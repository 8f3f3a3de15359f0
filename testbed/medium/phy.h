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

#define PHY_BASIC_MAX	4

enum phy_kind {
	PHY_DSSS,	/* DSSS and HR/DSSS: PLCP, then bits at the rate */
	PHY_OFDM,	/* OFDM: PLCP, then symbols of 4 us */
};

struct phy_profile {
	const char *name;
	const char *clause;
	enum phy_kind kind;
	unsigned int slot_us;
	unsigned int sifs_us;
	unsigned int plcp_us;		/* preamble and PLCP header */
	unsigned int rx_start_us;	/* aPHY-RX-START-Delay */
	unsigned int data_rate;
	unsigned int basic_rates[PHY_BASIC_MAX];	/* ascending, 0 ends */
	unsigned int cw_min;		/* number of values, aCWmin + 1 */
	unsigned int cw_max;		/* number of values, aCWmax + 1 */
};

/* The profile called @name, or NULL. */
const struct phy_profile *phy_find(const char *name);

/* Names of all profiles, comma separated, for messages. */
const char *phy_names(void);

/* The lowest basic rate: group-addressed and management frames use it. */
unsigned int phy_lowest_rate(const struct phy_profile *phy);

/*
 * Rate of the control frame that answers (ACK, CTS) or announces (RTS) a frame
 * sent at @rate: the highest basic rate not above it (9.7.6.5.2).
 */
unsigned int phy_control_rate(const struct phy_profile *phy, unsigned int rate);

/* TXTIME of an MPDU of @bytes, FCS included, at @rate. */
ns_t phy_airtime(const struct phy_profile *phy, unsigned int rate,
		 unsigned int bytes);

ns_t phy_slot(const struct phy_profile *phy);
ns_t phy_sifs(const struct phy_profile *phy);
/* DIFS = SIFS + 2 slots (9.3.7). */
ns_t phy_difs(const struct phy_profile *phy);
/* EIFS = SIFS + an ACK at the lowest mandatory rate + DIFS (9.3.7). */
ns_t phy_eifs(const struct phy_profile *phy);
/* ACKTimeout = SIFS + slot + aPHY-RX-START-Delay (9.3.2.8); CTSTimeout too. */
ns_t phy_ack_timeout(const struct phy_profile *phy);

#endif
