// SPDX-License-Identifier: GPL-2.0-only
/*
 * How trackers are made, changed, read and freed.
 *
 * Principle: a tracker remains after its discipline is gone, as long as packets are in flight.
 * It keeps a reference on this module: the code must stay as long as a destructor points to
 * it.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <net/netlink.h>
#include <net/sch_generic.h>
#include "common/wireless.h"
#include "followed.h"
#include "inflight.h"
#include "sleep.h"
#include "tracker.h"

struct kmem_cache *inflight_entries;

static LIST_HEAD(inflight_all);
static DEFINE_MUTEX(inflight_all_lock);

void inflight_free_rcu(struct rcu_head *head)
{
	struct inflight *inf = container_of(head, struct inflight, rcu);
	struct inflight_entry *entry;

	while ((entry = inf->spare)) {
		inf->spare = entry->next;
		kmem_cache_free(inflight_entries, entry);
	}
	kfree(inf);
	/* Module exit waits for this callback to return. */
	module_put(THIS_MODULE);
}

/**
 * inflight_create() - a tracker for a discipline
 * @sch: the discipline to hold back
 * @limit: packets, TC_INFLIGHT_AUTO or TC_INFLIGHT_OFF
 *
 * Under RTNL. Return: the tracker, to be given to inflight_release(), or NULL:
 * no memory.
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
	inf->dev = qdisc_dev(sch);
	inflight_backpressure_ask(&inf->backpressure, inf->dev);
	mutex_lock(&inflight_all_lock);
	list_add(&inf->all, &inflight_all);
	mutex_unlock(&inflight_all_lock);
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
	unsigned long flags;
	bool last;

	if (!inf)
		return;
	mutex_lock(&inflight_all_lock);
	list_del(&inf->all);
	mutex_unlock(&inflight_all_lock);
	RCU_INIT_POINTER(inf->sch, NULL);
	hrtimer_cancel(&inf->stall_timer);
	spin_lock_irqsave(&inf->lock, flags);
	inf->released = true;
	last = !inf->following;
	spin_unlock_irqrestore(&inf->lock, flags);
	if (last)
		call_rcu(&inf->rcu, inflight_free_rcu);
}
EXPORT_SYMBOL_GPL(inflight_release);

/**
 * inflight_set_limit() - change the bound while packets are out
 * @inf: the tracker
 * @limit: packets, TC_INFLIGHT_AUTO or TC_INFLIGHT_OFF
 */
