/* SPDX-License-Identifier: GPL-2.0-only */
/* Sets of packet numbers, as an ACK has them: the newest ranges only. */
#ifndef QUIC_RANGES_H
#define QUIC_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#define RANGES_MAX	32

struct range {
	uint64_t first, last;
};

/* Highest first; between two of them at least one number is missing. */
struct ranges {
	unsigned int count;
	struct range each[RANGES_MAX];
};

/*
 * Returns false if it is in the set already. When there are too many ranges the lowest is
 * forgotten, and a number that is lower than all ranges of a full set is not taken up.
 */
bool ranges_add(struct ranges *set, uint64_t number);

#endif
