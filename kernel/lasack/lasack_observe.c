// SPDX-License-Identifier: GPL-2.0-only
/*
 * What stations send, for flows whose downlink does not tell.
 *
 * Principle: a TCP upload is charged by the ACKs that pass through the queue. An
 * upload over QUIC, or any other protocol than TCP, has no such numbers in its
 * downlink; so its bytes are counted where they come in, and charged to the flow
 * with its next packet that goes out, as if that packet acknowledged them. TCP
 * is never counted here.
 *
 * They are seen by a tap on the device, like a packet socket's: before a bridge
 * or VLAN takes them, after GRO, shared with other receivers, hence only read.
 *
 * Locking: the receive path never takes the discipline's lock. What was seen
 * waits in a table of its own, whose lock is held for one look at four places;
 * the discipline takes it inside its own lock, the tap alone.
 *
 * The table is bounded: a new flow takes the place, of four, that was used
 * least recently. What is lost so is the upload of a flow that is neither heard
 * nor answered. Keyed hash, whole key compared.
 */
#include <linux/if_packet.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include "lasack/lasack_charge.h"
#include "lasack/lasack_observe.h"

/* TCP tells by its ACKs; without a key there is no flow. */
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