void inflight_set_limit(struct inflight *inf, u32 limit)
{
	unsigned long flags;
	bool wake;

	spin_lock_irqsave(&inf->lock, flags);
	inflight_account_set_limit(&inf->account, limit);
	wake = inflight_ends_wait(inf);
	spin_unlock_irqrestore(&inf->lock, flags);
	if (!wake)
		return;
	rcu_read_lock();
	inflight_schedule(inf);
	rcu_read_unlock();
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

/*
 * Is the discipline the child of one that has a bound? What the kernel attaches by itself has no
 * handle, so nobody is known to be its child.
 */
static bool inflight_is_bounded_above(const struct Qdisc *sch)
{
	u32 parent = TC_H_MAJ(sch->parent);
	const struct Qdisc *above;
	struct inflight *inf;
	bool bounded = false;

	if (sch->parent == TC_H_ROOT || !parent)
		return false;
	mutex_lock(&inflight_all_lock);
	list_for_each_entry(inf, &inflight_all, all) {
		above = rcu_dereference_protected(inf->sch, lockdep_is_held(&inflight_all_lock));
		if (inf->dev == qdisc_dev(sch) && above->handle == parent &&
		    inflight_limit(inf) != TC_INFLIGHT_OFF)
			bounded = true;
	}
	mutex_unlock(&inflight_all_lock);
	return bounded;
}

/**
 * inflight_default_limit() - the bound of a discipline that was given none
 * @sch: the discipline, under RTNL
 *
 * A mac80211 device takes all it is given (its netdev queue never stops), so nothing above it ever
 * queues unless the discipline holds back by itself. One bound is enough: below ackwrr, a second
 * one would hold a class back when it is this class's turn.
 *
 * Return: TC_INFLIGHT_AUTO or TC_INFLIGHT_OFF.
 */
u32 inflight_default_limit(const struct Qdisc *sch)
{
	if (device_is_wireless(qdisc_dev(sch)) && !inflight_is_bounded_above(sch))
		return TC_INFLIGHT_AUTO;
	return TC_INFLIGHT_OFF;
}
EXPORT_SYMBOL_GPL(inflight_default_limit);

/**
 * inflight_set_stall() - after how long a silent station may be asleep
 * @inf: the tracker
 * @ms: TC_INFLIGHT_STALL_MIN to TC_INFLIGHT_STALL_MAX
 */
void inflight_set_stall(struct inflight *inf, u32 ms)
{
	unsigned long flags;
	bool waits;

	spin_lock_irqsave(&inf->lock, flags);
	inf->account.stall = (u64)ms * NSEC_PER_MSEC;
	waits = inf->waits;
	spin_unlock_irqrestore(&inf->lock, flags);
	/* If the discipline waits, by the new time. */
	if (waits)
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
 * inflight_parse_bound() - read the option "inflight" of a qdisc
 * @attr: a u32, or NULL: not given
 * @limit: set to it if it is packets, TC_INFLIGHT_AUTO or TC_INFLIGHT_OFF
 * @extack: says why it is not taken
 *
 * No netlink policy has a range and a value beside it.
 *
 * Return: 0 or -ERANGE.
 */
int inflight_parse_bound(const struct nlattr *attr, u32 *limit,
			 struct netlink_ext_ack *extack)
{
	u32 value = attr ? nla_get_u32(attr) : *limit;

	if (value == TC_INFLIGHT_AUTO || value <= TC_INFLIGHT_MAX) {
		*limit = value;
		return 0;
	}
	NL_SET_ERR_MSG_ATTR(extack, attr, "inflight: give 1 to 65535 packets, auto or off");
	return -ERANGE;
}
EXPORT_SYMBOL_GPL(inflight_parse_bound);

/**
 * inflight_read() - statistics
 * @inf: the tracker
 * @st: filled in completely
 */
void inflight_read(struct inflight *inf, struct tc_inflight_xstats *st)
{
	struct inflight_account *account = &inf->account;
	unsigned long flags;

	memset(st, 0, sizeof(*st));
	spin_lock_irqsave(&inf->lock, flags);
	st->packets = account->out;
	st->bytes = account->out_bytes;
	st->counted = account->counted;
	st->limit = account->limit;
	if (account->limit == TC_INFLIGHT_AUTO) {
		st->limit = account->auto_packets;
		st->limit_bytes = account->dql.limit;
		st->turn_bytes = account->run_bytes;
		st->completion_delay = div_u64(account->late.ns, NSEC_PER_MSEC);
	}
	st->backpressure = inflight_backpressure_state(&inf->backpressure);
	st->stalled = inflight_account_stalled(account);
	st->tracked = inf->tracked;
	st->untracked = inf->untracked;
	st->lost = inf->lost;
	st->throttled = inf->throttled;
	st->stalls = account->stalls;
	st->early = inf->early;
	spin_unlock_irqrestore(&inf->lock, flags);
}
EXPORT_SYMBOL_GPL(inflight_read);

/* A link may come up, or come up again with another rate. */
static int inflight_device_event(struct notifier_block *block, unsigned long event, void *info)
{
	struct net_device *dev = netdev_notifier_info_to_dev(info);
	struct inflight_backpressure asked = {};
	struct inflight *inf;

	if (event != NETDEV_CHANGE && event != NETDEV_UP)
		return NOTIFY_DONE;
	mutex_lock(&inflight_all_lock);
	list_for_each_entry(inf, &inflight_all, all) {
		if (inf->dev != dev)
			continue;
		inflight_backpressure_ask(&asked, dev);
		spin_lock_irq(&inf->lock);
		if (inf->backpressure.kib_ns != asked.kib_ns)
			inf->backpressure = asked;
		spin_unlock_irq(&inf->lock);
	}
	mutex_unlock(&inflight_all_lock);
	return NOTIFY_DONE;
}

static struct notifier_block inflight_devices = {
	.notifier_call	= inflight_device_event,
};

static int __init inflight_module_init(void)
{
	int err;

	inflight_followed_init();
	inflight_entries = KMEM_CACHE(inflight_entry, SLAB_HWCACHE_ALIGN);
	if (!inflight_entries)
		return -ENOMEM;
	err = register_netdevice_notifier(&inflight_devices);
	if (err)
		kmem_cache_destroy(inflight_entries);
	return err;
}

static void __exit inflight_module_exit(void)
{
	unregister_netdevice_notifier(&inflight_devices);
	/* The last tracker's callback runs code of this module. */
	rcu_barrier();
	/*
	 * And a destructor may have been preempted between its last statement
	 * and its return.
	 */
	synchronize_rcu_tasks();
	kmem_cache_destroy(inflight_entries);
}

module_init(inflight_module_init)
module_exit(inflight_module_exit)
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Bound on the packets below a queue discipline");
