/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long a frame takes under a PHY profile, and how long the pauses between
 * frames are.
 *
 * Source: IEEE Std 802.11-2012 and 802.11ac-2013, the clauses named below.
 */
#ifndef DCFMEDIUM_PHY_H
#define DCFMEDIUM_PHY_H

#include "phy_profile.h"

/* MPDU lengths with the FCS (8.3.1): ACK and CTS 14, RTS 20. */
#define PHY_ACK_BYTES	14
#define PHY_CTS_BYTES	14
#define PHY_RTS_BYTES	20
#define PHY_BLOCK_ACK_BYTES	32	/* compressed (8.3.1.9) */
#define PHY_BLOCK_ACK_REQ_BYTES	24	/* (8.3.1.8) */

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
