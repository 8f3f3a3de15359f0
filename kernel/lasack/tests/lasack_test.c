// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of the LAS-ACK arithmetic and order.
 *
 * Principle: expected sums are added up by hand from the paper's section III
 * and from sequence arithmetic.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include "lasack/tests/lasack_packets.h"

static void lasack_data_is_charged_when_sent(struct kunit *test)
{
	add(test, data(1, 1448), 1);
	add(test, data(1, 1448), 2);
	add(test, data(1, 100), 3);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 0ULL);
	serve(test);
	serve(test);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 2896ULL);
	serve(test);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 2996ULL);
	KUNIT_EXPECT_EQ(test, attained(test, 2), 0ULL);
}

static void lasack_acks_are_charged(struct kunit *test)
{
	add(test, ack(1, 5000), 1);	/* where counting starts */
	KUNIT_EXPECT_EQ(test, attained(test, 1), 0ULL);
	add(test, ack(1, 7896), 2);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 2896ULL);
	add(test, ack(1, 7896), 3);	/* duplicate */
	add(test, ack(1, 6000), 4);	/* overtaken */
	KUNIT_EXPECT_EQ(test, attained(test, 1), 2896ULL);
	add(test, ack(1, 7897), 5);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 2897ULL);
}

static void lasack_ack_wraps(struct kunit *test)
{
	add(test, ack(1, 0xfffffff0), 1);
	add(test, ack(1, 0x10), 2);	/* 16 bytes before the wrap, 16 after */
	KUNIT_EXPECT_EQ(test, attained(test, 1), 32ULL);
	add(test, ack(1, 0xffffffff), 3);	/* old again */
	KUNIT_EXPECT_EQ(test, attained(test, 1), 32ULL);
	add(test, ack(1, 0x20), 4);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 48ULL);
}

/* RFC 7323, 2.3: no window is larger than 65535 << 14 = 1073725440 bytes. */
static void lasack_forged_ack_is_clamped(struct kunit *test)
{
	add(test, ack(1, 0), 1);
	add(test, ack(1, 0x7fffffffU), 2);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 1073725440ULL);
	add(test, ack(1, 0x7fffffffU + 10), 3);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 1073725450ULL);
	add(test, ack(1, 9), 4);	/* 2^31 ahead: that is behind */
	KUNIT_EXPECT_EQ(test, attained(test, 1), 1073725450ULL);
}

/* Between two stations both directions pass: two sequence spaces, one sum. */
static void lasack_directions_share_a_sum(struct kunit *test)
{
	struct tcp_segment back = ack(1, 4000000000U);

	back.reversed = 1;
	add(test, ack(1, 1000), 1);
	add(test, back, 2);
	back.ack_seq += 300;
	add(test, back, 3);
	add(test, ack(1, 1500), 4);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 800ULL);
}

/*
 * By the default rules one direction is believed. The data passes here too, and was charged then,
 * also if the numbers of both directions stand near each other.
 */
static void lasack_data_is_charged_once(struct kunit *test)
{
	struct tcp_segment seg = ack(1, 5000), back = ack(1, 5000);
	u32 i;

	lasack_test_reshape(test, (struct lasack_shape) {});
	seg.pure_ack = 0;
	seg.payload = 1000;
	back.reversed = 1;
	for (i = 0; i < 50; i++) {
		add(test, seg, 1);
		add(test, seg, 2);
		back.ack_seq += 2000;
		add(test, back, 3);
	}
	while (serve(test))
		;
	KUNIT_EXPECT_EQ(test, attained(test, 1), 100000ULL);
}

static void lasack_piggybacked_ack(struct kunit *test)
{
	struct tcp_segment seg = ack(1, 100);

	seg.payload = 1000;
	seg.pure_ack = 0;
	add(test, seg, 1);
	seg.ack_seq = 600;
	add(test, seg, 2);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 500ULL);
	serve(test);
	serve(test);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 2500ULL);
}

