// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which class is served next: weighted round robin by packets between two classes.
 *
 * Source: up-down-fairness (Documentation/papers.md), section IV: of three turns, two are for
 * data and one is for ACKs. A class without packets gives its turn away.
 *
 * Pure arithmetic: no queue, no lock, no clock.
 */
#include <linux/types.h>
#include "ackwrr/ackwrr_round.h"

/* A new round, which data begins. */
void ackwrr_round_start(struct ackwrr_round *round)
{
	round->turn = ACKWRR_DATA;
	round->left = round->weights[ACKWRR_DATA];
}

/**
 * ackwrr_round_next() - the class to serve
 * @round: the round
 * @waiting: by class, whether it has packets
 *
 * Changes nothing but an exhausted turn. Return: enum ackwrr_which, or -1: none
 * has packets.
 */
int ackwrr_round_next(struct ackwrr_round *round, const bool *waiting)
{
	if (!round->left) {
		round->turn = !round->turn;
		round->left = round->weights[round->turn];
	}
	if (waiting[round->turn])
		return round->turn;
	return waiting[!round->turn] ? !round->turn : -1;
}

/**
 * ackwrr_round_served() - a packet was taken
 * @round: the round
 * @class: of this class; if it was not its turn, it is now
 */
void ackwrr_round_served(struct ackwrr_round *round, int class)
{
	if (round->turn != class) {
		round->turn = class;
		round->left = round->weights[class];
	}
	round->left--;
}
