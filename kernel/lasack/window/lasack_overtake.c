// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether a station's queue is a fair one.
 *
 * Principle: packets leave a FIFO in the order in which they came. An ACK is sent to a station, and
 * later data of a download. What the station had queued when it got the ACK is before the ACK of
 * that data. If the ACK of the data comes first, it has overtaken: the station serves its
 * connections by turns, as Linux does, and one does not wait for another.
 *
 * So one packet of data at a time is asked about, until the station acknowledges it. It must be
 * newer than the last one of its connection: an old one may have been acknowledged before.
 * lasack_echo.c knows what was queued before the ACK.
 *
 * Source: the order of packets that wait in one queue. Sparse flows, which go first: RFC 8290, 4.
 *
 * Locking: as lasack_echo.c.
 */
#include <asm/barrier.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/time64.h>
#include "lasack/window/lasack_overtake.h"

/* What is below the queue discipline may change the order of two packets, but not for so long. */
#define LASACK_OVERTAKE_LATER	((u32)(10 * NSEC_PER_MSEC >> 10))
/* Nobody asks about what is older: the time wraps. */
#define LASACK_OVERTAKE_LATEST	BIT(20)
/* An ACK that has not come for so long was lost, or the data was. */
#define LASACK_OVERTAKE_AGE	BIT(18)

/* Return: whether lasack_overtake_answer() waits for an ACK. */
bool lasack_overtake_is_pending(const struct lasack_overtake *o, u32 now)
{
	return READ_ONCE(o->pending) && now - READ_ONCE(o->sent) <= LASACK_OVERTAKE_AGE;
}

/**
 * lasack_overtake_ask() - data is sent to the station, and no ACK is waited for
 * @o: what is known of the station
 * @flow: a hash of the connection
 * @end: the sequence number behind the data
 * @now: the time, 2^10 ns
 */
void lasack_overtake_ask(struct lasack_overtake *o, u32 flow, u32 end, u32 now)
{
	if (READ_ONCE(o->flow) == flow && (s32)(end - READ_ONCE(o->end)) <= 0)
		return;
	WRITE_ONCE(o->pending, 0);
	WRITE_ONCE(o->flow, flow);
	WRITE_ONCE(o->end, end);
	WRITE_ONCE(o->sent, now ?: 1);
	/* Who sees it as pending also sees what is asked: lasack_overtake_answer(). */
	smp_store_release(&o->pending, 1);
}

/**
 * lasack_overtake_answer() - an ACK has come from the station
 * @o: what is known of the station
 * @flow: a hash of the connection
 * @ack_seq: up to which it acknowledges
 */
void lasack_overtake_answer(struct lasack_overtake *o, u32 flow, u32 ack_seq)
{
	/* As it was asked: lasack_overtake_ask(). */
	if (!smp_load_acquire(&o->pending) || READ_ONCE(o->flow) != flow ||
	    (s32)(ack_seq - READ_ONCE(o->end)) < 0)
		return;
	WRITE_ONCE(o->answered, READ_ONCE(o->sent));
	WRITE_ONCE(o->pending, 0);
}

/**
 * lasack_overtake_seen() - what the station had queued some time ago comes only now
 * @o: what is known of the station
 * @since: when a packet was sent to it, 2^10 ns, at whose arrival this was already queued
 *
 * Return: whether something that was queued later came before.
 */
bool lasack_overtake_seen(const struct lasack_overtake *o, u32 since)
{
	u32 answered = READ_ONCE(o->answered);

	return answered && answered - since - LASACK_OVERTAKE_LATER < LASACK_OVERTAKE_LATEST;
}

/* Another station. */
void lasack_overtake_forget(struct lasack_overtake *o)
{
	WRITE_ONCE(o->pending, 0);
	WRITE_ONCE(o->flow, 0);
	WRITE_ONCE(o->answered, 0);
}