/* Data of a download, ACKs of an upload: each way has a count of its own. */
static void lasack_flow_tells_its_directions(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct tcp_segment seg = ack(1, 100);
	struct lasack_flow *flow;

	seg.reversed = 1;
	seg.payload = 1000;
	add(test, seg, 1);
	seg.ack_seq = 700;
	add(test, seg, 2);
	flow = flow_of(q, &seg);
	KUNIT_EXPECT_EQ(test, flow->sent, 0ULL);
	KUNIT_EXPECT_EQ(test, flow->received, 600ULL);
	KUNIT_EXPECT_TRUE(test, flow->reversed);
	serve(test);
	push_out(test);
	KUNIT_EXPECT_EQ(test, flow->sent, 1000ULL);
	KUNIT_EXPECT_EQ(test, flow->received, 600ULL);

	add(test, data(1, 10), 3);
	KUNIT_EXPECT_FALSE(test, flow->reversed);
	seg.syn = 1;
	add(test, seg, 4);
	KUNIT_EXPECT_EQ(test, flow->sent, 0ULL);
	KUNIT_EXPECT_EQ(test, flow->received, 0ULL);
}

static void lasack_syn_starts_a_new_life(struct kunit *test)
{
	struct tcp_segment syn = ack(1, 77);

	syn.syn = 1;
	syn.pure_ack = 0;
	add(test, ack(1, 1), 1);
	add(test, ack(1, 90001), 2);
	add(test, syn, 3);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 0ULL);
	add(test, ack(1, 177), 4);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 100ULL);

	/* Order inside a flow stays, though the SYN's sum is less. */
	KUNIT_EXPECT_EQ(test, serve(test), 1U);
	KUNIT_EXPECT_EQ(test, serve(test), 2U);
	KUNIT_EXPECT_EQ(test, serve(test), 3U);
	KUNIT_EXPECT_EQ(test, serve(test), 4U);
}

/*
 * By hand. Flow 2 has attained 501 as soon as its ACKs are seen; 1 and 3 have
 * attained nothing, and 1 came first. Then 1 has 1000 and 3 is served; then 2,
 * whole, for ACKs that were charged already add nothing; then the rest of 1.
 */
static void lasack_least_sum_first(struct kunit *test)
{
	static const u32 expected[] = { 1, 6, 3, 4, 5, 2, 0 };
	int i;

	add(test, data(1, 1000), 1);
	add(test, data(1, 1000), 2);
	add(test, ack(2, 8), 3);
	add(test, ack(2, 508), 4);
	add(test, ack(2, 509), 5);
	add(test, data(3, 10), 6);
	for (i = 0; i < ARRAY_SIZE(expected); i++)
		KUNIT_EXPECT_EQ(test, serve(test), expected[i]);
}

/* An ACK that comes while others wait puts its flow behind at once. */
static void lasack_sums_are_compared_as_they_are(struct kunit *test)
{
	add(test, ack(1, 0), 1);
	add(test, ack(1, 100), 2);
	add(test, data(2, 1000), 3);
	add(test, data(2, 1000), 4);
	add(test, data(2, 1000), 5);
	KUNIT_EXPECT_EQ(test, serve(test), 3U);	/* 0 against 100 */
	add(test, ack(1, 1500), 6);
	KUNIT_EXPECT_EQ(test, serve(test), 4U);	/* 1000 against 1500 */
	KUNIT_EXPECT_EQ(test, serve(test), 1U);	/* 2000 against 1500 */
}

