// SPDX-License-Identifier: GPL-2.0-only
/*
 * How fast a device sends, and so how much it needs below: what the bound "auto" has beside dynamic
 * queue limits.
 *
 * Principle: a device that aggregates does not become idle when it has few packets, but sends short
 * aggregates. So the bound is at least what it sends in 4 ms when nobody else transmits. An
 * aggregate that long loses few per cent to the gap before the next one, and a frame of 802.11b
 * takes half of that time. There is a bound in packets too: as many as leave in 4 ms, and at least
 * two, because short packets take nearly as long as long ones. Here no packet counts for less than
 * 512 bytes. Otherwise one aggregate of ACKs would allow more packets than the driver's own queue
 * can hold.
 *
 * A device that sends one by one needs no more than a packet on the air and one that is ready. What
 * is more waits in mac80211, whose CoDel drops what waits for 20 ms. Where five stations upload at
 * 54 Mb/s, ten packets wait for 30 ms. So if packets leave alone, again and again, while others for
 * the same station wait, the bound in packets is an eighth for a second, at least four: a driver
 * may make two aggregates ahead, and a sleeping station's packets must leave room. Then it is tried
 * again, because a device can aggregate only what waits below. It aggregates if two packets were
 * freed at a time in the last second.
 *
 * If not even three long packets or thirteen short ones leave in 4 ms, as with 802.11b, then two
 * are enough for a device that sends one by one. Without this rule three long packets would be
 * below, because dynamic queue limits let the last one exceed the bound, or seven with ACKs among
 * them, and a call waits for all of them to win the air. Here it need not be seen that others wait.
 * It is tried again after ten seconds, and at once if more leaves in 4 ms: a fast device with
 * little to send looks slow. Where the rule is wrong, at 6.5 Mb/s, a long packet that leaves alone
 * takes about an eighth longer: 250 us more than 1.9 ms.
 *
 * Pure arithmetic: no packet, no lock, no clock.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include "pace.h"
#include "uapi/pkt_sch_inflight.h"

#define INFLIGHT_PACE_LEAST	2U		/* packets: one on the air, one ready */
#define INFLIGHT_PACE_MOST	(8U << 20)	/* bytes: 16 Gb/s */
/*
 * Freed closer together, packets went in one aggregate or one interrupt. Short aggregates are taken
 * together; where there are no gaps, smaller ones must do.
 */
#define INFLIGHT_BATCH_GAP	(100 * NSEC_PER_USEC)
#define INFLIGHT_BATCH_NS	(500 * NSEC_PER_USEC)
#define INFLIGHT_BATCH_LEAST_GAP	(10 * NSEC_PER_USEC)
/* So many packets that leave alone, one after the other, while at least so many others wait. */
#define INFLIGHT_ALONE		32
#define INFLIGHT_ALONE_BEHIND	2
#define INFLIGHT_ALONE_NS	NSEC_PER_SEC
#define INFLIGHT_ALONE_SHARE	8U	/* of what leaves in INFLIGHT_PACE_NS: 0.5 ms */
#define INFLIGHT_ALONE_LEAST	4U	/* packets */
#define INFLIGHT_SLOW_BYTES	(3U * 1514U)	/* in INFLIGHT_PACE_NS */
#define INFLIGHT_SLOW_PACKETS	12U
#define INFLIGHT_SLOW_NS	(10ULL * NSEC_PER_SEC)
/* Two long aggregates: the first shares the hardware's queue with the last station's rest. */
#define INFLIGHT_RUN_AGGREGATES	2U
#define INFLIGHT_RUN_MOST	(512U << 10)	/* bytes: 8 ms at 524 Mb/s */

/* Return: the bytes that may be below at least, 0: nothing is known yet. */
u32 inflight_pace_bytes(const struct inflight_pace *pace)
{
	return max(pace->best_bytes[0], pace->best_bytes[1]);
}

static bool inflight_pace_is_slow(const struct inflight_pace *pace)
{
	u32 bytes = inflight_pace_bytes(pace);

	return bytes && bytes < INFLIGHT_SLOW_BYTES &&
	       max(pace->best_packets[0], pace->best_packets[1]) <= INFLIGHT_SLOW_PACKETS;
}

