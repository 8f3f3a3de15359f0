// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bound the packets below a queue discipline.
 *
 * Principle: a scheduler can only order the packets it still holds. Where the
 * device takes everything at once (mac80211 since Linux 6.2, most Wi-Fi drivers
 * before), the packets wait below, in somebody else's order. So each packet is
 * followed from dequeue until it is freed, by its destructor, and the discipline
 * is not served while there are too many. Byte queue limits do the same for
 * wired drivers; here the packet itself is the completion, so no driver needs
 * to take part.
 *
 * The packet belongs to the layers below: skb->cb is theirs, skb->sk and its
 * accounting must stay TCP's, shared info is shared with clones. Hence a small
 * entry per packet, found again by the packet's address, which keeps the
 * destructor that was there; ours calls it. The same packet may be followed
 * twice (one discipline above another): the newest entry is found first.
 *
 * The tracker outlives its discipline while packets are out. It keeps a
 * reference on this module: the code must stay as long as a destructor points
 * to it.
 *
 * What counts against the bound, and the bound "auto", are in
 * inflight_account.h.
 *
 * Some drivers orphan a packet when they are given it: then nothing here knows
 * what waits below, and the bound has no effect. Such a packet is freed before
 * the discipline is asked for the next one, while its device's queue is being
 * run. If more than half of INFLIGHT_WINDOW packets in a row are, the
 * back-pressure is ineffective, until a window is better.
 */
#include <linux/atomic.h>
#include <linux/etherdevice.h>
#include <linux/hash.h>
#include <linux/hrtimer.h>
#include <linux/if_arp.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <net/netlink.h>
#include <net/sch_generic.h>
#include "inflight/inflight.h"
#include "inflight/inflight_account.h"

#define INFLIGHT_HASH_BITS	10
#define INFLIGHT_THROTTLED	0	/* bit: the discipline waits for room */
#define INFLIGHT_WINDOW		64	/* packets, to judge the driver by */

struct inflight {
	struct Qdisc __rcu	*sch;	/* NULL once the discipline is gone */
	unsigned long		state;
	struct hrtimer		stall_timer;	/* only while the discipline waits */
	struct rcu_head		rcu;
	refcount_t		refs;	/* the discipline's and each packet's */

	u64			tracked; /* these three: under the qdisc lock */
	u64			untracked;
	u64			throttled;

	spinlock_t		lock;	/* irq-safe: packets are freed anywhere */
	struct inflight_entry	*handed; /* is with the driver now, never followed */
	u64			early;
	u32			window;	/* packets of this window */
	u32			window_early;
	bool			ineffective;
	struct inflight_account	account;
};

struct inflight_entry {
	struct hlist_node	node;
	const struct sk_buff	*skb;
	struct inflight		*inf;
	void			(*destructor)(struct sk_buff *skb);
	struct inflight_ticket	ticket;
};

struct inflight_bucket {
	spinlock_t		lock;	/* irq-safe: packets are freed anywhere */
	struct hlist_head	entries;
};

static struct inflight_bucket inflight_buckets[1 << INFLIGHT_HASH_BITS];
static struct kmem_cache *inflight_entries;

static struct inflight_bucket *inflight_bucket(const struct sk_buff *skb)
{
	return &inflight_buckets[hash_ptr(skb, INFLIGHT_HASH_BITS)];
}

static void inflight_free_rcu(struct rcu_head *head)
{
	kfree(container_of(head, struct inflight, rcu));
	/* Module exit waits for this callback to return. */
	module_put(THIS_MODULE);
}

static void inflight_put(struct inflight *inf)
{
	if (refcount_dec_and_test(&inf->refs))
		call_rcu(&inf->rcu, inflight_free_rcu);
}

/* Serve the discipline again if it waits and there is room. Any context. */
static void inflight_wake(struct inflight *inf)
{
	struct Qdisc *sch;

	if (!inflight_account_has_room(&inf->account) ||
	    !test_and_clear_bit(INFLIGHT_THROTTLED, &inf->state))
		return;

	rcu_read_lock();
	sch = rcu_dereference(inf->sch);
	if (sch)
		__netif_schedule(qdisc_root(sch));
	rcu_read_unlock();
}

