/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The MAC core: the distributed coordination function of IEEE Std 802.11-2012,
 * 9.3, for stations on one or several channels, of which some may not hear
 * others, with A-MPDUs where the profile has them, and with the access methods
 * of idle_sense.h.
 *
 * The core is driven by events and knows no clock, no socket and no kernel
 * header. Its user calls mac_advance() to move time forward, mac_enqueue() to
 * hand in a frame at the time advanced to, and sleeps until mac_next(). What
 * happened comes back through struct mac_ops.
 *
 * Each station has its own view of the medium. It is busy from when a PPDU that
 * the station hears begins; if the station's own backoff ends less than a slot
 * later it cannot have sensed that (this is what aSlotTime is, 9.3.7) and begins
 * too. Stations whose waits differ (DIFS, EIFS, ACK timeout) are thus not forced
 * on one common slot grid. Whether a PPDU is decoded is decided at each station
 * that hears it, when it ends: nothing else it hears may have overlapped.
 */
#ifndef DCFMEDIUM_MAC_H
#define DCFMEDIUM_MAC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "channel.h"
#include "idle_sense.h"
#include "phy_rate.h"
#include "rate_chain.h"
#include "rng.h"

#define MAC_ADDR_LEN		6
#define MAC_NAME_LEN		32
#define MAC_MAX_STATIONS	128
#define MAC_MAX_HIDDEN		64	/* pairs in a configuration */
#define MAC_SET_WORDS		(MAC_MAX_STATIONS / 64)
#define MAC_MAX_LINKS		(MAC_MAX_STATIONS * (MAC_MAX_STATIONS - 1) / 2)

/* aPPDUMaxTime with a legacy preamble: what L-SIG can say (9.23.4). */
#define MAC_PPDU_MAX		(5484 * NS_PER_US)

/* MPDUs of one A-MPDU at most: what a compressed block ack tells of (8.3.1.9). */
#define MAC_MAX_AMPDU		64

/* Receivers that are not the index of a station. */
#define MAC_NOBODY		(-1)
#define MAC_EVERYBODY		(-2)

/* A frame belongs to the core from mac_enqueue() until ops->done(). */
struct mac_frame {
	struct mac_frame *next;
	int to;			/* station, MAC_EVERYBODY or MAC_NOBODY */
	unsigned int bytes;	/* MPDU with FCS */
	bool wants_ack;
	unsigned int rate;	/* 100 kb/s; 0 = by @basic_rate and the station */
	struct rate_chain chain;	/* goes before @rate and the retry limit */
	bool basic_rate;	/* at the lowest basic rate, not the data rate */
	bool carries_data;	/* unicast data with payload, for the counters */
	unsigned int attempts;	/* transmissions so far; the core counts */
	unsigned int src, lrc;	/* of them, failed: short and long; the core's */
	bool arrived;		/* has reached its receiver already; the core's */
	/* The rest is the core's. */
	bool ordered;		/* under block ack, so delivered in order */
	uint32_t sequence;	/* among such to its receiver */
	bool is_bar;		/* a BlockAckReq */
	bool held;		/* by the receiver, for those before it */
	bool settled;		/* its status has been told */
	struct mac_frame *held_next;
};

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
};

/* What the medium was used for since the last mark; the rest was idle. */
struct mac_airtime {
	ns_t success;
	ns_t collision;
	ns_t broadcast;
	ns_t unanswered;
	ns_t lost;
};

/*
 * dot11ShortRetryLimit and dot11LongRetryLimit (9.3.3, 9.19.2.6): a frame is
 * dropped when its SRC, which counts failed RTS and failed frames that need
 * none, comes to the one, or its LRC, failed frames after RTS/CTS, to the other.
 */
struct mac_retries {
	unsigned int short_limit, long_limit;	/* 0: M counts all alike */
};

/*
 * One function that contends: a DCF station, or with @aifsn one access category
 * of an EDCA station (9.19.2). Those with the same @radio are the categories of
 * one station: of several that would begin at once the one of highest @priority
 * does, and the others behave as after a collision. 0 is no radio in common.
 * cw_min, cw_max: number of values of the contention window.
 */
