// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of the AQM: what it does to packets.
 *
 * Principle: whole packets of one upload's receiver, or of one download. What must not change is
 * compared with the packet that was queued, and checksums are computed anew.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/if_vlan.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <net/ip6_checksum.h>
#include "lasack/tests/lasack_packets.h"

#define TARGET		100U	/* ms */
#define MSS		1448U
#define WINDOW		500U	/* advertised, << SCALE */
#define SCALE		7
#define FIRST		1000U	/* what the receiver accepted the connection with */

/* How packets are made. */
struct frame {
	u8	flags;		/* TCPHDR_* */
	u32	ack_seq;
	u32	payload;
	u8	option[12];
	u8	options;	/* bytes of them, in fours */
	bool	ipv6, vlan, back;
	bool	ect;
};

static const u8 scale_option[] = { TCPOPT_NOP, TCPOPT_WINDOW, TCPOLEN_WINDOW, SCALE };
static const u8 timestamps[] = { 1, 1, 8, TCPOLEN_TIMESTAMP, 0, 0, 0, 1, 0, 0, 0, 1 };
static const u8 sack[] = { 1, 1, TCPOPT_SACK, 10, 0, 0, 1, 0, 0, 0, 2, 0 };
/* With the scale, and the beginning of a signature. */
static const u8 md5[] = { 1, TCPOPT_WINDOW, TCPOLEN_WINDOW, SCALE, TCPOPT_MD5SIG, 2, 1, 1 };

static void set_options(struct frame *f, const u8 *option, u8 length)
{
	memcpy(f->option, option, length);
	f->options = length;
}

static struct frame accepts(void)
{
	struct frame f = { .flags = TCPHDR_SYN | TCPHDR_ACK, .ack_seq = FIRST };

	set_options(&f, scale_option, sizeof(scale_option));
	return f;
}

/* The @n-th ACK of an upload, for one segment more than that before it. */
static struct frame nth_ack(u32 n)
{
	struct frame f = { .flags = TCPHDR_ACK, .ack_seq = FIRST + n * MSS };

	set_options(&f, timestamps, sizeof(timestamps));
	return f;
}

static __sum16 *checksum_of(struct sk_buff *skb, bool ipv6, u32 transport, __wsum *pseudo)
{
	struct tcphdr *th = (void *)(skb->data + transport);
	u32 length = skb->len - transport;
	__sum16 sum;

	if (ipv6) {
		struct ipv6hdr *ih = (void *)th - sizeof(*ih);

		sum = csum_ipv6_magic(&ih->saddr, &ih->daddr, length, IPPROTO_TCP, 0);
		*pseudo = ~csum_unfold(sum);
	} else {
		struct iphdr *ih = (void *)th - sizeof(*ih);

		*pseudo = csum_tcpudp_nofold(ih->saddr, ih->daddr, length, IPPROTO_TCP, 0);
	}
	return &th->check;
}

static void checksum_set(struct sk_buff *skb, bool ipv6, u32 transport)
{
	__wsum pseudo;
	__sum16 *check = checksum_of(skb, ipv6, transport, &pseudo);

	*check = 0;
	*check = csum_fold(csum_partial(skb->data + transport, skb->len - transport, pseudo));
}

static bool checksum_is_right(struct sk_buff *skb, bool ipv6, u32 transport)
{
	__wsum pseudo;

	checksum_of(skb, ipv6, transport, &pseudo);
	return !csum_fold(csum_partial(skb->data + transport, skb->len - transport, pseudo));
}

static void put_network(struct sk_buff *skb, const struct frame *f, u32 length)
{
	__be32 server = htonl(0xc0000201), station = htonl(0x0a000001);

	skb_set_network_header(skb, skb->len);
	if (f->ipv6) {
		struct ipv6hdr *ih = skb_put_zero(skb, sizeof(*ih));

		ih->version = 6;
		ih->payload_len = htons(length);
		ih->nexthdr = IPPROTO_TCP;
		ih->saddr.s6_addr32[3] = f->back ? station : server;
		ih->daddr.s6_addr32[3] = f->back ? server : station;
	} else {
		struct iphdr *ih = skb_put_zero(skb, sizeof(*ih));

		ih->version = 4;
		ih->ihl = 5;
		ih->tos = f->ect ? INET_ECN_ECT_0 : 0;
		ih->tot_len = htons(sizeof(*ih) + length);
		ih->protocol = IPPROTO_TCP;
		ih->saddr = f->back ? station : server;
		ih->daddr = f->back ? server : station;
	}
}

