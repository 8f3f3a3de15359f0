// SPDX-License-Identifier: GPL-2.0-only
/*
 * A network device that frees its packets when some Wi-Fi driver would.
 *
 * Principle: the link sends a packet in 250 us ("air_us"), whatever its size, one after
 * the other, and says of itself that it is one of 65 Mb/s, as 802.11n over one
 * stream is. Nothing is received. What a driver does with a packet until it has
 * been sent is the parameter "behaviour":
 *
 *	air	frees it when it has been sent
 *	late	500 ms after that
 *	bus	when the chip has it, 40 us later; the chip holds 64 that are not sent
 *	orphan	orphans it in transmit
 *	copy	copies it in transmit and frees it
 *	worker	orphans it in a worker
 *	move	replaces it by a copy in transmit, which gets its destructor, as kTLS does
 *	clone	the same with a clone
 *
 *	insmod emulated_driver.ko behaviour=bus queues=4
 *
 * makes the device emu0. Its queues stop when the driver has "held" packets, and go on
 * when it has "wake" of them left. With one queue it has byte queue limits, so the stack
 * dequeues in bulk; with several the stack does that too, in another way. The
 * driver with a worker has none: they would bound its own queue.
 */
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/hrtimer.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/workqueue.h>
#include <net/sock.h>

#define BUS_NS		(40 * NSEC_PER_USEC)
#define LATE_NS		(500 * NSEC_PER_MSEC)
#define CHIP		64U	/* packets */

enum behaviour { AIR, LATE, BUS, ORPHAN, COPY, WORKER, MOVE, CLONE };

static const char *const behaviours[] = {
	[AIR] = "air", [LATE] = "late", [BUS] = "bus", [ORPHAN] = "orphan", [COPY] = "copy",
	[WORKER] = "worker", [MOVE] = "move", [CLONE] = "clone",
};

static char *behaviour = "air";
module_param(behaviour, charp, 0444);
static uint queues = 1;
module_param(queues, uint, 0444);
static uint air_us = 250;
module_param(air_us, uint, 0444);
/* Packets: early enough that what waited is dequeued in bulk. */
static uint held = 450;
module_param(held, uint, 0444);
static uint wake = 200;
module_param(wake, uint, 0444);

struct emulated {
	struct hrtimer		timer;
	struct work_struct	worker;
	spinlock_t		lock;	/* of all that follows */
	struct sk_buff_head	fresh;	/* waits for the worker */
	struct sk_buff_head	held;	/* until they are freed, in order */
	u64			bus_free;	/* ns */
	u64			air_free;	/* ns */
	u64			sent_at[CHIP];	/* ns: when the last ones are, by number */
	u64			number;
};

struct emulated_cb {
	u64	until;	/* ns */
	u32	bytes;
};

static struct net_device *device;
static struct device *parent;
static enum behaviour acts;
static bool byte_queue_limits;

static struct emulated_cb *emulated_cb(struct sk_buff *skb)
{
	return (struct emulated_cb *)skb->cb;
}

/* Until when the driver holds the next packet. */
static u64 emulated_until(struct emulated *emu, u64 now)
{
	u64 *slot = &emu->sent_at[emu->number++ % CHIP], at = now;

	if (acts == BUS) {
		emu->bus_free = max3(emu->bus_free, now, *slot) + BUS_NS;
		at = emu->bus_free;
	}
	emu->air_free = max(emu->air_free, at) + air_us * NSEC_PER_USEC;
	*slot = emu->air_free;
	if (acts == BUS)
		return at;
	return emu->air_free + (acts == LATE ? LATE_NS : 0);
}

/* Under the lock. */
static void emulated_hold(struct emulated *emu, struct sk_buff *skb)
{
	emulated_cb(skb)->until = emulated_until(emu, ktime_get_ns());
	emulated_cb(skb)->bytes = skb->len;
	__skb_queue_tail(&emu->held, skb);
	if (skb_queue_len(&emu->held) == 1)
		hrtimer_start(&emu->timer, ns_to_ktime(emulated_cb(skb)->until),
			      HRTIMER_MODE_ABS_SOFT);
}

static enum hrtimer_restart emulated_timer(struct hrtimer *timer)
{
	struct emulated *emu = container_of(timer, struct emulated, timer);
	u64 now = ktime_get_ns(), next = 0;
	struct sk_buff_head done;
	struct sk_buff *skb;

	__skb_queue_head_init(&done);
	spin_lock(&emu->lock);
	while ((skb = skb_peek(&emu->held))) {
		next = emulated_cb(skb)->until;
		if (next > now)
			break;
		__skb_unlink(skb, &emu->held);
		__skb_queue_tail(&done, skb);
	}
	if (skb_queue_len(&emu->held) <= wake)
		netif_tx_wake_all_queues(device);
	spin_unlock(&emu->lock);

