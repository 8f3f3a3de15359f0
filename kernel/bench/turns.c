// SPDX-License-Identifier: GPL-2.0-only
/*
 * What enqueue and dequeue of a queue discipline cost, by the processor's own counter.
 *
 * Principle: the root discipline of each device is called directly, with packets made
 * beforehand. So nothing else runs between two readings of the counter. The devices take many
 * short turns, so that whatever slows the machine for a moment slows all of them. The
 * discipline "bench" only keeps the packets in a list. What it costs is the cost of the
 * benchmark itself, and whoever reads the results subtracts it.
 *
 * While they are measured, the transmit queues of the devices are stopped, so a packet in a
 * queue leaves only through this module.
 *
 *	insmod qdisc_bench.ko
 *	echo bench0,bench1 > /sys/module/qdisc_bench/parameters/devices
 *	echo 100 > /sys/module/qdisc_bench/parameters/flows
 *	cat /sys/kernel/debug/qdisc_bench
 *
 * Reading the file starts the measurement. Each line is one turn of one device: the cycles of
 * each batch of 64 packets offered, then what was done with them.
 *
 *	bench0 14632 14544 ... served 4096 dropped 0
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/timex.h>
#include <linux/vmalloc.h>
#include <net/net_namespace.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>
#include "bench/packets.h"

#define BENCH_BATCH	64	/* packets offered between two readings */
#define BENCH_DEVICES	16
#define BENCH_BELOW	64	/* room for packets below the discipline */
#define BENCH_LINE	64	/* bytes of a line beside its cycles */
#define BENCH_NUMBER	12	/* and of each number, at most */

static char devices[256];
module_param_string(devices, devices, sizeof(devices), 0644);
MODULE_PARM_DESC(devices, "names of the devices, with commas between");

static uint depth = 100;
module_param(depth, uint, 0644);
MODULE_PARM_DESC(depth, "packets that stay queued");

static bool closed;
module_param(closed, bool, 0644);
MODULE_PARM_DESC(closed, "a connection sends when a packet of its own was transmitted, as with a full window; else one picked at random does");

static uint fresh;
module_param(fresh, uint, 0644);
MODULE_PARM_DESC(fresh, "percentage of packets that open a connection never seen before");

static uint overload;
module_param(overload, uint, 0644);
MODULE_PARM_DESC(overload, "serve one packet of so many offered, so that the queue overflows; 0: as many as are above depth");

static uint below = 16;
module_param(below, uint, 0644);
MODULE_PARM_DESC(below, "packets that are below the discipline before they are freed (1 to 64)");

static uint rounds = 21;
module_param(rounds, uint, 0644);
MODULE_PARM_DESC(rounds, "turns of each device (1 to 1000)");

static uint warm = 16;
module_param(warm, uint, 0644);
MODULE_PARM_DESC(warm, "batches at the beginning of a turn that are not measured");

static uint batches = 64;
module_param(batches, uint, 0644);
MODULE_PARM_DESC(batches, "batches of a turn that are (1 to 1000)");

/* One device in its turn. */
struct bench_device {
	struct net_device	*dev;
	struct Qdisc		*sch;
	u32			level;	/* packets queued when it was filled */
	u32			*ready;	/* ring of connections that may send */
	u32			oldest;	/* in ready */
	u32			newest;
	u32			next;	/* in under */
	struct sk_buff		*under[BENCH_BELOW];
};

struct bench {
	struct bench_packets	packets;
	struct bench_device	devices[BENCH_DEVICES];
	u32			count;	/* of devices */
	u32			opened;	/* connections so far */
	u32			ready_mask;
	struct sk_buff		*done;	/* left the discipline, to be used again */
	struct sk_buff		*to_free; /* dropped by it */
	u32			served;
	u32			dropped;
	struct sk_buff		*batch[BENCH_BATCH];
	struct seq_file		*out;
};

static struct dentry *bench_file;

/* The harness' own cost: a list, and no statistics. */
static int bench_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	if (overload && sch->q.qlen >= depth)
		return qdisc_drop(skb, sch, to_free);
	__qdisc_enqueue_tail(skb, &sch->q);
	return NET_XMIT_SUCCESS;
}

static struct sk_buff *bench_dequeue(struct Qdisc *sch)
{
	return __qdisc_dequeue_head(&sch->q);
}

static struct Qdisc_ops bench_ops __read_mostly = {
	.id		= "bench",
	.enqueue	= bench_enqueue,
	.dequeue	= bench_dequeue,
	.peek		= qdisc_peek_head,
	.reset		= qdisc_reset_queue,
	.owner		= THIS_MODULE,
};

/*
 * Ordered by the fence, so that no work is counted with the wrong batch. The
 * lab kernel (ARCH=um) has no get_cycles(), but its processor has the counter.
 */
