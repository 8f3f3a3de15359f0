// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of calls: what a station asks for meanwhile does not come before them.
 *
 * Principle: a station calls, and asks for short transfers, one after another. How long a packet
 * of the call may wait follows from the rate of the link and the call's own. Who counts as a call
 * is seen where a transfer waits and a datagram comes: the datagram's sum becomes less, or not.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include "lasack/tests/lasack_datagrams.h"

#define CALL	3			/* the mark of a call */
#define FIRST	10			/* of the first of many transfers */
#define PACKET	1000U

/* Ten packets of transfer @id, which has none. */
static void add_ten(struct kunit *test, u32 id)
{
	u32 i;

	for (i = 0; i < 10; i++)
		add_to(test, 1, data(1000 + id, 1000), FIRST + id);
}

struct call_case {
	u32	rate;		/* that the link takes, bytes/s */
	u32	transfers;	/* of 40 kB, which come ten packets at a time */
	u32	active;		/* so many at a time */
	u32	packets;	/* of the call at a time, */
	u32	payload;	/* bytes each, */
	u32	each_us;	/* so often */
	u32	key_packets;	/* of every 150th frame, if not as many as of others */
	bool	late;		/* it begins a second after the transfers, not 20 s before */
	bool	download;	/* there is an old one, too */
	u32	halflife_s;	/* or 0. The call has had 200 MB then. */
	bool	early;		/* the transfers began before, with a packet each */
};

#define AUDIO	.packets = 1, .payload = 172, .each_us = 20000
#define VIDEO	.packets = 5, .payload = 1000, .each_us = 33333

/* The begin of a call and transfers: the old download, and what begins early. */
static void begin_call(struct kunit *test, struct call_case c, u8 *left)
{
	struct lasack_queue *q;
	u32 i;

	begin_hearing(test);
	hear_anything(test);
	q = test->priv;
	q->overhead = 640;
	if (c.halflife_s) {
		lasack_queue_set_halflife(q, c.halflife_s * NSEC_PER_SEC);
		for (i = 0; i < 12500; i++) {
			comes_in(test, datagram(17, 15000));
			add_to(test, 1, datagram(17, 1000), CALL);
			serve(test);
		}
	}
	for (i = 0; c.download && i < 2; i++)
		add_to(test, 1, data(1, 1000), 1);
	for (i = 0; i < c.transfers; i++) {
		left[i] = 40;
		if (!c.early)
			continue;
		ask(test, 1000 + i);
		add_to(test, 1, data(1000 + i, 1000), FIRST + i);
		left[i]++;
	}
}

#define CALL_QUEUE	16384		/* packets of a call that may wait */
#define KEY_FRAMES	150		/* one of so many frames is one: every five seconds */

/* A station calls, and transfers come. Return: how long a packet of the call waits, ms. */
static u32 call_waits_ms(struct kunit *test, struct call_case c)
{
	const u64 each = c.each_us * NSEC_PER_USEC, begin = 20ULL * NSEC_PER_SEC;
	u64 now = 0, longest = 0, next = c.late ? begin + NSEC_PER_SEC : 0;
	u64 *came = kunit_kcalloc(test, CALL_QUEUE, sizeof(u64), GFP_KERNEL);
	u8 *left = kunit_kzalloc(test, c.transfers, GFP_KERNEL);
	u32 id = 0, active = 0, frames = 0, said = 0, heard = 0, packets, mark;

	KUNIT_ASSERT_NOT_NULL(test, came);
	KUNIT_ASSERT_NOT_NULL(test, left);
	begin_call(test, c, left);
	while (id < c.transfers || active) {
		for (; now >= next; next += each) {
			packets = ++frames % KEY_FRAMES ? c.packets : max(c.packets, c.key_packets);
			for (; packets; packets--) {
				if (packets <= c.packets)
					comes_in(test, datagram(17, c.payload));
				add_to(test, 1, datagram(17, c.payload), CALL);
				came[said++ % CALL_QUEUE] = next;
			}
		}
		for (; now >= begin && id < c.transfers && active < c.active; active++, id++) {
			if (!c.early)
				ask(test, 1000 + id);
			add_ten(test, id);
		}
		mark = serve(test);
		if (mark)
			now += div_u64(((mark == CALL ? c.payload : 1000) + 100) * NSEC_PER_SEC,
				       c.rate);
		else
			now = now < begin ? min(begin, next) : next;
		lasack_queue_advance(test->priv, now);
		if (mark == CALL && came[heard++ % CALL_QUEUE] >= begin)
			longest = max(longest, now - came[(heard - 1) % CALL_QUEUE]);
		if (mark == 1)
			add_to(test, 1, data(1, 1000), 1);
		if (mark < FIRST || --left[mark - FIRST] % 10 || now < begin)
			continue;
		if (left[mark - FIRST])
			add_ten(test, mark - FIRST);
		else
			active--;
	}
	/* The first that still waits has waited as long, at least. */
	if (heard < said)
		longest = max(longest, now - came[heard % CALL_QUEUE]);
	return div_u64(longest, NSEC_PER_MSEC);
}

