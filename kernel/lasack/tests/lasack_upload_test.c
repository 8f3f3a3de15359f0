// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of uploads that are not TCP: what goes out in them, and how their senders are told.
 *
 * Principle: RFC 8289's law gives the number of drops by hand. Packets' sizes are those of the
 * protocols.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include "lasack/tests/lasack_datagrams.h"

static struct lasack_flow *upload_of(struct lasack_queue *q)
{
	struct tcp_segment seg = datagram(1, 0);

	return flow_of(q, &seg);
}

/*
 * 30 packets go out, one in a tenth of CoDel's interval; @in bytes came before each, which has
 * @payload. Return: how often the sender is told.
 */
static u32 told_of_late_packets(struct kunit *test, u32 in, u32 payload, u32 *sent)
{
	struct lasack_queue *q = test->priv;
	struct lasack_observer *observer = q->observer;
	struct tcp_segment coming = datagram(1, in), none = datagram(1, 1);
	u32 i, told = 0;

	q = lasack_test_reshape(test, (struct lasack_shape) { .aqm = true });
	q->observer = observer;
	q->overhead = 200;
	lasack_aqm_set(q->aqm, 100, 1514);
	lasack_queue_advance(q, ktime_get_ns());
	for (i = 0; i < 30; i++) {
		comes_in(test, coming);
		add(test, datagram(1, payload), 1);
	}
	for (*sent = 0; q->packets; ++*sent) {
		msleep(30);
		lasack_queue_advance(q, ktime_get_ns());
		KUNIT_EXPECT_EQ(test, serve(test), 1U);
		kfree_skb_list(q->aqm->discarded);
		q->aqm->discarded = NULL;
		for (i = 0; i < LASACK_SEEN_TELL; i++)
			told += comes_in(test, none);
	}
	return told;
}

/* RFC 8289, 3.1 and 5.5: after target and interval, then after interval / sqrt(count). */
static u32 codel_drops(s64 elapsed_ms)
{
	u32 count = 0;

	for (elapsed_ms -= 100 + 300; elapsed_ms >= 0; count++)
		elapsed_ms -= 300000 / int_sqrt(1000000 * (count + 1));
	return count;
}

/* As CoDel drops late data, but nothing that goes out is dropped: its sender waits for it. */
static void upload_slows_late_uploads(struct kunit *test)
{
	ktime_t begin = ktime_get();
	u32 sent, told = told_of_late_packets(test, 2400, 200, &sent);
	u32 drops = codel_drops(ktime_ms_delta(ktime_get(), begin));

	KUNIT_EXPECT_EQ(test, sent, 30U);
	KUNIT_EXPECT_GE(test, drops, 2U);
	KUNIT_EXPECT_GE(test, told + 1, drops);
	KUNIT_EXPECT_LE(test, told, drops + 1);
}

/*
 * An upload whose packets were late is not served for a minute. CoDel would have dropped
 * (60 / 0.3 / 2)^2 = 10,000 packets, or 15,000 from its third on; only one packet can tell.
 */
static void upload_makes_up_for_no_pause(struct kunit *test)
{
	struct lasack_queue *q;
	struct codel_vars *vars;
	u32 sent, count;

	told_of_late_packets(test, 2400, 200, &sent);
	q = test->priv;
	vars = &lasack_aqm_state(q, upload_of(q))->codel;
	KUNIT_ASSERT_TRUE(test, vars->dropping);
	count = vars->count;
	comes_in(test, datagram(1, 2400));
	add(test, datagram(1, 200), 1);
	msleep(60 * MSEC_PER_SEC);
	lasack_queue_advance(q, ktime_get_ns());
	serve(test);
	KUNIT_EXPECT_LE(test, vars->count, count + 1);
	KUNIT_EXPECT_GE(test, (s32)(vars->drop_next - codel_get_time()), 0);

	/* However long a sender does not listen, each step of CoDel is longer than nothing. */
	lasack_aqm_set(q->aqm, 1, 1514);
	vars->count = 1U << 30;
	comes_in(test, datagram(1, 2400));
	add(test, datagram(1, 200), 1);
	msleep(1000);
	lasack_queue_advance(q, ktime_get_ns());
	serve(test);
	KUNIT_EXPECT_LE(test, vars->count, LASACK_AQM_TOLD + 1);
}

