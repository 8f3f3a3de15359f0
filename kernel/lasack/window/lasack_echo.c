// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether an upload's data waits for long in its own station.
 *
 * Principle: with its data a station echoes the newest timestamp that it has got when it queues it
 * (RFC 7323, 3.2). So data that echoes an older timestamp than that of an ACK was queued before the
 * ACK came there. If such data comes long after the ACK was sent, it has waited in the station. A
 * sender that has nothing to send cannot look like this: what it sends later echoes the ACK.
 *
 * So one ACK at a time is asked about, until data echoes it.
 *
 * How long that was is the time to the last data before the one that echoes the ACK. That one may
 * come after a pause.
 *
 * If something that was queued after the ACK came has overtaken that data, the station's queue is a
 * fair one (lasack_overtake.c). Then its uploads do not share a queue, so each counts as the only
 * one. And data is late there as often as its window is not small: that it was late is not
 * remembered.
 *
 * Who sends in a station's name could make its windows and its downloads' target small or not, and
 * only those. If an ACK is forged whose timestamp is ahead of all, no data echoes it, and the
 * station seems to be late. But before that is told, the next ACK has an older timestamp. Then what
 * is asked is forgotten, and what was answered. If an ACK is lost, another one is asked about after
 * LASACK_ECHO_AGE.
 *
 * Locking: none. Packets that come in and packets that go out write at the same time. What is read
 * is good or bad advice, never more.
 */
#include <asm/barrier.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/time64.h>
#include <net/tcp.h>
#include "common/tcp_segment.h"
#include "lasack/window/lasack_echo.h"

/* mac80211's CoDel would let a station's own packets wait for so long. */
#define LASACK_ECHO_LATE	(20U * NSEC_PER_MSEC >> 10)
/*
 * With a small window, a station's data no longer waits behind its own, and nothing tells how long
 * its queue would be with a larger one. To find out takes some round trips, with a long queue.
 */
#define LASACK_ECHO_LATELY	(4U << 20)
/* An ACK that is not echoed for so long was lost. */
#define LASACK_ECHO_AGE		BIT(20)
/* 2^20 units of time. */
#define LASACK_ECHO_SECOND	20
/* Seconds: a station from which nothing has come for so long does not need its place. */
#define LASACK_ECHO_LEFT	2U

/*
 * Whether something that was queued after an ACK came has overtaken what was queued before. It may
 * be so if late data comes. It is so if data echoes just this ACK: then the ACK was not lost.
 */
enum { LASACK_ECHO_IS_NOT, LASACK_ECHO_MAY_BE, LASACK_ECHO_IS };

/* Bytes in a second: what sends less has no queue of its own. */
#define LASACK_ECHO_LARGE	8192U

/**
 * lasack_echo_timestamps() - read a packet's timestamps
 * @skb: the packet
 * @seg: what it is: TCP
 * @value: is set to its own
 * @echo: is set to the one that it echoes
 *
 * Return: whether it has any, where they usually are.
 */
bool lasack_echo_timestamps(const struct sk_buff *skb, const struct tcp_segment *seg,
			    u32 *value, u32 *echo)
{
	struct {
		struct tcphdr	th;
		__be32		option[TCPOLEN_TSTAMP_ALIGNED / sizeof(__be32)];
	} _header;
	const typeof(_header) *header;

	header = skb_header_pointer(skb, seg->transport, sizeof(_header), &_header);
	if (!header || header->th.doff < sizeof(_header) / 4 ||
	    header->option[0] != htonl(LASACK_TIMESTAMPS))
		return false;
	*value = ntohl(header->option[1]);
	*echo = ntohl(header->option[2]);
	return true;
}

/* Set @end to the sequence number behind a packet's data. Return: whether it can be read. */
bool lasack_echo_end_of(const struct sk_buff *skb, const struct tcp_segment *seg, u32 *end)
{
	const __be32 *seq;
	__be32 _seq;

	seq = skb_header_pointer(skb, seg->transport + offsetof(struct tcphdr, seq), sizeof(_seq),
				 &_seq);
	if (!seq)
		return false;
	*end = ntohl(*seq) + seg->payload;
	return true;
}

/* Return: whether a packet that has come in is data that echoes a timestamp. */
bool lasack_echo_read(const struct sk_buff *skb, const struct tcp_segment *seg,
		      struct lasack_echo_data *data)
{
	u32 value;

