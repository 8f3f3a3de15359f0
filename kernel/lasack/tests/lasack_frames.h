/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whole packets for the KUnit suites of the AQM, with all headers and right checksums.
 */
#ifndef LASACK_TESTS_LASACK_FRAMES_H
#define LASACK_TESTS_LASACK_FRAMES_H

#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/if_vlan.h>
#include <linux/ktime.h>
#include <net/ip6_checksum.h>
#include "lasack/tests/lasack_packets.h"

#define TARGET		100U	/* ms */
#define MSS		1448U
#define WINDOW		500U	/* advertised, << SCALE */
#define SCALE		7
#define FIRST		1000U	/* what the receiver accepted the connection with */
#define AH_BYTES	24U

/* How packets are made. */
struct frame {
	u8	flags;		/* TCPHDR_* */
	bool	ae;		/* the bit before them: AccECN, RFC 9768 */
	u32	ack_seq;
	u32	payload;
	u8	option[12];
	u8	options;	/* bytes of them, in fours */
	bool	ipv6, vlan, back;
	bool	ah;		/* with IPv6 */
	bool	ect;
	u16	other;	/* a connection of a port that is so much higher */
};

static const u8 scale_option[] = { TCPOPT_NOP, TCPOPT_WINDOW, TCPOLEN_WINDOW, SCALE };
static const u8 timestamps[] = { 1, 1, 8, TCPOLEN_TIMESTAMP, 0, 0, 0, 1, 0, 0, 0, 1 };

static inline void set_options(struct frame *f, const u8 *option, u8 length)
{
	memcpy(f->option, option, length);
	f->options = length;
}

static inline struct frame accepts(void)
{
	struct frame f = { .flags = TCPHDR_SYN | TCPHDR_ACK, .ack_seq = FIRST };

	set_options(&f, scale_option, sizeof(scale_option));
	return f;
}

/* The @n-th ACK of an upload, for one segment more than that before it. */
static inline struct frame nth_ack(u32 n)
{
	struct frame f = { .flags = TCPHDR_ACK, .ack_seq = FIRST + n * MSS };

	set_options(&f, timestamps, sizeof(timestamps));
	return f;
}

static inline __sum16 *checksum_of(struct sk_buff *skb, bool ipv6, u32 transport, __wsum *pseudo)
{
	struct tcphdr *th = (void *)(skb->data + transport);
	u32 length = skb->len - transport;
	__sum16 sum;

	if (ipv6) {
		struct ipv6hdr *ih = (void *)skb_network_header(skb);

		sum = csum_ipv6_magic(&ih->saddr, &ih->daddr, length, IPPROTO_TCP, 0);
		*pseudo = ~csum_unfold(sum);
	} else {
		struct iphdr *ih = (void *)th - sizeof(*ih);

		*pseudo = csum_tcpudp_nofold(ih->saddr, ih->daddr, length, IPPROTO_TCP, 0);
	}
	return &th->check;
}

static inline void checksum_set(struct sk_buff *skb, bool ipv6, u32 transport)
{
	__wsum pseudo;
	__sum16 *check = checksum_of(skb, ipv6, transport, &pseudo);

	*check = 0;
	*check = csum_fold(csum_partial(skb->data + transport, skb->len - transport, pseudo));
}

static inline bool checksum_is_right(struct sk_buff *skb, bool ipv6, u32 transport)
{
	__wsum pseudo;

	checksum_of(skb, ipv6, transport, &pseudo);
	return !csum_fold(csum_partial(skb->data + transport, skb->len - transport, pseudo));
}

static inline void put_network(struct sk_buff *skb, const struct frame *f, u32 length)
{
	__be32 server = htonl(0xc0000201), station = htonl(0x0a000001);

	skb_set_network_header(skb, skb->len);
	if (f->ipv6) {
		struct ipv6hdr *ih = skb_put_zero(skb, sizeof(*ih));

		ih->version = 6;
		ih->payload_len = htons(length + f->ah * AH_BYTES);
		ih->nexthdr = f->ah ? NEXTHDR_AUTH : IPPROTO_TCP;
		ih->saddr.s6_addr32[3] = f->back ? station : server;
		ih->daddr.s6_addr32[3] = f->back ? server : station;
		if (f->ah) {
			u8 *ah = skb_put_zero(skb, AH_BYTES);

			ah[0] = IPPROTO_TCP;
			ah[1] = AH_BYTES / 4 - 2;	/* RFC 4302, 2.2 */
		}
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

static inline struct sk_buff *packet_of(struct kunit *test, const struct frame *f)
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
	th->source = htons(f->back ? 4000 + f->other : 80);
	th->dest = htons(f->back ? 80 : 4000 + f->other);
	th->doff = (sizeof(*th) + f->options) / 4;
	((u8 *)th)[12] |= f->ae;
	((u8 *)th)[13] = f->flags;
	th->ack_seq = htonl(f->ack_seq);
	th->window = htons(WINDOW);
	skb_put_data(skb, f->option, f->options);
	skb_put_zero(skb, f->payload);
	checksum_set(skb, f->ipv6, transport);
	qdisc_skb_cb(skb)->pkt_len = skb->len;
	return skb;
}

/* Return: a packet of the station, as the stack hands it to netfilter. */
static inline struct sk_buff *packet_in(struct kunit *test, const struct frame *f)
{
	struct sk_buff *skb = packet_of(test, f);

	skb_reset_mac_header(skb);
	eth_hdr(skb)->h_source[0] = 2;
	skb_pull(skb, ETH_HLEN);
	skb_reset_network_header(skb);
	return skb;
}

/* Return: half a segment of the station that echoes @stamp. */
static inline struct sk_buff *data_in(struct kunit *test, u32 seq, u8 stamp, bool ipv6, u16 other)
{
	struct frame f = {
		.flags = TCPHDR_ACK, .payload = MSS / 2, .back = true, .ipv6 = ipv6, .other = other,
	};
	struct sk_buff *skb;

	set_options(&f, timestamps, sizeof(timestamps));
	f.option[11] = stamp;
	skb = packet_in(test, &f);
	((struct tcphdr *)(skb->data + (ipv6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr))))
		->seq = htonl(seq);
	return skb;
}

