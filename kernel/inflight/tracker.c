// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bound the packets below a queue discipline.
 *
 * Principle: a scheduler can only order the packets it still holds. Some devices take every
 * packet at once (mac80211 since Linux 6.2, most Wi-Fi drivers before). Then packets wait
 * below, in an order that the scheduler does not choose. So each packet is followed by its
 * destructor, from dequeue until it is freed. The discipline is not served while too many are
 * in flight. Byte queue limits do the same for wired drivers, but a driver must report each
 * completion. Here freeing the packet is the completion, so no driver needs a change.
 *
 * A packet belongs to the layers below: skb->cb is theirs, skb->sk and its accounting must
 * stay TCP's, and the shared info is shared with clones. So each packet has a small entry of
 * its own (followed.c). The entry keeps the original destructor, and ours calls it. Entries
 * are used again, so memory is taken only when more packets are in flight than before.
 *
 * account.c has what counts against the bound, and the bound "auto". backpressure.c judges how
 * long the driver keeps its packets, and so what the bound is worth.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <net/sch_generic.h>
#include "category.h"
#include "common/wireless.h"
#include "followed.h"
#include "inflight.h"
#include "sleep.h"
#include "tracker.h"

#define INFLIGHT_BATCH		64U	/* packets in one run of a queue, by default */
#define INFLIGHT_SPARE_MAX	1024U	/* entries to keep with auto */
#define INFLIGHT_WAKE_SHARE	8U	/* of a bound must be free to wake for */

void inflight_schedule(const struct inflight *inf)
{
	struct Qdisc *sch = rcu_dereference(inf->sch);

	if (sch)
		__netif_schedule(qdisc_root(sch));
}

/*
 * A packet was freed, or the bound changed. Has the discipline waited long enough? It is not waked
 * for each packet of a large bound, but for an eighth of it.
 */
bool inflight_ends_wait(struct inflight *inf)
{
	const struct inflight_account *account = &inf->account;
	u32 limit = account->limit;

	if (!inf->waits || !inflight_account_has_room(account))
		return false;
	if (limit != TC_INFLIGHT_AUTO && limit != TC_INFLIGHT_OFF &&
	    account->counted > limit - limit / INFLIGHT_WAKE_SHARE)
		return false;
	inf->waits = false;
	return true;
}

void inflight_arm(struct inflight *inf)
{
	unsigned long flags;
	u64 deadline;

	spin_lock_irqsave(&inf->lock, flags);
	deadline = inflight_account_deadline(&inf->account);
	/* It may come nearer when the device turns out not to be so late: look again by then. */
	if (deadline != U64_MAX)
		deadline = min(deadline, ktime_get_ns() + inf->account.stall);
	spin_unlock_irqrestore(&inf->lock, flags);
	if (deadline != U64_MAX)
		hrtimer_start(&inf->stall_timer, ns_to_ktime(deadline),
			      HRTIMER_MODE_ABS_SOFT);
}

enum hrtimer_restart inflight_stall_timer(struct hrtimer *timer)
{
	struct inflight *inf = container_of(timer, struct inflight, stall_timer);
	unsigned long flags;
	bool wake, waits;

	spin_lock_irqsave(&inf->lock, flags);
	inflight_account_expire(&inf->account, ktime_get_ns());
	/* The rest may be a sleeping station's: the discipline need not wait for an eighth. */
	wake = inf->waits && inflight_account_has_room(&inf->account);
	inf->waits &= !wake;
	waits = inf->waits;
	spin_unlock_irqrestore(&inf->lock, flags);

	if (wake) {
		rcu_read_lock();
		inflight_schedule(inf);
		rcu_read_unlock();
	} else if (waits) {
		inflight_arm(inf);
	}
	return HRTIMER_NORESTART;
}

/*
 * Is the driver being given packets, by who frees one? While it is, the
 * discipline's root runs and its task does nothing else; only an interrupt
 * can come in between. Packets freed on other processors are completions.
 */
static bool inflight_in_transmit(const struct inflight *inf)
{
	struct Qdisc *sch;

	if (inf->sender != current || in_hardirq())
		return false;
	sch = rcu_dereference(inf->sch);
	return sch && qdisc_is_running(qdisc_root(sch));
}

static struct inflight_entry *inflight_get_entry(struct inflight *inf)
{
	struct inflight_entry *entry = inf->spare;

	if (unlikely(!entry))
		return kmem_cache_alloc(inflight_entries, GFP_ATOMIC | __GFP_NOWARN);
	inf->spare = entry->next;
	inf->spare_count--;
	return entry;
}

static void inflight_put_entry(struct inflight *inf, struct inflight_entry *entry)
{
	u32 limit = inf->account.limit;
	u32 most = limit == TC_INFLIGHT_AUTO ? INFLIGHT_SPARE_MAX : limit;

	if (unlikely(inf->spare_count >= most)) {
		kmem_cache_free(inflight_entries, entry);
		return;
	}
	entry->next = inf->spare;
	inf->spare = entry;
	inf->spare_count++;
}

