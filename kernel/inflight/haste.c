// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many urgent bytes may be handed down.
 *
 * Principle: a token bucket for each station and one for all. A call of 50 packets in a second
 * always finds enough in that of its station, however slow the device is.
 *
 * Pure arithmetic: no packet, no lock, no clock.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include "haste.h"

/*
 * Bytes in a ms. A call of 50 packets in a second needs 25.6, because none counts for less than
 * 512 bytes (account.c).
 */
#define INFLIGHT_HASTE_LEAST	32U
#define INFLIGHT_HASTE_SHARE	16U	/* of what the device sends at best */
#define INFLIGHT_HASTE_MS	256U	/* so much at once */

/**
 * inflight_haste_rate() - what a station may have
 * @best: bytes that the device sends in a ms at best, 0: not known
 *
 * Return: bytes in a ms.
 */
u32 inflight_haste_rate(u32 best)
{
	return max(INFLIGHT_HASTE_LEAST, best / INFLIGHT_HASTE_SHARE);
}

/* What a full bucket has. */
u32 inflight_haste_whole(u32 rate)
{
	return INFLIGHT_HASTE_MS * rate;
}

/**
 * inflight_haste_left() - bytes that may go now
 * @haste: the bucket
 * @rate: bytes in a ms
 * @now: ns
 */
u32 inflight_haste_left(const struct inflight_haste *haste, u32 rate, u64 now)
{
	u64 ms = div_u64(now - haste->at, NSEC_PER_MSEC);

	return min_t(u64, haste->bytes + min_t(u64, ms, INFLIGHT_HASTE_MS) * rate,
		     inflight_haste_whole(rate));
}

/* @bytes of them go, or all that are left. Part of a ms counts the next time. */
void inflight_haste_take(struct inflight_haste *haste, u32 rate, u32 bytes, u64 now)
{
	u32 left = inflight_haste_left(haste, rate, now);
	u64 ms = div_u64(now - haste->at, NSEC_PER_MSEC);

	haste->bytes = left - min(left, bytes);
	haste->at = ms < INFLIGHT_HASTE_MS ? haste->at + ms * NSEC_PER_MSEC : now;
}
