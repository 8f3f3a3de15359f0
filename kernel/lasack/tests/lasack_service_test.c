// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of what may come before the least sum: runs of a station.
 *
 * Principle: orders are worked out by hand, of packets of 1000 bytes.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include "lasack/tests/lasack_packets.h"

static int service_test_init(struct kunit *test)
{
	test->priv = NULL;
	lasack_test_reshape(test, (struct lasack_shape) {
		.paper = true, .runs = true,
	});
	return 0;
}

static void service_alternates_without_quantum(struct kunit *test)
{
	static const u32 order[] = { 10, 20, 11, 21, 12, 22, 13, 23 };

	fill_two_stations(test);
	expect_order(test, order, ARRAY_SIZE(order));
}

/* A run is over when 2000 bytes are sent, or nothing is left. */
static void service_in_runs(struct kunit *test)
{
	static const u32 order[] = { 10, 11, 20, 21, 12, 13, 22, 23 };

	set_quantum(test, 2000);
	fill_two_stations(test);
	expect_order(test, order, ARRAY_SIZE(order));
}

static void service_run_ends_with_its_packets(struct kunit *test)
{
	static const u32 order[] = { 10, 11, 12, 13, 20, 21, 22, 23 };

	set_quantum(test, 100000);
	fill_two_stations(test);
	expect_order(test, order, ARRAY_SIZE(order));
}

/* By the packet, not by the byte: what is left of 1500 lets another one go. */
static void service_run_is_of_whole_packets(struct kunit *test)
{
	static const u32 order[] = { 10, 11, 20, 21, 12, 13, 22, 23 };

	set_quantum(test, 1500);
	fill_two_stations(test);
	expect_order(test, order, ARRAY_SIZE(order));
}

/*
 * The run is the station's: of its two flows the lesser is served first, also
 * if it is not the least of all.
 */
static void service_run_has_all_flows_of_a_station(struct kunit *test)
{
	static const u32 order[] = { 10, 30, 11, 31, 20, 21 };

	set_quantum(test, 4000);
	add_to(test, 1, data(1, 1000), 10);
	add_to(test, 1, data(1, 1000), 11);
	add_to(test, 2, data(2, 1000), 20);
	add_to(test, 2, data(2, 1000), 21);
	add_to(test, 1, data(3, 1000), 30);
	add_to(test, 1, data(3, 1000), 31);
	expect_order(test, order, ARRAY_SIZE(order));
}

/* Control packets are served first, and no station pays for them. */
static void service_of_control_is_no_stations(struct kunit *test)
{
	struct tcp_segment control = { .class = SEGMENT_NOT_IP, .payload = 1500 };
	struct tcp_segment unparsed = { .class = SEGMENT_TRUNCATED, .payload = 1000 };
	struct lasack_queue *q = lasack_test_reshape(test, (struct lasack_shape) {
		.by_station = true,
	});
	u64 sum;
	u32 i;

	q->level.high = 100000;		/* others have attained more */
	add_to(test, 9, unparsed, 1);
	sum = q->stations->place[LASACK_STATION_SHARED].account.sum;
	for (i = 0; i < 3; i++) {
		add_to(test, 9, control, 10 + i);
		KUNIT_EXPECT_EQ(test, serve(test), 10 + i);
	}
	KUNIT_EXPECT_EQ(test, q->stations->place[LASACK_STATION_SHARED].account.sum, sum);

	/* Their order holds: all packets are found when they have to go. */
	fill_two_stations(test);
	for (i = 0; i < 9; i++)
		KUNIT_EXPECT_NE(test, push_out(test), 0U);
	KUNIT_EXPECT_EQ(test, push_out(test), 0U);
}

/* Each station has one packet and has attained nothing: each packet is found once. */
static void service_of_none_is_pushed_out(struct kunit *test)
{
	u32 i, mark, seen = 0;

	lasack_test_reshape(test, (struct lasack_shape) { .paper = true, .by_station = true });
	for (i = 0; i < 16; i++)
		add_to(test, i, data(i, 1000), 1 + i);
	for (i = 0; i < 16; i++) {
		mark = push_out(test);
		KUNIT_ASSERT_GE(test, mark, 1U);
		seen |= BIT(mark - 1);
	}
	KUNIT_EXPECT_EQ(test, seen, GENMASK(15, 0));
	KUNIT_EXPECT_EQ(test, push_out(test), 0U);
}