static struct sk_buff *packet_of(struct kunit *test, const struct frame *f)
{
	struct sk_buff *skb = alloc_skb(2048, GFP_KERNEL);
	u32 length = sizeof(struct tcphdr) + f->options + f->payload, transport;
	__be16 protocol = htons(f->ipv6 ? ETH_P_IPV6 : ETH_P_IP);
	struct ethhdr *eth;
	struct tcphdr *th;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	eth = skb_put_zero(skb, sizeof(*eth));
	eth->h_dest[0] = 2;
	eth->h_proto = f->vlan ? htons(ETH_P_8021Q) : protocol;
	if (f->vlan)
		((struct vlan_hdr *)skb_put_zero(skb, VLAN_HLEN))->h_vlan_encapsulated_proto =
			protocol;
	skb->protocol = protocol;
	put_network(skb, f, length);
	transport = skb->len;
	th = skb_put_zero(skb, sizeof(*th));
	th->source = htons(f->back ? 4000 : 80);
	th->dest = htons(f->back ? 80 : 4000);
	th->doff = (sizeof(*th) + f->options) / 4;
	((u8 *)th)[13] = f->flags;
	th->ack_seq = htonl(f->ack_seq);
	th->window = htons(WINDOW);
	skb_put_data(skb, f->option, f->options);
	skb_put_zero(skb, f->payload);
	checksum_set(skb, f->ipv6, transport);
	qdisc_skb_cb(skb)->pkt_len = skb->len;
	return skb;
}

static struct sk_buff *enqueue(struct kunit *test, struct frame f)
{
	struct sk_buff *skb = packet_of(test, &f);
	struct tcp_segment seg;

	tcp_segment_parse(skb, &seg);
	lasack_queue_add(test->priv, skb, &seg);
	return skb;
}

/* Also frees what was discarded. */
static struct sk_buff *dequeue(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct sk_buff *skb;

	lasack_queue_advance(q, q->now);
	skb = lasack_queue_serve(q);
	kfree_skb_list(q->aqm->discarded);
	q->aqm->discarded = NULL;
	return skb;
}

static void wait(struct kunit *test, u32 ms)
{
	struct lasack_queue *q = test->priv;

	lasack_queue_advance(q, q->now + ms * NSEC_PER_MSEC);
}

static u32 window_of(const struct sk_buff *skb, const struct tcp_segment *seg)
{
	return ntohs(((const struct tcphdr *)(skb->data + seg->transport))->window);
}

/* The receiver accepts, and that is sent. */
static void begin(struct kunit *test, struct frame f)
{
	enqueue(test, f);
	kfree_skb(dequeue(test));
}

/*
 * @count ACKs have waited for five targets; all are sent. None may be changed but for its window,
 * and no window so that less is allowed than before.
 *
 * Return: in how many of them the window became less.
 */
static u32 lowered(struct kunit *test, struct frame like, u32 from, u32 count)
{
	u32 i, less = 0, edge = 0, allowed;
	struct tcp_segment seg;
	struct sk_buff *skb;

	for (i = from; i < from + count; i++) {
		like.ack_seq = FIRST + i * MSS;
		enqueue(test, like);
	}
	wait(test, 5 * TARGET);
	while ((skb = dequeue(test))) {
		tcp_segment_parse(skb, &seg);
		KUNIT_EXPECT_TRUE(test, checksum_is_right(skb, like.ipv6, seg.transport));
		KUNIT_EXPECT_LE(test, window_of(skb, &seg), WINDOW);
		less += window_of(skb, &seg) < WINDOW;
		allowed = seg.ack_seq + (window_of(skb, &seg) << SCALE);
		KUNIT_EXPECT_GE(test, (s32)(allowed - edge), 0);
		edge = allowed;
		kfree_skb(skb);
		wait(test, 1);
	}
	return less;
}

static void aqm_allows_less(struct kunit *test)
{
	begin(test, accepts());
	KUNIT_EXPECT_EQ(test, lowered(test, nth_ack(0), 1, 4), 0U);
	KUNIT_EXPECT_GT(test, lowered(test, nth_ack(0), 5, 60), 0U);
	/* A strange ACK, far ahead, allows nothing. */
	begin(test, nth_ack(1 << 19));
	KUNIT_EXPECT_GT(test, lowered(test, nth_ack(0), 65, 60), 0U);
}

static void aqm_allows_less_everywhere(struct kunit *test)
{
	struct frame like = nth_ack(0), first = accepts();

	like.ipv6 = true;
	first.ipv6 = true;
	begin(test, first);
	lowered(test, like, 1, 4);
	KUNIT_EXPECT_GT(test, lowered(test, like, 5, 60), 0U);

	like.ipv6 = false;
	first.ipv6 = false;
	like.vlan = true;
	first.vlan = true;
	begin(test, first);
	lowered(test, like, 1, 4);
	KUNIT_EXPECT_GT(test, lowered(test, like, 5, 60), 0U);
}

