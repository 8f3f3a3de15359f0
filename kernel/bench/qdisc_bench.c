// SPDX-License-Identifier: GPL-2.0-only
/*
 * What enqueue and dequeue of a queue discipline cost, by the processor's own
 * counter.
 *
 * Principle: each device's root discipline is driven directly with packets made
 * beforehand, so nothing else runs between two readings of the counter. The
 * devices take turns, many short ones, so that whatever slows the machine for
 * a moment slows all of them. The discipline "bench" does nothing but
 * keep the packets in a list; what it costs is the harness' own cost, and the
 * reader of the results takes it off.
 *
 * The devices' transmit queues are stopped while they are measured: what is
 * queued then leaves only through this module.
 *
 *	insmod qdisc_bench.ko
 *	echo bench0,bench1 > /sys/module/qdisc_bench/parameters/devices
 *	echo 100 > /sys/module/qdisc_bench/parameters/flows
 *	cat /sys/kernel/debug/qdisc_bench
 *
 * Reading the file is what measures. Each line is one turn of one device: the
 * cycles of each batch of 64 packets offered, then what it did with them.
 *
 *	bench0 14632 14544 ... served 4096 dropped 0
 */
#include <linux/debugfs.h>
#include <linux/etherdevice.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <linux/timex.h>
#include <linux/vmalloc.h>
#include <net/net_namespace.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#define BENCH_BATCH	64	/* packets offered between two readings */
#define BENCH_DEVICES	16
#define BENCH_MSS	1448
#define BENCH_SEGMENTS	16	/* of a GSO packet */
#define BENCH_BELOW	64	/* room for packets below the discipline */
#define BENCH_LINE	64	/* bytes of a line beside its cycles */
#define BENCH_NUMBER	12	/* and of each number, at most */

static char devices[256];
module_param_string(devices, devices, sizeof(devices), 0644);
MODULE_PARM_DESC(devices, "names of the devices, with commas between");

static uint flows = 1;
module_param(flows, uint, 0644);
MODULE_PARM_DESC(flows, "connections the packets belong to, picked at random (1 to 4194304)");

static uint depth = 100;
module_param(depth, uint, 0644);
MODULE_PARM_DESC(depth, "packets that stay queued");

static bool closed;
module_param(closed, bool, 0644);
MODULE_PARM_DESC(closed, "a connection sends when a packet of its own was transmitted, as with a full window; else one picked at random does");

static uint acks = 50;
module_param(acks, uint, 0644);
MODULE_PARM_DESC(acks, "percentage of pure ACKs, in each connection; the rest is data");

static uint fresh;
module_param(fresh, uint, 0644);
MODULE_PARM_DESC(fresh, "percentage of packets that open a connection never seen before");

static uint stations = 16;
module_param(stations, uint, 0644);
MODULE_PARM_DESC(stations, "hardware addresses the connections go to");

static bool hashed;
module_param(hashed, bool, 0644);
MODULE_PARM_DESC(hashed, "packets carry a hash, as if a network card had computed it");

static bool gso;
module_param(gso, bool, 0644);
MODULE_PARM_DESC(gso, "data packets have 16 segments");

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

/* How far a connection is, in bytes. */
struct bench_connection {
	u32	sent;
	u32	acked;
};

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
	struct bench_device	devices[BENCH_DEVICES];
	u32			count;	/* of devices */
	u32			random;
	u32			opened;	/* connections so far */
	u32			ready_mask;
	struct bench_connection	*connections;
	struct page		*payload;
	struct sk_buff		*ack_pool;
	struct sk_buff		*data_pool;
	struct sk_buff		*done;	/* left the discipline, to be used again */
	struct sk_buff		*to_free; /* dropped by it */
	u32			served;
	u32			dropped;
	struct sk_buff		*batch[BENCH_BATCH];
	struct seq_file		*out;
};

struct bench_header {
	struct ethhdr	eth;
	struct iphdr	ip;
	struct tcphdr	tcp;
	u8		options[12];
} __packed;

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

/* Marsaglia's xorshift: fast, and the same packets for each device. */
static u32 bench_random(struct bench *b, u32 below_this)
{
	b->random ^= b->random << 13;
	b->random ^= b->random >> 17;
	b->random ^= b->random << 5;
	return (u64)b->random * below_this >> 32;
}

