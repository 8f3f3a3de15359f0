// SPDX-License-Identifier: GPL-2.0-only
/*
 * "weights auto": which class is behind, in bytes of goodput per connection.
 *
 * Principle: up-down-fairness (Documentation/papers.md) ties the number of ACKs to the number
 * of data packets. But when an ACK is dropped or delayed, the next one acknowledges more. So
 * no ratio of packets says what uploads get. Here each class has a clock. It advances by the
 * bytes that the connections of the class move, divided by their number. The class whose clock
 * is behind is served. Data is charged when it is sent. Uploaded bytes are charged when an ACK
 * is sent that allows for them, or at the latest when they arrive. Only the difference of the
 * clocks matters.
 *
 * Short connections would disturb this, because they come and go and use less than a share. So
 * the bytes that a connection moves before it counts (ackwrr_activity.c) are free. But all new
 * connections together have no more free bytes than one connection that counts has moved
 * meanwhile. Beyond that their class is charged. So an endless stream of new connections is
 * like one more connection.
 *
 * Who says what is not true, such as that much was uploaded, can put a class ahead. So a class
 * whose packets wait keeps a quarter of its share, whatever the clocks say: what the other class
 * sends meanwhile is counted, and four times what it sends itself is subtracted. If the other one
 * has sent more, it was passed over and is next.
 *
 * The estimates follow the number of connections (ackwrr_flows.c) in bounded steps, so that no
 * single packet and no scan changes the shares at once.
 *
 * Pure arithmetic: no queue, no lock, no clock of its own.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include "ackwrr/ackwrr_share.h"

/* The part of its share that a class keeps, as a divisor. */
#define ACKWRR_KEPT		4
/* Bytes a connection: no class is more ahead or behind by that count, or by one packet. */
#define ACKWRR_PASSED_MAX	(64 << 10)

/* One step: a quarter of the greater at most, and at once from or to 0. */
static u32 ackwrr_estimate_step(u32 estimate, u32 target)
{
	u32 step = max(estimate, target) / 4;

	if (!estimate || !target)
		return target;
	if (estimate < target)
		return min(estimate + step, target);
	return estimate - min(step, estimate - target);
}

/**
 * ackwrr_share_advance() - time goes on
 * @share: the clocks
 * @counts: connections by class, now
 * @now: ns
 */
void ackwrr_share_advance(struct ackwrr_share *share, const u32 *counts, u64 now)
{
	bool shared = ackwrr_share_is_shared(share);
	int class;

	if (now < share->next_step)
		return;
	share->next_step = now + ACKWRR_STEP_NS;
	for (class = 0; class < ACKWRR_CLASSES; class++) {
		u32 *estimate = &share->estimates[class];

		*estimate = ackwrr_estimate_step(*estimate,
						 counts[class] * ACKWRR_ESTIMATE_ONE);
		/* Here, once a step, so that no packet has to divide. */
		share->inverse[class] =
			DIV_ROUND_UP_ULL((u64)ACKWRR_ESTIMATE_ONE << 32,
					 max_t(u32, *estimate, ACKWRR_ESTIMATE_ONE));
	}
	/* Bytes that a class moved while the other had no connection are no debt. */
	if (ackwrr_share_is_shared(share) != shared)
		share->lag = 0;
}

/* Bytes a connection of a class; @bytes is below 2^31 either way. */
static s64 ackwrr_share_each(const struct ackwrr_share *share, int class, s64 bytes)
{
	u64 inverse = share->inverse[class];

	if (!inverse)
		return bytes;
	return bytes < 0 ? -(s64)(-bytes * inverse >> 32) : (s64)(bytes * inverse >> 32);
}

/* The class's clock goes on by so many bytes a connection, as the other class sees it. */
static void ackwrr_share_run(struct ackwrr_share *share, int class, s64 bytes, s64 each)
{
	share->charged[class] += bytes;
	share->lag += class == ACKWRR_DATA ? each : -each;
	share->lag = clamp_t(s64, share->lag, -ACKWRR_LAG_MAX, ACKWRR_LAG_MAX);
}

/**
 * ackwrr_share_charge() - connections that count moved bytes
 * @share: the clocks
 * @class: enum ackwrr_which
 * @bytes: below 2^31; negative to give back
 *
 * The new connections of the class get as many free bytes as one of these moved.
 */
void ackwrr_share_charge(struct ackwrr_share *share, int class, s64 bytes)
{
	s64 each = ackwrr_share_each(share, class, bytes);

	share->clocks[class] += each;
	share->allowance[class] = clamp_t(s64, share->allowance[class] + each,
					  0, ACKWRR_LAG_MAX);
	ackwrr_share_run(share, class, bytes, each);
}

/**
 * ackwrr_share_served() - a packet of a class has gone
 * @share: the clocks; charged if it is an ACK that moved next to nothing
 * @class: enum ackwrr_which
 * @bytes: of the class's own kind that it moved, below 2^31
 * @other_waits: the other class had packets that could have gone
 */
void ackwrr_share_served(struct ackwrr_share *share, int class, u32 bytes, bool other_waits)
{
	s64 *passed = share->passed, each, most;

	if (class == ACKWRR_ACK && bytes < ACKWRR_ACK_LEAST) {
		u32 more = ACKWRR_ACK_LEAST - bytes;

		ackwrr_share_run(share, class, more, ackwrr_share_each(share, class, more));
	}
	each = ackwrr_share_each(share, class, max_t(u32, bytes, ACKWRR_ACK_LEAST));
	most = max_t(s64, each, ACKWRR_PASSED_MAX);
	passed[class] = max(passed[class] - ACKWRR_KEPT * each, -most);
	if (other_waits)
		passed[!class] = min(passed[!class] + each, most);
	else
		passed[!class] = min_t(s64, passed[!class], 0);
}

/**
 * ackwrr_share_charge_new() - connections that do not count yet moved bytes
 * @share: the clocks
 * @class: enum ackwrr_which
 * @bytes: below 2^31; the class is charged for those beyond its allowance
 *
 * Return: bytes that the class was charged for.
 */
u32 ackwrr_share_charge_new(struct ackwrr_share *share, int class, u32 bytes)
{
	s64 allowed = min_t(s64, bytes, share->allowance[class]);

	share->allowance[class] -= allowed;
	share->free[class] += allowed;
	bytes -= allowed;
	ackwrr_share_run(share, class, bytes, ackwrr_share_each(share, class, bytes));
	return bytes;
}
