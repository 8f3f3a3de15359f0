/* SPDX-License-Identifier: GPL-2.0-only */
/* How accepted connections' windows are to be read, for all queues: see lasack_scale.c. */
#ifndef LASACK_SCALE_H
#define LASACK_SCALE_H

#include "lasack/window/lasack_window.h"

struct net_device;
struct segment_key;

int lasack_scale_shift(const u8 *option, u32 length);
void lasack_scale_note(const struct net_device *dev, const struct segment_key *key, u32 ack_seq,
		       struct lasack_window_scale scale);
struct lasack_window_scale lasack_scale_find(const struct net_device *dev,
					     const struct segment_key *key, u32 ack_seq);

#endif