/* Let the timer run out when the first station is going to stall. */
static void inflight_arm(struct inflight *inf)
{
	unsigned long flags;
	u64 deadline;

	spin_lock_irqsave(&inf->lock, flags);
	deadline = inflight_account_deadline(&inf->account);
	spin_unlock_irqrestore(&inf->lock, flags);
	if (deadline != U64_MAX)
		hrtimer_start(&inf->stall_timer, ns_to_ktime(deadline),
			      HRTIMER_MODE_ABS_SOFT);
}

static enum hrtimer_restart inflight_stall_timer(struct hrtimer *timer)
{
	struct inflight *inf = container_of(timer, struct inflight, stall_timer);
	unsigned long flags;

	spin_lock_irqsave(&inf->lock, flags);
	inflight_account_expire(&inf->account, ktime_get_ns());
	spin_unlock_irqrestore(&inf->lock, flags);

	smp_mb();	/* pairs with the one in inflight_has_room() */
	inflight_wake(inf);
	if (test_bit(INFLIGHT_THROTTLED, &inf->state))
		inflight_arm(inf);
	return HRTIMER_NORESTART;
}

/*
 * Is the driver being given a packet? Between the discipline's dequeue and the
 * next time it is asked, while its device's queue is being run. Another
 * processor's completions may be taken for the driver's own: too few to matter.
 */
static bool inflight_in_transmit(const struct inflight *inf)
{
	struct Qdisc *sch;
	bool running;

	if (!inf->handed)
		return false;
	rcu_read_lock();
	sch = rcu_dereference(inf->sch);
	running = sch && qdisc_is_running(qdisc_root(sch));
	rcu_read_unlock();
	return running;
}

/*
 * Some drivers free with interrupts off, and some inside our own transmit:
 * nothing here may sleep, enable interrupts or take the qdisc lock.
 */
static void inflight_complete(struct inflight_entry *entry)
{
	struct inflight *inf = entry->inf;
	unsigned long flags;
	bool in_transmit;

	spin_lock_irqsave(&inf->lock, flags);
	in_transmit = inflight_in_transmit(inf);
	if (in_transmit && inf->handed == entry) {
		inf->early++;
		inf->window_early++;
	}
	inflight_account_remove(&inf->account, &entry->ticket, ktime_get_ns(),
				in_transmit);
	spin_unlock_irqrestore(&inf->lock, flags);
	kmem_cache_free(inflight_entries, entry);

	smp_mb();	/* pairs with the one in inflight_has_room() */
	if (test_bit(INFLIGHT_THROTTLED, &inf->state))
		inflight_wake(inf);
	inflight_put(inf);
}

static struct inflight_entry *inflight_take_entry(const struct sk_buff *skb)
{
	struct inflight_bucket *bucket = inflight_bucket(skb);
	struct inflight_entry *entry, *found = NULL;
	unsigned long flags;

	spin_lock_irqsave(&bucket->lock, flags);
	hlist_for_each_entry(entry, &bucket->entries, node) {
		if (entry->skb == skb) {
			hlist_del(&entry->node);
			found = entry;
			break;
		}
	}
	spin_unlock_irqrestore(&bucket->lock, flags);
	return found;
}

static void inflight_destructor(struct sk_buff *skb)
{
	struct inflight_entry *entry = inflight_take_entry(skb);

	if (WARN_ON_ONCE(!entry))
		return;

	skb->destructor = entry->destructor;
	if (skb->destructor)
		skb->destructor(skb);
	/* Last: it may give up the reference that keeps this module. */
	inflight_complete(entry);
}

static bool inflight_has_address(const struct sk_buff *skb)
{
	return skb->dev->type == ARPHRD_ETHER && skb_headlen(skb) >= ETH_HLEN;
}

static const u8 *inflight_address(const struct sk_buff *skb)
{
	return ((struct ethhdr *)skb->data)->h_dest;
}

/*
 * A multicast frame is cloned for its receivers and may wait for the sleepers
 * among them: it says nothing about the room below.
 */
static bool inflight_is_group_addressed(const struct sk_buff *skb)
{
	return inflight_has_address(skb) &&
	       is_multicast_ether_addr(inflight_address(skb));
}

