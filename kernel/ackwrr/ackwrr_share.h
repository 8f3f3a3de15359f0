/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "weights auto": which class is behind, in bytes of goodput a connection.
 *
 * Principle: up-down-fairness ties the number of ACKs to that of data packets,
 * but an ACK that is dropped or delayed lets the next one acknowledge more, so no ratio of packets
 * says what uploads get. Here each class has a clock that runs by the bytes its
 * connections move, divided by how many they are, and the class whose clock is
 * behind is served: data payload when it is sent, uploaded bytes when the AP
 * lets an ACK go that makes room for them, or at the latest when they come.
 * What counts is the difference of the clocks.
 *
 * Short connections would disturb that: they come and go, and use less than a
 * share. What those move that do not count yet (ackwrr_activity.h) is free, but
 * no more than one connection that counts moved meanwhile: an endless stream of
 * them is one more connection, and the rest of it is charged to its class.
 *
 * How many connections there are is counted (ackwrr_flows.h) and followed in
 * bounded steps, so that no packet and no scan moves the shares at once.
 *
 * Pure arithmetic: no queue, no lock, no clock of its own.
 */
#ifndef LASACK_ACKWRR_SHARE_H
#define LASACK_ACKWRR_SHARE_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>
#include "ackwrr/ackwrr_round.h"
#include "uapi/pkt_sch_ackwrr.h"

#define ACKWRR_ESTIMATE_ONE	TC_ACKWRR_ESTIMATE_ONE
#define ACKWRR_STEP_NS		(100 * NSEC_PER_MSEC)	/* between steps of estimates */

/* Bytes a connection; what a class did not use beyond it is forgotten. */
#define ACKWRR_LAG_MAX		(256 << 10)

struct ackwrr_share {
	u32	estimates[ACKWRR_CLASSES];	/* connections * ACKWRR_ESTIMATE_ONE */
	u64	next_step;	/* ns */
	s64	lag;		/* data's clock minus that of ACKs, bytes a connection */
	u64	charged[ACKWRR_CLASSES];	/* bytes */
	s64	clocks[ACKWRR_CLASSES];	/* bytes one that counts has moved */
	s64	allowance[ACKWRR_CLASSES];	/* bytes new connections may move free */
	u64	free[ACKWRR_CLASSES];	/* bytes they did */
};

/* One step: a quarter of the greater at most, and at once from or to 0. */
static inline u32 ackwrr_estimate_step(u32 estimate, u32 target)
{
	u32 step = max(estimate, target) / 4;

	if (!estimate || !target)
		return target;
	if (estimate < target)
		return min(estimate + step, target);
	return estimate - min(step, estimate - target);
}

/* Is there anything to share? Else packets go in the order they came. */
static inline bool ackwrr_share_is_shared(const struct ackwrr_share *share)
{
	return share->estimates[ACKWRR_DATA] && share->estimates[ACKWRR_ACK];
}

/**
 * ackwrr_share_advance() - time goes on
 * @share: the clocks
 * @counts: connections by class, now
 * @now: ns
 */
static inline void ackwrr_share_advance(struct ackwrr_share *share, const u32 *counts,
					u64 now)
{
	bool shared = ackwrr_share_is_shared(share);
	int class;

	if (now < share->next_step)
		return;
	share->next_step = now + ACKWRR_STEP_NS;
	for (class = 0; class < ACKWRR_CLASSES; class++)
		share->estimates[class] =
			ackwrr_estimate_step(share->estimates[class],
					     counts[class] * ACKWRR_ESTIMATE_ONE);
	/* What was moved while one had all to itself is no debt. */
	if (ackwrr_share_is_shared(share) != shared)
		share->lag = 0;
}

/* Bytes a connection of a class. */
static inline s64 ackwrr_share_each(const struct ackwrr_share *share, int class, s64 bytes)
{
	u32 connections = max_t(u32, share->estimates[class], ACKWRR_ESTIMATE_ONE);

	return div_s64(bytes * ACKWRR_ESTIMATE_ONE, connections);
}

/* The class's clock goes on, as the other class sees it. */
static inline void ackwrr_share_run(struct ackwrr_share *share, int class, s64 bytes)
{
	s64 each = ackwrr_share_each(share, class, bytes);

	share->charged[class] += bytes;
	share->lag += class == ACKWRR_DATA ? each : -each;
	share->lag = clamp_t(s64, share->lag, -ACKWRR_LAG_MAX, ACKWRR_LAG_MAX);
}

/**
 * ackwrr_share_charge() - connections that count moved bytes
 * @share: the clocks
 * @class: enum ackwrr_which
 * @bytes: negative to give back
 *
 * The new ones of the class may move as much as one of them.
 */
static inline void ackwrr_share_charge(struct ackwrr_share *share, int class, s64 bytes)
{
	s64 each = ackwrr_share_each(share, class, bytes);

	share->clocks[class] += each;
	share->allowance[class] = clamp_t(s64, share->allowance[class] + each,
					  0, ACKWRR_LAG_MAX);
	ackwrr_share_run(share, class, bytes);
}

/**
 * ackwrr_share_charge_new() - connections that do not count yet moved bytes
 * @share: the clocks
 * @class: enum ackwrr_which
 * @bytes: how many; the class is charged for those beyond its allowance
 */
static inline void ackwrr_share_charge_new(struct ackwrr_share *share, int class, u32 bytes)
{
	s64 allowed = min_t(s64, bytes, share->allowance[class]);

	share->allowance[class] -= allowed;
	share->free[class] += allowed;
	ackwrr_share_run(share, class, bytes - allowed);
}

/* The class that is behind; enum ackwrr_which. */
static inline int ackwrr_share_next(const struct ackwrr_share *share)
{
	return share->lag > 0 ? ACKWRR_ACK : ACKWRR_DATA;
}

#endif
