// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which class is served next: weighted round robin by packets between two classes.
 *
 * Source: up-down-fairness (Documentation/papers.md), section IV: of three turns, two are for
 * data and one is for ACKs. A class without packets gives its turn away.
 *
 * A GSO packet is many packets, and goes as one: what was sent beyond a turn is
 * taken off the next ones of that class, as in deficit round robin (M. Shreedhar,
 * G. Varghese, "Efficient Fair Queuing using Deficit Round-Robin", 1996).
 *
 * Pure arithmetic: no queue, no lock, no clock.
 */
#include <linux/types.h>
#include "ackwrr/ackwrr_round.h"

/* It is the turn of the class, and nobody owes or has saved anything. */
static void ackwrr_round_give(struct ackwrr_round *round, int class)
{
	round->turn = class;
	round->left[class] = round->weights[class];
	round->left[!class] = 0;
}

/* A new round, which data begins. */
void ackwrr_round_start(struct ackwrr_round *round)
{
	ackwrr_round_give(round, ACKWRR_DATA);
}

/**
 * ackwrr_round_next() - the class to serve
 * @round: the round
 * @waiting: by class, whether it has packets
 *
 * Return: enum ackwrr_which, or -1: none has packets.
 */
int ackwrr_round_next(struct ackwrr_round *round, const bool *waiting)
{
	int other;

	while (round->left[round->turn] <= 0) {
		other = !round->turn;
		if (!waiting[other]) {
			ackwrr_round_give(round, round->turn);
			break;
		}
		round->turn = other;
		round->left[other] += round->weights[other];
	}
	if (waiting[round->turn])
		return round->turn;
	return waiting[!round->turn] ? !round->turn : -1;
}

/**
 * ackwrr_round_served() - a packet was taken
 * @round: the round
 * @class: of this class; if it was not its turn, it is now
 * @packets: that it is on the air: more than one if it is GSO
 */
void ackwrr_round_served(struct ackwrr_round *round, int class, u32 packets)
{
	if (round->turn != class)
		ackwrr_round_give(round, class);
	round->left[class] -= packets;
}