/*
 * What CoDel has counted of a flow while that was no upload: its count is far less than at the last
 * time, or its step is nothing. A step at least as long as of 4097 drops in an interval is left.
 */
static void upload_survives_other_counts(struct kunit *test)
{
	struct lasack_queue *q;
	struct codel_vars *vars;
	u32 sent, least, i;

	told_of_late_packets(test, 2400, 200, &sent);
	q = test->priv;
	vars = &lasack_aqm_state(q, upload_of(q))->codel;
	for (i = 0; i < 4; i++) {
		vars->dropping = i & 1;
		vars->lastcount = 10000;
		vars->rec_inv_sqrt = i / 2;
		vars->count = 1U << 30;
		vars->drop_next = codel_get_time();
		comes_in(test, datagram(1, 2400));
		add(test, datagram(1, 200), 1);
		msleep(500);
		lasack_queue_advance(q, ktime_get_ns());
		serve(test);
		least = q->aqm->codel.interval / 70;
		KUNIT_EXPECT_LE(test, vars->lastcount, LASACK_AQM_TOLD + 1);
		KUNIT_EXPECT_LE(test, vars->count, LASACK_AQM_TOLD + 70);
		KUNIT_EXPECT_GE(test, codel_control_law(0, q->aqm->codel.interval,
							vars->rec_inv_sqrt), least);
	}
}

/* A VPN carried an upload of 8 GiB at night; by day it carries a download, and later an upload. */
static void upload_judges_by_what_is_recent(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct lasack_observer *observer = q->observer;
	struct lasack_flow *flow;
	u32 i;

	q = lasack_test_reshape(test, (struct lasack_shape) { .aqm = true });
	q->observer = observer;
	lasack_aqm_set(q->aqm, 100, 1514);
	add(test, datagram(1, 1000), 1);
	flow = upload_of(q);
	flow->received = (2ULL << 32) + 1;	/* of which 32 bits hold 1 */
	KUNIT_EXPECT_TRUE(test, lasack_aqm_is_upload(q, flow));
	lasack_aqm_take(q, flow);
	KUNIT_EXPECT_TRUE(test, lasack_aqm_is_upload(q, flow));
	for (i = 0; i < 3000 && lasack_aqm_is_upload(q, flow); i++)
		flow->sent += 1000;
	KUNIT_EXPECT_LT(test, i * 1000, 2 * LASACK_AQM_RECENT);
	for (i = 0; i < 1000; i++) {
		flow->sent += 1000000;
		lasack_aqm_is_upload(q, flow);
	}
	for (i = 0; i < 1000; i++) {	/* short packets, paid out of what was received */
		flow->sent += 240;
		flow->received -= 40;
		KUNIT_EXPECT_FALSE(test, lasack_aqm_is_upload(q, flow));
	}
	for (i = 0; i < 3000 && !lasack_aqm_is_upload(q, flow); i++)
		flow->received += 1000;
	KUNIT_EXPECT_LT(test, i * 1000, 3 * LASACK_AQM_RECENT);
}