/* A newcomer of the station under way does not wait; others' do. */
static void service_run_takes_newcomers(struct kunit *test)
{
	static const u32 order[] = { 30, 11, 12, 13, 20, 21, 22, 23, 40 };

	set_quantum(test, 5000);
	fill_two_stations(test);
	KUNIT_EXPECT_EQ(test, serve(test), 10U);
	add_to(test, 1, data(3, 1000), 30);
	add_to(test, 3, data(4, 1000), 40);
	expect_order(test, order, ARRAY_SIZE(order));
}

/*
 * ARP and EAPOL are never behind data: not in a run, not of a flow that has had
 * nothing yet and came first.
 */
static void service_control_waits_for_nobody(struct kunit *test)
{
	struct tcp_segment eapol = { .class = SEGMENT_NOT_IP, .payload = 100 };

	set_quantum(test, 100000);
	fill_two_stations(test);
	KUNIT_EXPECT_EQ(test, serve(test), 10U);
	add_to(test, 3, eapol, 98);
	add_to(test, 1, eapol, 99);
	KUNIT_EXPECT_EQ(test, serve(test), 98U);
	KUNIT_EXPECT_EQ(test, serve(test), 99U);
	add_to(test, 3, eapol, 97);
	KUNIT_EXPECT_EQ(test, serve(test), 97U);
	KUNIT_EXPECT_EQ(test, serve(test), 11U);	/* the run goes on */
}

/* With packets always there, no sum is ahead by more than a run. */
static void service_runs_keep_sums_together(struct kunit *test)
{
	u32 i, mark;

	set_quantum(test, 8000);
	fill_two_stations(test);
	for (i = 0; i < 1000; i++) {
		mark = serve(test);
		add_to(test, mark / 10, data(mark / 10, 1000), mark);
		KUNIT_ASSERT_LE(test, attained(test, 1), attained(test, 2) + 8000);
		KUNIT_ASSERT_LE(test, attained(test, 2), attained(test, 1) + 8000);
	}
}

/* The ACK after one that was pushed out tells the sender of both. */
static void service_of_an_ack_includes_pushed_out_ones(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct lasack_flow *flow;
	struct tcp_segment seg;
	u32 i;

	for (i = 0; i < 4; i++)
		add(test, ack(1, 3000 * i), 1 + i);
	KUNIT_EXPECT_EQ(test, push_out(test), 1U);
	KUNIT_EXPECT_EQ(test, push_out(test), 2U);
	seg = ack(1, 0);
	flow = flow_of(q, &seg);
	KUNIT_EXPECT_EQ(test, lasack_service(flow->head), 6000U);
	KUNIT_EXPECT_EQ(test, serve(test), 3U);
	KUNIT_EXPECT_EQ(test, lasack_service(flow->head), 3000U);
}

/* A forged jump is no more service than a packet can hold. */
static void service_of_a_forged_ack_is_bounded(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct lasack_flow *flow;
	struct tcp_segment seg = ack(1, 0);

	add(test, ack(1, 0), 1);
	serve(test);
	add(test, ack(1, S32_MAX), 2);
	flow = flow_of(q, &seg);
	KUNIT_EXPECT_EQ(test, lasack_service(flow->head), (u32)U16_MAX);
}

/* In units of 2^10 ns, by hand: 800 / 8, then 100 - 100 / 8 + 1600 / 8. */
static void service_delay_by_size(struct kunit *test)
{
	struct lasack_queue *q = test->priv;

	lasack_queue_advance(q, 1000 << 10);
	add(test, data(1, 99999), 1);
	lasack_queue_advance(q, 1800 << 10);
	serve(test);
	add(test, data(1, 1), 2);
	lasack_queue_advance(q, 3400 << 10);
	serve(test);
	KUNIT_EXPECT_EQ(test, q->delay[0].average, 575ULL << 9);	/* 287.5 */
	KUNIT_EXPECT_EQ(test, q->delay[0].max, 1600ULL << 10);
	KUNIT_EXPECT_EQ(test, q->delay[1].max, 0ULL);

	add(test, data(1, 1), 3);	/* 100000 bytes now */
	add(test, data(1, 1), 4);
	push_out(test);			/* not sent: it counts for nothing */
	lasack_queue_advance(q, 3440 << 10);
	serve(test);
	KUNIT_EXPECT_EQ(test, q->delay[1].average, 5ULL << 10);
	KUNIT_EXPECT_EQ(test, q->delay[1].max, 40ULL << 10);
}

