// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the packets in flight: against the bound, and by station.
 *
 * Principle: a packet counts against the bound from the moment it is handed down until it is
 * freed, unless its station (destination address) sleeps. Then none of its packets count, until
 * one of them is freed. So the driver may keep packets for a sleeping station, as IEEE 802.11's
 * power save requires (the beacon must say that there are some), and the other stations are
 * served.
 *
 * sleep.c tells which stations sleep. While that is in doubt, it allows a few packets more.
 *
 * The bound "auto" is that of dynamic queue limits on bytes (lib/dynamic_queue_limits.c), with more
 * rules: pace.c has a least one, and a bound in packets. late.c adds to both, and to the stall
 * time, if the device frees packets late.
 *
 * Urgent packets, voice and video, overtake others below the discipline. So if they are freed,
 * this does not mean that a station sleeps whose packets came earlier. With "auto" they do not
 * count, and need not wait for room. But a station has few of them, and so have all together. If
 * it asks for more, as a download does that says it is voice, it has none until it asks for less.
 * Else an access point that always has something to send as voice would leave the air to nobody.
 * If all together ask for too many, a packet is sent as best effort, and nothing else follows.
 *
 * Pure arithmetic under the caller's lock: no packet, no timer, no clock.
 */
#include <linux/jhash.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/random.h>
#include <linux/string.h>
#include <linux/time64.h>
#include "account.h"
#include "sleep.h"

#define INFLIGHT_PROBES		8	/* places a station may be in */

#define INFLIGHT_HASTE_STATIONS	8U	/* that may have their share of urgent bytes at once */
#define INFLIGHT_HASTE_MAX	64U	/* packets out, of all stations */

/**
 * inflight_account_init() - an account with nothing out
 * @account: the account
 * @limit: packets, TC_INFLIGHT_AUTO or TC_INFLIGHT_OFF
 * @stall: ns: if nothing of a station is freed for so long, it may be asleep
 */
void inflight_account_init(struct inflight_account *account, u32 limit, u64 stall)
{
	memset(account, 0, sizeof(*account));
	account->stall = stall;
	account->secret = get_random_u32();
	inflight_account_set_limit(account, limit);
}

/**
 * inflight_account_set_limit() - another bound, for what is out too
 * @account: the account
 * @limit: packets, TC_INFLIGHT_AUTO or TC_INFLIGHT_OFF
 *
 * Auto learns from the beginning each time it is chosen.
 */
void inflight_account_set_limit(struct inflight_account *account, u32 limit)
{
	if (limit == TC_INFLIGHT_AUTO && !inflight_is_auto(account)) {
		memset(&account->dql, 0, sizeof(account->dql));
		memset(&account->pace, 0, sizeof(account->pace));
		dql_init(&account->dql, HZ);
		account->dql.num_queued = account->counted_bytes;
		account->auto_packets = inflight_pace_packets(&account->pace, 0);
	}
	if (limit != TC_INFLIGHT_AUTO)
		memset(&account->late, 0, sizeof(account->late));
	WRITE_ONCE(account->runs_dry, false);
	WRITE_ONCE(account->run_bytes, 0);
	inflight_account_end_doubt(account);
	account->filled = 0;
	WRITE_ONCE(account->limit, limit);
}

/* One of the places a station may be in. Nobody can choose addresses that crowd another's. */
static u32 inflight_place(const struct inflight_account *account, u64 address, u32 probe)
{
	probe += jhash_2words(address, address >> 32, account->secret);
	return probe % ARRAY_SIZE(account->stations);
}

/*
 * The place of a station: its own, or one of a station that has nothing out, and of these the one
 * that has been without urgent packets for longest. With none free, it shares one.
 */
static u32 inflight_account_place(const struct inflight_account *account, u64 address)
{
	const struct inflight_station *station, *free = NULL;
	u32 i;

	for (i = 0; i < INFLIGHT_PROBES; i++) {
		station = &account->stations[inflight_place(account, address, i)];
		if (likely(station->address == address))
			return station - account->stations;
		if (!station->packets && (!free || station->haste.at < free->haste.at))
			free = station;
	}
	return free ? free - account->stations : inflight_place(account, address, 0);
}