/*
 * A transfer that begins may come before a packet of the call that waits, until the call's next
 * one: 20 ms. A packet of 1100 bytes is under way, 2.2 ms at 500 kB/s or 0.4 at five times that.
 */
static void expect_no_delay_of_a_call(struct kunit *test, u32 active, bool early)
{
	struct call_case slow = { AUDIO, .rate = 500000, .transfers = 500, .active = active };
	struct call_case fast = { AUDIO, .rate = 2500000, .transfers = 700, .active = active };

	slow.early = early;
	fast.early = early;
	KUNIT_EXPECT_LE(test, call_waits_ms(test, slow), 22U);
	KUNIT_EXPECT_LE(test, call_waits_ms(test, fast), 20U);
	slow.download = true;
	fast.download = true;
	KUNIT_EXPECT_LE(test, call_waits_ms(test, slow), 22U);
	KUNIT_EXPECT_LE(test, call_waits_ms(test, fast), 20U);
}

static void transfers_do_not_delay_a_call(struct kunit *test)
{
	expect_no_delay_of_a_call(test, 10, false);
}

/* Nor do old questions, whose answers come all at once. */
static void old_questions_do_not_delay_a_call(struct kunit *test)
{
	expect_no_delay_of_a_call(test, 10, true);
}

static void many_transfers_do_not_delay_a_call(struct kunit *test)
{
	expect_no_delay_of_a_call(test, 30, false);
	expect_no_delay_of_a_call(test, 60, false);
}

/* A video call, of five packets a frame each 33 ms: five and one are 2.6 ms of 2.5 MB/s. */
static void transfers_do_not_delay_a_video_call(struct kunit *test)
{
	struct call_case c = { VIDEO, .rate = 2500000, .transfers = 500, .active = 10 };

	KUNIT_EXPECT_LE(test, call_waits_ms(test, c), 35U);
	c.active = 3;
	KUNIT_EXPECT_LE(test, call_waits_ms(test, c), 35U);
	c.active = 60;
	KUNIT_EXPECT_LE(test, call_waits_ms(test, c), 35U);
	c.active = 10;
	c.download = true;
	KUNIT_EXPECT_LE(test, call_waits_ms(test, c), 35U);
	/* Two packets a frame, 60 kB/s, are half of what calls may have at a fifth of the rate. */
	c.download = false;
	c.packets = 2;
	c.rate = 500000;
	KUNIT_EXPECT_LE(test, call_waits_ms(test, c), 33U + 7U);
}

/* Nor does a key frame of 80 packets, every five seconds, end that. It takes 35 ms itself. */
static void transfers_do_not_delay_key_frames(struct kunit *test)
{
	struct call_case c = { VIDEO, .rate = 2500000, .transfers = 700, .active = 10 };

	c.key_packets = 80;
	KUNIT_EXPECT_LE(test, call_waits_ms(test, c), 33U + 36U);
}

/* Nor does a half-life matter, though a byte of a large sum is less than what is rounded. */
static void transfers_do_not_delay_a_call_that_decays(struct kunit *test)
{
	struct call_case c = { VIDEO, .rate = 2500000, .transfers = 500, .active = 10 };

	c.halflife_s = 60;
	KUNIT_EXPECT_LE(test, call_waits_ms(test, c), 35U);
}

