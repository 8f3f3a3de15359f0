// SPDX-License-Identifier: GPL-2.0-only
/*
 * The window that an upload's sender is allowed.
 *
 * Principle: the sender of an upload is clocked by its ACKs. What waits here is not its data but
 * these ACKs. So its queue is long when its window is large, and nothing is ever lost that would
 * make the window smaller. It sends a whole window at once, and then waits for its turn. With a
 * window such that its ACKs wait for the target, it sends all the time, and no less in all.
 *
 * The receiver says in each ACK how much the sender may send. Here it may become less, never more.
 * It is what makes the ACKs wait for the target:
 *
 * - ACKs that wait for w acknowledge b bytes, by Little's law at a rate of b/w. With b*target/w
 *   they would wait for the target. Half of the difference is added to the window or taken from it,
 *   once in the time in which the effect is seen: that which the ACKs wait.
 * - It becomes at most half of what it was, and a quarter more, and never less than the least.
 * - What the sender was allowed is never taken back (RFC 9293, 3.8.6: do not shrink the window).
 *   The window becomes less only as data is acknowledged.
 *
 * Source: S. Pilosof, R. Ramjee, D. Raz, Y. Shavitt, P. Sinha, "Understanding TCP fairness over
 * Wireless LAN", INFOCOM 2003, which sets the window in the ACKs to a share of the access point's
 * buffer. Here time is the aim.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include "lasack/lasack_window.h"

#define LASACK_WINDOW_SHIFT_MAX	14	/* RFC 7323, 2.3 */
/* No ACK waits for longer: a minute, in units of 2^10 ns. */
#define LASACK_WINDOW_SOON	(64U << 20)
/* When it is limited first: so much more than what waiting ACKs acknowledge. */
#define LASACK_WINDOW_MARGIN	(32U << 10)

/**
 * lasack_window_open() - a receiver has accepted the connection
 * @scale: how its windows are to be read
 * @reversed: the direction of its packets
 * @shift: of its windows; negative: it cannot be told, or must not be used
 *
 * Who knows the addresses and ports can forge this, too. If two such packets differ, nobody knows
 * which is real, and the window is left alone.
 */
void lasack_window_open(struct lasack_window_scale *scale, bool reversed, int shift)
{
	shift = min(shift, LASACK_WINDOW_SHIFT_MAX);
	if (shift < 0 || (scale->known && (scale->reversed != reversed || scale->shift != shift)))
		scale->unclear = 1;
	if (scale->unclear || scale->known)
		return;
	scale->known = 1;
	scale->reversed = reversed;
	scale->shift = shift;
}

/**
 * lasack_window_allow() - how much an ACK may allow the sender
 * @w: the window
 * @ack_seq: what it acknowledges
 * @advertised: how much the receiver allows, bytes
 *
 * Return: bytes, at most @advertised.
 */
u32 lasack_window_allow(struct lasack_window *w, u32 ack_seq, u32 advertised)
{
	u32 allowed = advertised;
	s32 promised = w->edge - ack_seq;

	if (w->limit >= advertised)
		w->limit = 0;
	if (w->limit)
		allowed = min(advertised, max_t(u32, w->limit, max(promised, 0)));
	if (!w->edge || (s32)(ack_seq + allowed - w->edge) > 0)
		w->edge = ack_seq + allowed ?: 1;
	return allowed;
}

/* Bytes to be added to the limit, or taken from it. */
static s32 lasack_window_step(const struct lasack_window *w, u32 target, u32 behind, u32 least)
{
	u32 waited = max(w->waited, target / 8), part;

	if (waited > target) {
		part = div_u64((u64)behind * (waited - target), waited) / 2;
		return -(s32)min(part, w->limit / 2);
	}
	part = div_u64((u64)behind * (target - waited), waited) / 2;
	return clamp(part, least / 8, max(w->limit / 4, least / 8));
}

/**
 * lasack_window_adjust() - an ACK is sent
 * @w: the window
 * @now: the time
 * @waited: how long the ACK has waited
 * @target: how long it should
 * @behind: bytes that ACKs behind it acknowledge
 * @least: the limit is never less, bytes
 */
void lasack_window_adjust(struct lasack_window *w, u32 now, u32 waited, u32 target, u32 behind,
			  u32 least)
{
	w->waited = w->waited - (w->waited >> 3) + (waited >> 3);
	if (!w->limit) {
		if (waited <= target || behind < 2 * least)
			return;
		w->limit = behind + LASACK_WINDOW_MARGIN;
		w->waited = waited;
	} else {
		/* The clock wraps: after half an hour without ACKs what is past seems to come. */
		if (w->next - now - 1 < LASACK_WINDOW_SOON)
			return;
		w->limit = max(least, w->limit + lasack_window_step(w, target, behind, least));
	}
	w->next = now + max(w->waited, target);
}
