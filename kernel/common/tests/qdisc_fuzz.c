// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite: fuzzed packets through the root queue discipline of a device,
 * whichever it is.
 *
 * Principle: the discipline is driven as the kernel does it, with packets that
 * the kernel would never make: captured ones mutated, ones made from a grammar
 * (packet_grammar.h), all of them cut anywhere and in any number of pieces. The
 * kernel's own checkers (KASAN, UBSAN, lockdep, kmemleak) are the judges; what
 * is asserted here is that no packet gets lost between the counters.
 *
 * selftests/qdisc/fuzz_packets.sh makes the device and loads this, after test_parameters.
 */
#include <kunit/test.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/virtio_net.h>
#include <net/net_namespace.h>
#include <net/sch_generic.h>
#include "captured_packets.h"
#include "packet_grammar.h"
#include "common/tests/test_parameters.h"

/* So many packets stay below the discipline, to be freed later. */
#define FUZZ_BELOW	12

struct fuzz {
	struct grammar		g;
	struct net_device	*dev;
	struct Qdisc		*sch;
	u64			before;	/* packets the discipline had seen */
	u64			offered;
	struct sk_buff		*below[FUZZ_BELOW];
	u32			next;	/* in below */
};

/* Sent, dropped or queued: all that was ever offered, if it was not segmented. */
static u64 fuzz_accounted(const struct Qdisc *sch)
{
	return u64_stats_read(&sch->bstats.packets) + sch->qstats.drops + sch->q.qlen;
}

static void fuzz_free_below(struct fuzz *f, struct sk_buff *with)
{
	kfree_skb(f->below[f->next]);
	f->below[f->next] = with;
	f->next = (f->next + 1) % FUZZ_BELOW;
}

static int fuzz_init(struct kunit *test)
{
	struct fuzz *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	prandom_seed_state(&f->g.rng, test_seed);
	f->dev = dev_get_by_name(&init_net, test_device);
	if (!f->dev) {
		kunit_err(test, "no device \"%s\"\n", test_device);
		return -ENODEV;
	}
	rtnl_lock();
	f->sch = rtnl_dereference(f->dev->qdisc);
	rtnl_unlock();
	f->before = fuzz_accounted(f->sch);
	kunit_info(test, "%s on %s, seed %u\n", f->sch->ops->id, test_device, test_seed);
	return 0;
}

static struct sk_buff *fuzz_dequeue(struct fuzz *f)
{
	struct sk_buff *skb;

	local_bh_disable();
	spin_lock(qdisc_lock(f->sch));
	skb = f->sch->dequeue(f->sch);
	spin_unlock(qdisc_lock(f->sch));
	local_bh_enable();
	return skb;
}

/* Let all go: nothing queued, nothing below. */
static void fuzz_drain(struct fuzz *f)
{
	struct sk_buff *skb;
	u32 misses = 0;

	while (misses <= FUZZ_BELOW) {
		skb = fuzz_dequeue(f);
		fuzz_free_below(f, skb);
		misses = skb ? 0 : misses + 1;
	}
}

static void fuzz_exit(struct kunit *test)
{
	struct fuzz *f = test->priv;

	if (!f || !f->dev)
		return;
	fuzz_drain(f);
	dev_put(f->dev);
}

/* The frame's first @length bytes, @linear of them in the linear part. */
static struct sk_buff *fuzz_skb(struct fuzz *f, u32 length, u32 linear)
{
	struct sk_buff *skb = alloc_skb(linear + NET_IP_ALIGN + 1, GFP_KERNEL);
	struct page *page;

	if (!skb)
		return NULL;
	skb_put_data(skb, f->g.bytes, linear);
	if (linear < length) {
		page = alloc_page(GFP_KERNEL);
		if (!page) {
			kfree_skb(skb);
			return NULL;
		}
		memcpy(page_address(page), f->g.bytes + linear, length - linear);
		skb_add_rx_frag(skb, 0, page, 0, length - linear, PAGE_SIZE);
	}
	skb->dev = f->dev;
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, f->dev->type == ARPHRD_ETHER ?
			       min_t(u32, ETH_HLEN, length) : 0);
	return skb;
}

static void fuzz_enqueue(struct fuzz *f, struct sk_buff *skb)
{
	struct sk_buff *to_free = NULL;

	qdisc_skb_cb(skb)->pkt_len = skb->len;
	qdisc_skb_cb_set_segs(skb, 1);
	local_bh_disable();
	spin_lock(qdisc_lock(f->sch));
	f->sch->enqueue(skb, f->sch, &to_free);
	spin_unlock(qdisc_lock(f->sch));
	local_bh_enable();
	kfree_skb_list(to_free);
	f->offered++;
}

static void fuzz_expect_accounted(struct kunit *test)
{
	struct fuzz *f = test->priv;

	KUNIT_ASSERT_EQ(test, fuzz_accounted(f->sch) - f->before, f->offered);
}

static void fuzz_expect_empty(struct kunit *test)
{
	struct fuzz *f = test->priv;

	fuzz_drain(f);
	KUNIT_EXPECT_EQ(test, f->sch->q.qlen, 0U);
	KUNIT_EXPECT_EQ(test, f->sch->qstats.backlog, 0U);
}

