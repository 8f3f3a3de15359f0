/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is known of the packets in flight: see account.c and sleep.c.
 */
#ifndef LASACK_INFLIGHT_ACCOUNT_STATE_H
#define LASACK_INFLIGHT_ACCOUNT_STATE_H

#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/dynamic_queue_limits.h>
#include <linux/types.h>
#include "haste.h"
#include "late.h"
#include "pace.h"
#include "uapi/pkt_sch_inflight.h"

#define INFLIGHT_STATION_BITS	7

/* In one cache line. */
struct inflight_station {
	u64	address;
	u64	since;		/* ns: last sign of life, or its first that counts */
	struct inflight_haste	haste;	/* see inflight_account_may_hurry() */
	u32	packets;	/* out */
	u32	counted;	/* of these, against the bound */
	u32	bytes;		/* of these that count */
	u32	epoch;		/* packets of an earlier one do not count */
	u8	dozes;		/* seen lately, up to INFLIGHT_DOZES */
	u8	prompt;		/* packets in time since */
	bool	calm;		/* it asks for too many urgent packets, and has none */
	bool	asleep;		/* nothing of it counts */
} ____cacheline_aligned;

struct inflight_account {
	u32	limit;		/* packets or TC_INFLIGHT_* */
	u32	out;		/* packets */
	u32	out_bytes;
	u32	counted;	/* packets against the bound */
	u32	counted_bytes;
	u32	auto_packets;
	u32	run_bytes;	/* of a station, to be handed down in a row; 0: any order will do */
	u32	filled;		/* packets that counted after the last one within the bound */
	u32	doubted_limit;	/* packets that may count while there is doubt; 0: there is none */
	u32	secret;		/* of the stations' hash */
	u8	doubts;		/* how often more was allowed since the doubt began */
	u64	doubted_at;	/* ns: when more was last allowed */
	u64	stall;		/* ns */
	u64	stalls;		/* stations that fell asleep, so far */
	u64	alive;		/* ns: when a packet that counted was last freed */
	u64	judged_at;	/* ns: when it was last looked for stations that sleep */
	u64	judge_from;	/* ns: look again if a packet handed down then or later is freed */
	u32	urgent;		/* packets out */
	struct inflight_haste	haste;	/* of all stations */
	u64	freed_at;	/* ns: when what was freed last had been handed down */
	/* only kept while the limit is TC_INFLIGHT_AUTO */
	struct dql		dql;
	struct inflight_pace	pace;
	struct inflight_late	late;
	u64			dry_since;	/* ns: since when runs_dry is true */
	bool			runs_dry;	/* nothing is handed down until nothing is below */
	struct inflight_station	stations[1 << INFLIGHT_STATION_BITS];
};

static inline bool inflight_is_auto(const struct inflight_account *account)
{
	return account->limit == TC_INFLIGHT_AUTO;
}

/* Is there room within the bound? */
static inline bool inflight_account_fits(const struct inflight_account *account)
{
	u32 limit = READ_ONCE(account->limit);

	if (limit == TC_INFLIGHT_OFF)
		return true;
	if (limit == TC_INFLIGHT_AUTO && READ_ONCE(account->runs_dry))
		return !READ_ONCE(account->counted);
	if (limit == TC_INFLIGHT_AUTO)
		return dql_avail(&account->dql) >= 0 &&
		       READ_ONCE(account->counted) < READ_ONCE(account->auto_packets);
	return READ_ONCE(account->counted) < limit;
}

/* May another packet be handed down? */
static inline bool inflight_account_has_room(const struct inflight_account *account)
{
	return inflight_account_fits(account) ||
	       READ_ONCE(account->counted) < READ_ONCE(account->doubted_limit);
}

/* The same without the lock, as a guess. */
static inline bool inflight_account_seems_to_have_room(const struct inflight_account *account)
{
	/*
	 * A completion may write the words of dynamic queue limits while they are read one by
	 * one. At worst one packet more is handed down, or the caller looks again under the lock.
	 */
	return data_race(inflight_account_has_room(account));
}

#endif
