/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the progress of sockets is kept, for a socket has no room for it.
 *
 * Principle: a table of fixed size from which any entry may be lost. A socket
 * without one, or whose one was taken, is served as without the module until
 * its count of segments has begun anew. So nobody need tell of sockets that
 * end, nothing is allocated while packets arrive, and an unload has one thing
 * to free.
 *
 * Sockets come again at the same address: where the stream began, 32 bits the
 * peer has chosen at random (RFC 6528), tells one from the one before it.
 */
#ifndef LASACK_ACKSKIP_TABLE_H
#define LASACK_ACKSKIP_TABLE_H

#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include "ackskip/ackskip_rule.h"

#define ACKSKIP_BUCKET_BITS	10
#define ACKSKIP_WAYS		4

struct ackskip_entry {
	const struct sock	*sk;	/* the key, never followed; NULL: free */
	u32			start;	/* its stream's first byte */
	u32			used;	/* jiffies */
	struct ackskip_progress	progress;
};

struct ackskip_bucket {
	raw_spinlock_t		lock;	/* taken in any context but NMI */
	struct ackskip_entry	entries[ACKSKIP_WAYS];
};

struct ackskip_table {
	struct ackskip_bucket	buckets[1 << ACKSKIP_BUCKET_BITS];
};

static inline struct ackskip_table *ackskip_table_create(void)
{
	struct ackskip_table *table = kvzalloc(sizeof(*table), GFP_KERNEL);

	for (int i = 0; table && i < ARRAY_SIZE(table->buckets); i++)
		raw_spin_lock_init(&table->buckets[i].lock);
	return table;
}

static inline void ackskip_table_destroy(struct ackskip_table *table)
{
	kvfree(table);
}

static inline u32 ackskip_stream_start(const struct sock *sk)
{
	return tcp_sk(sk)->rcv_nxt - (u32)tcp_sk(sk)->bytes_received;
}

/* The socket's entry, or NULL. The bucket is locked. */
static inline struct ackskip_entry *ackskip_find(struct ackskip_bucket *bucket,
						 const struct sock *sk)
{
	u32 start = ackskip_stream_start(sk);

	for (int i = 0; i < ACKSKIP_WAYS; i++) {
		struct ackskip_entry *entry = &bucket->entries[i];

		if (entry->sk == sk && entry->start == start)
			return entry;
	}
	return NULL;
}

/* An entry for the socket: its address's last one, a free one, or the one idle
 * longest if that is a second; else NULL. The bucket is locked.
 */
static inline struct ackskip_entry *ackskip_claim(struct ackskip_bucket *bucket,
						  const struct sock *sk)
{
	struct ackskip_entry *oldest = NULL;
	u32 now = jiffies, idle = HZ;

	for (int i = 0; i < ACKSKIP_WAYS; i++) {
		struct ackskip_entry *entry = &bucket->entries[i];

		if (entry->sk == sk || !entry->sk) {
			oldest = entry;
			break;
		}
		if (now - entry->used >= idle) {
			oldest = entry;
			idle = now - entry->used;
		}
	}
	if (!oldest)
		return NULL;
	*oldest = (struct ackskip_entry) {
		.sk = sk,
		.start = ackskip_stream_start(sk),
		.progress.rcv_nxt = tcp_sk(sk)->rcv_nxt,
	};
	ackskip_restart(&oldest->progress, tcp_sk(sk));
	return oldest;
}

static inline struct ackskip_bucket *ackskip_bucket(struct ackskip_table *table,
						    const struct sock *sk)
{
	return &table->buckets[hash_ptr(sk, ACKSKIP_BUCKET_BITS)];
}

/**
 * ackskip_segs_arriving() - a segment has arrived: note it
 * @table: the table
 * @config: the sysctls of the socket's namespace
 * @sk: the socket, locked
 *
 * Return: the full segments an ACK is due for.
 */
static inline u32 ackskip_segs_arriving(struct ackskip_table *table,
					const struct ackskip_config *config,
					struct sock *sk)
{
	struct ackskip_bucket *bucket = ackskip_bucket(table, sk);
	u32 segs = min_t(u32, READ_ONCE(config->every), ACKSKIP_STOCK);
	struct ackskip_entry *entry;
	unsigned long flags;

	raw_spin_lock_irqsave(&bucket->lock, flags);
	entry = ackskip_find(bucket, sk);
	/* Most connections end before they come to skip or lose: they need none. */
	if (!entry && (ackskip_hole(sk) || !ackskip_unsafe(sk)))
		entry = ackskip_claim(bucket, sk);
	if (entry) {
		entry->used = jiffies;
		segs = ackskip_arrived(&entry->progress, config, sk);
	}
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
	return segs;
}

/**
 * ackskip_segs() - what ackskip_segs_arriving() returned last
 * @table: the table
 * @sk: the socket, locked
 *
 * Return: the full segments an ACK is due for.
 */
static inline u32 ackskip_segs(struct ackskip_table *table, const struct sock *sk)
{
	struct ackskip_bucket *bucket = ackskip_bucket(table, sk);
	struct ackskip_entry *entry;
	u32 segs = ACKSKIP_STOCK;
	unsigned long flags;

	raw_spin_lock_irqsave(&bucket->lock, flags);
	entry = ackskip_find(bucket, sk);
	if (entry)
		segs = entry->progress.segs;
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
	return segs;
}

#endif
