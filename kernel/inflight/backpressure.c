// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long a driver keeps its packets: until they have been transmitted, until the chip has
 * them, or not at all.
 *
 * Principle: no packet can be transmitted faster than its bytes take at the link's highest
 * rate. So imagine a link that is never slower than the real one: a FIFO at that rate, without
 * gaps between packets, which begins each packet as soon as it is handed down. If a packet is
 * freed before this link could have sent it, it was freed too soon: the driver gave it away
 * earlier. The bytes that were freed too soon at one time must be waiting further down. A
 * chip's own queue is bounded. If more bytes than that are waiting, the driver has freed
 * packets that it still has itself.
 *
 * Packets that are freed late say little: a chip whose queue is full frees packets at the pace
 * of the air. So the worst result is believed. It is forgotten only when several packets were
 * kept that came after a rest, and so found an empty chip.
 *
 * If the rate is not known, only packets that are freed while the driver is being given them
 * are noticed.
 *
 * Pure arithmetic under the caller's lock: no packet, no timer, no clock.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include "backpressure.h"

#define INFLIGHT_WINDOW		64U	/* packets, to judge the driver by */
#define INFLIGHT_REST_NS	NSEC_PER_SEC	/* without packets, for a chip to be empty */
#define INFLIGHT_RESTED		16U	/* packets after a rest, to think better of it */
/*
 * Bytes a chip may hold: more than the packet memory of any Wi-Fi chip whose
 * driver frees at the bus, less than a driver's own queue (1024 packets).
 */
#define INFLIGHT_CHIP_KIB	512U

/**
 * inflight_backpressure_set_link() - what the link can do at best
 * @bp: the state
 * @bits_per_s: its highest rate; 0: not known
 * @least_ns: what a packet takes beside its bytes, at least
 */
void inflight_backpressure_set_link(struct inflight_backpressure *bp, u64 bits_per_s,
				    u32 least_ns)
{
	bp->least_ns = bits_per_s ? least_ns : 0;
	bp->kib_ns = bits_per_s ? div64_u64(1024ULL * 8 * NSEC_PER_SEC, bits_per_s) : 0;
}

/* The window is over. The states are in order, from the best to the worst. */
static void inflight_judge(struct inflight_backpressure *bp)
{
	u32 state = TC_INFLIGHT_AIR;

	if (bp->too_soon > INFLIGHT_WINDOW / 2)
		state = bp->overfull ? TC_INFLIGHT_NONE : TC_INFLIGHT_BUS;
	bp->worst = max(bp->worst, state);
	bp->keeps_none = bp->in_transmit > INFLIGHT_WINDOW / 2;
	bp->packets = 0;
	bp->in_transmit = 0;
	bp->too_soon = 0;
	bp->overfull = false;
}

/* A packet that found an empty chip tells whether the driver keeps packets. */
static void inflight_judge_rested(struct inflight_backpressure *bp, bool kept)
{
	if (!kept) {
		bp->rested = 0;
	} else if (bp->worst > TC_INFLIGHT_AIR && ++bp->rested == INFLIGHT_RESTED) {
		bp->rested = 0;
		bp->worst = TC_INFLIGHT_AIR;
	}
}

/**
 * inflight_backpressure_note() - a packet is freed
 * @bp: the state
 * @at: ns: when it was handed down
 * @bytes: of the packet
 * @now: ns
 * @in_transmit: while the driver was being given it
 */
void inflight_backpressure_note(struct inflight_backpressure *bp, u64 at, u32 bytes,
				u64 now, bool in_transmit)
{
	u64 chip_ns = (u64)INFLIGHT_CHIP_KIB * bp->kib_ns;
	u64 sent_at = max(bp->sent_at, at + bp->least_ns) +
		      (((u64)bytes * bp->kib_ns) >> 10);

	if (at >= bp->last + INFLIGHT_REST_NS)
		inflight_judge_rested(bp, !in_transmit && sent_at <= now);
	bp->last = max(bp->last, at);
	if (in_transmit) {
		bp->in_transmit++;
	} else if (sent_at > now) {
		bp->too_soon++;
		bp->overfull |= sent_at > now + chip_ns;
	}
	/* No further ahead than is needed to judge. */
	bp->sent_at = min(sent_at, now + 2 * chip_ns);
	if (++bp->packets == INFLIGHT_WINDOW)
		inflight_judge(bp);
}
