/* SPDX-License-Identifier: GPL-2.0-only */
/* How long packets wait where aggregates are sent, if the server is near. See lasack_near.c. */
#ifndef LASACK_NEAR_H
#define LASACK_NEAR_H

#include <linux/types.h>
#include <net/codel.h>

u8 lasack_near_pack(u32 trip);
u32 lasack_near_unpack(u8 packed);
void lasack_near_codel(codel_time_t least, u32 trip, struct codel_params *params);

#endif
