// SPDX-License-Identifier: GPL-2.0-only
/*
 * What stations send by TCP: how much an ACK may acknowledge, and which connections they begin.
 *
 * Principle: an ACK can be forged by anybody who can send a packet to the station. So it is
 * believed only as far as the station has sent what it acknowledges. A counter for each connection
 * has the bytes that came and were not acknowledged yet. Connections share counters by chance,
 * which a keyed hash decides: there are too many of them for a forger to find a connection's. The
 * pieces of a fragmented packet and what cannot be parsed may be of any connection of the station,
 * so the station has a counter for them, or a TCP upload could hide in them. If no packet comes
 * in at all, something takes them before the hook, such as tc's mirred. Then all ACKs are believed.
 *
 * Locking: counters are read and written without a lock, here and there at the same time.
 */
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include "lasack/lasack_flow.h"
#include "lasack/lasack_observe.h"
#include "lasack/lasack_state.h"

/* A counter's most: no more data can be under way, and retransmissions do not add up. */
#define LASACK_UNACKED_MOST	(2 * LASACK_WINDOW)
/* No data waits for its ACK for longer. */
#define LASACK_UNACKED_AGE	(60 * HZ)
/* Nor does a SYN or a question for its answer. */
#define LASACK_SOLICITED_AGE	(4 * HZ)

static u64 lasack_observer_hash(const struct lasack_observer *observer,
				const struct segment_key *key, u64 station)
{
	const struct {
		struct segment_key	key;
		u64			station;
	} of = { *key, station };

	static_assert(sizeof(of) == sizeof(*key) + sizeof(station));
	return siphash(&of, sizeof(of), &observer->hash_key);
}

static struct lasack_unacked *lasack_observer_at(struct lasack_observer *observer, u64 hash)
{
	return &observer->unacked[hash_64(hash, LASACK_UNACKED_BITS)];
}

static struct lasack_unacked *lasack_observer_of_flow(struct lasack_observer *observer,
						      const struct segment_key *key, u64 station)
{
	return lasack_observer_at(observer, lasack_observer_hash(observer, key, station));
}

/* Of what came from the station and is of no known connection. */
static struct lasack_unacked *lasack_observer_pieces(struct lasack_observer *observer,
						     u64 station)
{
	return &observer->pieces[hash_64(siphash_1u64(station, &observer->hash_key),
					 LASACK_PIECES_BITS)];
}

/* A packet has come from the station. Return: its place, or NULL: another one has it. */
static struct lasack_echo_station *lasack_observer_mix(struct lasack_observer *observer,
						       const struct segment_key *key,
						       u64 station, u32 now)
{
	u64 hash = siphash_1u64(station, &observer->hash_key);
	struct lasack_echo_station *place = &observer->stations[hash_64(hash, LASACK_PIECES_BITS)];

	return lasack_echo_mix(place, hash, key, now) ? place : NULL;
}

/* Return: the station's place, or NULL: another one has it, or it has sent nothing yet. */
static struct lasack_echo_station *lasack_observer_station(struct lasack_observer *observer,
							   u64 station)
{
	u64 hash = siphash_1u64(station, &observer->hash_key);
	struct lasack_echo_station *place = &observer->stations[hash_64(hash, LASACK_PIECES_BITS)];

	return READ_ONCE(place->station) == (u32)hash ? place : NULL;
}

/* What is left of old data was sent twice, or acknowledged elsewhere. It does not pile up. */
static u32 lasack_unacked_read(const struct lasack_unacked *unacked)
{
	if (time_after32(jiffies, READ_ONCE(unacked->heard) + LASACK_UNACKED_AGE))
		return 0;
	return max(atomic_read(&unacked->bytes), 0);
}

/* Processors that add at the same time may exceed the most by a packet each. */
static void lasack_unacked_add(struct lasack_unacked *unacked, u32 bytes)
{
	u32 now = jiffies, before = lasack_unacked_read(unacked);

	if (!before)
		atomic_set(&unacked->bytes, 0);
	if (READ_ONCE(unacked->heard) != now)
		WRITE_ONCE(unacked->heard, now);
	if (before < LASACK_UNACKED_MOST)
		atomic_add(min_t(u32, bytes, LASACK_UNACKED_MOST), &unacked->bytes);
}

/* The station begins a connection. If it asks again, nobody knows which SYN is answered. */
static void lasack_unacked_ask(struct lasack_unacked *unacked, u32 flow)
{
	u32 now = jiffies;
	bool again = READ_ONCE(unacked->flow) == flow &&
		     now - READ_ONCE(unacked->heard) < LASACK_SOLICITED_AGE;

	WRITE_ONCE(unacked->asked, again ? now - LASACK_SOLICITED_AGE : now);
	WRITE_ONCE(unacked->flow, flow);
}

