/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is out below a discipline: against the bound, and by station.
 *
 * Principle: a packet counts against the bound from the moment it is handed
 * down until it is freed, unless its station (destination address) sleeps. A
 * station stalls when packets of its count and none is freed for the stall
 * time; from then on nothing of it counts, until one is freed again. So the
 * driver may buffer for a sleeper, as it has to for IEEE 802.11's power save
 * (the beacon must say that there is something), and the cell goes on.
 *
 * When nobody's packets are freed it may be the device that hangs, not a station
 * that sleeps: a stalled station's new packets are excused for good only if it
 * was overtaken, by a packet of another's that was handed down after it stalled.
 * Behind a long queue nobody is. But the others' may wait behind them in a FIFO: so
 * in doubt twice as many are excused after each stall time without a sign of
 * life. A station that was seen to doze is excused sooner next time.
 *
 * The bound "auto" is that of dynamic queue limits on bytes
 * (lib/dynamic_queue_limits.c), but not less than what leaves in 4 ms when
 * nobody else is on the air: that long an aggregate still costs few per cent
 * in the gaps between two, and a frame of 802.11b takes half of it. And not
 * more packets than that, or two: short ones take nearly as long as long ones. An
 * aggregate of ACKs leaves so many at once that the driver's own queue would not
 * hold them: none counts for less than 512 bytes.
 *
 * Pure arithmetic under the caller's lock: no packet, no timer, no clock.
 */
#ifndef LASACK_INFLIGHT_ACCOUNT_H
#define LASACK_INFLIGHT_ACCOUNT_H

#include <linux/dynamic_queue_limits.h>
#include <linux/hash.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>
#include "uapi/pkt_sch_inflight.h"

#define INFLIGHT_STATION_BITS	7
#define INFLIGHT_PROBES		8	/* places a station may be in */
#define INFLIGHT_DOZES		2	/* a dozer's stall time is halved so often */
#define INFLIGHT_PROMPT		32	/* packets in time that make up for a doze */

#define INFLIGHT_DOUBTS		10	/* at most 2^10 packets are excused in doubt */

#define INFLIGHT_AUTO_NS	(4 * NSEC_PER_MSEC)
#define INFLIGHT_AUTO_SHORT	512U	/* bytes: a shorter packet is as long */
#define INFLIGHT_AUTO_PACKETS	2U	/* at least: one on the air, one ready */
#define INFLIGHT_AUTO_BYTES	(8U << 20)	/* at most: 16 Gb/s */
/*
 * Freed closer together, packets went in one aggregate or one interrupt. Short
 * aggregates are taken together; where there are no gaps, smaller ones must do.
 */
#define INFLIGHT_BATCH_GAP	(100 * NSEC_PER_USEC)
#define INFLIGHT_BATCH_NS	(500 * NSEC_PER_USEC)
#define INFLIGHT_BATCH_LEAST_GAP	(10 * NSEC_PER_USEC)

struct inflight_station {
	u64	address;
	u64	since;		/* ns: last sign of life, or its first that counts */
	u64	stalled_at;	/* ns: nothing of it counts since; 0: it is awake */
	u32	packets;	/* out */
	u32	counted;	/* of these, against the bound */
	u32	bytes;		/* of these that count */
	u32	epoch;		/* packets of an earlier one do not count */
	u8	dozes;		/* seen lately, up to INFLIGHT_DOZES */
	u8	prompt;		/* packets in time since */
};

/* What leaves in INFLIGHT_AUTO_NS at best, in this second and the one before. */
struct inflight_pace {
	u64	begin;		/* ns: of the batch under way */
	u64	last;		/* ns: its latest packet */
	u32	bytes;
	u32	packets;
	u64	second;		/* ns: begin of this second */
	u32	best_bytes[2];
	u32	best_packets[2];
};

struct inflight_account {
	u32	limit;		/* packets or TC_INFLIGHT_* */
	u64	stall;		/* ns */
	u32	out;		/* packets */
	u32	out_bytes;
	u32	counted;	/* packets against the bound; bytes are in dql */
	u32	auto_packets;
	u32	excused;	/* packets that may still be excused in doubt */
	u8	doubts;		/* stall times since the last sign of life */
	u64	stalls;		/* so far */
	u64	alive;		/* ns: last sign of life */
	/* when what was freed last had been handed down, of this station... */
	u64	freed_at;
	struct inflight_station	*freed_station;
	u64	others_freed_at;	/* ... and of any other; ns */
	struct dql		dql;
	struct inflight_pace	pace;
	struct inflight_station	stations[1 << INFLIGHT_STATION_BITS];
};

/* What is remembered with a packet that is out. */
struct inflight_ticket {
	struct inflight_station	*station;
	u64			at;	/* ns: when it was handed down */
	u32			bytes;
	u32			epoch;	/* the station's, if it counts */
};

