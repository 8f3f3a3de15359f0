/* SPDX-License-Identifier: GPL-2.0-only */
/* How long packets wait if the server is near, or very far. See lasack_near.c. */
#ifndef LASACK_NEAR_H
#define LASACK_NEAR_H

#include <linux/types.h>
#include <net/codel.h>

/* How long data waits. */
struct lasack_near {
	codel_time_t	least;	  /* at least, 2^10 ns; 0: as if every server were far */
	u32		thirds;	  /* of the round trip */
	u32		interval; /* CoDel's, targets; 0: as for far servers */
};

u8 lasack_near_pack(u32 trip);
u32 lasack_near_unpack(u8 packed);
void lasack_near_set(struct lasack_near *near, codel_time_t target, bool aggregates);
void lasack_near_codel(const struct lasack_near *near, u32 trip, struct codel_params *params);
void lasack_near_codel_twice(u32 wait, struct codel_params *params);

#endif