/* By hand: the oldest packet of the largest sum, lone packets last of all. */
static void lasack_largest_sum_is_pushed_out(struct kunit *test)
{
	add(test, ack(4, 0), 9);
	serve(test);
	add(test, ack(4, 9000), 7);	/* 9000, but its only packet */
	add(test, data(1, 1000), 1);	/* 0 */
	add(test, data(1, 1000), 2);
	add(test, ack(2, 0), 3);
	add(test, ack(2, 5000), 4);	/* 5000 */
	add(test, data(3, 9000), 5);	/* 0: the longest packet is not the worst */

	KUNIT_EXPECT_EQ(test, push_out(test), 3U);
	KUNIT_EXPECT_EQ(test, push_out(test), 1U);
	/* Every flow has but one packet now. */
	KUNIT_EXPECT_EQ(test, push_out(test), 7U);
	KUNIT_EXPECT_EQ(test, push_out(test), 4U);
	KUNIT_EXPECT_EQ(test, push_out(test), 5U);	/* of equals the newest */
	KUNIT_EXPECT_EQ(test, push_out(test), 2U);
	KUNIT_EXPECT_EQ(test, push_out(test), 0U);
}

static void lasack_pushed_out_data_is_not_charged(struct kunit *test)
{
	add(test, data(1, 1000), 1);
	add(test, data(1, 200), 2);
	KUNIT_EXPECT_EQ(test, push_out(test), 1U);
	KUNIT_EXPECT_EQ(test, serve(test), 2U);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 200ULL);
}

/* What an ACK acknowledges has crossed the radio, whatever becomes of it. */
static void lasack_pushed_out_ack_is_charged_once(struct kunit *test)
{
	add(test, ack(1, 1000), 1);
	add(test, ack(1, 3000), 2);
	KUNIT_EXPECT_EQ(test, push_out(test), 1U);
	KUNIT_EXPECT_EQ(test, push_out(test), 2U);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 2000ULL);
	add(test, ack(1, 4000), 3);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 3000ULL);
}

/* ARP and EAPOL are never charged: of equals, the one that came first. */
static void lasack_control_is_free(struct kunit *test)
{
	struct tcp_segment arp = { .class = SEGMENT_NOT_IP, .payload = 28 };

	add(test, data(1, 1000), 1);
	add(test, data(1, 1000), 2);	/* sum 1000: it waits for all of them */
	add(test, arp, 3);
	add(test, arp, 4);
	add(test, data(2, 1000), 5);
	add(test, arp, 6);
	KUNIT_EXPECT_EQ(test, serve(test), 3U);
	KUNIT_EXPECT_EQ(test, serve(test), 4U);
	KUNIT_EXPECT_EQ(test, serve(test), 6U);
	KUNIT_EXPECT_EQ(test, serve(test), 1U);
	KUNIT_EXPECT_EQ(test, serve(test), 5U);
	KUNIT_EXPECT_EQ(test, serve(test), 2U);
}

static void lasack_control_is_pushed_out_last(struct kunit *test)
{
	struct tcp_segment eapol = { .class = SEGMENT_NOT_IP, .payload = 99 };

	add(test, eapol, 1);
	add(test, eapol, 2);
	add(test, data(1, 1000), 3);
	add(test, data(2, 1000), 4);
	KUNIT_EXPECT_EQ(test, push_out(test), 4U);	/* of equals the newest */
	KUNIT_EXPECT_EQ(test, push_out(test), 3U);
	KUNIT_EXPECT_EQ(test, push_out(test), 1U);
	KUNIT_EXPECT_EQ(test, push_out(test), 2U);
}

/*
 * While two flows are served, two questions come for each packet that leaves, and one of all must
 * go. The questions' sum and the flows' change places with each, but only questions go.
 */
static void lasack_flood_is_pushed_out_first(struct kunit *test)
{
	struct tcp_segment dns = data(53, 1000);
	u32 i;

	lasack_test_reshape(test, (struct lasack_shape) {});
	dns.class = SEGMENT_PORTS;
	dns.key.protocol = IPPROTO_UDP;
	for (i = 0; i < 200; i++)
		add(test, dns, 53);
	for (i = 0; i < 1000; i++) {
		add(test, data(1 + i % 2, 1000), 1);
		add(test, dns, 53);
		add(test, dns, 53);
		KUNIT_ASSERT_EQ(test, push_out(test), 53U);
		serve(test);
		if (i % 2)
			KUNIT_ASSERT_EQ(test, push_out(test), 53U);
	}
}