static void aqm_knows_no_scale(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, lowered(test, nth_ack(0), 1, 60), 0U);
	/* Too late: nobody knows whether the one that comes now is real. */
	begin(test, accepts());
	KUNIT_EXPECT_EQ(test, lowered(test, nth_ack(0), 61, 60), 0U);
}

static void aqm_has_two_scales(struct kunit *test)
{
	struct frame other = accepts();

	other.option[3] = 14;
	begin(test, other);
	begin(test, accepts());
	KUNIT_EXPECT_EQ(test, lowered(test, nth_ack(0), 1, 60), 0U);
}

static void aqm_leaves_signed_packets(struct kunit *test)
{
	struct frame f = accepts();

	set_options(&f, md5, sizeof(md5));
	begin(test, f);
	KUNIT_EXPECT_EQ(test, lowered(test, nth_ack(0), 1, 60), 0U);
}

/* An option that is longer than its packet. */
static void aqm_leaves_malformed_packets(struct kunit *test)
{
	struct frame f = accepts();

	f.option[2] = 40;
	begin(test, f);
	KUNIT_EXPECT_EQ(test, lowered(test, nth_ack(0), 1, 60), 0U);
}

/* A forged packet accepts the connection. Then the real ACKs come, which are elsewhere. */
static void aqm_is_lied_to(struct kunit *test)
{
	struct frame f = accepts();

	f.option[3] = 14;
	f.ack_seq = FIRST + (1U << 30);
	begin(test, f);
	KUNIT_EXPECT_EQ(test, lowered(test, nth_ack(0), 1, 60), 0U);
	KUNIT_EXPECT_EQ(test, lowered(test, nth_ack(0), 61, 60), 0U);
}

/* Who else has the packet, a capture for example, sees it as it was. */
static void aqm_changes_no_clone(struct kunit *test)
{
	struct sk_buff *clones[60] = {}, *skb;
	struct tcp_segment seg;
	u32 i;

	begin(test, accepts());
	lowered(test, nth_ack(0), 1, 4);
	for (i = 0; i < ARRAY_SIZE(clones); i++)
		clones[i] = skb_clone(enqueue(test, nth_ack(5 + i)), GFP_KERNEL);
	wait(test, 5 * TARGET);
	while ((skb = dequeue(test))) {
		kfree_skb(skb);
		wait(test, 1);
	}
	for (i = 0; i < ARRAY_SIZE(clones); i++) {
		KUNIT_ASSERT_NOT_NULL(test, clones[i]);
		tcp_segment_parse(clones[i], &seg);
		KUNIT_EXPECT_EQ(test, window_of(clones[i], &seg), WINDOW);
		kfree_skb(clones[i]);
	}
}

/* @count packets, each made by @like, with ACKs @step apart. Return: how many are sent. */
static u32 sent_of(struct kunit *test, struct frame like, u32 count, u32 step, u32 *last)
{
	struct tcp_segment seg;
	struct sk_buff *skb;
	u32 i, sent = 0;

	for (i = 0; i < count; i++) {
		like.ack_seq += step;
		enqueue(test, like);
	}
	while ((skb = dequeue(test))) {
		tcp_segment_parse(skb, &seg);
		*last = seg.ack_seq;
		sent++;
		kfree_skb(skb);
	}
	return sent;
}

/* Eight segments are 11584 bytes: so many ACKs are one; and what they acknowledge is charged. */
static void aqm_thins_plain_acks(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	u32 last;

	begin(test, accepts());
	KUNIT_EXPECT_EQ(test, sent_of(test, nth_ack(0), 80, MSS, &last), 10U);
	KUNIT_EXPECT_EQ(test, last, FIRST + 80 * MSS);
	KUNIT_EXPECT_EQ(test, q->aqm->thinned, 70ULL);
	KUNIT_EXPECT_EQ(test, q->packets, 0U);
	KUNIT_EXPECT_EQ(test, q->memory, 0ULL);
}

static u64 received(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	u64 bytes = 0;
	u32 i;

	for (i = 0; i < q->table->size; i++)
		bytes += lasack_flow_bytes(lasack_flow_at(q, i));
	return bytes;
}

/* The flow pays for the data; for the ACKs that are not sent it pays nothing. */
static void aqm_charges_the_same(struct kunit *test)
{
	u32 last;
	u64 thinned;

	begin(test, accepts());
	sent_of(test, nth_ack(0), 80, MSS, &last);
	thinned = received(test);
	lasack_test_reshape(test, (struct lasack_shape) {});
	enqueue(test, accepts());
	kfree_skb(lasack_queue_serve(test->priv));
	for (last = 1; last <= 80; last++)
		enqueue(test, nth_ack(last));
	while (lasack_queue_serve(test->priv))
		;
	KUNIT_EXPECT_GE(test, thinned, 80ULL * MSS);
	KUNIT_EXPECT_LE(test, thinned, received(test));
}

