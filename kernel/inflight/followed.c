// SPDX-License-Identifier: GPL-2.0-only
/*
 * The packets that are followed, found again by their addresses.
 *
 * Principle: below a discipline, nothing of a packet belongs to the discipline. So what must
 * be remembered of a packet is kept apart, in a table with a lock for each bucket. The same
 * packet may be followed twice, by one discipline above another: the newest entry is found
 * first.
 *
 * Some code replaces a packet and moves its destructor and its socket to the new one, as kTLS
 * does where the device does not encrypt. Then no entry has the address of the new packet. In
 * this case any entry of the same socket will do: all its packets have the same destructor,
 * except pure ACKs, whose destructor does the same to the socket. Each entry is used once, so
 * in the end none is left. The oldest is taken, because its packet is the one most likely to
 * have been replaced. If it is known in advance that a socket's packets are replaced, its
 * entries are found by the socket.
 */
#include <linux/hash.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <net/sock.h>
#include "followed.h"

#define INFLIGHT_HASH_BITS	10

struct inflight_bucket {
	spinlock_t		lock;	/* irq-safe: packets are freed anywhere */
	struct inflight_entry	*first;
};

static struct inflight_bucket inflight_buckets[1 << INFLIGHT_HASH_BITS];

void inflight_followed_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(inflight_buckets); i++)
		spin_lock_init(&inflight_buckets[i].lock);
}

static struct inflight_bucket *inflight_bucket(const void *key)
{
	return &inflight_buckets[hash_ptr(key, INFLIGHT_HASH_BITS)];
}

/* Will the socket replace its packets on their way to the driver? */
static bool inflight_replaces_packets(const struct sock *sk)
{
#ifdef CONFIG_SOCK_VALIDATE_XMIT
	return sk && sk_fullsock(sk) && sk->sk_validate_xmit_skb;
#else
	return false;
#endif
}

/**
 * inflight_followed_add() - follow a packet
 * @entry: filled in but for what says how to find it
 * @skb: the packet
 *
 * Interrupts are off.
 */
void inflight_followed_add(struct inflight_entry *entry, const struct sk_buff *skb)
{
	const void *key = inflight_replaces_packets(skb->sk) ? (void *)skb->sk : (void *)skb;
	struct inflight_bucket *bucket = inflight_bucket(key);

	entry->key = key;
	entry->sk = skb->sk;
	spin_lock(&bucket->lock);
	entry->next = bucket->first;
	bucket->first = entry;
	spin_unlock(&bucket->lock);
}

static struct inflight_entry *inflight_take(const void *key, unsigned long *flags)
{
	struct inflight_bucket *bucket = inflight_bucket(key);
	struct inflight_entry *entry, **link;

	spin_lock_irqsave(&bucket->lock, *flags);
	for (link = &bucket->first; (entry = *link); link = &entry->next) {
		if (entry->key == key) {
			*link = entry->next;
			spin_unlock(&bucket->lock);
			return entry;
		}
	}
	spin_unlock_irqrestore(&bucket->lock, *flags);
	return NULL;
}

/**
 * inflight_followed_take() - the entry of a packet
 * @skb: the packet
 * @flags: of the interrupts, for the caller to restore if there is an entry
 *
 * Return: the entry, no longer in the table, with interrupts off as after
 * spin_lock_irqsave(); or NULL: there is none.
 */
struct inflight_entry *inflight_followed_take(const struct sk_buff *skb, unsigned long *flags)
{
	return inflight_take(skb, flags);
}

/* The key of the socket's oldest entry, or NULL: it has none. */
static const void *inflight_oldest(const struct sock *sk)
{
	struct inflight_entry *entry;
	const void *oldest = NULL;
	unsigned long flags;
	u64 at = U64_MAX;
	int i;

	for (i = 0; i < ARRAY_SIZE(inflight_buckets); i++) {
		spin_lock_irqsave(&inflight_buckets[i].lock, flags);
		for (entry = inflight_buckets[i].first; entry; entry = entry->next) {
			if (entry->sk == sk && entry->ticket.at < at) {
				at = entry->ticket.at;
				oldest = entry->key;
			}
		}
		spin_unlock_irqrestore(&inflight_buckets[i].lock, flags);
	}
	return oldest;
}

/**
 * inflight_followed_take_moved() - an entry for a packet that has none
 * @skb: a packet that was given another's destructor and socket
 * @flags: as in inflight_followed_take()
 *
 * Slow, unless the socket is known to replace its packets.
 *
 * Return: as inflight_followed_take().
 */
struct inflight_entry *inflight_followed_take_moved(const struct sk_buff *skb,
						    unsigned long *flags)
{
	struct inflight_entry *entry = skb->sk ? inflight_take(skb->sk, flags) : NULL;
	const void *key;

	/* Another processor may have taken the entry first. */
	while (!entry && (key = inflight_oldest(skb->sk)))
		entry = inflight_take(key, flags);
	return entry;
}
