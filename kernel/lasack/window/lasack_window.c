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
 * - If the rate falls, the window itself makes the round trip long. So if ACKs wait for twice the
 *   most that they should, the limit changes after that time already. Then half of those bytes is
 *   taken away that wait for too long.
 * - It becomes at most half of what it was, and a quarter more, and never less than the least. If
 *   ACKs hardly wait, nothing tells how much is missing: then it is a quarter.
 * - What the sender was allowed is never taken back (RFC 9293, 3.8.6: do not shrink the window).
 *   The window becomes less only as data is acknowledged.
 * - If ACKs do not wait here, but the data waits in its station, the queue is there, and what else
 *   the station sends waits in it, too. Then the station's uploads share the least: the window of
 *   each becomes what has come from the station, and its part of the least that waits there, but
 *   three segments. It grows again when no data has been late lately, by half a segment a round
 *   trip: nothing tells how long the queue will be then. The only connection of a station is left
 *   alone. If data is still late by more than the target when the window is small, the queue is not
 *   that of the uploads. The window would only leave the air to what fills it, so it is left alone
 *   for a while.
 * - So small a window is made of whole segments, but for a few bytes less, as its scale is coarse.
 *   If it had a few bytes more, a Linux sender would send these in a packet of their own. It takes
 *   nearly as much air as a whole one, and the receiver acknowledges it. Other senders send whole
 *   segments only (RFC 9293, 3.8.6.2.1), one less: two, as most receivers acknowledge the second.
 * - The target is two thirds of the round trip without the ACKs' wait, but within bounds. What the
 *   air denies a station for a moment, its upload makes up for out of what waits here. If the round
 *   trip is long, new data comes late, so more must wait. What waits in the station makes it long,
 *   too. Where lasack_near.c knows how near the receiver is, that counts.
 *
 * Source: S. Pilosof, R. Ramjee, D. Raz, Y. Shavitt, P. Sinha, "Understanding TCP fairness over
 * Wireless LAN", INFOCOM 2003, which sets the window in the ACKs to a share of the access point's
 * buffer. Here time is the aim. A few segments in the queue, two to four there: L. Brakmo,
 * S. O'Malley, L. Peterson, "TCP Vegas", SIGCOMM 1994.
 */
#include <linux/bits.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include "lasack/window/lasack_window.h"

#define LASACK_WINDOW_SHIFT_MAX	14	/* RFC 7323, 2.3 */
/* When it is limited first: so much more than what waiting ACKs acknowledge. */
#define LASACK_WINDOW_MARGIN	(32U << 10)
/* Segments of an upload that may wait in a station with a long queue. */
#define LASACK_WINDOW_QUEUED	3U
/* More uploads than so many have no less than that: a segment may be larger than those so far. */
#define LASACK_WINDOW_SHARES	4U
/* In units of 2^10 ns: with a small window data is late for so long, then that is futile for ... */
#define LASACK_WINDOW_TRIES	BIT(21)
/* ... so long. */
#define LASACK_WINDOW_FUTILE	BIT(23)

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

/* Return: the part of @bytes that leaves in @part of @whole. */
static u32 lasack_window_part(u32 bytes, u32 part, u32 whole)
{
	return min_t(u64, S32_MAX, div_u64((u64)bytes * part, whole));
}

/*
 * Have ACKs waited for twice the most on average, and for no longer than since the limit changed?
 * Asked of each ACK, so it does not divide.
 */
static bool lasack_window_is_late(const struct lasack_window *w,
				  const struct lasack_window_aim *aim, u32 now)
{
	return w->waited > 2 * mul_u32_u32(aim->wait_most, w->acks) &&
	       w->waited <= mul_u32_u32(now - w->since, w->acks);
}

/* A round trip is not over. Return: bytes to be taken from the limit. */
static u32 lasack_window_excess(const struct lasack_window_aim *aim,
				const struct lasack_window_ack *ack)
{
	if (ack->waited <= aim->wait_most)
		return 0;
	return lasack_window_part(ack->behind, ack->waited - aim->wait_most, ack->waited) / 2;
}

/* A round trip is over. Return: bytes to be added to the limit. */
static s32 lasack_window_step(const struct lasack_window *w, const struct lasack_window_aim *aim,
			      const struct lasack_window_ack *ack)
{
	u32 trip = max(ack->now - w->since, 1U), mean = div_u64(w->waited, w->acks), target;
	u32 without = trip - min(trip, mean), least = aim->wait;

	if (aim->wait_near && ack->trip) {
		without = min(without, ack->trip);
		least = aim->wait_near;
	}
	target = clamp(without / 3 * 2, least, aim->wait_most);
	if (mean > target)
		return -(s32)(lasack_window_part(w->limit, mean - target, trip) / 2);
	if (mean < target / 4)
		return w->limit / 4;
	return max(lasack_window_part(w->limit, target - mean, trip) / 4, aim->window / 8);
}

