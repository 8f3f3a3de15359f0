/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose turn it is: weighted round robin by packets between two classes.
 *
 * Source: up-down-fairness, section IV (Documentation/papers.md): the data
 * queue is served with 2:3, the ACK queue with 1:3. A class without packets gives its turn away.
 *
 * Pure arithmetic: no queue, no lock, no clock.
 */
#ifndef LASACK_ACKWRR_ROUND_H
#define LASACK_ACKWRR_ROUND_H

#include <linux/types.h>

enum ackwrr_which {
	ACKWRR_DATA,
	ACKWRR_ACK,
	ACKWRR_CLASSES
};

struct ackwrr_round {
	u8	weights[ACKWRR_CLASSES];	/* packets of a turn, 1 to 255 */
	u8	turn;	/* enum ackwrr_which */
	u8	left;	/* packets of this turn */
};

/* A new round, which data begins. */
static inline void ackwrr_round_start(struct ackwrr_round *round)
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
static inline int ackwrr_round_next(struct ackwrr_round *round, const bool *waiting)
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
static inline void ackwrr_round_served(struct ackwrr_round *round, int class)
{
	if (round->turn != class) {
		round->turn = class;
		round->left = round->weights[class];
	}
	round->left--;
}

#endif