/*
 * The station's place becomes its own if it is free. Who takes one takes what is left of its urgent
 * bytes: else who has several addresses would always have a full bucket.
 */
static struct inflight_station *
inflight_account_station(struct inflight_account *account, u64 address)
{
	struct inflight_station *station =
		&account->stations[inflight_account_place(account, address)];

	if (unlikely(station->address != address && !station->packets))
		*station = (struct inflight_station) {
			.address = address,
			.haste = station->haste,
			.calm = station->calm,
			.epoch = station->epoch,
		};
	return station;
}

/* The ticket's packet counts against the bound. */
static void inflight_count(struct inflight_account *account, struct inflight_station *station,
			   struct inflight_ticket *ticket)
{
	ticket->epoch = station->epoch;
	ticket->first = !account->counted;
	WRITE_ONCE(account->runs_dry, false);
	/* No branch: nobody can tell which station's packet is next. */
	station->since = station->counted ? station->since : ticket->at;
	station->counted += ticket->packets;
	station->bytes += ticket->bytes;
	WRITE_ONCE(account->counted, account->counted + ticket->packets);
	account->filled = account->doubts ? account->filled : account->counted;
	account->counted_bytes += ticket->bytes;
	if (inflight_is_auto(account))
		dql_queued(&account->dql, ticket->bytes);
}

/* Fills in the ticket of a packet that does not count. */
static void inflight_hand_down(struct inflight_account *account, struct inflight_station *station,
			       u16 packets, u32 bytes, u64 now, struct inflight_ticket *ticket)
{
	ticket->station = station - account->stations;
	ticket->urgent = 0;
	ticket->first = 0;
	ticket->at = now;
	ticket->packets = packets;
	ticket->bytes = bytes;
	ticket->epoch = station->epoch - 1;

	account->out += packets;
	account->out_bytes += bytes;
	station->packets += packets;
}

/* Urgent bytes that each station may have in a ms. */
static u32 inflight_station_rate(const struct inflight_account *account)
{
	u32 best = inflight_is_auto(account) ? inflight_pace_bytes(&account->pace) : 0;

	return inflight_haste_rate(best / (INFLIGHT_PACE_NS / NSEC_PER_MSEC));
}

/*
 * Does the station ask for no more than it may have? If it did, it is not believed before half of
 * its bucket is full.
 */
static bool inflight_is_modest(const struct inflight_account *account,
			       const struct inflight_station *station, u32 bytes, u64 now)
{
	u32 rate = inflight_station_rate(account);
	u32 least = station->calm ? inflight_haste_whole(rate) / 2 : 0;

	return inflight_haste_left(&station->haste, rate, now) >= max(bytes, least);
}

static bool inflight_may_hurry(const struct inflight_account *account,
			       const struct inflight_station *station, u32 bytes, u64 now)
{
	u32 rate = INFLIGHT_HASTE_STATIONS * inflight_station_rate(account);

	return account->urgent < INFLIGHT_HASTE_MAX &&
	       inflight_is_modest(account, station, bytes, now) &&
	       inflight_haste_left(&account->haste, rate, now) >= bytes;
}

/**
 * inflight_account_may_hurry() - may an urgent packet be handed down without room?
 * @account: the account
 * @address: of its station
 * @bytes: of the packet
 * @now: ns
 */
bool inflight_account_may_hurry(const struct inflight_account *account, u64 address,
				u32 bytes, u64 now)
{
	const struct inflight_station *station =
		&account->stations[inflight_account_place(account, address)];

	return inflight_is_auto(account) &&
	       inflight_may_hurry(account, station, max(bytes, INFLIGHT_PACE_SHORT), now);
}

/**
 * inflight_account_add_urgent() - an urgent packet is handed down, if it may be
 * @account: the account
 * @address: of its station
 * @bytes: of the packet, no GSO packet
 * @now: ns
 * @ticket: to be given to inflight_account_remove()
 *
 * Return: false if its station asks for too many, or all together. Then it is to be sent as any
 * other.
 */