/* Nor does it matter if the call begins while they run. */
static void transfers_do_not_delay_a_later_call(struct kunit *test)
{
	struct call_case fast = { AUDIO, .rate = 2500000, .transfers = 500, .active = 10 };
	struct call_case slow = { AUDIO, .rate = 500000, .transfers = 500, .active = 10 };
	struct call_case video = { VIDEO, .rate = 2500000, .transfers = 500, .active = 10 };

	fast.late = true;
	slow.late = true;
	video.late = true;
	KUNIT_EXPECT_LE(test, call_waits_ms(test, fast), 20U);
	KUNIT_EXPECT_LE(test, call_waits_ms(test, slow), 22U);
	KUNIT_EXPECT_LE(test, call_waits_ms(test, video), 35U);
}

/* The station has had an old download, of so much that calls have all that they may have. */
static void begin_old(struct kunit *test)
{
	u32 i;

	begin_hearing(test);
	hear_anything(test);
	for (i = 0; i < 600; i++) {
		add_to(test, 1, data(1, PACKET), 1);
		KUNIT_EXPECT_EQ(test, serve(test), 1U);
	}
}

/* Flow @id of datagrams sends @packets one by one; its station sends @up bytes for each. */
static u64 sum_of_datagrams(struct kunit *test, u32 id, u32 packets, u32 up)
{
	struct tcp_segment seg = datagram(id, PACKET);

	while (packets--) {
		comes_in(test, datagram(id, up));
		add_to(test, 1, seg, CALL);
		KUNIT_EXPECT_EQ(test, serve(test), (u32)CALL);
	}
	return flow_of(test->priv, &seg)->account.sum;
}

/* Connection @id, which the station asked for, has a packet that waits. Return: its sum. */
static u64 sum_of_transfer(struct kunit *test, u32 id)
{
	ask(test, id);
	add_to(test, 1, data(id, PACKET), FIRST);
	return known(test->priv, id)->account.sum;
}

/* Transfer @id begins, then the datagram comes. Return: does it go ahead, with a lesser sum? */
static bool goes_ahead(struct kunit *test, struct tcp_segment seg, u32 id)
{
	const struct lasack_account *account = &flow_of(test->priv, &seg)->account;
	u64 transfer = sum_of_transfer(test, id), sum = account->sum;
	bool ahead;

	KUNIT_EXPECT_GT(test, sum, transfer);
	add_to(test, 1, seg, CALL);
	ahead = account->sum < transfer;
	KUNIT_EXPECT_TRUE(test, ahead || account->sum == sum);
	while (serve(test))
		;
	return ahead;
}

static void who_sends_and_gets_is_a_call(struct kunit *test)
{
	begin_old(test);
	sum_of_datagrams(test, 17, 20, 1000);
	KUNIT_EXPECT_TRUE(test, goes_ahead(test, datagram(17, PACKET), 2));
	/* One that begins with a page over QUIC, too. */
	sum_of_datagrams(test, 25, 2, 1200);
	sum_of_datagrams(test, 25, 38, 1000);
	KUNIT_EXPECT_TRUE(test, goes_ahead(test, datagram(25, PACKET), 3));
}

/* A client asks for a page over QUIC with two packets of 1200 bytes. It acknowledges what comes. */
static void a_page_is_no_call(struct kunit *test)
{
	begin_old(test);
	sum_of_datagrams(test, 17, 2, 1200);
	sum_of_datagrams(test, 17, 18, 40);
	KUNIT_EXPECT_FALSE(test, goes_ahead(test, datagram(17, PACKET), 2));
}

/* Nor is what nobody asked for, as long as nobody answers. */
static void what_nobody_asked_for_is_no_call(struct kunit *test)
{
	u32 i;

	begin_old(test);
	for (i = 0; i < 100; i++) {
		add_to(test, 1, datagram(17, PACKET), CALL);
		serve(test);
	}
	KUNIT_EXPECT_FALSE(test, goes_ahead(test, datagram(17, PACKET), 2));
	sum_of_datagrams(test, 17, 10, 1000);
	KUNIT_EXPECT_TRUE(test, goes_ahead(test, datagram(17, PACKET), 3));
}