	if (seg->class != SEGMENT_TCP || !seg->payload ||
	    !lasack_echo_timestamps(skb, seg, &value, &data->timestamp))
		return false;
	if (!lasack_echo_end_of(skb, seg, &data->end))
		return false;
	data->segment = skb_is_gso(skb) ? skb_shinfo(skb)->gso_size : seg->payload;
	return true;
}

/* Return: whether the place is the station's. If nobody else has used it lately, it becomes so. */
static bool lasack_echo_is_of(struct lasack_echo_station *station, u32 hash, u32 second)
{
	u32 before = READ_ONCE(station->station);

	if (before != hash) {
		if (before && second - READ_ONCE(station->heard) < LASACK_ECHO_LEFT)
			return false;
		WRITE_ONCE(station->shared, 0);
		WRITE_ONCE(station->waited, 0);
		WRITE_ONCE(station->connection, 0);
		WRITE_ONCE(station->fair, 0);
		lasack_overtake_forget(&station->overtake);
		WRITE_ONCE(station->station, hash);
	}
	if (READ_ONCE(station->heard) != second)
		WRITE_ONCE(station->heard, second);
	return true;
}

/**
 * lasack_echo_mix() - a packet has come from a station
 * @station: a place, which may be another one's
 * @hash: of the station
 * @key: of the packet
 * @now: the time, 2^10 ns
 *
 * If packets of two connections come by turns, one waits for the other in the station.
 *
 * Return: whether the place is the station's.
 */
bool lasack_echo_mix(struct lasack_echo_station *station, u32 hash, const struct segment_key *key,
		     u32 now)
{
	u32 connection = (u32)be16_to_cpu(key->port[0]) << 16 | be16_to_cpu(key->port[1]);
	u32 before;

	if (!lasack_echo_is_of(station, hash, now >> LASACK_ECHO_SECOND))
		return false;
	before = READ_ONCE(station->connection);
	connection = connection ?: 1;
	if (before == connection)
		return true;
	WRITE_ONCE(station->connection, connection);
	if (before)
		WRITE_ONCE(station->shared, now >> LASACK_ECHO_SECOND ?: 1);
	return true;
}

/**
 * lasack_echo_hear() - data has come from a station
 * @echo: a place, which may be another connection's
 * @station: the station's place, or NULL: it has none
 * @flow: a hash of the connection
 * @data: the data
 * @now: the time, 2^10 ns
 */
void lasack_echo_hear(struct lasack_echo *echo, const struct lasack_echo_station *station, u32 flow,
		      const struct lasack_echo_data *data, u32 now)
{
	u32 since;
	s32 newer;

	if (READ_ONCE(echo->flow) != flow)
		return;
	if (!READ_ONCE(echo->segment) || (s32)(data->end - READ_ONCE(echo->heard)) > 0)
		WRITE_ONCE(echo->heard, data->end);
	if (data->segment > READ_ONCE(echo->segment))
		WRITE_ONCE(echo->segment, data->segment);
	/* As it was asked: lasack_echo_ask(). */
	if (!smp_load_acquire(&echo->pending))
		return;
	/* The clock may have been read before the ACK was sent. */
	since = READ_ONCE(echo->since);
	newer = data->timestamp - READ_ONCE(echo->asked);
	if (newer >= 0) {
		if (!newer && READ_ONCE(echo->overtaken) == LASACK_ECHO_MAY_BE)
			WRITE_ONCE(echo->overtaken, LASACK_ECHO_IS);
		WRITE_ONCE(echo->pending, 0);
	} else if ((s32)(now - since) > (s32)LASACK_ECHO_LATE) {
		if (station && lasack_overtake_seen(&station->overtake, since))
			WRITE_ONCE(echo->overtaken, LASACK_ECHO_MAY_BE);
		WRITE_ONCE(echo->fresh, now - since);
	}
}

/* The station begins a connection, which may have these addresses and ports again. */
void lasack_echo_end(struct lasack_echo *echo, u32 flow)
{
	if (READ_ONCE(echo->flow) == flow)
		WRITE_ONCE(echo->flow, ~flow);
}

static void lasack_echo_begin(struct lasack_echo *echo, u32 flow)
{
	WRITE_ONCE(echo->pending, 0);
	echo->late = 0;
	echo->waited = 0;
	WRITE_ONCE(echo->fresh, 0);
	WRITE_ONCE(echo->overtaken, LASACK_ECHO_IS_NOT);
	WRITE_ONCE(echo->segment, 0);
	echo->counted = ~0U;
	WRITE_ONCE(echo->flow, flow);
}

