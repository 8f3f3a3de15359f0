/* SPDX-License-Identifier: GPL-2.0-only */
/* Whose turn it is, with fixed weights: ackwrr_round.c. */
#ifndef LASACK_ACKWRR_ROUND_H
#define LASACK_ACKWRR_ROUND_H

#include <linux/types.h>

enum ackwrr_which {
	ACKWRR_DATA,
	ACKWRR_ACK,
	ACKWRR_CLASSES
};

struct ackwrr_round {
	s32	left[ACKWRR_CLASSES];	/* packets of its turn; negative: sent beyond it */
	u8	weights[ACKWRR_CLASSES];	/* packets of a turn, 1 to 255 */
	u8	turn;	/* enum ackwrr_which */
};

void ackwrr_round_start(struct ackwrr_round *round);
int ackwrr_round_next(struct ackwrr_round *round, const bool *waiting);
void ackwrr_round_served(struct ackwrr_round *round, int class, u32 packets);

#endif