static inline struct sk_buff *enqueue(struct kunit *test, struct frame f)
{
	struct sk_buff *skb = packet_of(test, &f);
	struct tcp_segment seg;

	tcp_segment_parse(skb, &seg);
	lasack_queue_add(test->priv, skb, &seg);
	return skb;
}

/* Also frees what was discarded. */
static inline struct sk_buff *dequeue(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct sk_buff *skb;

	lasack_queue_advance(q, q->now);
	skb = lasack_queue_serve(q);
	kfree_skb_list(q->aqm->discarded);
	q->aqm->discarded = NULL;
	return skb;
}

static inline void wait(struct kunit *test, u32 ms)
{
	struct lasack_queue *q = test->priv;

	lasack_queue_advance(q, q->now + ms * NSEC_PER_MSEC);
}

static inline u32 window_of(const struct sk_buff *skb, const struct tcp_segment *seg)
{
	return ntohs(((const struct tcphdr *)(skb->data + seg->transport))->window);
}

/* The receiver accepts, and that is sent. */
static inline void begin(struct kunit *test, struct frame f)
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
static inline u32 lowered(struct kunit *test, struct frame like, u32 from, u32 count)
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

/* Return: the window of the @n-th ACK, which goes out at once, with the timestamp @n. */
static inline u32 window_of_ack(struct kunit *test, u32 n, u16 other)
{
	struct frame f = nth_ack(n);
	struct tcp_segment seg;
	struct sk_buff *skb;
	u32 window;

	f.option[7] = n;
	f.other = other;
	enqueue(test, f);
	skb = dequeue(test);
	tcp_segment_parse(skb, &seg);
	window = window_of(skb, &seg);
	kfree_skb(skb);
	return window;
}

/*
 * Whole packets. Return: the last window of the connection @first, after 120 ACKs, of a station
 * with so many @uploads. Its data echoes what was sent @late ACKs before the last one. What happens
 * @beside it, behind each ACK, or NULL.
 */
static inline u32 window_beside(struct kunit *test, u32 first, u32 uploads, u32 late,
				void (*beside)(struct kunit *test))
{
	struct lasack_queue *q = test->priv;
	u32 i, j, window = 0;

	for (i = 0; i < uploads; i++) {
		struct frame f = accepts();

		f.other = first + i;
		begin(test, f);
	}
	for (i = 1; i <= 120; i++) {
		for (j = 0; j < 2 * uploads; j++) {
			struct sk_buff *in = data_in(test, FIRST + (i - 1) * MSS + j % 2 * MSS / 2,
						     i > late ? i - late : 0, false,
						     first + j / 2);

			lasack_observer_hook(q->observer, in, NULL);
			kfree_skb(in);
		}
		for (j = uploads; j--;)
			window = window_of_ack(test, i, first + j);
		if (beside)
			beside(test);
		usleep_range(5000, 6000);
		lasack_queue_advance(q, ktime_get_ns());
	}
	return window;
}

/* Return: packets sent of 30, one in a tenth of @interval targets. CoDel reads the clock itself. */
static inline u32 sent_late(struct kunit *test, struct frame like, u32 interval, u32 *marked)
{
	struct lasack_queue *q = test->priv;
	struct sk_buff *skb;
	u32 i, sent = 0;

	lasack_queue_advance(q, ktime_get_ns());
	for (i = 0; i < 30; i++)
		enqueue(test, like);
	for (i = 0; i < 60; i++) {
		msleep(TARGET * interval / 10);
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

static const struct frame late_data = { .flags = TCPHDR_ACK, .ack_seq = 1, .payload = MSS };

static inline int lasack_aqm_test_init(struct kunit *test)
{
	memset(lasack_scales, 0, sizeof(lasack_scales));
	test->priv = NULL;
	lasack_test_reshape(test, (struct lasack_shape) { .aqm = true });
	lasack_aqm_set(((struct lasack_queue *)test->priv)->aqm, TARGET, 1514);
	lasack_queue_advance(test->priv, NSEC_PER_SEC);
	return 0;
}

#endif
