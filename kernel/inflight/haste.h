/* SPDX-License-Identifier: GPL-2.0-only */
/* How many urgent bytes may be handed down: see haste.c. */
#ifndef LASACK_INFLIGHT_HASTE_H
#define LASACK_INFLIGHT_HASTE_H

#include <linux/types.h>

struct inflight_haste {
	u64	at;	/* ns: up to when what was added is counted */
	u32	bytes;	/* left then */
};

u32 inflight_haste_rate(u32 best);
u32 inflight_haste_whole(u32 rate);
u32 inflight_haste_left(const struct inflight_haste *haste, u32 rate, u64 now);
void inflight_haste_take(struct inflight_haste *haste, u32 rate, u32 bytes, u64 now);

#endif