static inline void inflight_account_init(struct inflight_account *account,
					 u32 limit, u64 stall)
{
	account->limit = limit;
	account->stall = stall;
	account->auto_packets = INFLIGHT_AUTO_PACKETS;
	dql_init(&account->dql, HZ);
}

/* May another packet be handed down? Also without the lock, as a guess. */
static inline bool inflight_account_has_room(const struct inflight_account *account)
{
	u32 limit = READ_ONCE(account->limit);

	if (limit == TC_INFLIGHT_OFF)
		return true;
	if (limit == TC_INFLIGHT_AUTO)
		return dql_avail(&account->dql) >= 0 &&
		       READ_ONCE(account->counted) < READ_ONCE(account->auto_packets);
	return READ_ONCE(account->counted) < limit;
}

/*
 * The place of a station: its own, or one of a station that has nothing out.
 * With none free, it shares one.
 */
static inline struct inflight_station *
inflight_account_station(struct inflight_account *account, u64 address)
{
	u32 first = hash_64(address, INFLIGHT_STATION_BITS), i;
	struct inflight_station *station, *unused = NULL;

	for (i = 0; i < INFLIGHT_PROBES; i++) {
		station = &account->stations[(first + i) % ARRAY_SIZE(account->stations)];
		if (station->address == address)
			return station;
		if (!station->packets && !unused)
			unused = station;
	}
	if (!unused)
		return &account->stations[first];
	*unused = (struct inflight_station) {
		.address = address,
		.epoch = unused->epoch,
	};
	return unused;
}

/* Asleep: packets of others that were handed down since it stalled are gone. */
static inline bool inflight_is_asleep(const struct inflight_account *account,
				      const struct inflight_station *station)
{
	u64 overtaken_at = account->freed_station == station ? account->others_freed_at :
							       account->freed_at;

	return station->stalled_at && overtaken_at >= station->stalled_at;
}

/* Does a packet handed down to the station count? */
static inline bool inflight_counts(struct inflight_account *account,
				   const struct inflight_station *station)
{
	if (!station->stalled_at)
		return true;
	if (inflight_is_asleep(account, station))
		return false;
	if (!account->excused)
		return true;
	account->excused--;
	return false;
}

/**
 * inflight_account_add() - a packet is handed down
 * @account: the account
 * @address: of its station
 * @bytes: of the packet
 * @now: ns
 * @ticket: to be given to inflight_account_remove()
 */
static inline void inflight_account_add(struct inflight_account *account,
					u64 address, u32 bytes, u64 now,
					struct inflight_ticket *ticket)
{
	struct inflight_station *station = inflight_account_station(account, address);
	bool counts = inflight_counts(account, station);

	ticket->station = station;
	ticket->at = now;
	ticket->bytes = bytes;
	ticket->epoch = station->epoch - !counts;

	account->out++;
	account->out_bytes += bytes;
	station->packets++;
	if (!counts)
		return;
	if (!station->counted)
		station->since = now;
	station->counted++;
	station->bytes += bytes;
	WRITE_ONCE(account->counted, account->counted + 1);
	dql_queued(&account->dql, bytes);
}

/* A batch is over. The best of each second is remembered for one more. */
static inline void inflight_pace_batch(struct inflight_account *account)
{
	struct inflight_pace *pace = &account->pace;
	u64 ns = pace->last - pace->begin;
	u64 bytes = (u64)pace->bytes * INFLIGHT_AUTO_NS;
	u64 packets = (u64)pace->packets * INFLIGHT_AUTO_NS;

	if (pace->last - pace->second >= NSEC_PER_SEC) {
		pace->second = pace->last;
		pace->best_bytes[1] = pace->best_bytes[0];
		pace->best_packets[1] = pace->best_packets[0];
		pace->best_bytes[0] = 0;
		pace->best_packets[0] = 0;
	}
	pace->bytes = 0;
	pace->packets = 0;
	bytes = min_t(u64, div64_u64(bytes, ns), INFLIGHT_AUTO_BYTES);
	packets = min_t(u64, div64_u64(packets, ns), TC_INFLIGHT_MAX);
	pace->best_bytes[0] = max_t(u32, pace->best_bytes[0], bytes);
	pace->best_packets[0] = max_t(u32, pace->best_packets[0], packets);

	account->dql.min_limit = max(pace->best_bytes[0], pace->best_bytes[1]);
	packets = min(max(pace->best_packets[0], pace->best_packets[1]),
		      account->dql.min_limit / INFLIGHT_AUTO_SHORT);
	WRITE_ONCE(account->auto_packets,
		   max_t(u32, packets, INFLIGHT_AUTO_PACKETS));
}

/*
 * A batch takes from the end of the one before it, or from when it was handed
 * down, to its last packet: nothing but its own time if no one came between.
 */