/* The window is over if it has all its packets. */
static void inflight_judge(struct inflight *inf)
{
	if (++inf->window < INFLIGHT_WINDOW)
		return;
	WRITE_ONCE(inf->ineffective, inf->window_early > INFLIGHT_WINDOW / 2);
	inf->window = 0;
	inf->window_early = 0;
}

/**
 * inflight_track() - count a packet until it is freed
 * @inf: the tracker
 * @skb: a packet just dequeued, not GSO (the segments would go uncounted)
 *
 * Out of memory the packet goes uncounted; it is never lost. Called under the
 * qdisc lock.
 */
void inflight_track(struct inflight *inf, struct sk_buff *skb)
{
	struct inflight_bucket *bucket = inflight_bucket(skb);
	struct inflight_entry *entry;
	unsigned long flags;
	u64 station = 0;

	if (inf->account.limit == TC_INFLIGHT_OFF || inflight_is_group_addressed(skb))
		return;

	entry = kmem_cache_alloc(inflight_entries, GFP_ATOMIC | __GFP_NOWARN);
	if (!entry) {
		inf->untracked++;
		return;
	}
	if (inflight_has_address(skb))
		station = ether_addr_to_u64(inflight_address(skb));
	entry->skb = skb;
	entry->inf = inf;
	entry->destructor = skb->destructor;
	refcount_inc(&inf->refs);
	inf->tracked++;

	spin_lock_irqsave(&inf->lock, flags);
	inflight_judge(inf);
	inflight_account_add(&inf->account, station, skb->len, ktime_get_ns(),
			     &entry->ticket);
	inf->handed = entry;
	spin_unlock_irqrestore(&inf->lock, flags);

	spin_lock_irqsave(&bucket->lock, flags);
	hlist_add_head(&entry->node, &bucket->entries);
	spin_unlock_irqrestore(&bucket->lock, flags);

	skb->destructor = inflight_destructor;
	/* GRO frees a packet without its destructor unless told to look. */
	skb->slow_gro = 1;
}
EXPORT_SYMBOL_GPL(inflight_track);

/**
 * inflight_has_room() - may the discipline be served?
 * @inf: the tracker
 *
 * Called under the qdisc lock, with a packet waiting. If there is no room the
 * discipline is scheduled as soon as there is.
 */
bool inflight_has_room(struct inflight *inf)
{
	WRITE_ONCE(inf->handed, NULL);
	if (inflight_account_has_room(&inf->account))
		return true;

	/* Announce the wait, then look again: a packet may just have gone. */
	set_bit(INFLIGHT_THROTTLED, &inf->state);
	smp_mb__after_atomic();	/* pairs with inflight_complete() and the timer */
	if (inflight_account_has_room(&inf->account)) {
		clear_bit(INFLIGHT_THROTTLED, &inf->state);
		return true;
	}
	inf->throttled++;
	if (!hrtimer_is_queued(&inf->stall_timer))
		inflight_arm(inf);
	return false;
}
EXPORT_SYMBOL_GPL(inflight_has_room);

/**
 * inflight_create() - a tracker for a discipline
 * @sch: the discipline to hold back
 * @limit: packets, TC_INFLIGHT_AUTO or TC_INFLIGHT_OFF
 *
 * Return: the tracker, to be given to inflight_release(), or NULL: no memory.
 */
struct inflight *inflight_create(struct Qdisc *sch, u32 limit)
{
	struct inflight *inf = kzalloc(sizeof(*inf), GFP_KERNEL);

	if (!inf)
		return NULL;