/* A new frame in f->g. Return: its protocol. */
static u16 fuzz_make(struct fuzz *f)
{
	const struct captured_packet *captured;
	u32 skip = 0;

	if (grammar_pick(&f->g, 2))
		return f->dev->type == ARPHRD_ETHER ? grammar_make_frame(&f->g) :
						      grammar_make_network(&f->g);
	captured = &captured_packets[grammar_pick(&f->g, ARRAY_SIZE(captured_packets))];
	if (f->dev->type != ARPHRD_ETHER)
		skip = ETH_HLEN;
	f->g.length = captured->length - skip;
	memcpy(f->g.bytes, captured->bytes + skip, f->g.length);
	return captured->bytes[12] << 8 | captured->bytes[13];
}

/* As a packet socket or a virtual machine may ask for it (linux/virtio_net.h). */
static void fuzz_make_gso(struct fuzz *f, struct sk_buff *skb)
{
	static const u8 types[] = {
		VIRTIO_NET_HDR_GSO_TCPV4, VIRTIO_NET_HDR_GSO_TCPV6,
		VIRTIO_NET_HDR_GSO_UDP,
	};
	u16 size = 1 + grammar_pick(&f->g, grammar_pick(&f->g, 2) ? 64 : 1500);
	u16 start = grammar_pick(&f->g, 2) ? ETH_HLEN + 20 : ETH_HLEN + 40;
	struct virtio_net_hdr header = {
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.gso_type = types[grammar_pick(&f->g, ARRAY_SIZE(types))],
		.gso_size = __cpu_to_virtio16(true, size),
		.hdr_len = __cpu_to_virtio16(true, skb_headlen(skb)),
		.csum_start = __cpu_to_virtio16(true, start),
		.csum_offset = __cpu_to_virtio16(true, grammar_pick(&f->g, 2) ? 16 : 6),
	};

	virtio_net_hdr_to_skb(skb, &header, true);
}

/* Some of what is queued goes, at random, so that the queue fills and empties. */
static void fuzz_serve(struct fuzz *f, bool busy)
{
	u32 count = grammar_pick(&f->g, busy ? 2 : 4);

	for (; count; count--)
		fuzz_free_below(f, fuzz_dequeue(f));
}

static void fuzz_one(struct kunit *test, bool gso)
{
	struct fuzz *f = test->priv;
	u16 protocol = fuzz_make(f);
	struct sk_buff *skb;
	u32 length, linear;

	if (grammar_pick(&f->g, 2))
		grammar_mutate(&f->g);
	length = grammar_once_in(&f->g, 4) ? grammar_pick(&f->g, f->g.length + 1) :
					     f->g.length;
	linear = grammar_pick(&f->g, 2) ? grammar_pick(&f->g, length + 1) : length;
	skb = fuzz_skb(f, length, linear);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb->protocol = htons(protocol);
	if (grammar_once_in(&f->g, 16))
		__vlan_hwaccel_put_tag(skb, htons(ETH_P_8021Q), grammar_pick(&f->g, 4096));
	if (gso)
		fuzz_make_gso(f, skb);
	fuzz_enqueue(f, skb);
}

static void fuzz_packets(struct kunit *test)
{
	struct fuzz *f = test->priv;
	unsigned long i;

	for (i = 0; i < test_packets; i++) {
		fuzz_one(test, false);
		fuzz_serve(f, i & 4096);
		if (i % 4096)
			continue;
		fuzz_expect_accounted(test);
		cond_resched();
	}
	fuzz_expect_accounted(test);
	fuzz_expect_empty(test);
	KUNIT_EXPECT_GT(test, f->sch->qstats.drops, 0U);
	kunit_info(test, "%llu packets, %u dropped\n", f->offered, f->sch->qstats.drops);
}

/* Segmented, they are more; what must add up is only that nothing stays behind. */
static void fuzz_gso_packets(struct kunit *test)
{
	struct fuzz *f = test->priv;
	unsigned long i;

	for (i = 0; i < test_packets / 16; i++) {
		fuzz_one(test, true);
		fuzz_serve(f, i & 4096);
		if (i % 4096 == 0)
			cond_resched();
	}
	fuzz_expect_empty(test);
	KUNIT_EXPECT_GE(test, fuzz_accounted(f->sch) - f->before, f->offered);
}

/* Every captured frame cut at every byte: whole, in two pieces, all in a page. */
static void fuzz_every_truncation(struct kunit *test)
{
	struct fuzz *f = test->priv;
	u32 i, length, piece;

	for (i = 0; i < ARRAY_SIZE(captured_packets); i++) {
		f->g.length = captured_packets[i].length;
		memcpy(f->g.bytes, captured_packets[i].bytes, f->g.length);
		for (length = 0; length <= f->g.length; length++) {
			for (piece = 0; piece <= 2; piece++) {
				struct sk_buff *skb = fuzz_skb(f, length, length * piece / 2);

				KUNIT_ASSERT_NOT_NULL(test, skb);
				fuzz_enqueue(f, skb);
			}
			fuzz_serve(f, false);
			fuzz_serve(f, false);
		}
	}
	fuzz_expect_accounted(test);
	fuzz_expect_empty(test);
}

static struct kunit_case qdisc_fuzz_cases[] = {
	KUNIT_CASE(fuzz_every_truncation),
	KUNIT_CASE(fuzz_packets),
	KUNIT_CASE(fuzz_gso_packets),
	{}
};

static struct kunit_suite qdisc_fuzz_suite = {
	.name		= "qdisc_fuzz",
	.init		= fuzz_init,
	.exit		= fuzz_exit,
	.test_cases	= qdisc_fuzz_cases,
};

kunit_test_suite(qdisc_fuzz_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of fuzzed packets through a queue discipline");