/* Return: the packets that may be below at most. */
u32 inflight_pace_packets(const struct inflight_pace *pace, u64 now)
{
	u32 least = inflight_pace_is_slow(pace) ? INFLIGHT_PACE_LEAST : INFLIGHT_ALONE_LEAST;
	u32 packets = min(max(pace->best_packets[0], pace->best_packets[1]),
			  inflight_pace_bytes(pace) / INFLIGHT_PACE_SHORT);

	if (now < pace->alone_until)
		packets = min(packets, max(packets / INFLIGHT_ALONE_SHARE, least));
	return max(packets, INFLIGHT_PACE_LEAST);
}

/* A batch is over. The best batch of each second is remembered for one second more. */
static void inflight_pace_batch(struct inflight_pace *pace)
{
	u64 ns = pace->last - pace->begin;
	u64 bytes = (u64)pace->bytes * INFLIGHT_PACE_NS;
	u64 packets = (u64)pace->packets * INFLIGHT_PACE_NS;

	if (pace->last - pace->second >= NSEC_PER_SEC) {
		pace->second = pace->last;
		pace->best_bytes[1] = pace->best_bytes[0];
		pace->best_packets[1] = pace->best_packets[0];
		pace->best_bytes[0] = 0;
		pace->best_packets[0] = 0;
	}
	pace->bytes = 0;
	pace->packets = 0;
	bytes = min_t(u64, div64_u64(bytes, ns), INFLIGHT_PACE_MOST);
	packets = min_t(u64, div64_u64(packets, ns), TC_INFLIGHT_MAX);
	pace->best_bytes[0] = max_t(u32, pace->best_bytes[0], bytes);
	pace->best_packets[0] = max_t(u32, pace->best_packets[0], packets);
}

/*
 * A batch takes from the end of the one before it, or from when it was handed
 * down, to its last packet: nothing but its own time if no one came between.
 */
static bool inflight_pace_is_whole(const struct inflight_pace *pace, u64 now)
{
	u64 gap = now - pace->last, ns = pace->last - pace->begin;

	if (!pace->packets)
		return false;
	return (gap >= INFLIGHT_BATCH_GAP && ns >= INFLIGHT_BATCH_NS) ||
	       (gap >= INFLIGHT_BATCH_LEAST_GAP && ns >= INFLIGHT_PACE_NS);
}

/**
 * inflight_pace_run() - how much of one station to hand down in a row
 * @pace: what is known
 * @now: ns
 *
 * Return: bytes: as many as leave in twice INFLIGHT_PACE_NS, two long aggregates. 0: the device
 * sends one by one, or has not shown for INFLIGHT_ALONE_NS that it does not.
 */
u32 inflight_pace_run(const struct inflight_pace *pace, u64 now)
{
	if (!pace->together || now - pace->together >= INFLIGHT_ALONE_NS ||
	    inflight_pace_packets(pace, now) <= INFLIGHT_ALONE_LEAST)
		return 0;
	return min(INFLIGHT_RUN_AGGREGATES * inflight_pace_bytes(pace), INFLIGHT_RUN_MOST);
}

static void inflight_pace_alone(struct inflight_pace *pace, u32 others, u64 now)
{
	bool slow = inflight_pace_is_slow(pace);

	if (!slow && pace->alone_until > now + INFLIGHT_ALONE_NS)
		pace->alone_until = 0;
	if (now - pace->last < INFLIGHT_BATCH_GAP) {
		pace->together = now;
		pace->alone = 0;
		pace->alone_until = 0;
	} else if (now < pace->alone_until) {
		pace->alone = 0;
	} else if ((slow || others >= INFLIGHT_ALONE_BEHIND) && ++pace->alone == INFLIGHT_ALONE) {
		pace->alone = 0;
		pace->alone_until = now + (slow ? INFLIGHT_SLOW_NS : INFLIGHT_ALONE_NS);
	}
}

/**
 * inflight_pace_note() - a packet was freed that counted
 * @pace: what is known
 * @at: ns: when it was handed down
 * @bytes: of the packet
 * @packets: 1, or the segments of a GSO packet
 * @others: packets that count of the same station
 * @now: ns
 */
void inflight_pace_note(struct inflight_pace *pace, u64 at, u32 bytes, u32 packets, u32 others,
			u64 now)
{
	inflight_pace_alone(pace, others, now);
	if (inflight_pace_is_whole(pace, now))
		inflight_pace_batch(pace);
	if (!pace->packets)
		pace->begin = max(pace->last, at);
	pace->bytes += bytes;
	pace->packets += packets;
	pace->last = now;
}