static struct sk_buff *bench_new_skb(struct bench *b, bool ack)
{
	struct sk_buff *skb = alloc_skb(NET_IP_ALIGN + sizeof(struct bench_header), GFP_ATOMIC);
	u32 left = gso ? BENCH_MSS * BENCH_SEGMENTS : BENCH_MSS;
	int frag = 0;

	if (!skb)
		return NULL;
	skb_reserve(skb, NET_IP_ALIGN);
	skb_put(skb, sizeof(struct bench_header));
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, ETH_HLEN);
	skb_set_transport_header(skb, ETH_HLEN + sizeof(struct iphdr));
	skb->protocol = htons(ETH_P_IP);
	if (ack)
		return skb;
	while (left) {
		u32 piece = min_t(u32, left, PAGE_SIZE);

		get_page(b->payload);
		skb_add_rx_frag(skb, frag++, b->payload, 0, piece, max_t(u32, piece, 2048));
		left -= piece;
	}
	if (gso) {
		skb_shinfo(skb)->gso_size = BENCH_MSS;
		skb_shinfo(skb)->gso_segs = BENCH_SEGMENTS;
		skb_shinfo(skb)->gso_type = SKB_GSO_TCPV4;
		skb->ip_summed = CHECKSUM_PARTIAL;
		skb->csum_start = skb_headroom(skb) + ETH_HLEN + sizeof(struct iphdr);
		skb->csum_offset = offsetof(struct tcphdr, check);
	}
	return skb;
}

/* Headers of the next packet of @connection. */
static void bench_write(struct bench *b, struct sk_buff *skb, u32 connection, bool ack)
{
	struct bench_header *h = (struct bench_header *)skb->data;
	struct bench_connection *c = &b->connections[connection % flows];
	u32 host = connection / 60000;

	*h = (struct bench_header) {
		.eth.h_dest = { 2 },
		.eth.h_source = { 2, 1 },
		.eth.h_proto = htons(ETH_P_IP),
		.ip.version = 4,
		.ip.ihl = 5,
		.ip.ttl = 64,
		.ip.protocol = IPPROTO_TCP,
		.ip.tot_len = htons(skb->len - ETH_HLEN),
		.ip.saddr = htonl(0x0a000001 + host),
		.ip.daddr = htonl(0xc0a80001 + connection % stations),
		.tcp.source = htons(443),
		.tcp.dest = htons(1024 + connection % 60000),
		.tcp.doff = 8,
		.tcp.ack = 1,
		.tcp.psh = 1,
		.tcp.window = htons(1000),
		.options = { 1, 1, 8, 10 },	/* timestamps */
	};
	h->eth.h_dest[4] = (connection % stations) >> 8;
	h->eth.h_dest[5] = connection % stations;
	h->tcp.seq = htonl(c->sent);
	c->sent += skb->data_len;
	if (ack)
		c->acked += 2 * BENCH_MSS;
	h->tcp.ack_seq = htonl(c->acked);
}

/*
 * The next packet of a connection. The mix is the same in all of them, so
 * disciplines that serve them in another order still get the same packets.
 */
static struct sk_buff *bench_packet(struct bench *b, u32 connection)
{
	bool ack = bench_random(b, 100) < acks;
	struct sk_buff **pool = ack ? &b->ack_pool : &b->data_pool;
	struct sk_buff *skb = *pool;

	if (skb)
		*pool = skb->next;
	else
		skb = bench_new_skb(b, ack);
	if (!skb)
		return NULL;
	skb_mark_not_on_list(skb);
	memset(skb->cb, 0, sizeof(skb->cb));
	skb->tstamp = 0;
	skb->mark = connection;
	bench_write(b, skb, connection, ack);
	if (hashed)
		skb_set_hash(skb, hash_32(connection, 32), PKT_HASH_TYPE_L4);
	else
		skb_clear_hash(skb);
	qdisc_skb_cb(skb)->pkt_len = skb->len;
	if (skb_is_gso(skb))
		qdisc_skb_cb(skb)->pkt_len += (BENCH_SEGMENTS - 1) * sizeof(struct bench_header);
	return skb;
}

/* The next packet as the parameters want it. */
static struct sk_buff *bench_next_packet(struct bench *b, struct bench_device *d)
{
	u32 connection;

	if (fresh && bench_random(b, 100) < fresh)
		connection = b->opened++;
	else if (d->oldest != d->newest)
		connection = d->ready[d->oldest++ & b->ready_mask];
	else
		connection = bench_random(b, flows);
	return bench_packet(b, connection);
}

/*
 * The connection may send again. Of a packet that was cut up only the last
 * segment still says that it is to be pushed.
 */
