// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long packets wait if the server is near, or very far.
 *
 * Principle: what waits here is what goes out until a sender that was told to send less, or lost
 * something, sends as much again. That takes it some round trips. So behind a long path packets
 * must wait for long, or the connection gets less than its share. Behind a short one they need not.
 *
 * The round trip is the time from the station's SYN to its answer: to the server and back. It
 * contains neither what waits here nor the air. Where it is not known, because the server began the
 * connection or the SYN was not seen, the server counts as far.
 *
 * - Data: with aggregates CoDel's target is a third of it, and its interval 32 targets: 1.6 s with
 *   the longest one, 50 ms, as for far servers (lasack_aqm.c). It is half a second at least: the
 *   two directions take turns of that length. Without them the target is two thirds of it, and the
 *   interval stays 0.3 s. A page's connection does not last much longer, and should not lose
 *   packets while it begins.
 * - Data, without aggregates, of a server that is more than 200 ms away: half of the round trip,
 *   and three times that. CUBIC goes on with 0.7 of its window (RFC 9438, 4.6). So the sender sends
 *   all the time only if 0.3 / 0.7 of a round trip's packets wait here, or more. With aggregates
 *   the long interval does as well.
 * - ACKs, with aggregates: two thirds of it, as lasack_window.c has it, but not of what it measures
 *   itself. In that is also what waits in the station.
 *
 * Both have a least value, for the air may deny a station its turn for so long. (The data's may be
 * halved, for what waits in the station.) The ACKs' is twice as long, as their sender is behind the
 * air. With aggregates data waits for a quarter of the target at least. Without them it is half of
 * it, so that ACKs wait for the whole, as if the server were far: smaller windows bring more ACKs,
 * and each of them is sent alone.
 */
#include <linux/limits.h>
#include <linux/minmax.h>
#include "lasack/window/lasack_near.h"

#define LASACK_NEAR_SHIFT	11	/* 2^21 ns */
/* CoDel's interval with aggregates, at least: as long as a turn of one direction. */
#define LASACK_NEAR_INTERVAL	((codel_time_t)MS2TIME(500))
/* CoDel's interval of a very far server, in targets, as for others: see LASACK_AQM_INTERVAL. */
#define LASACK_NEAR_FAR		3
/* CoDel's usual interval (RFC 8289, 4.3), which is enough where the target is smaller. */
#define LASACK_NEAR_USUAL	((codel_time_t)MS2TIME(100))

/* Return: a round trip, 2^10 ns, in eight bits, about 2 ms each, to the next; 0 is not known. */
u8 lasack_near_pack(u32 trip)
{
	return trip ? min((trip >> LASACK_NEAR_SHIFT) + 1, (u32)U8_MAX) : 0;
}

/* Return: a round trip in units of 2^10 ns, or 0: not known. */
u32 lasack_near_unpack(u8 packed)
{
	return (u32)packed << LASACK_NEAR_SHIFT;
}

/**
 * lasack_near_set() - how long data waits for near servers
 * @near: that
 * @target: how long it waits for far ones, 2^10 ns
 * @aggregates: the device sends them
 */
void lasack_near_set(struct lasack_near *near, codel_time_t target, bool aggregates)
{
	near->least = target / (aggregates ? 4 : 2);
	near->thirds = aggregates ? 1 : 2;
	near->interval = aggregates ? 32 : 0;
}

/**
 * lasack_near_codel() - how long a connection's data may wait
 * @near: for near servers
 * @trip: to the server and back, 2^10 ns; 0: not known
 * @params: as if the server were far; changed if it is near, or very far
 */
void lasack_near_codel(const struct lasack_near *near, u32 trip, struct codel_params *params)
{
	u32 target = trip / 3 * near->thirds;

	if (!near->least || !trip)
		return;
	if (target < params->target) {
		params->target = max(target, near->least);
		if (near->interval)
			params->interval = max(near->interval * params->target,
					       LASACK_NEAR_INTERVAL);
	} else if (!near->interval && trip / 2 > params->target) {
		params->target = trip / 2;
		params->interval = LASACK_NEAR_FAR * params->target;
	}
}

/**
 * lasack_near_codel_twice() - data waits here and, as ACKs, in its station
 * @wait: in the station, 2^10 ns; 0: it does not
 * @params: as if it waited only here; changed if it waits there
 *
 * The two waits together have one target, but half of it is always for the one here. Then CoDel
 * needs less time, too: its usual interval, but no less than the target.
 */
void lasack_near_codel_twice(u32 wait, struct codel_params *params)
{
	if (!wait)
		return;
	params->target -= min(wait, params->target / 2);
	params->interval = min(params->interval, max(params->target, LASACK_NEAR_USUAL));
}