static u64 bench_cycles(void)
{
#if defined(CONFIG_X86_64) || (defined(CONFIG_UML_X86) && defined(CONFIG_64BIT))
	u32 low, high;

	asm volatile("lfence; rdtsc; lfence" : "=a"(low), "=d"(high) : : "memory");
	return (u64)high << 32 | low;
#else
	return get_cycles();
#endif
}

/* The next packet as the parameters want it. */
static struct sk_buff *bench_next_packet(struct bench *b, struct bench_device *d)
{
	u32 connection;

	if (fresh && bench_random(&b->packets, 100) < fresh)
		connection = b->opened++;
	else if (d->oldest != d->newest)
		connection = d->ready[d->oldest++ & b->ready_mask];
	else
		connection = bench_random(&b->packets, bench_flows);
	return bench_packet(&b->packets, connection);
}

/* The connection may send again. */
static void bench_transmitted(struct bench *b, struct bench_device *d, struct sk_buff *skb)
{
	if (closed && bench_is_last_segment(skb) && d->newest - d->oldest <= b->ready_mask)
		d->ready[d->newest++ & b->ready_mask] = skb->mark;
}

static void bench_offer(struct bench *b, struct bench_device *d, struct sk_buff *skb)
{
	spin_lock(qdisc_lock(d->sch));
	d->sch->enqueue(skb, d->sch, &b->to_free);
	spin_unlock(qdisc_lock(d->sch));
}

/* One packet goes down; the one that has been there longest is transmitted. */
static bool bench_serve(struct bench *b, struct bench_device *d)
{
	struct sk_buff *skb, *sent;

	spin_lock(qdisc_lock(d->sch));
	skb = d->sch->dequeue(d->sch);
	spin_unlock(qdisc_lock(d->sch));
	if (!skb)
		return false;
	sent = d->under[d->next];
	d->under[d->next] = skb;
	d->next = d->next + 1 < below ? d->next + 1 : 0;
	b->served++;
	if (sent) {
		skb_orphan(sent);
		sent->next = b->done;
		b->done = sent;
	}
	return true;
}

static void bench_serve_above(struct bench *b, struct bench_device *d, u32 level)
{
	while (d->sch->q.qlen > level && bench_serve(b, d))
		;
}

/* What is timed: one batch, offered and served. */
static u64 bench_run_batch(struct bench *b, struct bench_device *d)
{
	u64 begin = bench_cycles();
	u32 i, credit = 0;

	for (i = 0; i < BENCH_BATCH; i++) {
		bench_offer(b, d, b->batch[i]);
		if (!overload) {
			bench_serve_above(b, d, d->level);
		} else if (++credit == overload) {
			bench_serve(b, d);
			credit = 0;
		}
	}
	return bench_cycles() - begin;
}

static void bench_count_dropped(struct bench *b)
{
	struct sk_buff *skb;

	for (skb = b->to_free; skb; skb = skb->next)
		b->dropped++;
}

/* Return: cycles, or 0 without memory. */
static u64 bench_batch(struct bench *b, struct bench_device *d)
{
	struct sk_buff *skb;
	u64 cycles;
	u32 i;

	for (i = 0; i < BENCH_BATCH; i++) {
		b->batch[i] = bench_next_packet(b, d);
		if (!b->batch[i])
			break;
		b->batch[i]->dev = d->dev;
	}
	if (i < BENCH_BATCH) {
		while (i--)
			bench_recycle(&b->packets, b->batch[i]);
		return 0;
	}
	cycles = bench_run_batch(b, d);
	bench_count_dropped(b);
	for (skb = b->done; skb; skb = skb->next)
		bench_transmitted(b, d, skb);
	bench_recycle_list(&b->packets, &b->done);
	bench_recycle_list(&b->packets, &b->to_free);
	return cycles;
}

static int bench_turn(struct bench *b, struct bench_device *d)
{
	u32 i;

	for (i = 0; i < warm + batches; i++) {
		u64 cycles;

		local_bh_disable();
		if (i == warm) {
			b->served = 0;
			b->dropped = 0;
			seq_puts(b->out, d->dev->name);
		}
		cycles = bench_batch(b, d);
		local_bh_enable();
		if (!cycles)
			return -ENOMEM;
		if (i >= warm)
			seq_printf(b->out, " %llu", cycles);
	}
	seq_printf(b->out, " served %u dropped %u\n", b->served, b->dropped);
	return 0;
}

