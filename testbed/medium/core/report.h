/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the MAC core tells its user: counters and airtimes, each attempt once it
 * is over, and the callbacks.
 */
#ifndef DCFMEDIUM_REPORT_H
#define DCFMEDIUM_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "frame.h"
#include "phy/phy_profile.h"
#include "phy/phy_rate.h"

/*
 * Counters of one station since the last mark; attempts count when they end.
 *	tx + recovered = delivered + collisions + unanswered + lost
 *					(frames that want an ACK)
 *	backlog_start + frames_in = delivered + drops + broadcasts + backlog
 *	reorder_start + reorder_held = reorder_released + waiting
 */
struct mac_counters {
	uint64_t frames_in;
	uint64_t data_frames_in;
	uint64_t bytes_in;
	uint64_t tx;
	uint64_t collisions;
	uint64_t unanswered;		/* heard, but nobody there to answer */
	uint64_t lost;			/* by the channel: data, ACK, RTS or CTS */
	uint64_t acks_lost;		/* of them, those that arrived */
	uint64_t ack_collisions;	/* of collisions, those that arrived */
	uint64_t withheld;		/* of unanswered: the receiver's NAV was set */
	uint64_t ampdus;		/* A-MPDUs of two or more MPDUs sent */
	uint64_t ampdu_mpdus;		/* MPDUs sent in them */
	uint64_t internal_collisions;	/* lost to a higher category; not in tx */
	uint64_t recovered;		/* delivered, as only a BlockAckReq showed */
	uint64_t bars;			/* BlockAckReq sent; not in tx */
	uint64_t bars_failed;		/* of them, without block ack */
	uint64_t reorder_held;		/* MPDUs that arrived before others */
	uint64_t reorder_released;	/* handed on since */
	uint64_t reorder_start;		/* held at the mark */
	uint64_t txop_bursts;		/* exchanges SIFS after the one before */
	uint64_t retries;		/* attempts after a frame's first */
	uint64_t drops;			/* retry limit reached */
	uint64_t delivered;		/* acknowledged */
	uint64_t broadcasts;		/* sent without ACK */
	uint64_t broadcast_collisions;	/* of them, lost */
	uint64_t backlog_start;		/* queued at the mark */
	uint64_t queue_high_water;
	uint64_t heard;			/* transmissions, of MAC_IDLE_SENSE */
	uint64_t idle_slots;		/* before them */
	uint64_t attempts_at[PHY_N_RATES];	/* of all frames, by phy_rates[] */
	ns_t airtime;			/* its attempts and the ACKs to them */
	ns_t tcp_ack_airtime;		/* of it, for MPDUs that are TCP ACKs */
	ns_t airtime_to;		/* attempts of others to it, likewise */
};

/* What the medium was used for since the last mark; the rest was idle. */
struct mac_airtime {
	ns_t success;
	ns_t collision;
	ns_t broadcast;
	ns_t unanswered;
	ns_t lost;
};

/* How an attempt ended, as far as a trace shows it. */
enum mac_end {
	MAC_END_HEARD,		/* the frame, and the ACK if one was due */
	MAC_END_COLLIDED,
	MAC_END_LOST,		/* by the channel: the frame, its RTS or CTS */
	MAC_END_ACK_LOST,
	MAC_END_UNANSWERED,	/* nobody there */
};

/*
 * One transmission of @frame, once it is over. Of what was not in the air, or
 * not begun, the times are 0. An A-MPDU ends with one of these for each MPDU.
 */
struct mac_attempt {
	const struct mac_frame *frame;
	enum mac_end end;
	bool given_up;			/* it was the last one */
	ns_t start;			/* of RTS, CTS-to-self or data */
	ns_t rts_end;
	ns_t cts_start, cts_end;	/* answering the RTS */
	ns_t data_start, data_end;	/* the PPDU that holds the frame */
	ns_t ack_start, ack_end;	/* ACK or block ack */
	unsigned int index;		/* of the frame in an A-MPDU of @n */
	unsigned int n;
	uint64_t arrived;		/* bit i: the i-th of the A-MPDU */
};

/*
 * attempt: one transmission of a frame, or of a BlockAckReq of the core's own,
 *          is over; for traces.
 * deliver: @frame has just reached its receivers (end of the data frame), or
 *          its turn has come after others. A frame not under block ack whose
 *          ACK was lost reaches them again.
 * status:  its sender is done with @frame: acknowledged, dropped, or sent
 *          without ACK.
 * done:    the core is done with @frame and gives it back; with or after status,
 *          later when its receiver still holds it back for its turn.
 * Each may call mac_enqueue() and nothing else. NULL means not wanted.
 */
struct mac_ops {
	void (*attempt)(void *ctx, int from, const struct mac_attempt *attempt);
	void (*deliver)(void *ctx, int from, struct mac_frame *frame);
	void (*status)(void *ctx, int from, struct mac_frame *frame, bool acked);
	void (*done)(void *ctx, int from, struct mac_frame *frame);
};

#endif