/*
 * Several packets may be dequeued before the first of them is given to the
 * driver: a batch. It is over when a packet is freed, when the discipline has
 * to wait, and after as many packets as one run of the queue has. A packet of
 * the batch that is freed in transmit was not kept at all; an older one makes
 * room for it.
 */
static void inflight_note_batch(struct inflight *inf, u32 number)
{
	if (!inf->batch_over && number - inf->batch < INFLIGHT_BATCH)
		return;
	inf->batch = number;
	inf->batch_over = false;
}

/*
 * Some drivers free with interrupts off, and some inside our own transmit:
 * nothing here may sleep, enable interrupts or take the qdisc lock. In an RCU
 * read-side section: another processor may free the tracker's last packet, and
 * it may give up the reference that keeps this module. Interrupts are off since
 * the entry was taken, and are restored to @flags.
 */
static void inflight_complete(struct inflight_entry *entry, bool lost, unsigned long flags)
{
	struct inflight_ticket *ticket = &entry->ticket;
	struct inflight *inf = entry->inf;
	bool in_transmit, early, wake, last;
	u64 now;

	spin_lock(&inf->lock);
	now = ktime_get_ns();	/* under the lock, so that it never runs back */
	in_transmit = inflight_in_transmit(inf);
	early = in_transmit && (s32)(ticket->number - inf->batch) >= 0;
	inf->batch_over = true;
	inf->early += early;
	inf->lost += lost;
	inflight_backpressure_note(&inf->backpressure, ticket->at, ticket->bytes, now, early);
	inflight_account_remove(&inf->account, ticket, now, in_transmit);
	wake = inflight_ends_wait(inf);
	inflight_put_entry(inf, entry);
	inf->following--;
	last = inf->released && !inf->following;
	spin_unlock_irqrestore(&inf->lock, flags);

	if (wake)
		inflight_schedule(inf);
	if (last)
		call_rcu(&inf->rcu, inflight_free_rcu);
}

static void inflight_destructor(struct sk_buff *skb)
{
	void (*destructor)(struct sk_buff *skb);
	struct inflight_entry *entry;
	unsigned long flags;
	bool lost;

	rcu_read_lock();
	entry = inflight_followed_take(skb, &flags);
	lost = !entry;
	if (unlikely(lost))
		entry = inflight_followed_take_moved(skb, &flags);
	if (unlikely(!entry)) {
		/* A copy of a packet that had its destructor called already. */
		rcu_read_unlock();
		pr_warn_once("inflight: a destructor was called twice\n");
		return;
	}
	destructor = entry->destructor;
	inflight_complete(entry, lost, flags);
	skb->destructor = destructor;
	if (destructor)
		destructor(skb);
	rcu_read_unlock();
}

/*
 * Does the device take the packet as it is, and free it when all of it was sent? Without the
 * offload its segments are made below, and it is freed then. mac80211's drivers make them too,
 * and so may the device below a VLAN, a bond or a bridge.
 */
static bool inflight_goes_whole(struct sk_buff *skb)
{
	const struct net_device *dev = skb->dev;

	return !device_is_wireless(dev) && list_empty(&dev->adj_list.lower) &&
	       !netif_needs_gso(skb, netif_skb_features(skb));
}

/**
 * inflight_must_segment() - is a GSO packet to be followed as its segments?
 * @inf: the tracker
 * @skb: a GSO packet
 *
 * It may stay whole if it fits into the bound and the device takes it as it is. It counts as
 * its segments, and is sent if there is room for one, so it may exceed the bound, as it may
 * exceed byte queue limits. That is too coarse for the bound "auto", which is one of time.
 * Nor may it stay whole if who made it (a packet socket, a virtual machine) did not say of how
 * many segments it is.
 */
bool inflight_must_segment(const struct inflight *inf, struct sk_buff *skb)
{
	u32 limit = READ_ONCE(inf->account.limit), segs = skb_shinfo(skb)->gso_segs;

	if (!segs)
		return true;
	if (limit == TC_INFLIGHT_OFF)
		return false;
	return limit == TC_INFLIGHT_AUTO || segs > limit || !inflight_goes_whole(skb);
}
EXPORT_SYMBOL_GPL(inflight_must_segment);

static bool inflight_has_address(const struct sk_buff *skb)
{
	return skb->dev->type == ARPHRD_ETHER && skb_headlen(skb) >= ETH_HLEN;
}

static const u8 *inflight_address(const struct sk_buff *skb)
{
	return ((struct ethhdr *)skb->data)->h_dest;
}

/* The same number as ether_addr_to_u64(), in two steps and not six. */
static u64 inflight_station_of(const u8 *address)
{
	return (u64)get_unaligned_be32(address) << 16 | get_unaligned_be16(address + 4);
}