/* What a lost ACK acknowledges is the next one's, unless ACKs were forged between the two. */
static void lasack_lost_ack_is_inherited(struct kunit *test)
{
	struct lasack_queue *q = lasack_test_reshape(test, (struct lasack_shape) {});

	add(test, ack(1, 0), 1);
	add(test, ack(1, 2000), 2);
	add(test, ack(1, 4000), 3);
	known(q, 1)->refunds++;
	add(test, ack(1, 6000), 4);
	KUNIT_EXPECT_EQ(test, push_out(test), 1U);
	KUNIT_EXPECT_EQ(test, push_out(test), 2U);
	KUNIT_EXPECT_EQ(test, (u32)lasack_cb(known(q, 1)->head)->acked, 4000U);
	KUNIT_EXPECT_EQ(test, push_out(test), 3U);
	KUNIT_EXPECT_EQ(test, (u32)lasack_cb(known(q, 1)->head)->acked, 2000U);
}

/* A flood of odd frames delays no EAPOL and no ARP. */
static void lasack_link_has_kinds(struct kunit *test)
{
	struct tcp_segment link = { .class = SEGMENT_NOT_IP, .payload = 99 };
	static const u16 family[] = { ETH_P_BATMAN, ETH_P_PAE, ETH_P_ARP };
	static const u32 order[] = { 1, 2, 3, 1, 1 };
	u32 i;

	lasack_test_reshape(test, (struct lasack_shape) {});
	for (i = 0; i < 5; i++) {
		link.key.family = family[max(i, 2U) - 2];
		add(test, link, max(i, 2U) - 1);
	}
	for (i = 0; i < ARRAY_SIZE(order); i++)
		KUNIT_EXPECT_EQ(test, serve(test), order[i]);
}

/* More flows than hash buckets can keep apart: each keeps its own sum. */
static void lasack_flows_never_merge(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	u32 id, wrong = 0;

	for (id = 1; id <= LASACK_FLOWS; id++) {
		add(test, data(id, 10 + id), id);
		KUNIT_ASSERT_EQ(test, serve(test), id);
	}
	for (id = 1; id <= LASACK_FLOWS; id++)
		wrong += attained(test, id) != 10 + id;
	KUNIT_EXPECT_EQ(test, wrong, 0U);
	KUNIT_EXPECT_EQ(test, q->table->flows, (u32)LASACK_FLOWS);
	KUNIT_EXPECT_EQ(test, q->table->counts.evicted, 0ULL);
}

static void lasack_oldest_idle_is_evicted(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct tcp_segment fin = data(9, 0);
	u32 id;

	for (id = 1; id <= LASACK_FLOWS; id++) {
		add(test, data(id, 100), id);
		serve(test);
	}
	add(test, data(1, 100), 1);	/* now 2 is the oldest */
	serve(test);
	fin.fin = 1;
	add(test, fin, 9);		/* but 9 has ended */
	serve(test);

	add(test, data(5001, 7), 1);
	add(test, data(5002, 7), 2);
	KUNIT_EXPECT_EQ(test, q->table->counts.evicted, 2ULL);
	KUNIT_EXPECT_EQ(test, q->table->flows, (u32)LASACK_FLOWS);
	KUNIT_EXPECT_EQ(test, attained(test, 1), 200ULL);
	KUNIT_EXPECT_EQ(test, attained(test, 3), 100ULL);
	KUNIT_EXPECT_EQ(test, attained(test, 2), 0ULL);	/* takes the place of 4 */
	KUNIT_EXPECT_EQ(test, q->table->counts.evicted, 3ULL);
}

