/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stations behind a device, told apart by their address. See lasack_station.c.
 */
#ifndef LASACK_STATION_H
#define LASACK_STATION_H

#include <linux/rbtree.h>
#include <linux/time64.h>
#include "lasack/airtime/lasack_rates.h"
#include "lasack/lasack_flow.h"

/* One place more, for packets whose flows cannot be told apart. */
#define LASACK_STATION_SHARED	LASACK_STATIONS

/* Without packets for so long, a station loses its place to another; in the queue's time. */
#define LASACK_STATION_IDLE	(5ULL * NSEC_PER_SEC >> FLOW_TIME_SHIFT)

/* A flow in its station's order. */
struct lasack_node {
	struct rb_node	node;
	u64		key;	/* its sum, or one that was */
	u32		tie;	/* likewise the order of arrival of its first packet */
	u32		flow;	/* its number */
};

struct lasack_station {
	u64			address;
	struct rb_root_cached	flows;	/* those with packets, least sum first */
	struct lasack_account	account;
	struct lasack_level	level;	/* of its flows */
	u32			spares;	/* flows that may lose a packet first; while it matters */
	u32			ahead;	/* bytes: it is served as if it had got so much less */
	/* With airtime, of the last seconds, but for what was given back: */
	u64			acked_weight; /* what ACKs added to its sum */
	u32			acked;	/* the bytes that they acknowledged */
	u32			acked_since; /* the queue's time when both were last halved */
	u32			returned; /* bytes: it may catch up with others by so much more */
	u32			idle_since; /* the queue's time */
	u16			number;
	u8			known:1,	/* the place is a station's */
				is_new:1,	/* its sum is not set yet */
				is_first:1,	/* it began before any old one was served */
				retaken:1;	/* the place was another's before */
};

struct lasack_stations {
	struct lasack_station	place[LASACK_STATIONS + 1];
	u32			secret;
	u32			count;	/* known */
	struct lasack_rates	*rates;	/* NULL: sums are of bytes, not of airtime */
};

struct lasack_stations *lasack_stations_create(void);
void lasack_stations_rate(struct lasack_stations *stations, struct lasack_rates *rates);
u64 lasack_station_address(const struct sk_buff *skb);
struct lasack_station *lasack_station_of(struct lasack_stations *stations,
					 const struct sk_buff *skb, u32 now);

#endif