static void lasack_echo_next_second(struct lasack_echo_station *station, u32 second)
{
	station->uploads[1] = station->second + 1 == second ? station->uploads[0] : 0;
	station->uploads[0] = 0;
	station->second = second;
}

/* Count the connection among the uploads of its station, if it is one. */
static void lasack_echo_count(struct lasack_echo *echo, struct lasack_echo_station *station,
			      u32 second)
{
	u32 heard = READ_ONCE(echo->heard);

	if (station->second != second)
		lasack_echo_next_second(station, second);
	if (!READ_ONCE(echo->segment))
		return;
	if (echo->counted != second) {
		echo->counted = second;
		echo->began = heard;
		echo->large = false;
	}
	if (!echo->large && heard - echo->began >= LASACK_ECHO_LARGE) {
		echo->large = true;
		station->uploads[0]++;
	}
}

static bool lasack_echo_is_shared(const struct lasack_echo_station *station, u32 second)
{
	u32 shared = READ_ONCE(station->shared);

	return shared && second - shared < 2;
}

static bool lasack_echo_is_fair(const struct lasack_echo_station *station, u32 now)
{
	u32 fair = READ_ONCE(station->fair);

	return fair && now - fair < LASACK_ECHO_LATELY;
}

/**
 * lasack_echo_ask() - an ACK is sent to a station
 * @echo: a place, which may be another connection's
 * @station: where it goes
 * @flow: a hash of the connection
 * @timestamp: of the ACK
 * @ack_seq: up to which it acknowledges
 * @now: the time, 2^10 ns
 *
 * Return: what is known of the station. No segment: nothing.
 */
struct lasack_window_station lasack_echo_ask(struct lasack_echo *echo,
					     struct lasack_echo_station *station, u32 flow,
					     u32 timestamp, u32 ack_seq, u32 now)
{
	bool old = now - READ_ONCE(echo->since) > LASACK_ECHO_AGE;
	u32 second = now >> LASACK_ECHO_SECOND, late, fresh = 0;
	bool fair;

	if (READ_ONCE(echo->flow) != flow) {
		if (!old)
			return (struct lasack_window_station) {};
		lasack_echo_begin(echo, flow);
	}
	if (READ_ONCE(echo->fresh))
		fresh = xchg(&echo->fresh, 0);
	if (READ_ONCE(echo->overtaken) == LASACK_ECHO_IS)
		WRITE_ONCE(station->fair, now ?: 1);
	if (READ_ONCE(echo->pending) && (s32)(timestamp - echo->asked) < 0) {
		WRITE_ONCE(echo->pending, 0);
		echo->waited = 0;
		fresh = 0;
	}
	if (fresh) {
		echo->late = now ?: 1;
		echo->waited = fresh;
	}
	if (!READ_ONCE(echo->pending) || old) {
		if (echo->waited && !old && lasack_echo_is_shared(station, second)) {
			station->wait = echo->waited;
			WRITE_ONCE(station->waited, now ?: 1);
		}
		echo->waited = 0;
		WRITE_ONCE(echo->pending, 0);
		WRITE_ONCE(echo->overtaken, LASACK_ECHO_IS_NOT);
		WRITE_ONCE(echo->asked, timestamp);
		WRITE_ONCE(echo->since, now);
		/* Who sees it as pending also sees what is asked: lasack_echo_hear(). */
		smp_store_release(&echo->pending, 1);
	}
	lasack_echo_count(echo, station, second);
	late = echo->late;
	fair = lasack_echo_is_fair(station, now);
	return (struct lasack_window_station) {
		.segment = READ_ONCE(echo->segment),
		.uploads = fair ? 1 : max3(station->uploads[0], station->uploads[1], 1U),
		.shared = lasack_echo_is_shared(station, second),
		.beyond = max((s32)(READ_ONCE(echo->heard) - ack_seq), 0),
		.late = fresh,
		.lately = !fair && late && now - late < LASACK_ECHO_LATELY,
	};
}

/* Return: how long uploads' data waited in the station, which is shared; 0: not known. */
u32 lasack_echo_wait(const struct lasack_echo_station *station, u32 now)
{
	u32 waited = READ_ONCE(station->waited);

	if (!waited || now - waited > LASACK_ECHO_WAIT_AGE)
		return 0;
	return station->wait;
}