static inline bool inflight_pace_is_whole(const struct inflight_pace *pace, u64 now)
{
	u64 gap = now - pace->last, ns = pace->last - pace->begin;

	if (!pace->packets)
		return false;
	return (gap >= INFLIGHT_BATCH_GAP && ns >= INFLIGHT_BATCH_NS) ||
	       (gap >= INFLIGHT_BATCH_LEAST_GAP && ns >= INFLIGHT_AUTO_NS);
}

static inline void inflight_pace_note(struct inflight_account *account,
				      const struct inflight_ticket *ticket, u64 now)
{
	struct inflight_pace *pace = &account->pace;

	if (inflight_pace_is_whole(pace, now))
		inflight_pace_batch(account);
	if (!pace->packets)
		pace->begin = max(pace->last, ticket->at);
	pace->bytes += ticket->bytes;
	pace->packets++;
	pace->last = now;
}

/* The driver has got rid of one of the station's packets, on the air or not. */
static inline void inflight_station_lives(struct inflight_account *account,
					  const struct inflight_ticket *ticket, u64 now)
{
	struct inflight_station *station = ticket->station;
	u64 waited = now - ticket->at;

	if (inflight_is_asleep(account, station) && waited > account->stall / 2) {
		station->dozes = min(station->dozes + 1, INFLIGHT_DOZES);
		station->prompt = 0;
	} else if (waited <= account->stall / 2 && station->dozes &&
		   ++station->prompt == INFLIGHT_PROMPT) {
		station->dozes--;
		station->prompt = 0;
	}
	station->stalled_at = 0;
	station->since = now;
	account->doubts = 0;
	account->excused = 0;

	if (account->freed_station != station) {
		account->others_freed_at = account->freed_at;
		account->freed_station = station;
	}
	account->freed_at = ticket->at;
	account->alive = now;
}

/**
 * inflight_account_remove() - a packet is freed
 * @account: the account
 * @ticket: the packet's
 * @now: ns
 * @in_transmit: while the driver was being given a packet; then it makes room,
 *		 by dropping, and says nothing of what goes out
 */
static inline void inflight_account_remove(struct inflight_account *account,
					   const struct inflight_ticket *ticket,
					   u64 now, bool in_transmit)
{
	struct inflight_station *station = ticket->station;
	bool counts = ticket->epoch == station->epoch;

	account->out--;
	account->out_bytes -= ticket->bytes;
	station->packets--;
	if (counts) {
		station->counted--;
		station->bytes -= ticket->bytes;
		WRITE_ONCE(account->counted, account->counted - 1);
		dql_completed(&account->dql, ticket->bytes);
	}
	if (in_transmit)
		return;
	/* What was held for a sleeper may be given up all at once. */
	if (counts)
		inflight_pace_note(account, ticket, now);
	inflight_station_lives(account, ticket, now);
}

/* When the station is going to stall, ns; U64_MAX: nothing of it counts. */
static inline u64 inflight_station_deadline(const struct inflight_account *account,
					    const struct inflight_station *station)
{
	if (!station->counted)
		return U64_MAX;
	return station->since + (account->stall >> station->dozes);
}

/* When the first station is going to stall. */
static inline u64 inflight_account_deadline(const struct inflight_account *account)
{
	u64 first = U64_MAX;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(account->stations); i++)
		first = min(first, inflight_station_deadline(account, &account->stations[i]));
	return first;
}

/*
 * From now on nothing counts of what the station has out: dynamic queue limits
 * are told that it was never queued, for it has not been completed.
 */
static inline void inflight_station_stall(struct inflight_account *account,
					  struct inflight_station *station, u64 now)
{
	WRITE_ONCE(account->counted, account->counted - station->counted);
	account->dql.num_queued -= station->bytes;
	station->counted = 0;
	station->bytes = 0;
	station->epoch++;
	station->stalled_at = now;
	account->stalls++;
}

/* Stall the stations whose time is over. */
static inline void inflight_account_expire(struct inflight_account *account, u64 now)
{
	struct inflight_station *station;
	bool doubt = false;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(account->stations); i++) {
		station = &account->stations[i];
		if (inflight_station_deadline(account, station) > now)
			continue;
		doubt |= account->alive <= station->since;
		inflight_station_stall(account, station, now);
	}
	if (doubt) {
		account->doubts = min(account->doubts + 1, INFLIGHT_DOUBTS);
		account->excused = 1U << account->doubts;
	}
}

/* Stations that stall now. */
static inline u32 inflight_account_stalled(const struct inflight_account *account)
{
	u32 i, count = 0;

	for (i = 0; i < ARRAY_SIZE(account->stations); i++)
		count += account->stations[i].stalled_at && account->stations[i].packets;
	return count;
}

#endif