struct mac_station_config {
	char name[MAC_NAME_LEN];
	uint8_t addr[MAC_ADDR_LEN];
	unsigned int retry_limit;	/* M: attempts in all, 1 = no retry */
	struct mac_retries retries;	/* instead, if set */
	unsigned int cw_min;
	unsigned int cw_max;
	enum mac_access access;
	unsigned int rate;	/* of its data, 100 kb/s; 0 = the profile's */
	bool has_snr;		/* else the channel's */
	double snr_db;
	unsigned int aifsn;	/* AIFS = SIFS + aifsn slots; 0 = DIFS, DCF */
	ns_t txop;		/* limit of a burst; 0 = one frame or A-MPDU */
	unsigned int radio;
	unsigned int priority;
	unsigned int freq;	/* MHz; who has another one hears nothing of it */
	double signal_db;	/* level at all that hear it, relative to others */
};

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

/* Two stations, by name, that do not hear each other. */
struct mac_hidden_pair {
	char name[2][MAC_NAME_LEN];
};

struct mac_config {
	const struct phy_profile *phy;
	bool eifs;			/* observers of a collision wait EIFS */
	unsigned int rts_threshold;	/* RTS for longer PSDUs; UINT_MAX = never */
	unsigned int max_ampdu;		/* MPDUs of an A-MPDU; 1 = no aggregation */
	ns_t max_ppdu;			/* longest A-MPDU in the air */
	double idle_target;		/* of Idle Sense and AAP */
	struct channel_config channel;
	struct mac_hidden_pair hidden[MAC_MAX_HIDDEN];
	unsigned int n_hidden;
	bool capture;		/* a PPDU @capture_db above what overlaps it survives */
	double capture_db;
	bool kernel_rates;	/* frames bring their chains; for the statistics */
	uint64_t seed;
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

	struct mac_reorder reorder[MAC_MAX_STATIONS][MAC_MAX_STATIONS];

	ns_t mark;
	uint64_t digest;
	struct mac_airtime airtime;
};

/* What a configuration of @phy is where nothing else is wanted. */
struct mac_config mac_defaults(const struct phy_profile *phy);

/* Set up *@mac; @ops and @ctx must outlive it. */
void mac_init(struct mac *mac, const struct mac_config *config,
	      const struct mac_ops *ops, void *ctx);

/*
 * Give back, by ops->done(), what receivers hold back and nobody else has.
 * Afterwards only the counters may be read.
 */
void mac_end(struct mac *mac);

/* Add a station; returns its index, or -1 if there are MAC_MAX_STATIONS. */
int mac_add_station(struct mac *mac, const struct mac_station_config *config);

/*
 * Stations @a and @b do not hear each other; nor do other categories of their
 * radios. By default all that are on one channel hear each other. Pairs of the
 * configuration take effect when both are there.
 */
void mac_set_hidden(struct mac *mac, int a, int b);

/*
 * Station @station goes to the channel @freq (MHz). Like mac_set_hidden(), this
 * takes effect when next nothing is in the air.
 */
void mac_set_channel(struct mac *mac, int station, unsigned int freq);

/* The station with this address, or MAC_NOBODY. */
int mac_find_station(const struct mac *mac, const uint8_t *addr);

/*
 * Whether @to is a radio that station @from is not part of: of several stations
 * with one address, the first is the radio.
 */
bool mac_is_peer(const struct mac *mac, int from, int to);

/* Play everything up to and including @now. Time never goes back. */
void mac_advance(struct mac *mac, ns_t now);

/* Hand in @frame at @now, after mac_advance(@now). */
void mac_enqueue(struct mac *mac, int from, struct mac_frame *frame, ns_t now);

/*
 * When to call mac_advance() next: the first instant at which, if nothing
 * is handed in before, a callback may happen. NS_NEVER: nothing to send.
 */
ns_t mac_next(const struct mac *mac);

/*
 * Start measuring at @now: counters, digest and random streams begin again.
 * Queues stay, and so does a backoff that is being counted down.
 */
void mac_mark(struct mac *mac, ns_t now);

/*
 * Whether the group-addressed @frame, which is being delivered, reaches station
 * @to over the channel from station @from. Once for each receiver.
 */
bool mac_reaches(struct mac *mac, int from, int to,
		 const struct mac_frame *frame);

/* The rate @frame is sent at, one that phy_rate_of() knows. */
unsigned int mac_rate(const struct mac *mac, const struct mac_frame *frame);

#endif