static void bench_transmitted(struct bench *b, struct bench_device *d, struct sk_buff *skb)
{
	const struct bench_header *h = (const struct bench_header *)skb->data;

	if (closed && h->tcp.psh && d->newest - d->oldest <= b->ready_mask)
		d->ready[d->newest++ & b->ready_mask] = skb->mark;
}

/* Made by us, or by a discipline that cut one of ours up? */
static bool bench_is_ours(const struct sk_buff *skb)
{
	return !skb->data_len || !gso || skb_is_gso(skb);
}

static void bench_recycle(struct bench *b, struct sk_buff *skb)
{
	struct sk_buff **pool = skb->data_len ? &b->data_pool : &b->ack_pool;

	skb_orphan(skb);
	if (!bench_is_ours(skb) || skb_cloned(skb)) {
		skb_mark_not_on_list(skb);
		kfree_skb(skb);
		return;
	}
	skb->next = *pool;
	*pool = skb;
}

static void bench_recycle_list(struct bench *b, struct sk_buff **list)
{
	while (*list) {
		struct sk_buff *skb = *list;

		*list = skb->next;
		bench_recycle(b, skb);
	}
}

static void bench_free_pool(struct sk_buff **pool)
{
	kfree_skb_list(*pool);
	*pool = NULL;
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
			bench_recycle(b, b->batch[i]);
		return 0;
	}
	cycles = bench_run_batch(b, d);
	bench_count_dropped(b);
	for (skb = b->done; skb; skb = skb->next)
		bench_transmitted(b, d, skb);
	bench_recycle_list(b, &b->done);
	bench_recycle_list(b, &b->to_free);
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
	u32 i, connection = 0, total = flows + depth;

	d->ready = kvcalloc(b->ready_mask + 1, sizeof(*d->ready), GFP_KERNEL);
	if (!d->ready)
		return -ENOMEM;

	for (i = 0; i < total; i++) {
		struct sk_buff *skb;

		local_bh_disable();
		if (i >= flows && !closed)
			connection = bench_random(b, flows);
		skb = bench_packet(b, connection);
		connection = connection + 1 < flows ? connection + 1 : 0;
		if (skb) {
			skb->dev = d->dev;
			bench_offer(b, d, skb);
			if (i < flows)
				bench_serve_above(b, d, 0);
			bench_recycle_list(b, &b->done);
			bench_recycle_list(b, &b->to_free);
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
			bench_recycle(b, d->under[i]);
		d->under[i] = NULL;
	}
	bench_recycle_list(b, &b->done);
	local_bh_enable();
}

static int bench_measure(struct bench *b)
{
	int err = 0;
	u32 i, round;

	for (i = 0; i < b->count && !err; i++) {
		b->random = 1;
		err = bench_fill(b, &b->devices[i]);
	}
	for (round = 0; round < rounds && !err; round++) {
		for (i = 0; i < b->count && !err; i++) {
			b->random = round + 1;
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
	if (!netif_running(d->dev) || !d->sch->enqueue || d->sch->flags & TCQ_F_NOLOCK ||
	    !(d->sch->flags & TCQ_F_ONETXQUEUE))
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
			pr_err("qdisc_bench: cannot measure \"%s\": an Ethernet device with one queue, up, with a root discipline is needed\n",
			       name);
	}
	kfree(list);
	return err;
}

static bool bench_parameters_are_good(void)
{
	return flows - 1 < 1 << 22 && depth <= 1 << 20 && acks <= 100 && fresh <= 100 &&
	       stations - 1 < 1 << 16 && overload <= 1000 && below - 1 < BENCH_BELOW &&
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
	b->opened = flows;
	b->ready_mask = roundup_pow_of_two(depth + 4 * BENCH_BATCH) - 1;
	b->connections = kvcalloc(flows, sizeof(*b->connections), GFP_KERNEL);
	b->payload = alloc_page(GFP_KERNEL);
	err = b->connections && b->payload ? 0 : -ENOMEM;
	if (!err) {
		rtnl_lock();
		err = bench_take_devices(b);
		if (!err)
			err = bench_measure(b);
		for (i = 0; i < b->count; i++)
			netif_tx_wake_all_queues(b->devices[i].dev);
		rtnl_unlock();
	}
	bench_free_pool(&b->ack_pool);
	bench_free_pool(&b->data_pool);
	if (b->payload)
		__free_page(b->payload);
	kvfree(b->connections);
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
