// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which stations sleep, so that nothing of them counts against the bound.
 *
 * Principle: a station sleeps if none of its packets that count is freed for the stall time, and
 * if it is overtaken: a packet of another station, handed down after that time, is freed. Where
 * the medium is busy, nobody's packets are freed for as long now and then, and nobody is
 * overtaken. Nor is anybody in one long queue. A station that was asleep before gets a shorter
 * stall time.
 *
 * A sleeping station may fill the bound. Then nobody can overtake it. So if no packet that counts
 * is freed for the stall time, there is doubt, and an eighth more may count. In a FIFO the others'
 * packets may wait behind those of the sleeping station. So after each further stall time in doubt
 * it is twice as much more. The doubt ends when a packet that counts is freed, or a station is
 * found asleep. Urgent packets say nothing of the others' queues, and end no doubt.
 *
 * Pure arithmetic under the caller's lock: no packet, no timer, no clock.
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include "account_state.h"
#include "late.h"
#include "sleep.h"
#include "ticket.h"

#define INFLIGHT_DOZES		2	/* how often the stall time of a dozing station is halved */
#define INFLIGHT_PROMPT		32	/* packets in time that make up for a doze */

#define INFLIGHT_DOUBT_SHARE	8U	/* of what counts, at first */
#define INFLIGHT_DOUBT_MOST	1024U	/* packets more */

/* From now on only the bound itself holds. */
void inflight_account_end_doubt(struct inflight_account *account)
{
	account->doubts = 0;
	WRITE_ONCE(account->doubted_limit, 0);
}

/* For so long nothing of the station may be freed, ns. */
static u64 inflight_station_patience(const struct inflight_account *account,
				     const struct inflight_station *station)
{
	return (account->stall >> station->dozes) +
	       (station->dozes ? account->late.ns : inflight_late_at_most(&account->late));
}

/* When the station has been silent for too long, ns. */
static u64 inflight_station_silent_until(const struct inflight_account *account,
					 const struct inflight_station *station)
{
	return station->since + inflight_station_patience(account, station);
}

/* When more is allowed, as long as the station is silent and nothing is freed, ns. */
static u64 inflight_station_doubt(const struct inflight_account *account,
				  const struct inflight_station *station)
{
	if (account->doubts)
		return account->doubted_at + account->stall +
		       inflight_late_at_most(&account->late);
	return account->alive + inflight_station_patience(account, station);
}

/* When to look at the station again, ns; U64_MAX: nothing of it counts. */
static u64 inflight_station_deadline(const struct inflight_account *account,
				     const struct inflight_station *station)
{
	u64 silent_until = inflight_station_silent_until(account, station);

	if (!station->counted)
		return U64_MAX;
	return silent_until > account->judged_at ? silent_until :
						   inflight_station_doubt(account, station);
}

/**
 * inflight_account_deadline() - when is inflight_account_expire() to be called?
 * @account: the account
 *
 * Return: ns; U64_MAX: nothing counts.
 */
u64 inflight_account_deadline(const struct inflight_account *account)
{
	u64 first = U64_MAX;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(account->stations); i++)
		first = min(first, inflight_station_deadline(account, &account->stations[i]));
	return first;
}

/*
 * Nothing counts any more of what the station has out: dynamic queue limits are told that it was
 * never queued, for it has not been completed.
 */
static void inflight_station_sleeps(struct inflight_account *account,
				    struct inflight_station *station)
{
	WRITE_ONCE(account->counted, account->counted - station->counted);
	account->counted_bytes -= station->bytes;
	if (inflight_is_auto(account))
		account->dql.num_queued -= station->bytes;
	station->counted = 0;
	station->bytes = 0;
	station->epoch++;
	station->asleep = true;
	account->stalls++;
	inflight_account_end_doubt(account);
}

/* Nobody's packets are freed: allow more, as long as that is so. */
static void inflight_account_doubt(struct inflight_account *account, u64 now)
{
	/* What was allowed before may still be out. With another bound nothing else is known. */
	u32 filled = account->filled ?: account->counted;
	u64 more = max(filled / INFLIGHT_DOUBT_SHARE, 1U);

	more = min_t(u64, more << account->doubts, INFLIGHT_DOUBT_MOST);
	WRITE_ONCE(account->doubted_limit, filled + more);
	account->doubts = min(account->doubts + 1, ilog2(INFLIGHT_DOUBT_MOST));
	account->doubted_at = now;
}

/**
 * inflight_account_expire() - which stations sleep?
 * @account: the account
 * @now: ns
 *
 * Of those that have been silent for too long, those that were overtaken. It is called again when
 * a packet is freed that was handed down after the first of the others had been silent too long.
 */
void inflight_account_expire(struct inflight_account *account, u64 now)
{
	struct inflight_station *station;
	bool doubt = false;
	u64 silent_until;
	u32 i;

	account->judged_at = now;
	account->judge_from = U64_MAX;
	for (i = 0; i < ARRAY_SIZE(account->stations); i++) {
		station = &account->stations[i];
		silent_until = inflight_station_silent_until(account, station);
		if (!station->counted || silent_until > now)
			continue;
		/* Not its own packet: then it would not have been silent since. */
		if (account->freed_at >= silent_until) {
			inflight_station_sleeps(account, station);
			continue;
		}
		account->judge_from = min(account->judge_from, silent_until);
		doubt |= inflight_station_doubt(account, station) <= now;
	}
	if (doubt)
		inflight_account_doubt(account, now);
}

/**
 * inflight_station_lives() - the driver has freed a packet, whether it was transmitted or not
 * @account: the account
 * @ticket: the packet's; not urgent
 * @counts: it counted until now
 * @now: ns
 *
 * A packet that a station got while it slept makes no room when it is freed. So it is a sign of
 * life of its station only.
 */
void inflight_station_lives(struct inflight_account *account,
			    const struct inflight_ticket *ticket, bool counts, u64 now)
{
	struct inflight_station *station = &account->stations[ticket->station];
	u64 waited = now - ticket->at;
	bool in_time = waited <= account->stall / 2 + account->late.ns;

	if (station->asleep && !in_time) {
		station->dozes = min(station->dozes + 1, INFLIGHT_DOZES);
		station->prompt = 0;
	} else if (station->dozes && in_time && ++station->prompt == INFLIGHT_PROMPT) {
		station->dozes--;
		station->prompt = 0;
	}
	station->asleep = false;
	station->since = now;
	if (counts) {
		account->alive = now;
		inflight_account_end_doubt(account);
	}
	account->freed_at = ticket->at;
	if (unlikely(ticket->at >= account->judge_from))
		inflight_account_expire(account, now);
}

/* Return: stations that sleep and have packets out. */
u32 inflight_account_stalled(const struct inflight_account *account)
{
	u32 i, count = 0;

	for (i = 0; i < ARRAY_SIZE(account->stations); i++)
		count += account->stations[i].asleep && account->stations[i].packets;
	return count;
}