static struct lasack_echo *lasack_observer_echo(struct lasack_observer *observer, u64 hash)
{
	return &observer->echoes[hash_64(hash, LASACK_ECHO_BITS)];
}

/* The station has sent data, or the SYN of a connection. @place is the station's, or NULL. */
static void lasack_observer_heard(struct lasack_observer *observer, const struct tcp_segment *seg,
				  u64 station, const struct lasack_echo_station *place,
				  const struct lasack_echo_data *data, u32 now)
{
	u64 hash = lasack_observer_hash(observer, &seg->key, station);
	struct lasack_unacked *unacked = lasack_observer_at(observer, hash);

	/* Before it is noted when the last one came. */
	if (seg->syn && !seg->ack) {
		lasack_unacked_ask(unacked, hash);
		lasack_echo_end(lasack_observer_echo(observer, hash), hash);
	}
	lasack_unacked_add(unacked, seg->payload);
	if (data)
		lasack_echo_hear(lasack_observer_echo(observer, hash), place, hash, data, now);
}

/* An ACK has come from a station. Few are waited for. */
static void lasack_observer_acked(struct lasack_observer *observer, const struct tcp_segment *seg,
				  u64 station, struct lasack_overtake *overtake, u32 now)
{
	if (lasack_overtake_is_pending(overtake, now))
		lasack_overtake_answer(overtake, lasack_observer_hash(observer, &seg->key, station),
				       seg->ack_seq);
}

/**
 * lasack_observer_note_tcp() - a packet has come from a station
 * @observer: the observer
 * @seg: what it is
 * @station: its MAC address
 * @length: bytes of it
 * @data: what it echoes, or NULL: nothing
 *
 * Counts data of TCP, and what may be such data, and remembers that a connection was begun. Also
 * called for every other packet.
 */
void lasack_observer_note_tcp(struct lasack_observer *observer, const struct tcp_segment *seg,
			      u64 station, u32 length, const struct lasack_echo_data *data)
{
	u32 ticks = jiffies, now = ktime_get_ns() >> LASACK_ARRIVAL_SHIFT;
	struct lasack_echo_station *place = NULL;

	if (READ_ONCE(observer->heard) != ticks)
		WRITE_ONCE(observer->heard, ticks);
	if (seg->class <= SEGMENT_PORTLESS)
		place = lasack_observer_mix(observer, &seg->key, station, now);
	if (seg->class == SEGMENT_TCP) {
		if (seg->payload || (seg->syn && !seg->ack))
			lasack_observer_heard(observer, seg, station, place, data, now);
		/* Afterwards: a packet does not overtake itself. */
		if (place && seg->ack)
			lasack_observer_acked(observer, seg, station, &place->overtake, now);
	} else if (!segment_has_key(seg) ||
		   (seg->class == SEGMENT_FRAGMENT && seg->key.protocol != IPPROTO_UDP)) {
		lasack_unacked_add(lasack_observer_pieces(observer, station), length);
	}
}

/**
 * lasack_observer_ask() - an ACK of TCP is sent
 * @observer: the observer
 * @skb: the ACK
 * @seg: what it is
 * @station: where it goes
 * @now: the time, 2^10 ns
 *
 * Return: what is known of its station.
 */
struct lasack_window_station lasack_observer_ask(struct lasack_observer *observer,
						 const struct sk_buff *skb,
						 const struct tcp_segment *seg, u64 station,
						 u32 now)
{
	struct lasack_echo_station *place = lasack_observer_station(observer, station);
	struct lasack_window_station known = {};
	u32 value, echo;
	u64 hash;

	/* What is far away echoes late, whoever waits: no queue of a station's. */
	if (!lasack_observer_has_stations(observer))
		return known;
	if (!place || !lasack_echo_timestamps(skb, seg, &value, &echo))
		return known;
	hash = lasack_observer_hash(observer, &seg->key, station);
	known = lasack_echo_ask(lasack_observer_echo(observer, hash), place, hash, value,
				seg->ack_seq, now);
	if (known.late && known.shared)
		observer->waited = now ?: 1;
	/* More than a window: of other sequence numbers. */
	if (known.beyond > LASACK_WINDOW)
		known.segment = 0;
	return known;
}

/* An upload's data waits in a station. Ask whether the ACK of a download's data does, too. */
static void lasack_observer_ask_about(struct lasack_observer *observer, const struct sk_buff *skb,
				      struct lasack_overtake *overtake, u32 now)
{
	struct tcp_segment seg;
	u32 end;

	if (tcp_segment_parse(skb, &seg) != SEGMENT_TCP || !seg.payload ||
	    !lasack_echo_end_of(skb, &seg, &end))
		return;
	lasack_overtake_ask(overtake,
			    lasack_observer_hash(observer, &seg.key, lasack_station_address(skb)),
			    end, now);
}

