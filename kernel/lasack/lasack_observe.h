/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts what stations send, for flows that are not TCP. See lasack_observe.c.
 */
#ifndef LASACK_OBSERVE_H
#define LASACK_OBSERVE_H

#include <linux/netdevice.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>
#include "common/tcp_segment.h"

#define LASACK_SEEN_SETS	256
#define LASACK_SEEN_WAYS	4

struct lasack_seen {
	struct segment_key	key;
	u32			bytes;	/* not charged yet */
	u32			used;	/* the observer's clock then; 0: never */
};

struct lasack_observer {
	struct packet_type	tap;
	spinlock_t		lock;	/* of all below */
	siphash_key_t		hash_key;
	u32			clock;	/* packets, of both directions */
	u64			packets;
	u64			bytes;
	struct lasack_seen	seen[LASACK_SEEN_SETS][LASACK_SEEN_WAYS];
};

struct lasack_observer *lasack_observer_alloc(void);
struct lasack_observer *lasack_observer_create(struct net_device *dev);
void lasack_observer_free(struct lasack_observer *observer);
void lasack_observer_note(struct lasack_observer *observer, const struct tcp_segment *seg);
u32 lasack_observer_take(struct lasack_observer *observer, const struct segment_key *key);
int lasack_tap(struct sk_buff *skb, struct net_device *dev, struct packet_type *tap,
	       struct net_device *orig_dev);

#endif
