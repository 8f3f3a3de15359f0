// SPDX-License-Identifier: GPL-2.0-only
/*
 * The packets of the benchmark: segments of TCP connections, made beforehand
 * and used again.
 */
#include <linux/etherdevice.h>
#include <linux/gfp.h>
#include <linux/hash.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/module.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/sch_generic.h>
#include "bench/packets.h"

#define BENCH_MSS	1448
#define BENCH_SEGMENTS	16	/* of a GSO packet */

uint bench_flows = 1;
module_param_named(flows, bench_flows, uint, 0644);
MODULE_PARM_DESC(flows, "connections the packets belong to, picked at random (1 to 4194304)");

static uint acks = 50;
module_param(acks, uint, 0644);
MODULE_PARM_DESC(acks, "percentage of pure ACKs, in each connection; the rest is data");

static uint stations = 16;
module_param(stations, uint, 0644);
MODULE_PARM_DESC(stations, "hardware addresses the connections go to");

static bool hashed;
module_param(hashed, bool, 0644);
MODULE_PARM_DESC(hashed, "packets carry a hash, as if a network card had computed it");

static bool gso;
module_param(gso, bool, 0644);
MODULE_PARM_DESC(gso, "data packets have 16 segments");

/* How far a connection is, in bytes. */
struct bench_connection {
	u32	sent;
	u32	acked;
};

struct bench_header {
	struct ethhdr	eth;
	struct iphdr	ip;
	struct tcphdr	tcp;
	u8		options[12];
} __packed;

/* Marsaglia's xorshift: fast, and the same packets for each device. */
u32 bench_random(struct bench_packets *p, u32 below_this)
{
	p->random ^= p->random << 13;
	p->random ^= p->random >> 17;
	p->random ^= p->random << 5;
	return (u64)p->random * below_this >> 32;
}

static struct sk_buff *bench_new_skb(struct bench_packets *p, bool ack)
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

		get_page(p->payload);
		skb_add_rx_frag(skb, frag++, p->payload, 0, piece, max_t(u32, piece, 2048));
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
static void bench_write(struct bench_packets *p, struct sk_buff *skb, u32 connection, bool ack)
{
	struct bench_header *h = (struct bench_header *)skb->data;
	struct bench_connection *c = &p->connections[connection % bench_flows];
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
struct sk_buff *bench_packet(struct bench_packets *p, u32 connection)
{
	bool ack = bench_random(p, 100) < acks;
	struct sk_buff **pool = ack ? &p->ack_pool : &p->data_pool;
	struct sk_buff *skb = *pool;

	if (skb)
		*pool = skb->next;
	else
		skb = bench_new_skb(p, ack);
	if (!skb)
		return NULL;
	skb_mark_not_on_list(skb);
	memset(skb->cb, 0, sizeof(skb->cb));
	skb->tstamp = 0;
	skb->mark = connection;
	bench_write(p, skb, connection, ack);
	if (hashed)
		skb_set_hash(skb, hash_32(connection, 32), PKT_HASH_TYPE_L4);
	else
		skb_clear_hash(skb);
	qdisc_skb_cb(skb)->pkt_len = skb->len;
	if (skb_is_gso(skb))
		qdisc_skb_cb(skb)->pkt_len += (BENCH_SEGMENTS - 1) * sizeof(struct bench_header);
	return skb;
}

/* Made by us, or by a discipline that cut one of ours up? */
static bool bench_is_ours(const struct sk_buff *skb)
{
	return !skb->data_len || !gso || skb_is_gso(skb);
}

void bench_recycle(struct bench_packets *p, struct sk_buff *skb)
{
	struct sk_buff **pool = skb->data_len ? &p->data_pool : &p->ack_pool;

	skb_orphan(skb);
	if (!bench_is_ours(skb) || skb_cloned(skb)) {
		skb_mark_not_on_list(skb);
		kfree_skb(skb);
		return;
	}
	skb->next = *pool;
	*pool = skb;
}

void bench_recycle_list(struct bench_packets *p, struct sk_buff **list)
{
	while (*list) {
		struct sk_buff *skb = *list;

		*list = skb->next;
		bench_recycle(p, skb);
	}
}

static void bench_free_pool(struct sk_buff **pool)
{
	kfree_skb_list(*pool);
	*pool = NULL;
}

/* Of a packet that was cut up only the last segment still says that it is to be pushed. */
bool bench_is_last_segment(const struct sk_buff *skb)
{
	return ((const struct bench_header *)skb->data)->tcp.psh;
}

/* Can the parameters be had? */
bool bench_packets_are_possible(void)
{
	return bench_flows - 1 < 1 << 22 && acks <= 100 && stations - 1 < 1 << 16;
}

/* Return: 0 or -ENOMEM; to be given to bench_packets_free() either way. */
int bench_packets_init(struct bench_packets *p)
{
	p->connections = kvcalloc(bench_flows, sizeof(*p->connections), GFP_KERNEL);
	p->payload = alloc_page(GFP_KERNEL);
	return p->connections && p->payload ? 0 : -ENOMEM;
}

void bench_packets_free(struct bench_packets *p)
{
	bench_free_pool(&p->ack_pool);
	bench_free_pool(&p->data_pool);
	if (p->payload)
		__free_page(p->payload);
	kvfree(p->connections);
}
