/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What follows the packets below one queue discipline: see tracker.c.
 */
#ifndef LASACK_INFLIGHT_TRACKER_H
#define LASACK_INFLIGHT_TRACKER_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include "account.h"
#include "backpressure.h"

struct Qdisc;
struct inflight_entry;
struct kmem_cache;
struct net_device;
struct task_struct;

struct inflight {
	struct net_device	*dev;	/* its own, until the discipline is gone */
	struct hrtimer		stall_timer;	/* only while the discipline waits */
	struct rcu_head		rcu;
	struct list_head	all;	/* in the list of all trackers */
	u64			untracked;
	u64			lost;
	u64			throttled;
	u64			early;

	/* what each packet needs; the lock irq-safe, for packets are freed anywhere */
	spinlock_t		lock ____cacheline_aligned;
	bool			waits;	/* the discipline, for room */
	bool			released;
	bool			batch_over;
	u32			batch;	/* its first packet's number */
	u32			following;	/* packets */
	u32			spare_count;
	struct inflight_entry	*spare;
	const struct task_struct *sender;	/* who dequeued last */
	struct Qdisc __rcu	*sch;	/* NULL once the discipline is gone */
	u64			tracked;
	struct inflight_backpressure backpressure;
	struct inflight_account	account;
};

extern struct kmem_cache *inflight_entries;

/* Under the tracker's lock, when there may be room: has the discipline waited long enough? */
bool inflight_ends_wait(struct inflight *inf);
/* Serve the discipline. Any context, in an RCU read-side section. */
void inflight_schedule(const struct inflight *inf);
/* Let the timer run out when a station may be asleep. */
void inflight_arm(struct inflight *inf);
enum hrtimer_restart inflight_stall_timer(struct hrtimer *timer);
/* Its discipline is gone and no packet is out. */
void inflight_free_rcu(struct rcu_head *head);

#endif
