/* SPDX-License-Identifier: GPL-2.0-only */
/* The window that an upload's sender is allowed. See lasack_window.c. */
#ifndef LASACK_WINDOW_H
#define LASACK_WINDOW_H

#include <linux/types.h>

/* How the windows in a receiver's packets are to be read. */
struct lasack_window_scale {
	u8	shift:4,	/* of the window (RFC 7323, 2.2) */
		known:1,	/* the shift is */
		unclear:1,	/* whether it is that will never be known */
		reversed:1,	/* the receiver's packets are */
		told:1;		/* lasack_scale.c was asked */
};

/* Times are in units of 2^10 ns, modulo 2^32, as a packet's time of arrival. */
struct lasack_window {
	u32	limit;		/* bytes beyond an ACK; 0: as many as the receiver allows */
	u32	edge;		/* sequence number: up to here the sender may send */
	u32	until;		/* sequence number: the limit stays until it is acknowledged */
	u32	since;		/* when the limit changed */
	u32	acks;		/* sent since then */
	u64	waited;		/* how long these ACKs waited, in sum */
	u32	futile;		/* when a small limit proved to be so; 0: it did not */
};

/* What is wanted of a window. */
struct lasack_window_aim {
	u32	wait;		/* ACKs are to wait for 2/3 of a round trip, but at least ... */
	u32	wait_most;	/* ... and at most */
	u32	wait_near;	/* at least if the other end is near; 0: as above */
	u32	window;		/* bytes: the least, but for the sake of a station */
};

/* What is known of the station that sends an upload. See lasack_echo.c. */
struct lasack_window_station {
	u32	segment;	/* bytes of its segments; 0: nothing is known */
	u32	uploads;	/* large ones that it has now, with this one */
	bool	shared;		/* it sends other things, too */
	u32	beyond;		/* bytes that came from it, and that the ACK does not acknowledge */
	u32	late;		/* since the last ACK, data came that had waited so long in it */
	bool	lately;		/* or in the last seconds */
};

/* An ACK that is sent. */
struct lasack_window_ack {
	u32	now;		/* the time */
	u32	seq;		/* up to which it acknowledges */
	u32	waited;		/* how long the oldest ACK that it speaks for has waited */
	u32	behind;		/* bytes that ACKs behind it acknowledge */
	u32	trip;		/* to the receiver and back, without the air; 0: not known */
	u16	window;		/* that the receiver tells, in units of 2^shift bytes */
	u8	shift;
	struct lasack_window_station station;
};

void lasack_window_open(struct lasack_window_scale *scale, bool reversed, int shift);
u16 lasack_window_serve(struct lasack_window *w, const struct lasack_window_aim *aim,
			const struct lasack_window_ack *ack);

#endif
