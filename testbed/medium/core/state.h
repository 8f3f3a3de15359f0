/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The data of the MAC core: its stations, their PPDUs and the statistics. The
 * user of the core may read counters, airtimes, digest and configurations. The
 * rest is internal to the core.
 */
#ifndef DCFMEDIUM_STATE_H
#define DCFMEDIUM_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "channel.h"
#include "frame.h"
#include "idle_sense.h"
#include "mac_config.h"
#include "phy/phy_profile.h"
#include "report.h"
#include "rng.h"

#define MAC_SET_WORDS	(MAC_MAX_STATIONS / 64)
#define MAC_MAX_LINKS	(MAC_MAX_STATIONS * (MAC_MAX_STATIONS - 1) / 2)

/* Some of the stations. */
struct mac_set {
	uint64_t bits[MAC_SET_WORDS];
};

enum mac_ppdu_kind {
	MAC_PPDU_RTS,
	MAC_PPDU_CTS,
	MAC_PPDU_DATA,		/* MPDU or A-MPDU, and its CTS-to-self */
	MAC_PPDU_RESPONSE,	/* ACK or block ack */
};

/* What a station has in the air, or is certain to have. */
struct mac_ppdu {
	enum mac_ppdu_kind kind;
	int exchange;		/* of which station it is part */
	bool answers;		/* SIFS after a PPDU, whatever is in the air */
	bool begun;
	bool shared_loss;	/* the one channel of all spoilt it */
	ns_t start, end;
	ns_t reserved;		/* the exchange's end, as its Duration has it */
	struct mac_set with;	/* whose PPDUs overlap it */
};

struct mac_station {
	/* Access: read and written with every PPDU heard, so it comes first. */
	ns_t resume;		/* its DIFS or EIFS ends; NS_NEVER: held */
	unsigned int backoff;	/* slots left at resume */
	unsigned int aifsn;
	bool backing_off;	/* a count is drawn and not used up */
	bool failed;		/* an attempt of it is to be settled when idle */
	bool steers;		/* its window, by what it hears */
	struct mac_frame *head;
	ns_t head_since;	/* when the queue became non-empty */
	ns_t released;		/* when an observer could count again */
	ns_t reserved;		/* NAV: until when, as decoded PPDUs said */
	struct mac_set hears;	/* itself too */
	double level;		/* of signal_db, linear */

	struct mac_ppdu ppdu;
	uint64_t id;		/* the address as a number */
	struct rng rng;
	struct mac_frame **tail;
	unsigned int backlog;
	unsigned int cw;
	struct idle_sense idle_sense;	/* not of MAC_DCF */

	/* The attempt in progress. */
	ns_t busy_since;	/* its medium, when it began */
	ns_t start;
	ns_t occupied;		/* its length, without the ACK */
	ns_t ended;
	int outcome;		/* of a failed one */
	bool coded;		/* with the channel's parity octets */
	bool bursting;		/* SIFS after an exchange of the same TXOP */
	ns_t txop_end;		/* NS_NEVER: no limit */
	struct mac_frame *sent[MAC_MAX_AMPDU];	/* the frames in it */
	unsigned int n_sent;
	uint64_t arrived;	/* which of them the receiver has got */
	struct mac_attempt times;

	uint32_t next_sequence[MAC_MAX_STATIONS];	/* by receiver */
	unsigned int waiting;	/* frames that receivers hold back */
	bool asking;		/* @bar is in the queue */
	struct mac_frame bar;
	struct channel_quality quality;	/* of CHANNEL_SNR */
	struct mac_counters counters;
	struct mac_station_config config;
};

/* Of one sender at one receiver. */
struct mac_reorder {
	uint32_t next;			/* WinStart: the next one to hand on */
	struct mac_frame *held;		/* by sequence number */
};

struct mac {
	struct mac_config config;
	const struct mac_ops *ops;
	void *ctx;

	/* Constants of the profile, so that the hot path adds and compares. */
	ns_t slot, sifs, difs, eifs, ack_timeout;
	double capture;		/* capture_db, linear */

	int air[MAC_MAX_STATIONS];	/* who has a PPDU in the air, or soon */
	int n_air;
	struct mac_set loud;		/* of them, those that have begun */
	struct mac_set engaged;		/* in an exchange, or owing an answer */
	struct mac_set all;
	struct mac_set held;		/* whose count waits for its medium */
	int n_failed;			/* attempts that are to be settled */
	ns_t not_before;		/* no access is due earlier */
	int lead;			/* whose it is then; MAC_NOBODY: unknown */

	struct mac_set hidden[MAC_MAX_STATIONS];
	bool rewire;			/* who hears whom has changed */
	struct mac_station stations[MAC_MAX_STATIONS];
	int n_stations;
	struct channel_link links[MAC_MAX_LINKS];
	/* By sender and receiver; NULL: as the channel has it for all. */
	const struct mac_link *own_links[MAC_MAX_STATIONS][MAC_MAX_STATIONS];

	struct mac_reorder reorder[MAC_MAX_STATIONS][MAC_MAX_STATIONS];

	ns_t mark;
	bool lossless;		/* the channel loses nothing before the next mark */
	uint64_t digest;
	struct mac_airtime airtime;
};

static inline bool set_has(const struct mac_set *set, int i)
{
	return set->bits[i / 64] >> (i % 64) & 1;
}

static inline void set_add(struct mac_set *set, int i)
{
	set->bits[i / 64] |= 1ULL << (i % 64);
}

static inline void set_remove(struct mac_set *set, int i)
{
	set->bits[i / 64] &= ~(1ULL << (i % 64));
}

static inline bool set_empty(const struct mac_set *set)
{
	return !(set->bits[0] | set->bits[1]);
}

static inline bool sets_meet(const struct mac_set *a, const struct mac_set *b)
{
	return (a->bits[0] & b->bits[0]) | (a->bits[1] & b->bits[1]);
}

static inline ns_t mac_later(ns_t a, ns_t b)
{
	return a > b ? a : b;
}

#endif