/* Ten seconds are more units of 2^10 ns than 32 bits hold ns. */
static void upload_target_of_ten_seconds(struct kunit *test)
{
	struct lasack_queue *q = lasack_test_reshape(test, (struct lasack_shape) { .aqm = true });

	lasack_aqm_set(q->aqm, 10000, 1514);
	KUNIT_EXPECT_EQ(test, q->aqm->codel.target, 9765625U);
	KUNIT_EXPECT_EQ(test, q->aqm->codel.interval, 29296875U);
	KUNIT_EXPECT_EQ(test, q->aqm->codel_tcp.interval, 29296875U);
	lasack_aqm_set_aggregates(q->aqm, true, true);
	KUNIT_EXPECT_EQ(test, q->aqm->codel_tcp.target, 9765625U / 2);
	KUNIT_EXPECT_EQ(test, q->aqm->codel.interval, 29296875U);
	KUNIT_EXPECT_EQ(test, q->aqm->codel_tcp.interval, 29296875U);
	/* A turn takes as long, however short the target. */
	lasack_aqm_set(q->aqm, 1, 1514);
	KUNIT_EXPECT_EQ(test, q->aqm->codel_tcp.interval, q->aqm->codel.interval);
	lasack_aqm_set_aggregates(q->aqm, true, false);
	KUNIT_EXPECT_EQ(test, q->aqm->codel_tcp.interval, 1562500U);
}

/* @count packets of an upload wait, each for @in bytes. Return: how many of them are sent. */
static u32 sent_of_upload(struct kunit *test, u32 count, u32 in, u32 payload)
{
	struct lasack_queue *q = test->priv;
	struct tcp_segment coming = datagram(1, in);
	u32 i, sent = 0;

	for (i = 0; i < count; i++) {
		comes_in(test, coming);
		add(test, datagram(1, payload), 1);
	}
	for (; q->packets; sent++)
		KUNIT_EXPECT_EQ(test, serve(test), 1U);
	kfree_skb_list(q->aqm->discarded);
	q->aqm->discarded = NULL;
	return sent;
}

/*
 * Five times 2400 bytes are no more than 12 KiB: each fifth one stays. Longer packets all do: a VPN
 * has others inside. WireGuard's have 16 + 48 + 16 bytes at least, for a TCP header with its IP
 * header; OpenVPN's 4 + 4 + 16 and these 40.
 */
static void upload_thins_short_packets(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct lasack_observer *observer = q->observer;

	q = lasack_test_reshape(test, (struct lasack_shape) { .aqm = true });
	q->observer = observer;
	lasack_aqm_set(q->aqm, 100, 1514);
	KUNIT_EXPECT_EQ(test, sent_of_upload(test, 20, 2400, 63), 4U);
	KUNIT_EXPECT_EQ(test, q->aqm->thinned, 16ULL);
	KUNIT_EXPECT_EQ(test, sent_of_upload(test, 20, 2400, 64), 20U);
	KUNIT_EXPECT_EQ(test, sent_of_upload(test, 20, 2400, 80), 20U);
	/* What acknowledges nothing may be anything. */
	KUNIT_EXPECT_EQ(test, sent_of_upload(test, 20, 0, 40), 20U);
}

/* A call sends as much as it gets: it is what goes out that is too late. */
static void upload_slows_no_call(struct kunit *test)
{
	ktime_t begin = ktime_get();
	u32 sent, drops;

	KUNIT_EXPECT_EQ(test, told_of_late_packets(test, 200, 200, &sent), 0U);
	drops = codel_drops(ktime_ms_delta(ktime_get(), begin));
	KUNIT_EXPECT_GE(test, drops, 2U);
	KUNIT_EXPECT_LE(test, sent, 30U + 1 - drops);
	KUNIT_EXPECT_GE(test, sent + drops + 1, 30U);
}

static struct kunit_case lasack_upload_cases[] = {
	KUNIT_CASE(upload_slows_late_uploads),
	KUNIT_CASE(upload_makes_up_for_no_pause),
	KUNIT_CASE(upload_survives_other_counts),
	KUNIT_CASE(upload_judges_by_what_is_recent),
	KUNIT_CASE(upload_target_of_ten_seconds),
	KUNIT_CASE(upload_thins_short_packets),
	KUNIT_CASE(upload_slows_no_call),
	{}
};

static struct kunit_suite lasack_upload_suite = {
	.name		= "lasack_upload",
	.init		= observe_test_init,
	.exit		= lasack_test_exit,
	.test_cases	= lasack_upload_cases,
};

kunit_test_suite(lasack_upload_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of uploads that are not TCP, under LAS-ACK");