/*
 * A stream of new flows is one flow, and has more than its share queued. A connection whose SYN
 * was sent and that goes on is none of them: it is served at once.
 */
static void service_connections_are_no_newcomers(struct kunit *test)
{
	struct lasack_queue *q = lasack_test_reshape(test, (struct lasack_shape) {});
	struct tcp_segment syn = data(9, 0);
	u32 i, waited, id = 100;
	u64 newcomers, opened;

	syn.syn = 1;
	for (i = 0; i < 300; i++) {
		add(test, data(1, 1000), 1);
		add(test, data(id++, 1000), 2);
		add(test, data(id++, 1000), 2);
		serve(test);
	}
	add(test, syn, 9);
	for (waited = 0; serve(test) != 9; waited++)
		KUNIT_ASSERT_LT(test, waited, 1000);
	KUNIT_EXPECT_GT(test, waited, 100);
	/* What it sends now is charged to others that were opened, a third of it. */
	newcomers = q->level.newcomers;
	add(test, data(9, 1000), 9);
	opened = q->level.opened;
	for (i = 0; i < 20; i++)
		add(test, data(9, 999), 9);
	KUNIT_EXPECT_EQ(test, q->level.newcomers, newcomers);
	KUNIT_EXPECT_EQ(test, q->level.opened, opened + 20 * 333);
	KUNIT_EXPECT_LE(test, known(q, 9)->account.sum, q->level.current_sum - LASACK_CREDIT);
	for (waited = 0; serve(test) != 9; waited++)
		KUNIT_ASSERT_LT(test, waited, 2);
}

/* What is pushed out is not charged: neither to other newcomers nor to others that were opened. */
static void expect_losses_are_free(struct kunit *test, u32 id, const u64 *common)
{
	u64 was = *common;
	u32 i;

	for (i = 0; i < 10; i++)
		add(test, data(id, 999), id);
	KUNIT_EXPECT_GE(test, *common, was + 10 * 333);
	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_EQ(test, push_out(test), id);
	KUNIT_EXPECT_EQ(test, *common, was);
}

static void service_losses_are_free(struct kunit *test)
{
	struct lasack_queue *q = lasack_test_reshape(test, (struct lasack_shape) {});
	struct tcp_segment syn = data(9, 0);

	syn.syn = 1;
	add(test, syn, 9);
	serve(test);
	add(test, data(9, 999), 9);
	expect_losses_are_free(test, 9, &q->level.opened);
	KUNIT_EXPECT_EQ(test, serve(test), 9);
	add(test, data(5, 999), 5);
	expect_losses_are_free(test, 5, &q->level.newcomers);
}

static struct kunit_case lasack_service_cases[] = {
	KUNIT_CASE(service_alternates_without_quantum),
	KUNIT_CASE(service_in_runs),
	KUNIT_CASE(service_run_ends_with_its_packets),
	KUNIT_CASE(service_run_is_of_whole_packets),
	KUNIT_CASE(service_run_has_all_flows_of_a_station),
	KUNIT_CASE(service_of_control_is_no_stations),
	KUNIT_CASE(service_of_none_is_pushed_out),
	KUNIT_CASE(service_run_takes_newcomers),
	KUNIT_CASE(service_control_waits_for_nobody),
	KUNIT_CASE(service_runs_keep_sums_together),
	KUNIT_CASE(service_of_an_ack_includes_pushed_out_ones),
	KUNIT_CASE(service_of_a_forged_ack_is_bounded),
	KUNIT_CASE(service_delay_by_size),
	KUNIT_CASE(service_connections_are_no_newcomers),
	KUNIT_CASE(service_losses_are_free),
	{}
};

static struct kunit_suite lasack_service_suite = {
	.name		= "lasack_service",
	.init		= service_test_init,
	.exit		= lasack_test_exit,
	.test_cases	= lasack_service_cases,
};

kunit_test_suite(lasack_service_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of the order of service of LAS-ACK");