static void aqm_keeps_what_says_more(struct kunit *test)
{
	struct frame like = nth_ack(0);
	u32 last;

	begin(test, accepts());
	/* duplicates */
	KUNIT_EXPECT_EQ(test, sent_of(test, like, 20, 0, &last), 20U);
	set_options(&like, sack, sizeof(sack));
	KUNIT_EXPECT_EQ(test, sent_of(test, like, 20, MSS, &last), 20U);
	like = nth_ack(20);
	like.flags |= TCPHDR_ECE;
	KUNIT_EXPECT_EQ(test, sent_of(test, like, 20, MSS, &last), 20U);
	like = nth_ack(40);
	like.payload = 100;
	KUNIT_EXPECT_EQ(test, sent_of(test, like, 20, MSS, &last), 20U);
	like = nth_ack(60);
	like.flags |= TCPHDR_FIN;
	KUNIT_EXPECT_EQ(test, sent_of(test, like, 5, MSS, &last), 5U);
}

/* CoDel reads the clock itself. Return: packets sent of 30, one in a tenth of the interval. */
static u32 sent_late(struct kunit *test, bool ect, u32 *marked)
{
	struct frame like = { .flags = TCPHDR_ACK, .ack_seq = 1, .payload = MSS, .ect = ect };
	struct lasack_queue *q = test->priv;
	struct sk_buff *skb;
	u32 i, sent = 0;

	lasack_queue_advance(q, ktime_get_ns());
	for (i = 0; i < 30; i++)
		enqueue(test, like);
	for (i = 0; i < 60; i++) {
		msleep(TARGET * LASACK_AQM_INTERVAL / 10);
		lasack_queue_advance(q, ktime_get_ns());
		skb = dequeue(test);
		if (!skb)
			break;
		sent++;
		*marked += (((struct iphdr *)(skb->data + ETH_HLEN))->tos & INET_ECN_MASK) ==
			   INET_ECN_CE;
		kfree_skb(skb);
	}
	return sent;
}

/* RFC 8289: the first after one interval above the target, then more and more. */
static void aqm_drops_late_data(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	u32 marked = 0, sent = sent_late(test, false, &marked);

	KUNIT_EXPECT_EQ(test, sent + q->aqm->codel_stats.drop_count, 30U);
	KUNIT_EXPECT_GE(test, q->aqm->codel_stats.drop_count, 2U);
	KUNIT_EXPECT_LE(test, q->aqm->codel_stats.drop_count, 6U);
	KUNIT_EXPECT_EQ(test, marked, 0U);
}

static void aqm_marks_late_data(struct kunit *test)
{
	u32 marked = 0, sent = sent_late(test, true, &marked);

	KUNIT_EXPECT_EQ(test, sent, 30U);
	KUNIT_EXPECT_GE(test, marked, 2U);
	KUNIT_EXPECT_LE(test, marked, 6U);
}

static int lasack_aqm_test_init(struct kunit *test)
{
	test->priv = NULL;
	lasack_test_reshape(test, (struct lasack_shape) { .aqm = true });
	lasack_aqm_set(((struct lasack_queue *)test->priv)->aqm, TARGET, 1514);
	lasack_queue_advance(test->priv, NSEC_PER_SEC);
	return 0;
}

static struct kunit_case lasack_aqm_cases[] = {
	KUNIT_CASE(aqm_allows_less),
	KUNIT_CASE(aqm_allows_less_everywhere),
	KUNIT_CASE(aqm_knows_no_scale),
	KUNIT_CASE(aqm_has_two_scales),
	KUNIT_CASE(aqm_leaves_signed_packets),
	KUNIT_CASE(aqm_leaves_malformed_packets),
	KUNIT_CASE(aqm_is_lied_to),
	KUNIT_CASE(aqm_changes_no_clone),
	KUNIT_CASE(aqm_thins_plain_acks),
	KUNIT_CASE(aqm_charges_the_same),
	KUNIT_CASE(aqm_keeps_what_says_more),
	KUNIT_CASE(aqm_drops_late_data),
	KUNIT_CASE(aqm_marks_late_data),
	{}
};

static struct kunit_suite lasack_aqm_suite = {
	.name = "lasack_aqm",
	.init = lasack_aqm_test_init,
	.exit = lasack_test_exit,
	.test_cases = lasack_aqm_cases,
};

kunit_test_suite(lasack_aqm_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of the AQM of LAS-ACK");