/**
 * lasack_observer_wait() - data of TCP is sent to a station
 * @observer: the observer
 * @skb: the data
 * @now: the time, 2^10 ns
 *
 * Return: how long data waits in the station, about, 2^10 ns; 0: not for long, or unknown.
 */
u32 lasack_observer_wait(struct lasack_observer *observer, const struct sk_buff *skb, u32 now)
{
	struct lasack_echo_station *place;
	u32 wait;

	/* Most access points have no such station: do not look for it. */
	if (!observer->waited || now - observer->waited > LASACK_ECHO_WAIT_AGE)
		return 0;
	place = lasack_observer_station(observer, lasack_station_address(skb));
	wait = place ? lasack_echo_wait(place, now) : 0;
	if (wait && !lasack_overtake_is_pending(&place->overtake, now))
		lasack_observer_ask_about(observer, skb, &place->overtake, now);
	return wait;
}

/* Has nothing been heard for a second? The clock wraps: what is long ago stays so. */
static bool lasack_observer_is_deaf(struct lasack_observer *observer)
{
	if (!time_after32(jiffies, READ_ONCE(observer->heard) + LASACK_DEAF_AGE))
		return false;
	WRITE_ONCE(observer->heard, jiffies - 2 * LASACK_DEAF_AGE);
	return true;
}

/**
 * lasack_observer_spend() - an ACK acknowledges data of TCP
 * @observer: the observer
 * @key: of the flow
 * @station: where the ACK goes
 * @bytes: how much it acknowledges
 * @slack: so much may be missing
 *
 * The caller is the only one who spends. If the data has come, no other ACK may acknowledge it.
 *
 * Return: whether the station has sent so much, or nothing has been heard for a second.
 */
bool lasack_observer_spend(struct lasack_observer *observer, const struct segment_key *key,
			   u64 station, u32 bytes, u32 slack)
{
	struct lasack_unacked *own = lasack_observer_of_flow(observer, key, station), *pieces;
	u32 part = min(bytes, lasack_unacked_read(own)), rest = bytes - part, more;

	if (unlikely(rest > 0)) {
		if (lasack_observer_is_deaf(observer))
			return true;
		pieces = lasack_observer_pieces(observer, station);
		more = min(rest, lasack_unacked_read(pieces));
		if (rest - more > slack)
			return false;
		atomic_sub(more, &pieces->bytes);
	}
	atomic_sub(part, &own->bytes);
	return true;
}

/* What ACKs have acknowledged was forged: another one may acknowledge these @bytes. */
void lasack_observer_return(struct lasack_observer *observer, const struct segment_key *key,
			    u64 station, u32 bytes)
{
	/* Else who steps back and forth keeps old data from being forgotten. */
	if (bytes)
		lasack_unacked_add(lasack_observer_of_flow(observer, key, station), bytes);
}

/**
 * lasack_observer_answer_syn() - a connection begins: does it answer its station's SYN?
 * @observer: the observer
 * @key: of the flow
 * @station: where it goes
 *
 * If a connection with the same counter begins later, this one is forgotten. A connection that the
 * other end began is none: who asks a server of the station could begin it again and again. A SYN
 * is good for one answer, or the other end could answer it again and again.
 *
 * Return: whether it does, and was asked a moment ago.
 */
bool lasack_observer_answer_syn(struct lasack_observer *observer, const struct segment_key *key,
				u64 station)
{
	u64 hash = lasack_observer_hash(observer, key, station);
	struct lasack_unacked *unacked = lasack_observer_at(observer, hash);
	u32 age = (u32)jiffies - READ_ONCE(unacked->heard);

	if (age >= LASACK_SOLICITED_AGE || READ_ONCE(unacked->flow) != (u32)hash)
		return false;
	WRITE_ONCE(unacked->flow, ~(u32)hash);
	return true;
}

/**
 * lasack_observer_trip() - a connection is accepted: how far is the server?
 * @observer: the observer
 * @key: of the flow
 * @station: where it goes
 *
 * Who sends SYNs to a laptop is not known, only its access point. So nothing is told there.
 *
 * Return: the time since the station's only SYN, 2^10 ns, to a tick; 0: it is not known.
 */
u32 lasack_observer_trip(struct lasack_observer *observer, const struct segment_key *key,
			 u64 station)
{
	u64 hash = lasack_observer_hash(observer, key, station);
	const struct lasack_unacked *unacked = lasack_observer_at(observer, hash);
	u32 age = (u32)jiffies - READ_ONCE(unacked->asked);

	if (age >= LASACK_SOLICITED_AGE || READ_ONCE(unacked->flow) != (u32)hash ||
	    !lasack_observer_has_stations(observer))
		return 0;
	return max_t(u64, jiffies64_to_nsecs(age) >> LASACK_ARRIVAL_SHIFT, 1);
}