static void lasack_rst_ends_a_flow(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct tcp_segment rst = data(1, 0);

	rst.rst = 1;
	add(test, rst, 1);
	add(test, data(1, 100), 2);
	KUNIT_EXPECT_EQ(test, push_out(test), 1U);	/* nobody heard it */
	serve(test);
	KUNIT_EXPECT_EQ(test, q->table->flows, 1U);

	add(test, data(1, 100), 1);
	add(test, rst, 2);
	KUNIT_EXPECT_EQ(test, q->table->flows, 1U);
	serve(test);
	KUNIT_EXPECT_EQ(test, q->table->flows, 1U);
	serve(test);
	KUNIT_EXPECT_EQ(test, q->table->flows, 0U);
	KUNIT_EXPECT_EQ(test, q->table->counts.evicted, 0ULL);
}

static void lasack_full_table_shares_a_flow(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct lasack_account *shared = &lasack_shared(q, LASACK_OVERFLOW)->account;
	u32 id;

	for (id = 1; id <= LASACK_FLOWS; id++)
		add(test, data(id, 100), id);
	KUNIT_EXPECT_EQ(test, q->overflow, 0ULL);
	add(test, data(6001, 100), 6001);
	add(test, data(6002, 100), 6002);
	/* ACK numbers of two connections have nothing to do with each other. */
	add(test, ack(6003, 1000), 6003);
	add(test, ack(6004, 900000), 6004);
	KUNIT_EXPECT_EQ(test, q->overflow, 4ULL);

	/* Nothing is lost; of what the ACKs say nothing is charged. */
	for (id = 1; id <= LASACK_FLOWS; id++)
		KUNIT_ASSERT_EQ(test, serve(test), id);
	KUNIT_EXPECT_EQ(test, serve(test), 6001U);
	KUNIT_EXPECT_EQ(test, serve(test), 6002U);
	KUNIT_EXPECT_EQ(test, serve(test), 6003U);
	KUNIT_EXPECT_EQ(test, shared->sum, 200ULL);
	KUNIT_EXPECT_EQ(test, serve(test), 6004U);
	KUNIT_EXPECT_EQ(test, serve(test), 0U);
	KUNIT_EXPECT_EQ(test, shared->sum, 0ULL);
}

static struct kunit_case lasack_cases[] = {
	KUNIT_CASE(lasack_data_is_charged_when_sent),
	KUNIT_CASE(lasack_acks_are_charged),
	KUNIT_CASE(lasack_ack_wraps),
	KUNIT_CASE(lasack_forged_ack_is_clamped),
	KUNIT_CASE(lasack_directions_share_a_sum),
	KUNIT_CASE(lasack_data_is_charged_once),
	KUNIT_CASE(lasack_piggybacked_ack),
	KUNIT_CASE(lasack_flow_tells_its_directions),
	KUNIT_CASE(lasack_syn_starts_a_new_life),
	KUNIT_CASE(lasack_least_sum_first),
	KUNIT_CASE(lasack_sums_are_compared_as_they_are),
	KUNIT_CASE(lasack_largest_sum_is_pushed_out),
	KUNIT_CASE(lasack_pushed_out_data_is_not_charged),
	KUNIT_CASE(lasack_pushed_out_ack_is_charged_once),
	KUNIT_CASE(lasack_control_is_free),
	KUNIT_CASE(lasack_control_is_pushed_out_last),
	KUNIT_CASE(lasack_flood_is_pushed_out_first),
	KUNIT_CASE(lasack_lost_ack_is_inherited),
	KUNIT_CASE(lasack_link_has_kinds),
	KUNIT_CASE(lasack_flows_never_merge),
	KUNIT_CASE(lasack_oldest_idle_is_evicted),
	KUNIT_CASE(lasack_rst_ends_a_flow),
	KUNIT_CASE(lasack_full_table_shares_a_flow),
	{}
};

static struct kunit_suite lasack_suite = {
	.name		= "lasack",
	.init		= lasack_test_init,
	.exit		= lasack_test_exit,
	.test_cases	= lasack_cases,
};

kunit_test_suite(lasack_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of LAS-ACK");
