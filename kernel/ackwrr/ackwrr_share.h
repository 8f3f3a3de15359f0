/* SPDX-License-Identifier: GPL-2.0-only */
/* "weights auto": which class is behind. ackwrr_share.c has the rule. */
#ifndef LASACK_ACKWRR_SHARE_H
#define LASACK_ACKWRR_SHARE_H

#include <linux/time64.h>
#include <linux/types.h>
#include "ackwrr/ackwrr_round.h"
#include "uapi/pkt_sch_ackwrr.h"

#define ACKWRR_ESTIMATE_ONE	TC_ACKWRR_ESTIMATE_ONE
#define ACKWRR_STEP_NS		(100 * NSEC_PER_MSEC)	/* between steps of estimates */

/* Bytes per connection: the clocks never differ by more, so older differences are forgotten. */
#define ACKWRR_LAG_MAX		(2 << 20)

/* Bytes that an ACK costs its class at least, for its air: as LASACK_OVERHEAD_WIFI. */
#define ACKWRR_ACK_LEAST	640

struct ackwrr_share {
	s64	lag;		/* data's clock minus that of ACKs, bytes a connection */
	s64	clocks[ACKWRR_CLASSES];	/* bytes one that counts has moved */
	s64	allowance[ACKWRR_CLASSES];	/* bytes new connections may move free */
	s64	passed[ACKWRR_CLASSES];	/* above 0: it was passed over; bytes a connection */
	u64	inverse[ACKWRR_CLASSES];	/* 2^32 / connections, 0: 2^32 */
	u64	next_step;	/* ns */
	u32	estimates[ACKWRR_CLASSES];	/* connections * ACKWRR_ESTIMATE_ONE */
	u64	charged[ACKWRR_CLASSES];	/* bytes */
	u64	free[ACKWRR_CLASSES];	/* bytes that new connections moved so */
};

/* Do both classes have connections? If not, packets go in the order they came. */
static inline bool ackwrr_share_is_shared(const struct ackwrr_share *share)
{
	return share->estimates[ACKWRR_DATA] && share->estimates[ACKWRR_ACK];
}

/* The class that was passed over, else the one that is behind; enum ackwrr_which. */
static inline int ackwrr_share_next(const struct ackwrr_share *share)
{
	int behind = share->lag > 0 ? ACKWRR_ACK : ACKWRR_DATA;

	return share->passed[!behind] > 0 ? !behind : behind;
}

void ackwrr_share_advance(struct ackwrr_share *share, const u32 *counts, u64 now);
void ackwrr_share_charge(struct ackwrr_share *share, int class, s64 bytes);
void ackwrr_share_served(struct ackwrr_share *share, int class, u32 bytes, bool other_waits);
u32 ackwrr_share_charge_new(struct ackwrr_share *share, int class, u32 bytes);

#endif
