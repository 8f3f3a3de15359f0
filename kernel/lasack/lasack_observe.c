// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts what stations send, for flows that are not TCP.
 *
 * Principle: a TCP upload is charged by the ACKs that pass through the queue. Packets of QUIC
 * or any other protocol do not say how much the station has sent. So the bytes are counted
 * when they arrive from the station. They are charged to the flow with its next packet that
 * goes out, as if that packet acknowledged them. TCP is never counted here.
 *
 * A tap on the device sees the packets, as a packet socket does: before a bridge or VLAN
 * takes them, and after GRO. The packets are shared with other receivers, so they are only
 * read.
 *
 * Locking: the receive path never takes the qdisc lock. The counts are kept in a table with
 * a lock of its own, which is held while four places are looked at. The queue discipline
 * takes this lock inside the qdisc lock; the tap takes it alone.
 *
 * The table is bounded. A new flow takes the one of four places that was used least
 * recently. Then the bytes of the old flow are not charged. That flow has neither sent nor
 * received a packet for longer than the other three. The hash is keyed, and the whole key is
 * compared.
 */
#include <linux/if_packet.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include "lasack/lasack_ack.h"
#include "lasack/lasack_observe.h"

/* TCP is charged by its ACKs. Without a key there is no flow. */
static bool lasack_is_observed(const struct tcp_segment *seg)
{
	return segment_has_key(seg) && seg->class != SEGMENT_TCP;
}

static struct lasack_seen *lasack_observer_set(struct lasack_observer *observer,
					       const struct segment_key *key)
{
	return observer->seen[siphash(key, sizeof(*key), &observer->hash_key) %
			      LASACK_SEEN_SETS];
}

/* The flow's place in its set, or NULL. */
static struct lasack_seen *lasack_observer_find(struct lasack_seen *set,
						const struct segment_key *key)
{
	int way;

	for (way = 0; way < LASACK_SEEN_WAYS; way++) {
		if (set[way].used && segment_key_equal(&set[way].key, key))
			return &set[way];
	}
	return NULL;
}

/* Make room in a set, for a flow that is not in it. */
static struct lasack_seen *lasack_observer_place(struct lasack_observer *observer,
						 struct lasack_seen *set,
							const struct segment_key *key)
{
	struct lasack_seen *oldest = set;
	int way;

	for (way = 1; way < LASACK_SEEN_WAYS; way++) {
		/* By age: the clock wraps. */
		if (observer->clock - set[way].used > observer->clock - oldest->used)
			oldest = &set[way];
	}
	*oldest = (struct lasack_seen) { .key = *key };
	return oldest;
}

/**
 * lasack_observer_note() - a packet has come from a station
 * @observer: the observer
 * @seg: what it is
 */
void lasack_observer_note(struct lasack_observer *observer,
			  const struct tcp_segment *seg)
{
	struct lasack_seen *set, *seen;

	if (!lasack_is_observed(seg) || !seg->payload)
		return;
	set = lasack_observer_set(observer, &seg->key);
	spin_lock_bh(&observer->lock);
	observer->clock += observer->clock == U32_MAX ? 2 : 1;
	seen = lasack_observer_find(set, &seg->key) ?:
	       lasack_observer_place(observer, set, &seg->key);
	seen->used = observer->clock;
	seen->bytes = min(seen->bytes + seg->payload, LASACK_MAX_ACKED);
	observer->packets++;
	observer->bytes += seg->payload;
	spin_unlock_bh(&observer->lock);
}

/**
 * lasack_observer_take() - what has come since the flow's last packet out
 * @observer: the observer
 * @key: of the flow
 *
 * Return: bytes, LASACK_MAX_ACKED at most.
 */
u32 lasack_observer_take(struct lasack_observer *observer,
			 const struct segment_key *key)
{
	struct lasack_seen *set = lasack_observer_set(observer, key), *seen;
	u32 bytes = 0;

	spin_lock_bh(&observer->lock);
	seen = lasack_observer_find(set, key);
	if (seen)
		swap(bytes, seen->bytes);
	spin_unlock_bh(&observer->lock);
	return bytes;
}

int lasack_tap(struct sk_buff *skb, struct net_device *dev,
	       struct packet_type *tap, struct net_device *orig_dev)
{
	struct lasack_observer *observer = container_of(tap, struct lasack_observer, tap);
	struct tcp_segment seg;

	if (skb->pkt_type != PACKET_LOOPBACK) {
		tcp_segment_parse_received(skb, &seg);
		lasack_observer_note(observer, &seg);
	}
	consume_skb(skb);
	return NET_RX_SUCCESS;
}

/* Return: an observer that sees nothing yet, or NULL: no memory. */
struct lasack_observer *lasack_observer_alloc(void)
{
	struct lasack_observer *observer = kvzalloc(sizeof(*observer), GFP_KERNEL);

	if (!observer)
		return NULL;
	spin_lock_init(&observer->lock);
	get_random_bytes(&observer->hash_key, sizeof(observer->hash_key));
	return observer;
}

/**
 * lasack_observer_create() - watch what a device receives
 * @dev: the device; the caller's reference on it must last
 *
 * Return: the observer, to be given to lasack_observer_free(), or NULL.
 */
struct lasack_observer *lasack_observer_create(struct net_device *dev)
{
	struct lasack_observer *observer = lasack_observer_alloc();

	if (!observer)
		return NULL;
	observer->tap.type = htons(ETH_P_ALL);
	observer->tap.dev = dev;
	observer->tap.func = lasack_tap;
	observer->tap.ignore_outgoing = true;
	dev_add_pack(&observer->tap);
	return observer;
}

/* Also of NULL. Waits for the packets under way. */
void lasack_observer_free(struct lasack_observer *observer)
{
	if (!observer)
		return;
	if (observer->tap.func)
		dev_remove_pack(&observer->tap);
	kvfree(observer);
}