bool inflight_account_add_urgent(struct inflight_account *account, u64 address, u32 bytes,
				 u64 now, struct inflight_ticket *ticket)
{
	struct inflight_station *station = inflight_account_station(account, address);
	u32 rate = inflight_station_rate(account), cost = max(bytes, INFLIGHT_PACE_SHORT);
	bool may = inflight_may_hurry(account, station, cost, now), counts;

	/* Also what it asks for and has not. */
	station->calm = !inflight_is_modest(account, station, cost, now);
	inflight_haste_take(&station->haste, rate, cost, now);
	if (!may)
		return false;
	inflight_haste_take(&account->haste, INFLIGHT_HASTE_STATIONS * rate, cost, now);
	/* Who has given a bound in packets wants no more. */
	counts = !inflight_is_auto(account) && !station->asleep;
	inflight_hand_down(account, station, 1, bytes, now, ticket);
	ticket->urgent = 1;
	account->urgent++;
	if (counts)
		inflight_count(account, station, ticket);
	return true;
}

/**
 * inflight_account_add() - a packet is handed down
 * @account: the account
 * @address: of its station
 * @packets: 1, or the segments of a GSO packet
 * @bytes: of the packet
 * @now: ns
 * @ticket: to be given to inflight_account_remove()
 */
void inflight_account_add(struct inflight_account *account, u64 address, u16 packets, u32 bytes,
			  u64 now, struct inflight_ticket *ticket)
{
	struct inflight_station *station = inflight_account_station(account, address);

	inflight_hand_down(account, station, packets, bytes, now, ticket);
	if (!station->asleep)
		inflight_count(account, station, ticket);
}

/*
 * Must the bound run dry? That takes as long as any station may keep its packets. If it takes
 * longer, a station has got some of them meanwhile: then it is tried again later.
 */
static void inflight_run_dry(struct inflight_account *account, u64 now)
{
	struct inflight_late *late = &account->late;

	if (late->suspected && !account->runs_dry)
		account->dry_since = now;
	else if (account->runs_dry &&
		 now - account->dry_since > account->stall + inflight_late_at_most(late))
		inflight_late_give_up(late, now);
	WRITE_ONCE(account->runs_dry, late->suspected);
}

/* The device has sent a packet: what does that say of the bound? */
static void inflight_learn(struct inflight_account *account, const struct inflight_ticket *ticket,
			   bool counts, u64 now)
{
	struct inflight_pace *pace = &account->pace;
	struct inflight_late *late = &account->late;
	u32 packets;

	/* A driver may give up all packets of a sleeping station at once: they were not sent. */
	if (counts)
		inflight_pace_note(pace, ticket->at, ticket->bytes, ticket->packets,
				   account->stations[ticket->station].counted, now);
	inflight_late_note(late, ticket, counts, now);
	account->dql.min_limit = inflight_pace_bytes(pace) + inflight_late_bytes(late);
	packets = inflight_pace_packets(pace, now) + inflight_late_packets(late);
	WRITE_ONCE(account->auto_packets, packets);
	WRITE_ONCE(account->run_bytes, inflight_pace_run(pace, now));
	inflight_run_dry(account, now);
}

/**
 * inflight_account_remove() - a packet is freed
 * @account: the account
 * @ticket: the packet's
 * @now: ns
 * @in_transmit: while the driver was being given a packet: it makes room, by dropping, and says
 *		 nothing of what goes out
 */
void inflight_account_remove(struct inflight_account *account,
			     const struct inflight_ticket *ticket, u64 now, bool in_transmit)
{
	struct inflight_station *station = &account->stations[ticket->station];
	bool counts = ticket->epoch == station->epoch;

	account->out -= ticket->packets;
	account->out_bytes -= ticket->bytes;
	station->packets -= ticket->packets;
	if (counts) {
		station->counted -= ticket->packets;
		station->bytes -= ticket->bytes;
		WRITE_ONCE(account->counted, account->counted - ticket->packets);
		account->counted_bytes -= ticket->bytes;
		if (inflight_is_auto(account))
			dql_completed(&account->dql, ticket->bytes);
	}
	account->urgent -= ticket->urgent;
	if (in_transmit)
		return;
	if (ticket->urgent) {
		/* With auto, ordinary packets may be kept for a station that voice wakes. */
		if (!inflight_is_auto(account)) {
			station->since = now;
			station->asleep = false;
		}
		return;
	}
	if (inflight_is_auto(account))
		inflight_learn(account, ticket, counts, now);
	inflight_station_lives(account, ticket, counts, now);
}