static void a_ping_is_no_call(struct kunit *test)
{
	struct tcp_segment ping = datagram(17, PACKET);
	u32 i;

	begin_old(test);
	ping.key.protocol = IPPROTO_ICMP;
	for (i = 0; i < 40; i++) {
		comes_in(test, ping);
		add_to(test, 1, ping, CALL);
		serve(test);
	}
	KUNIT_EXPECT_FALSE(test, goes_ahead(test, ping, 2));
}

/* The station sends seventeen times what it gets. */
static void an_upload_is_no_call(struct kunit *test)
{
	begin_old(test);
	sum_of_datagrams(test, 17, 3, 17 * PACKET);
	KUNIT_EXPECT_FALSE(test, goes_ahead(test, datagram(17, PACKET), 2));
}

/* It has had a queue for five seconds. */
static void a_queue_is_no_call(struct kunit *test)
{
	begin_old(test);
	sum_of_datagrams(test, 17, 40, 1000);
	add_to(test, 1, datagram(17, PACKET), CALL);
	lasack_queue_advance(test->priv, 5ULL * NSEC_PER_SEC);
	KUNIT_EXPECT_FALSE(test, goes_ahead(test, datagram(17, PACKET), 2));
}

/*
 * A call always has packets, and so have transfers, of 20 each. At first it has 128 KiB, and then
 * one packet in four at most. If it has fallen behind, it pays twice, so it has one in eight at
 * least. Without a limit it would have all.
 */
static void calls_have_a_quarter(struct kunit *test)
{
	u32 i, k, mark, id = 0, waiting = 0, calls = 0;

	begin_old(test);
	sum_of_datagrams(test, 17, 60, 1000);
	add_to(test, 1, datagram(17, PACKET), CALL);
	for (i = 0; i < 3000; i++) {
		for (; waiting < 40; waiting += 20, id++) {
			ask(test, 100 + id % 500);
			for (k = 0; k < 20; k++)
				add_to(test, 1, data(100 + id % 500, PACKET), FIRST);
		}
		add_to(test, 1, datagram(17, PACKET), CALL);
		mark = serve(test);
		calls += mark == CALL;
		waiting -= mark == FIRST;
	}
	KUNIT_EXPECT_GE(test, calls, 3000U / 8);
	KUNIT_EXPECT_LE(test, calls, 3000U / 4 + LASACK_CALL_MOST / PACKET);
}

/* A flow that looks like a call has had as much as an old download. A page comes before both. */
static void a_page_comes_before_who_has_much(struct kunit *test)
{
	u64 old;

	begin_old(test);
	old = known(test->priv, 1)->account.sum;
	while (sum_of_datagrams(test, 17, 1, 1000) < old)
		;
	add_to(test, 1, data(1, PACKET), 1);
	add_to(test, 1, data(1, PACKET), 1);
	KUNIT_EXPECT_EQ(test, serve(test), 1U);
	/* It has 44 packets. */
	KUNIT_EXPECT_LE(test, sum_of_transfer(test, 2), old - 44 * PACKET);
}

/* What begins is not far below the one that had more, though the other was served last. */
static void transfers_come_before_none_of_two_calls(struct kunit *test)
{
	u64 more, less;

	begin_hearing(test);
	hear_anything(test);
	sum_of_datagrams(test, 25, 200, 1000);
	more = sum_of_datagrams(test, 17, 500, 1000);
	less = sum_of_datagrams(test, 25, 1, 1000);
	KUNIT_EXPECT_LT(test, less, more - LASACK_CREDIT);
	KUNIT_EXPECT_GE(test, sum_of_transfer(test, 1), more - LASACK_CREDIT);
	serve(test);
	/* All are silent for a second. */
	lasack_queue_advance(test->priv, 2ULL * NSEC_PER_SEC);
	KUNIT_EXPECT_LT(test, sum_of_transfer(test, 2), more - LASACK_CREDIT);
}

/*
 * An upload of datagrams has far more than an old download, so it has the floor only. If it were
 * taken for a call, what its station asks for would begin there, and not where the download is.
 */