/**
 * inflight_track() - count a packet until it is freed
 * @inf: the tracker
 * @skb: a packet just dequeued
 *
 * A multicast frame is not counted: it is cloned for its receivers and may wait
 * for the sleepers among them, so it says nothing about the room below. Nor is a
 * GSO packet that should have been segmented, nor any packet when memory is
 * short; they are never lost. An urgent packet that is not counted as such is sent as any other.
 * Called under the qdisc lock.
 */
void inflight_track(struct inflight *inf, struct sk_buff *skb)
{
	bool urgent = inflight_is_urgent(skb), missed = false;
	struct inflight_entry *entry;
	u64 station = 0, now;
	unsigned long flags;
	u16 packets = 1;
	bool hurries;

	if (inf->account.limit == TC_INFLIGHT_OFF)
		return;
	if (likely(inflight_has_address(skb))) {
		if (is_multicast_ether_addr(inflight_address(skb))) {
			if (unlikely(urgent))
				inflight_demote(skb);
			return;
		}
		station = inflight_station_of(inflight_address(skb));
	}

	if (skb_is_gso(skb)) {
		packets = skb_shinfo(skb)->gso_segs;
		missed = inflight_must_segment(inf, skb);
	}

	now = ktime_get_ns();
	spin_lock_irqsave(&inf->lock, flags);
	entry = likely(!missed) ? inflight_get_entry(inf) : NULL;
	if (unlikely(!entry)) {
		inf->untracked++;
		spin_unlock_irqrestore(&inf->lock, flags);
		if (unlikely(urgent))
			inflight_demote(skb);
		return;
	}
	entry->inf = inf;
	entry->destructor = skb->destructor;
	entry->ticket.number = inf->tracked++;
	inf->following++;
	inf->sender = current;
	inflight_note_batch(inf, entry->ticket.number);
	hurries = unlikely(urgent) && packets == 1 &&
		  inflight_account_add_urgent(&inf->account, station, skb->len, now,
					      &entry->ticket);
	if (likely(!hurries))
		inflight_account_add(&inf->account, station, packets, skb->len, now,
				     &entry->ticket);
	inflight_followed_add(entry, skb);
	spin_unlock_irqrestore(&inf->lock, flags);
	if (unlikely(urgent && !hurries))
		inflight_demote(skb);

	skb->destructor = inflight_destructor;
	/* GRO frees a packet without its destructor unless told to look. */
	skb->slow_gro = 1;
}
EXPORT_SYMBOL_GPL(inflight_track);

/**
 * inflight_passes() - may the packet be handed down though there is no room?
 * @inf: the tracker
 * @skb: the packet that comes next
 *
 * Urgent packets do not fill the queues in which others wait.
 */
bool inflight_passes(struct inflight *inf, const struct sk_buff *skb)
{
	unsigned long flags;
	bool passes;

	if (!inflight_is_urgent(skb) || skb_is_gso(skb) || !inflight_has_address(skb) ||
	    is_multicast_ether_addr(inflight_address(skb)))
		return false;
	spin_lock_irqsave(&inf->lock, flags);
	passes = inflight_account_may_hurry(&inf->account,
					    inflight_station_of(inflight_address(skb)),
					    skb->len, ktime_get_ns());
	spin_unlock_irqrestore(&inf->lock, flags);
	return passes;
}
EXPORT_SYMBOL_GPL(inflight_passes);

/**
 * inflight_run_bytes() - how much of one station to hand down in a row
 * @inf: the tracker
 *
 * Return: bytes, with which the device's aggregates are long. 0: in any order, as it sends one by
 * one, or the bound is not TC_INFLIGHT_AUTO.
 */
u32 inflight_run_bytes(const struct inflight *inf)
{
	return READ_ONCE(inf->account.run_bytes);
}
EXPORT_SYMBOL_GPL(inflight_run_bytes);

/**
 * inflight_has_room() - may the discipline be served?
 * @inf: the tracker
 *
 * Called under the qdisc lock, with a packet waiting. If there is no room the
 * discipline is scheduled as soon as there is.
 */
bool inflight_has_room(struct inflight *inf)
{
	unsigned long flags;
	bool room;

	if (inflight_account_seems_to_have_room(&inf->account))
		return true;

	/* Look again under the lock: a packet may just have gone. */
	spin_lock_irqsave(&inf->lock, flags);
	room = inflight_account_has_room(&inf->account);
	inf->waits = !room;
	inf->throttled += !room;
	inf->batch_over = true;
	spin_unlock_irqrestore(&inf->lock, flags);
	if (!room && !hrtimer_is_queued(&inf->stall_timer))
		inflight_arm(inf);
	return room;
}
EXPORT_SYMBOL_GPL(inflight_has_room);