/* Everything that the sender may send by now is to be acknowledged before the limit changes. */
static void lasack_window_begin(struct lasack_window *w, const struct lasack_window_ack *ack)
{
	w->until = w->edge;
	w->since = ack->now;
	w->waited = 0;
	w->acks = 0;
}

/* Return: the limit if the queue is not here but in the station; 0: it is not. */
static u32 lasack_window_elsewhere(const struct lasack_window *w,
				   const struct lasack_window_aim *aim,
				   const struct lasack_window_ack *ack)
{
	const struct lasack_window_station *station = &ack->station;

	if (!station->late || !station->segment || !station->shared ||
	    ack->waited >= aim->wait / 4 ||
	    (w->futile && ack->now - w->futile < LASACK_WINDOW_FUTILE))
		return 0;
	return station->beyond + max(aim->window / min(station->uploads, LASACK_WINDOW_SHARES),
				     LASACK_WINDOW_QUEUED * station->segment);
}

/* The limit is small, for the station's sake. It changes also if nothing is sent for long. */
static void lasack_window_try(struct lasack_window *w, const struct lasack_window_aim *aim,
			      const struct lasack_window_ack *ack, u32 elsewhere)
{
	bool long_since = ack->now - w->since > LASACK_WINDOW_TRIES;
	const struct lasack_window_station *station = &ack->station;

	if (elsewhere && long_since && station->late > aim->wait_most &&
	    (s32)(w->edge - ack->seq - w->limit) <= 0) {
		w->futile = ack->now ?: 1;
		w->limit = aim->window;
	} else if (!station->lately && (long_since || (s32)(w->until - ack->seq) <= 0)) {
		w->limit += station->segment / 2 ?: aim->window / 8;
	} else {
		return;
	}
	lasack_window_begin(w, ack);
}

static void lasack_window_adjust(struct lasack_window *w, const struct lasack_window_aim *aim,
				 const struct lasack_window_ack *ack, u32 advertised)
{
	u32 elsewhere = lasack_window_elsewhere(w, aim, ack);
	s32 step;

	if (elsewhere && (!w->limit || w->limit > elsewhere)) {
		w->limit = elsewhere;
	} else if (w->limit && w->limit < aim->window) {
		lasack_window_try(w, aim, ack, elsewhere);
		return;
	} else if (w->limit) {
		w->waited += ack->waited;
		w->acks += w->acks < U32_MAX;
		if ((s32)(w->until - ack->seq) <= 0)
			step = lasack_window_step(w, aim, ack);
		else if (lasack_window_is_late(w, aim, ack->now))
			step = -(s32)lasack_window_excess(aim, ack);
		else
			return;
		/* More than the receiver allows is of no use. */
		if (step > 0)
			step = min3(step, (s32)(w->limit / 4),
				    (s32)(max(advertised, w->limit) - w->limit));
		w->limit = max(aim->window, w->limit + max(step, -(s32)(w->limit / 2)));
	} else {
		if (ack->waited <= aim->wait || ack->behind < 2 * aim->window)
			return;
		w->limit = ack->behind + LASACK_WINDOW_MARGIN;
	}
	lasack_window_begin(w, ack);
}

/* Return: the limit, if it is small in whole segments but for a few bytes. */
static u32 lasack_window_whole(const struct lasack_window *w, const struct lasack_window_aim *aim,
			       const struct lasack_window_ack *ack)
{
	u32 segment = ack->station.segment, unit = 1U << ack->shift;

	if (w->limit >= aim->window || segment <= unit)
		return w->limit;
	return max(DIV_ROUND_CLOSEST(w->limit, segment), LASACK_WINDOW_QUEUED) * segment - unit + 1;
}

/**
 * lasack_window_serve() - an ACK is sent
 * @w: the window
 * @aim: what is wanted
 * @ack: the ACK
 *
 * Return: the window that it is to tell, at most that of the receiver, in the same unit.
 */
u16 lasack_window_serve(struct lasack_window *w, const struct lasack_window_aim *aim,
			const struct lasack_window_ack *ack)
{
	u32 advertised = (u32)ack->window << ack->shift, allowed = advertised;
	s32 promised = w->edge - ack->seq;

	/* The first ACK only tells up to where the sender may send. */
	if (w->edge)
		lasack_window_adjust(w, aim, ack, advertised);
	if (w->limit)
		allowed = min(advertised,
			      max_t(u32, lasack_window_whole(w, aim, ack), max(promised, 0)));
	/* To be rounded up, as the edge: then the next ACK takes nothing back. */
	allowed = DIV_ROUND_UP(allowed, 1U << ack->shift);
	if (!w->edge || (s32)((allowed << ack->shift) - promised) > 0)
		w->edge = ack->seq + (allowed << ack->shift) ?: 1;
	return allowed;
}
