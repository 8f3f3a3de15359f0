/* SPDX-License-Identifier: GPL-2.0-only */
/* The configuration of the MAC core and of each of its stations. */
#ifndef DCFMEDIUM_MAC_CONFIG_H
#define DCFMEDIUM_MAC_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "channel.h"
#include "idle_sense.h"
#include "phy/phy_profile.h"

#define MAC_ADDR_LEN		6
#define MAC_NAME_LEN		32
#define MAC_MAX_STATIONS	128

/* aPPDUMaxTime with a legacy preamble: what L-SIG can say (9.23.4). */
#define MAC_PPDU_MAX		(5484 * NS_PER_US)

/* MPDUs of one A-MPDU at most: what a compressed block ack tells of (8.3.1.9). */
#define MAC_MAX_AMPDU		64

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
	ns_t status_delay;	/* its radio hears of a frame's end so late */
};

/* Two stations, by name, that do not hear each other. */
struct mac_hidden_pair {
	char name[2][MAC_NAME_LEN];
};

/*
 * What frames from one station to another meet, by name, where it is not what
 * the channel has for all: of CHANNEL_LOSS the loss, of CHANNEL_SNR the quality.
 */
struct mac_link {
	char name[2][MAC_NAME_LEN];	/* the sender, the receiver */
	bool has_snr;			/* else a loss is given */
	double loss;
	struct channel_quality quality;
};

struct mac_config {
	const struct phy_profile *phy;
	bool eifs;			/* observers of a collision wait EIFS */
	unsigned int rts_threshold;	/* RTS for longer PSDUs; UINT_MAX = never */
	unsigned int max_ampdu;		/* MPDUs of an A-MPDU; 1 = no aggregation */
	ns_t max_ppdu;			/* longest A-MPDU in the air */
	double idle_target;		/* of Idle Sense and AAP */
	struct channel_config channel;
	const struct mac_hidden_pair *hidden;
	unsigned int n_hidden;
	const struct mac_link *links;	/* of two with the same names the last */
	unsigned int n_links;
	bool capture;		/* a PPDU @capture_db above what overlaps it survives */
	double capture_db;
	bool kernel_rates;	/* frames bring their chains; for the statistics */
	uint64_t seed;
};

/* What a configuration of @phy is where nothing else is wanted. */
struct mac_config mac_defaults(const struct phy_profile *phy);

#endif
