// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the windows of connections are to be read, known to all queues of a device.
 *
 * Principle: a window can be read only by who knows its scale, and only the packet that accepts the
 * connection has it. If ACKs have a queue of their own, as in ackwrr, that packet passes another
 * one: it is no ACK, and must not wait behind them. So the queue that it passes notes the scale
 * here, and a queue that knows nothing of a connection looks here once.
 *
 * A packet may be forged, and a scale that is wrong makes a window tiny. So what is noted is found
 * only by who asks with an ACK number near that of the packet, soon after the connection began: who
 * forges one does not know that number. If two packets with the same number differ, nobody knows
 * which is real. What is older than LASACK_SCALE_AGE may be of an earlier connection.
 *
 * One place for each hash: the newest connection takes that of an older one. If nobody had asked
 * for that yet, its windows stay as they are. If two processors note at once, one note is lost, as
 * if that packet had not come.
 *
 * Nothing here belongs to a device, so nothing has to be forgotten when one goes: its address is
 * only hashed.
 */
#include <linux/atomic.h>
#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/ktime.h>
#include <linux/net.h>
#include <linux/siphash.h>
#include <net/tcp.h>
#include "common/tcp_segment.h"
#include "lasack/window/lasack_scale.h"

#define LASACK_SCALE_BITS	12	/* of the number of connections: 32 KiB */
#define LASACK_SCALE_AGE	300U	/* s: by default a silent flow is remembered for as long */
#define LASACK_SCALE_NEAR	(1024U << 10)	/* bytes from the first ACK number */

/* In one word, so that it is read and written at once. */
#define LASACK_SCALE_SHIFT	GENMASK_ULL(3, 0)
#define LASACK_SCALE_REVERSED	BIT_ULL(4)
#define LASACK_SCALE_UNCLEAR	BIT_ULL(5)
#define LASACK_SCALE_USED	BIT_ULL(6)
#define LASACK_SCALE_SECOND	GENMASK_ULL(23, 8)	/* when it was noted, modulo 2^16 */
#define LASACK_SCALE_ACK	GENMASK_ULL(43, 24)	/* the ACK number, in units of 2^12 */
#define LASACK_SCALE_ACK_UNIT	12
#define LASACK_SCALE_TAG	GENMASK_ULL(63, 44)	/* of the connection's hash */
#define LASACK_SCALE_WHAT	(LASACK_SCALE_SHIFT | LASACK_SCALE_REVERSED)

/* RFC 5925; older kernels do not name it. */
#define LASACK_TCPOPT_AO	29

static atomic64_t lasack_scales[1 << LASACK_SCALE_BITS];

/**
 * lasack_scale_shift() - what the options of a SYN say of its windows
 * @option: the options
 * @length: bytes of these
 *
 * Return: the shift, 0 if none is given, or -1: leave the packets alone.
 */
int lasack_scale_shift(const u8 *option, u32 length)
{
	int shift = 0;
	u32 at = 0;

	while (at < length && option[at] != TCPOPT_EOL) {
		if (option[at] == TCPOPT_NOP) {
			at++;
			continue;
		}
		if (at + 1 >= length || option[at + 1] < 2 || at + option[at + 1] > length)
			return -1;
		if (option[at] == TCPOPT_MD5SIG || option[at] == LASACK_TCPOPT_AO)
			return -1;
		if (option[at] == TCPOPT_WINDOW && option[at + 1] == TCPOLEN_WINDOW)
			shift = option[at + 2];
		at += option[at + 1];
	}
	return shift;
}

static u64 lasack_scale_hash(const struct net_device *dev, const struct segment_key *key)
{
	static siphash_key_t secret __read_mostly;

	net_get_random_once(&secret, sizeof(secret));
	return siphash_2u64(siphash(key, sizeof(*key), &secret), (unsigned long)dev, &secret);
}

static atomic64_t *lasack_scale_place(u64 hash)
{
	return &lasack_scales[hash & (BIT(LASACK_SCALE_BITS) - 1)];
}

/* Return: what is known of the connection with that hash at that second, or 0. */
static u64 lasack_scale_of(u64 hash, u32 now)
{
	u64 known = atomic64_read(lasack_scale_place(hash));
	u32 second = FIELD_GET(LASACK_SCALE_SECOND, known);

	if (!(known & LASACK_SCALE_USED) || (known ^ hash) & LASACK_SCALE_TAG ||
	    ((now - second) & FIELD_MAX(LASACK_SCALE_SECOND)) > LASACK_SCALE_AGE)
		return 0;
	return known;
}

static void lasack_scale_note_at(u64 hash, u32 ack_seq, struct lasack_window_scale scale, u32 now)
{
	u64 known = lasack_scale_of(hash, now), what;
	u64 ack = FIELD_PREP(LASACK_SCALE_ACK, ack_seq >> LASACK_SCALE_ACK_UNIT);

	if ((known & LASACK_SCALE_ACK) != ack)
		known = 0;
	what = FIELD_PREP(LASACK_SCALE_SHIFT, scale.shift) |
	       FIELD_PREP(LASACK_SCALE_REVERSED, scale.reversed);
	if (scale.unclear || (known && ((known ^ what) & LASACK_SCALE_WHAT)))
		what |= LASACK_SCALE_UNCLEAR;
	what |= known & LASACK_SCALE_UNCLEAR;
	atomic64_set(lasack_scale_place(hash), (hash & LASACK_SCALE_TAG) | LASACK_SCALE_USED |
		     FIELD_PREP(LASACK_SCALE_SECOND,
				now & FIELD_MAX(LASACK_SCALE_SECOND)) | ack | what);
}

/**
 * lasack_scale_note() - a connection was accepted
 * @dev: where its packets go
 * @key: of the connection
 * @ack_seq: of the packet that accepts it
 * @scale: what that packet says
 */
void lasack_scale_note(const struct net_device *dev, const struct segment_key *key, u32 ack_seq,
		       struct lasack_window_scale scale)
{
	lasack_scale_note_at(lasack_scale_hash(dev, key), ack_seq, scale, ktime_get_seconds());
}

static struct lasack_window_scale lasack_scale_find_at(u64 hash, u32 ack_seq, u32 now)
{
	u64 known = lasack_scale_of(hash, now);
	u32 first = FIELD_GET(LASACK_SCALE_ACK, known) << LASACK_SCALE_ACK_UNIT;

	if (!known || known & LASACK_SCALE_UNCLEAR || ack_seq - first > LASACK_SCALE_NEAR)
		return (struct lasack_window_scale) { .unclear = 1, .told = 1 };
	return (struct lasack_window_scale) {
		.shift = FIELD_GET(LASACK_SCALE_SHIFT, known),
		.reversed = !!(known & LASACK_SCALE_REVERSED),
		.known = 1,
		.told = 1,
	};
}

/**
 * lasack_scale_find() - what was noted of a connection
 * @dev: where its packets go
 * @key: of the connection
 * @ack_seq: of its first ACK here
 *
 * Return: how its windows are to be read; unclear if nothing was noted, or of another connection.
 */
struct lasack_window_scale lasack_scale_find(const struct net_device *dev,
					     const struct segment_key *key, u32 ack_seq)
{
	return lasack_scale_find_at(lasack_scale_hash(dev, key), ack_seq, ktime_get_seconds());
}