	__module_get(THIS_MODULE);
	RCU_INIT_POINTER(inf->sch, sch);
	spin_lock_init(&inf->lock);
	hrtimer_setup(&inf->stall_timer, inflight_stall_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
	inflight_account_init(&inf->account, limit,
			      (u64)TC_INFLIGHT_STALL * NSEC_PER_MSEC);
	refcount_set(&inf->refs, 1);
	return inf;
}
EXPORT_SYMBOL_GPL(inflight_create);

/**
 * inflight_release() - the discipline goes, its packets may still be out
 * @inf: the tracker, or NULL
 *
 * The discipline's memory must stay for an RCU grace period, as it does after
 * ops->destroy(). May sleep.
 */
void inflight_release(struct inflight *inf)
{
	if (!inf)
		return;
	RCU_INIT_POINTER(inf->sch, NULL);
	hrtimer_cancel(&inf->stall_timer);
	inflight_put(inf);
}
EXPORT_SYMBOL_GPL(inflight_release);

/**
 * inflight_set_limit() - change the bound while packets are out
 * @inf: the tracker
 * @limit: packets, TC_INFLIGHT_AUTO or TC_INFLIGHT_OFF
 */
void inflight_set_limit(struct inflight *inf, u32 limit)
{
	WRITE_ONCE(inf->account.limit, limit);
	inflight_wake(inf);
}
EXPORT_SYMBOL_GPL(inflight_set_limit);

/**
 * inflight_limit() - the bound as it was given
 * @inf: the tracker
 */
u32 inflight_limit(const struct inflight *inf)
{
	return READ_ONCE(inf->account.limit);
}
EXPORT_SYMBOL_GPL(inflight_limit);

/**
 * inflight_set_stall() - after how long a silent station's packets do not count
 * @inf: the tracker
 * @ms: TC_INFLIGHT_STALL_MIN to TC_INFLIGHT_STALL_MAX
 */
void inflight_set_stall(struct inflight *inf, u32 ms)
{
	unsigned long flags;

	spin_lock_irqsave(&inf->lock, flags);
	inf->account.stall = (u64)ms * NSEC_PER_MSEC;
	spin_unlock_irqrestore(&inf->lock, flags);
	/* If the discipline waits, by the new time. */
	if (test_bit(INFLIGHT_THROTTLED, &inf->state))
		inflight_arm(inf);
}
EXPORT_SYMBOL_GPL(inflight_set_stall);

/* In ms. */
u32 inflight_stall(const struct inflight *inf)
{
	return div_u64(READ_ONCE(inf->account.stall), NSEC_PER_MSEC);
}
EXPORT_SYMBOL_GPL(inflight_stall);

/**
 * inflight_validate_bound() - validate a bound given by the user
 * @attr: u32: packets, TC_INFLIGHT_AUTO or TC_INFLIGHT_OFF
 * @extack: says why it is not taken
 *
 * Return: 0 or -ERANGE.
 */
int inflight_validate_bound(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	u32 value = nla_get_u32(attr);

	if (value == TC_INFLIGHT_AUTO || value <= TC_INFLIGHT_MAX)
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr, "inflight: give 1 to 65535 packets, auto or off");
	return -ERANGE;
}
EXPORT_SYMBOL_GPL(inflight_validate_bound);

/**
 * inflight_read() - statistics, under the qdisc lock
 * @inf: the tracker
 * @st: filled in completely
 */
void inflight_read(struct inflight *inf, struct tc_inflight_xstats *st)
{
	struct inflight_account *account = &inf->account;
	unsigned long flags;

	memset(st, 0, sizeof(*st));
	st->tracked = inf->tracked;
	st->untracked = inf->untracked;
	st->throttled = inf->throttled;
	if (READ_ONCE(inf->ineffective))
		st->backpressure = TC_INFLIGHT_NONE;
	else if (inf->throttled)
		st->backpressure = TC_INFLIGHT_AIR;

	spin_lock_irqsave(&inf->lock, flags);
	st->packets = account->out;
	st->bytes = account->out_bytes;
	st->counted = account->counted;
	st->limit = account->limit;
	if (account->limit == TC_INFLIGHT_AUTO) {
		st->limit = account->auto_packets;
		st->limit_bytes = account->dql.limit;
	}
	st->stalls = account->stalls;
	st->stalled = inflight_account_stalled(account);
	st->early = inf->early;
	spin_unlock_irqrestore(&inf->lock, flags);
}
EXPORT_SYMBOL_GPL(inflight_read);

static int __init inflight_module_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(inflight_buckets); i++)
		spin_lock_init(&inflight_buckets[i].lock);

	inflight_entries = KMEM_CACHE(inflight_entry, SLAB_HWCACHE_ALIGN);
	return inflight_entries ? 0 : -ENOMEM;
}

static void __exit inflight_module_exit(void)
{
	/* The last tracker's callback runs code of this module. */
	rcu_barrier();
	kmem_cache_destroy(inflight_entries);
}

module_init(inflight_module_init)
module_exit(inflight_module_exit)
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Bound on the packets below a queue discipline");
