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
 * - What a window allows is acknowledged one round trip later. So the limit changes once in a round
 *   trip, when everything that the sender was allowed at the last change is acknowledged. By
 *   Little's law the limit is the rate times this round trip, and with rate * (target - wait) more
 *   or less the ACKs would wait for the target. What is known of the wait is a round trip old, too.
 *   So a quarter of it is added: with that lag it comes near the target soonest without going
 *   beyond (x[n+1] = x[n] + g (1 - x[n-1]) is critically damped with g = 1/4). Half of it is taken
 *   away: the longer the wait, the longer the round trip, and the later the next change.
 * - It becomes at most half of what it was, and a quarter more, and never less than the least.
 * - What the sender was allowed is never taken back (RFC 9293, 3.8.6: do not shrink the window).
 *   The window becomes less only as data is acknowledged.
 * - The target is two thirds of the round trip without the ACKs' wait, but within bounds. What the
 *   air denies a station for a moment, its upload makes up for out of what waits here. If the round
 *   trip is long, new data comes late, so more must wait.
 *
 * Source: S. Pilosof, R. Ramjee, D. Raz, Y. Shavitt, P. Sinha, "Understanding TCP fairness over
 * Wireless LAN", INFOCOM 2003, which sets the window in the ACKs to a share of the access point's
 * buffer. Here time is the aim.
 */
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include "lasack/lasack_window.h"

#define LASACK_WINDOW_SHIFT_MAX	14	/* RFC 7323, 2.3 */
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

/* Return: bytes that make ACKs wait for @time. */
static u32 lasack_window_of(const struct lasack_window *w, u32 time, u32 trip)
{
	return min_t(u64, S32_MAX, div_u64((u64)w->limit * time, trip));
}

/* A round trip is over. Return: bytes to be added to the limit. */
static s32 lasack_window_step(const struct lasack_window *w, const struct lasack_window_aim *aim,
			      u32 now)
{
	u32 trip = max(now - w->since, 1U), waited = div_u64(w->waited, w->acks), target;

	target = clamp((trip - min(trip, waited)) / 3 * 2, aim->wait, aim->wait_most);
	if (waited > target)
		return -(s32)min(lasack_window_of(w, waited - target, trip) / 2, w->limit / 2);
	return clamp(lasack_window_of(w, target - waited, trip) / 4, aim->window / 8,
		     max(w->limit / 4, aim->window / 8));
}

/**
 * lasack_window_adjust() - an ACK is sent
 * @w: the window
 * @aim: what is wanted
 * @now: the time
 * @ack_seq: what the ACK acknowledges
 * @waited: how long it has waited
 * @behind: bytes that ACKs behind it acknowledge
 */
void lasack_window_adjust(struct lasack_window *w, const struct lasack_window_aim *aim, u32 now,
			  u32 ack_seq, u32 waited, u32 behind)
{
	if (w->limit) {
		w->waited += waited;
		w->acks++;
		if ((s32)(w->until - ack_seq) > 0)
			return;
		w->limit = max(aim->window, w->limit + lasack_window_step(w, aim, now));
	} else {
		if (waited <= aim->wait || behind < 2 * aim->window)
			return;
		w->limit = behind + LASACK_WINDOW_MARGIN;
	}
	w->until = w->edge;
	w->since = now;
	w->waited = 0;
	w->acks = 0;
}
