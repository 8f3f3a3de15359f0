/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What stations send: flows that are not TCP are counted and made less, and of TCP it is known
 * what an ACK may acknowledge. See lasack_observe.c, and lasack_heard.c for TCP.
 */
#ifndef LASACK_OBSERVE_H
#define LASACK_OBSERVE_H

#include <linux/atomic.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>
#include "common/tcp_segment.h"
#include "lasack/window/lasack_echo.h"

#define LASACK_SEEN_SETS	256
#define LASACK_SEEN_WAYS	4
#define LASACK_UNACKED_BITS	14
#define LASACK_PIECES_BITS	10
#define LASACK_ECHO_BITS	12
/* If nothing has been heard for so long, packets do not come by the hook. */
#define LASACK_DEAF_AGE		HZ

struct lasack_seen {
	struct segment_key	key;
	u64			station; /* its MAC address, as in lasack_station.c */
	u32			bytes;	/* not charged yet */
	u32			since;	/* when these began, or what waits was late: jiffies */
	u32			used;	/* the observer's clock then; 0: never */
	u8			tell;	/* its sender is told with so manyeth packet from now on */
};

/* Of TCP: bytes that have come and that no ACK has acknowledged yet. */
struct lasack_unacked {
	atomic_t	bytes;
	u32		heard;	/* when the last ones came, or a SYN: jiffies */
	u32		flow;	/* whose SYN it was: a hash */
	u32		asked;	/* when that SYN came: jiffies */
};

/* Of all packets that came in. */
struct lasack_observed {
	u64	packets;
	u64	bytes;
	u64	slowed;	/* packets dropped or marked, to tell their sender */
};

struct lasack_observer {
#ifdef CONFIG_NETFILTER_INGRESS
	struct nf_hook_ops	hook;
#endif
	bool			attached; /* the hook is in its place */
	spinlock_t		lock;	/* of all below */
	siphash_key_t		hash_key;
	u32			clock;	/* packets that came in */
	struct lasack_observed	sum;
	struct lasack_seen	seen[LASACK_SEEN_SETS][LASACK_SEEN_WAYS];
	/* without the lock: */
	u32			heard;	/* when a packet came: jiffies */
	struct lasack_unacked	unacked[1 << LASACK_UNACKED_BITS]; /* by connection */
	struct lasack_unacked	pieces[1 << LASACK_PIECES_BITS]; /* by station, of any connection */
	u32			waited;	/* when some station was late last, 2^10 ns; 0: never */
	struct lasack_echo	echoes[1 << LASACK_ECHO_BITS]; /* by connection */
	struct lasack_echo_station stations[1 << LASACK_PIECES_BITS];
};

struct lasack_observer *lasack_observer_alloc(void);
struct lasack_observer *lasack_observer_create(struct net_device *dev);
void lasack_observer_free(struct lasack_observer *observer);
bool lasack_observer_note(struct lasack_observer *observer, const struct tcp_segment *seg,
			  u64 station);
u32 lasack_observer_take(struct lasack_observer *observer, const struct segment_key *key,
			 u64 station);
u32 lasack_observer_untaken(struct lasack_observer *observer, const struct segment_key *key,
			    u64 station);
void lasack_observer_note_tcp(struct lasack_observer *observer, const struct tcp_segment *seg,
			      u64 station, u32 length, const struct lasack_echo_data *data);
bool lasack_observer_spend(struct lasack_observer *observer, const struct segment_key *key,
			   u64 station, u32 bytes, u32 slack);
struct lasack_window_station lasack_observer_ask(struct lasack_observer *observer,
						 const struct sk_buff *skb,
						 const struct tcp_segment *seg, u64 station,
						 u32 now);
u32 lasack_observer_wait(struct lasack_observer *observer, const struct sk_buff *skb, u32 now);
bool lasack_observer_has_stations(const struct lasack_observer *observer);
bool lasack_observer_answer(struct lasack_observer *observer, const struct segment_key *key,
			    u64 station);
bool lasack_observer_answer_syn(struct lasack_observer *observer, const struct segment_key *key,
				u64 station);
u32 lasack_observer_trip(struct lasack_observer *observer, const struct segment_key *key,
			 u64 station);
void lasack_observer_return(struct lasack_observer *observer, const struct segment_key *key,
			    u64 station, u32 bytes);
void lasack_observer_slow(struct lasack_observer *observer, const struct segment_key *key,
			  u64 station);
void lasack_observer_read(struct lasack_observer *observer, struct lasack_observed *seen);
unsigned int lasack_observer_hook(void *observer, struct sk_buff *skb,
				  const struct nf_hook_state *state);

#endif