	while ((skb = __skb_dequeue(&done))) {
		if (byte_queue_limits)
			netdev_tx_completed_queue(netdev_get_tx_queue(device, 0), 1,
						  emulated_cb(skb)->bytes);
		dev_consume_skb_any(skb);
	}
	if (next <= now)
		return HRTIMER_NORESTART;
	hrtimer_set_expires(timer, ns_to_ktime(next));
	return HRTIMER_RESTART;
}

static void emulated_work(struct work_struct *work)
{
	struct emulated *emu = container_of(work, struct emulated, worker);
	struct sk_buff *skb;

	spin_lock_bh(&emu->lock);
	while ((skb = __skb_dequeue(&emu->fresh))) {
		skb_orphan(skb);
		emulated_hold(emu, skb);
	}
	spin_unlock_bh(&emu->lock);
}

/* As complete_skb() of kTLS does, net/tls/tls_device_fallback.c. */
static void emulated_move_destructor(struct sk_buff *to, struct sk_buff *from)
{
	to->destructor = from->destructor;
	to->sk = from->sk;
	from->destructor = NULL;
	from->sk = NULL;
	if (to->sk)
		refcount_add(to->truesize - from->truesize, &to->sk->sk_wmem_alloc);
}

/* The packet to be held, or NULL: no memory. The one that came is used up. */
static struct sk_buff *emulated_take(struct sk_buff *skb)
{
	struct sk_buff *other;

	if (acts == ORPHAN)
		skb_orphan(skb);
	if (acts != COPY && acts != MOVE && acts != CLONE)
		return skb;
	/* Larger than it was, so that nothing of it is the same. */
	other = acts == CLONE ? skb_clone(skb, GFP_ATOMIC) :
		skb_copy_expand(skb, 2048, 2048, GFP_ATOMIC);
	if (other && acts != COPY)
		emulated_move_destructor(other, skb);
	consume_skb(skb);
	return other;
}

static netdev_tx_t emulated_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct emulated *emu = netdev_priv(dev);

	skb = emulated_take(skb);
	if (!skb)
		return NETDEV_TX_OK;
	spin_lock(&emu->lock);
	if (byte_queue_limits)
		netdev_tx_sent_queue(netdev_get_tx_queue(dev, 0), skb->len);
	if (skb_queue_len(&emu->held) + skb_queue_len(&emu->fresh) >= held)
		netif_tx_stop_all_queues(dev);
	if (acts == WORKER) {
		__skb_queue_tail(&emu->fresh, skb);
		schedule_work(&emu->worker);
	} else {
		emulated_hold(emu, skb);
	}
	spin_unlock(&emu->lock);
	return NETDEV_TX_OK;
}

static const struct net_device_ops emulated_ops = {
	.ndo_start_xmit	= emulated_xmit,
};

static int emulated_link(struct net_device *dev, struct ethtool_link_ksettings *settings)
{
	settings->base.speed = 65;
	return 0;
}

static const struct ethtool_ops emulated_ethtool_ops = {
	.get_link_ksettings	= emulated_link,
};

static int __init emulated_init(void)
{
	int found = match_string(behaviours, ARRAY_SIZE(behaviours), behaviour), err;
	struct emulated *emu;

	if (found < 0 || queues - 1 >= 64)
		return -EINVAL;
	acts = found;
	byte_queue_limits = queues == 1 && acts != WORKER;
	parent = root_device_register("emulated_driver");
	if (IS_ERR(parent))
		return PTR_ERR(parent);
	device = alloc_netdev_mqs(sizeof(*emu), "emu%d", NET_NAME_ENUM, ether_setup, queues, 1);
	if (!device) {
		root_device_unregister(parent);
		return -ENOMEM;
	}
	emu = netdev_priv(device);
	hrtimer_setup(&emu->timer, emulated_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	INIT_WORK(&emu->worker, emulated_work);
	spin_lock_init(&emu->lock);
	__skb_queue_head_init(&emu->fresh);
	__skb_queue_head_init(&emu->held);
	SET_NETDEV_DEV(device, parent);
	device->netdev_ops = &emulated_ops;
	device->ethtool_ops = &emulated_ethtool_ops;
	netdev_ask_for_own_lock(device);
	eth_hw_addr_random(device);
	err = register_netdev(device);
	if (err) {
		free_netdev(device);
		root_device_unregister(parent);
	}
	return err;
}

static void __exit emulated_exit(void)
{
	struct emulated *emu = netdev_priv(device);

	unregister_netdev(device);
	cancel_work_sync(&emu->worker);
	hrtimer_cancel(&emu->timer);
	__skb_queue_purge(&emu->fresh);
	__skb_queue_purge(&emu->held);
	free_netdev(device);
	root_device_unregister(parent);
}

module_init(emulated_init)
module_exit(emulated_exit)
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A device that frees its packets as one of the Wi-Fi drivers does");