static void transfers_come_before_the_floor(struct kunit *test)
{
	struct lasack_queue *q = begin_hearing_with(test, 25);
	struct tcp_segment call = datagram(17, 100), seg;
	u32 i, mark = 2, calls = 0;

	for (i = 0; i < 2; i++) {
		comes_in(test, datagram(17, 50000));
		add_to(test, 1, call, CALL);
		flow_of(q, &call)->account.sum += 10000000;
		lasack_queue_advance(q, NSEC_PER_SEC);
	}
	add_to(test, 1, data(1, PACKET), 1);
	for (i = 0; i < 400; i++) {
		seg = data(mark == 2 ? 100 + i : 1, PACKET);
		seg.fin = mark == 2;
		add_to(test, 1, seg, mark);
		for (mark = serve(test); mark == CALL; mark = serve(test))
			calls++;
	}
	KUNIT_EXPECT_EQ(test, calls, 2U);
	ask(test, 2);
	add_to(test, 1, data(2, PACKET), 2);
	KUNIT_EXPECT_LE(test, known(q, 2)->account.sum, known(q, 1)->account.sum + LASACK_CREDIT);
}

static int call_test_init(struct kunit *test)
{
	test->priv = NULL;
	begin_hearing(test);
	return 0;
}

/* In runs it comes not only before the transfer, by a byte, but before other stations. */
static void a_call_comes_before_its_stations_turn(struct kunit *test)
{
	struct tcp_segment seg = datagram(17, PACKET);
	const struct lasack_flow *flow;
	struct lasack_queue *q;

	begin_old(test);
	set_quantum(test, 30000);
	q = test->priv;
	sum_of_datagrams(test, 17, 20, 1000);
	flow = flow_of(q, &seg);
	add_to(test, 1, seg, CALL);		/* the station has nothing else */
	KUNIT_EXPECT_EQ(test, lasack_station_at(q, flow)->ahead, 30000U);
	serve(test);
	sum_of_transfer(test, 2);		/* nor when it has this, which may do so, too */
	lasack_station_at(q, flow)->ahead = 0;
	add_to(test, 1, seg, CALL);
	KUNIT_EXPECT_EQ(test, flow->account.sum, known(q, 2)->account.sum - 1);
	KUNIT_EXPECT_EQ(test, lasack_station_at(q, flow)->ahead, 30000U);
}

/* Who comes out of turn, alone, is not left behind by who comes later. */
static void a_call_alone_is_known(struct kunit *test)
{
	begin_old(test);
	set_quantum(test, 30000);
	sum_of_datagrams(test, 17, 3000, 1000);
	add_to(test, 2, data(2, PACKET), FIRST);
	KUNIT_EXPECT_GE(test, lasack_station_at(test->priv, known(test->priv, 2))->account.sum,
			3600ULL * PACKET - LASACK_LAG);
}

static struct kunit_case lasack_call_test_cases[] = {
	KUNIT_CASE(transfers_do_not_delay_a_call),
	KUNIT_CASE(old_questions_do_not_delay_a_call),
	KUNIT_CASE(many_transfers_do_not_delay_a_call),
	KUNIT_CASE(transfers_do_not_delay_a_video_call),
	KUNIT_CASE(transfers_do_not_delay_key_frames),
	KUNIT_CASE(transfers_do_not_delay_a_call_that_decays),
	KUNIT_CASE(transfers_do_not_delay_a_later_call),
	KUNIT_CASE(who_sends_and_gets_is_a_call),
	KUNIT_CASE(a_page_is_no_call),
	KUNIT_CASE(what_nobody_asked_for_is_no_call),
	KUNIT_CASE(a_ping_is_no_call),
	KUNIT_CASE(an_upload_is_no_call),
	KUNIT_CASE(a_queue_is_no_call),
	KUNIT_CASE(calls_have_a_quarter),
	KUNIT_CASE(a_page_comes_before_who_has_much),
	KUNIT_CASE(transfers_come_before_none_of_two_calls),
	KUNIT_CASE(transfers_come_before_the_floor),
	KUNIT_CASE(a_call_comes_before_its_stations_turn),
	KUNIT_CASE(a_call_alone_is_known),
	{}
};

static struct kunit_suite lasack_call_test_suite = {
	.name = "lasack_call",
	.init = call_test_init,
	.exit = lasack_test_exit,
	.test_cases = lasack_call_test_cases,
};

kunit_test_suite(lasack_call_test_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of calls beside what their station asks for");