/* Every connection once, so that all are known, then in turn up to the standing depth. */
static int bench_fill(struct bench *b, struct bench_device *d)
{
	u32 i, connection = 0, total = bench_flows + depth;

	d->ready = kvcalloc(b->ready_mask + 1, sizeof(*d->ready), GFP_KERNEL);
	if (!d->ready)
		return -ENOMEM;

	for (i = 0; i < total; i++) {
		struct sk_buff *skb;

		local_bh_disable();
		if (i >= bench_flows && !closed)
			connection = bench_random(&b->packets, bench_flows);
		skb = bench_packet(&b->packets, connection);
		connection = connection + 1 < bench_flows ? connection + 1 : 0;
		if (skb) {
			skb->dev = d->dev;
			bench_offer(b, d, skb);
			if (i < bench_flows)
				bench_serve_above(b, d, 0);
			bench_recycle_list(&b->packets, &b->done);
			bench_recycle_list(&b->packets, &b->to_free);
		}
		local_bh_enable();
		if (!skb)
			return -ENOMEM;
		if (i % 4096 == 0) {
			cond_resched();
			if (fatal_signal_pending(current))
				return -EINTR;
		}
	}
	d->level = d->sch->q.qlen;
	return 0;
}

static void bench_drain(struct bench *b, struct bench_device *d)
{
	u32 i;

	kvfree(d->ready);
	local_bh_disable();
	bench_serve_above(b, d, 0);
	for (i = 0; i < BENCH_BELOW; i++) {
		if (d->under[i])
			bench_recycle(&b->packets, d->under[i]);
		d->under[i] = NULL;
	}
	bench_recycle_list(&b->packets, &b->done);
	local_bh_enable();
}

static int bench_measure(struct bench *b)
{
	int err = 0;
	u32 i, round;

	for (i = 0; i < b->count && !err; i++) {
		b->packets.random = 1;
		err = bench_fill(b, &b->devices[i]);
	}
	for (round = 0; round < rounds && !err; round++) {
		for (i = 0; i < b->count && !err; i++) {
			b->packets.random = round + 1;
			err = bench_turn(b, &b->devices[i]);
			cond_resched();
		}
		if (fatal_signal_pending(current))
			err = -EINTR;
	}
	for (i = 0; i < b->count; i++)
		bench_drain(b, &b->devices[i]);
	return err;
}

static int bench_take_device(struct bench *b, const char *name)
{
	struct bench_device *d = &b->devices[b->count];

	if (b->count == BENCH_DEVICES)
		return -E2BIG;
	d->dev = __dev_get_by_name(&init_net, name);
	if (!d->dev)
		return -ENODEV;
	d->sch = rtnl_dereference(d->dev->qdisc);
	if (!netif_running(d->dev) || !d->sch->enqueue || d->sch->flags & TCQ_F_NOLOCK)
		return -EOPNOTSUPP;
	netif_tx_stop_all_queues(d->dev);
	b->count++;
	return 0;
}

static int bench_take_devices(struct bench *b)
{
	char *list = kstrndup(devices, sizeof(devices), GFP_KERNEL);
	char *rest = list, *name;
	int err = 0;

	if (!list)
		return -ENOMEM;
	while (!err && (name = strsep(&rest, ",\n"))) {
		if (!*name)
			continue;
		err = bench_take_device(b, name);
		if (err)
			pr_err("qdisc_bench: cannot measure \"%s\": an Ethernet device, up, with a root discipline other than mq is needed\n",
			       name);
	}
	kfree(list);
	return err;
}

static bool bench_parameters_are_good(void)
{
	return bench_packets_are_possible() && depth <= 1 << 20 && fresh <= 100 &&
	       overload <= 1000 && below - 1 < BENCH_BELOW &&
	       rounds - 1 < 1000 && warm <= 100000 && batches - 1 < 1000;
}

static int bench_show(struct seq_file *out, void *unused)
{
	struct bench *b;
	u32 i;
	int err;

	b = kzalloc(sizeof(*b), GFP_KERNEL);
	if (!b)
		return -ENOMEM;
	b->out = out;
	b->opened = bench_flows;
	b->ready_mask = roundup_pow_of_two(depth + 4 * BENCH_BATCH) - 1;
	err = bench_packets_init(&b->packets);
	if (!err) {
		rtnl_lock();
		err = bench_take_devices(b);
		if (!err)
			err = bench_measure(b);
		for (i = 0; i < b->count; i++)
			netif_tx_wake_all_queues(b->devices[i].dev);
		rtnl_unlock();
	}
	bench_packets_free(&b->packets);
	kfree(b);
	return err;
}

static int bench_open(struct inode *inode, struct file *file)
{
	size_t line = BENCH_LINE + (size_t)BENCH_NUMBER * batches;

	if (!bench_parameters_are_good())
		return -EINVAL;
	return single_open_size(file, bench_show, NULL, line * rounds * BENCH_DEVICES);
}

static const struct file_operations bench_fops = {
	.owner		= THIS_MODULE,
	.open		= bench_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= single_release,
};

static int __init bench_module_init(void)
{
	int err = register_qdisc(&bench_ops);

	if (err)
		return err;
	bench_file = debugfs_create_file("qdisc_bench", 0400, NULL, NULL, &bench_fops);
	return 0;
}

static void __exit bench_module_exit(void)
{
	debugfs_remove(bench_file);
	unregister_qdisc(&bench_ops);
}

module_init(bench_module_init);
module_exit(bench_module_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Cycles a packet of queue disciplines");
