/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether a station's queue is a fair one. See lasack_overtake.c. */
#ifndef LASACK_OVERTAKE_H
#define LASACK_OVERTAKE_H

#include <linux/types.h>

/* Of a station. Times are in units of 2^10 ns, modulo 2^32. */
struct lasack_overtake {
	u32	flow;		/* a hash of a connection ... */
	u32	end;		/* ... of which data up to here ... */
	u32	sent;		/* ... was sent to the station then ... */
	u32	pending;	/* ... and no ACK of it has come yet */
	u32	answered;	/* when the data was sent whose ACK came last; 0: none came */
};

void lasack_overtake_ask(struct lasack_overtake *o, u32 flow, u32 end, u32 now);
bool lasack_overtake_is_pending(const struct lasack_overtake *o, u32 now);
void lasack_overtake_answer(struct lasack_overtake *o, u32 flow, u32 ack_seq);
bool lasack_overtake_seen(const struct lasack_overtake *o, u32 since);
void lasack_overtake_forget(struct lasack_overtake *o);

#endif
