// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of what stations ask for.
 *
 * Principle: the SYN of a connection that the station begins is a question, and so is a datagram.
 * The answers have more of the station's service than what nobody asked for, and do not wait for
 * it. But a call does not wait for them, nobody asks in another's name, and one question has one
 * answer.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include "lasack/tests/lasack_datagrams.h"

#define SHORT	2			/* the mark of short transfers */
#define CALL	3			/* of a call */
#define FIRST	10			/* of the first of many transfers */

/* Connection @id begins; if @asked, its station sent a SYN. Then it has @packets that wait. */
static void begin_transfer(struct kunit *test, u32 id, bool asked, u32 packets)
{
	struct tcp_segment syn = data(id, 0);

	if (asked)
		ask(test, id);
	syn.syn = 1;
	syn.ack = 1;
	add_to(test, 1, syn, SHORT);
	while (packets--)
		add_to(test, 1, data(id, 1000), SHORT);
}

/*
 * One old download of a station always has data, and so have its short transfers, of 20 kB each.
 * First come the 24 MiB that may come at once, with a SYN-ACK for each 20 packets. Return: in 3000
 * services, those of the short ones.
 */
static u32 served_short(struct kunit *test, bool asked)
{
	const u32 first = (LASACK_SOLICITED_SHARES + 1) * (LASACK_LAG / 1000) * 21 / 20;
	u32 i, id = 0, mark, waiting = 0, served = 0;

	begin_hearing(test);
	hear_anything(test);
	for (i = 0; i < 2000; i++) {
		add_to(test, 1, data(1, 1000), 1);
		KUNIT_ASSERT_EQ(test, serve(test), 1U);
	}
	for (i = 0; i < 2; i++)
		add_to(test, 1, data(1, 1000), 1);
	for (i = 0; i < first + 3000; i++) {
		for (; waiting < 40; waiting += 21)
			begin_transfer(test, 10 + id++ % 900, asked, 20);
		mark = serve(test);
		if (mark == 1)
			add_to(test, 1, data(1, 1000), 1);
		waiting -= mark == SHORT;
		served += mark == SHORT && i >= first;
	}
	return served;
}

/*
 * Shares are 24 to 1, or 1 to 1. A SYN-ACK costs nothing here, but is served too: beside a packet
 * of the download there are 25.2 of others, 2885 of 3000; or 1.05, 1537 of 3000.
 */
static void questions_are_answered_first(struct kunit *test)
{
	u32 asked = served_short(test, true), unasked = served_short(test, false);

	KUNIT_EXPECT_GE(test, asked, 2880U);
	KUNIT_EXPECT_LE(test, asked, 2890U);
	KUNIT_EXPECT_LE(test, unasked, 1545U);
}

/* While a thousand connections that nobody asked for wait, one that is asked for does not. */
static void questions_do_not_wait_for_a_flood(struct kunit *test)
{
	u32 i;

	begin_hearing(test);
	hear_anything(test);
	for (i = 0; i < 300; i++) {
		add_to(test, 1, data(1, 1000), 1);
		add_to(test, 1, data(1, 1000), 1);
		serve(test);
	}
	for (i = 10; i < 1000; i++)
		begin_transfer(test, i, false, 3);
	ask(test, 5);
	add_to(test, 1, data(5, 1000), 5);
	/* Only the first of them began as low. */
	for (i = 0; serve(test) != 5; i++)
		;
	KUNIT_EXPECT_LE(test, i, 4U);
}

/* The begin of flow @id is heard from @station. Return: whether its next packet is an answer. */
static bool is_answer(struct kunit *test, u32 id, struct tcp_segment heard, u64 station, u32 age)
{
	struct lasack_queue *q = test->priv;

	hear(test, heard, station);
	lasack_observer_of_flow(q->observer, &heard.key, station)->heard -= age;
	add_to(test, 1, data(id, 1000), id);
	return known(q, id)->solicited;
}

/* So many connections are heard that each counter is fresh. They are no others' questions. */
static void questions_of_others(struct kunit *test)
{
	struct tcp_segment syn = data(9, 0);
	u32 i;

	begin_hearing(test);
	syn.syn = 1;
	for (i = 0; i < 1 << 16; i++) {
		syn.key.port[1] = cpu_to_be16(1000);
		syn.key.port[0] = cpu_to_be16(i);
		hear(test, syn, OTHER);
	}
	for (i = 1; i < 500; i++) {
		add_to(test, 1, data(i, 1000), i);
		KUNIT_EXPECT_FALSE(test, known(test->priv, i)->solicited);
	}
}

/* Datagrams that come in are a question, those that only go out are not. */
static void datagrams_ask(struct kunit *test)
{
	struct tcp_segment asked = datagram(9, 500), unasked = datagram(17, 500);
	struct tcp_segment ping = datagram(25, 500);

	begin_hearing(test);
	comes_in(test, asked);
	add_to(test, 1, asked, 9);
	add_to(test, 1, unasked, 17);
	ping.key.protocol = IPPROTO_ICMP;
	comes_in(test, ping);
	add_to(test, 1, ping, 25);
	KUNIT_EXPECT_FALSE(test, lasack_queue_flow(test->priv, &ping)->solicited);
	KUNIT_EXPECT_TRUE(test, lasack_queue_flow(test->priv, &asked)->solicited);
	KUNIT_EXPECT_FALSE(test, lasack_queue_flow(test->priv, &unasked)->solicited);
}

/*
 * A station's address is chosen so that it differs from another's in high bits only: its SYNs are
 * not the other's. (With the address outside of the keyed hash, one in 30 was.)
 */
static void questions_in_anothers_name(struct kunit *test)
{
	struct tcp_segment syn;
	u32 i;

	begin_hearing(test);
	hear_anything(test);
	for (i = 1; i <= 500; i++) {
		syn = data(i, 0);
		syn.syn = 1;
		hear(test, syn, STATION ^ (0x48c9ULL << 32));
		add_to(test, 1, data(i, 1000), i);
		KUNIT_EXPECT_FALSE(test, known(test->priv, i)->solicited);
	}
}

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

/*
 * A station calls, and the transfers come. Return: for how long a packet of the call waits at most
 * while they are there, ms.
 */
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
 * A call costs 812 bytes each 20 ms, 40 kB/s. Each of eleven flows, or twelve with a download, has
 * as much at 500 kB/s. So the call waits for no more than a few packets of each: three of twelve
 * are 80 ms, or 16 ms at five times the rate.
 */
static void expect_no_delay_of_a_call(struct kunit *test, bool early)
{
	struct call_case slow = { AUDIO, .rate = 500000, .transfers = 500, .active = 10 };
	struct call_case fast = { AUDIO, .rate = 2500000, .transfers = 700, .active = 10 };

	slow.early = early;
	fast.early = early;
	KUNIT_EXPECT_LE(test, call_waits_ms(test, slow), 80U);
	KUNIT_EXPECT_LE(test, call_waits_ms(test, fast), 16U);
	slow.download = true;
	fast.download = true;
	KUNIT_EXPECT_LE(test, call_waits_ms(test, slow), 80U);
	KUNIT_EXPECT_LE(test, call_waits_ms(test, fast), 16U);
}

static void questions_do_not_delay_a_call(struct kunit *test)
{
	expect_no_delay_of_a_call(test, false);
}

/* Nor do old questions, whose answers come all at once. */
static void old_questions_do_not_delay_a_call(struct kunit *test)
{
	expect_no_delay_of_a_call(test, true);
}

/*
 * Nor many at a time. All transfers together have three shares. A packet of the call and three of
 * theirs are 3572 bytes, 7.1 ms of 500 kB/s. The call waits for no more than three such rounds.
 */
static void many_questions_do_not_delay_a_call(struct kunit *test)
{
	struct call_case c = { AUDIO, .rate = 500000, .transfers = 500, .active = 30 };

	KUNIT_EXPECT_LE(test, call_waits_ms(test, c), 22U);
	c.rate = 2500000;
	c.active = 60;
	KUNIT_EXPECT_LE(test, call_waits_ms(test, c), 5U);
}

/*
 * Nor a video call, of five packets a frame: with those of three shares they take 20 times 1100
 * bytes, 9 ms of 2.5 MB/s. Nor with a download, which has one more.
 */
static void questions_do_not_delay_a_video_call(struct kunit *test)
{
	struct call_case c = { VIDEO, .rate = 2500000, .transfers = 500, .active = 10 };

	KUNIT_EXPECT_LE(test, call_waits_ms(test, c), 9U);
	c.active = 3;
	KUNIT_EXPECT_LE(test, call_waits_ms(test, c), 9U);
	c.download = true;
	KUNIT_EXPECT_LE(test, call_waits_ms(test, c), 11U);
}

/*
 * Nor does a key frame of 80 packets to the station, every five seconds, end that. With those of
 * three shares they are 320 times 1100 bytes, 141 ms of 2.5 MB/s.
 */
static void questions_do_not_delay_key_frames(struct kunit *test)
{
	struct call_case c = { VIDEO, .rate = 2500000, .transfers = 700, .active = 10 };

	c.key_packets = 80;
	KUNIT_EXPECT_LE(test, call_waits_ms(test, c), 141U);
}

/*
 * A call that begins while they run waits for those that wait already: ten times ten packets, 44
 * ms of 2.5 MB/s, or 220 ms of 500 kB/s. A packet is under way, too.
 */
static void questions_do_not_delay_a_later_call(struct kunit *test)
{
	struct call_case fast = { AUDIO, .rate = 2500000, .transfers = 500, .active = 10 };
	struct call_case slow = { AUDIO, .rate = 500000, .transfers = 500, .active = 10 };
	struct call_case video = { VIDEO, .rate = 2500000, .transfers = 500, .active = 10 };

	fast.late = true;
	slow.late = true;
	video.late = true;
	KUNIT_EXPECT_LE(test, call_waits_ms(test, fast), 45U);
	KUNIT_EXPECT_LE(test, call_waits_ms(test, slow), 223U);
	/* A frame of five shares what waits already with ten others. */
	KUNIT_EXPECT_LE(test, call_waits_ms(test, video), 45U + 9U);
}

/* Flow @id of datagrams sends @packets one by one; its station sends @up bytes for each. */
static u64 sum_of_datagrams(struct kunit *test, u32 id, u32 packets, u32 up)
{
	struct tcp_segment seg = datagram(id, 1000);

	while (packets--) {
		comes_in(test, datagram(id, up));
		add_to(test, 1, seg, CALL);
		KUNIT_EXPECT_EQ(test, serve(test), (u32)CALL);
	}
	return lasack_queue_flow(test->priv, &seg)->account.sum;
}

/* Connection @id begins now. Return: its sum. */
static u64 sum_of_question(struct kunit *test, u32 id)
{
	ask(test, id);
	add_to(test, 1, data(id, 1000), FIRST);
	KUNIT_EXPECT_EQ(test, serve(test), (u32)FIRST);
	return known(test->priv, id)->account.sum - 1000;
}

/* The one that had less was served last, but a question does not come before the other either. */
static void questions_come_before_none_of_two_calls(struct kunit *test)
{
	u64 more, less;

	begin_hearing(test);
	hear_anything(test);
	sum_of_datagrams(test, 25, 200, 1000);
	more = sum_of_datagrams(test, 17, 500, 1000);
	less = sum_of_datagrams(test, 25, 1, 1000);
	KUNIT_EXPECT_LT(test, less, more);
	KUNIT_EXPECT_GE(test, sum_of_question(test, 1), more);
	/* A third call does not wait for them. */
	KUNIT_EXPECT_LT(test, sum_of_datagrams(test, 33, 1, 1000), more);
	/* All are silent for a second. */
	lasack_queue_advance(test->priv, 2ULL * NSEC_PER_SEC);
	KUNIT_EXPECT_LT(test, sum_of_question(test, 2), more);
}

/* A client asks for a page over QUIC with two packets of 1200 bytes. It acknowledges what comes. */
static u64 sum_of_page(struct kunit *test, u32 id)
{
	sum_of_datagrams(test, id, 2, 1200);
	return sum_of_datagrams(test, id, 18, 40);
}

/* A page over QUIC is no call. If its station sends as much as it gets, a flow may be one. */
static void questions_come_before_a_page(struct kunit *test)
{
	u64 page;

	begin_hearing(test);
	hear_anything(test);
	page = sum_of_page(test, 17);
	KUNIT_EXPECT_LT(test, sum_of_question(test, 1), page);
	page = sum_of_datagrams(test, 25, 20, 1000);
	KUNIT_EXPECT_GE(test, sum_of_question(test, 2), page);
}

/* Nor is what nobody asked for and nobody answers, nor a ping. */
static void questions_come_before_what_nobody_asked_for(struct kunit *test)
{
	struct tcp_segment unasked = datagram(17, 1000), ping = datagram(25, 1000);
	u32 i;

	begin_hearing(test);
	hear_anything(test);
	ping.key.protocol = IPPROTO_ICMP;
	for (i = 0; i < 100; i++) {
		add_to(test, 1, unasked, CALL);
		serve(test);
	}
	KUNIT_EXPECT_LT(test, sum_of_question(test, 1),
			lasack_queue_flow(test->priv, &unasked)->account.sum);
	for (i = 0; i < 100; i++) {
		comes_in(test, ping);
		add_to(test, 1, ping, CALL);
		serve(test);
	}
	KUNIT_EXPECT_LT(test, sum_of_question(test, 2),
			lasack_queue_flow(test->priv, &ping)->account.sum);
}

static void questions_only(struct kunit *test)
{
	struct tcp_segment syn[6];
	u32 i;

	begin_hearing(test);
	for (i = 1; i < ARRAY_SIZE(syn); i++) {
		syn[i] = data(i, 0);
		syn[i].syn = 1;
	}
	syn[2].ack = 1;
	KUNIT_EXPECT_TRUE(test, is_answer(test, 1, syn[1], STATION, 0));
	KUNIT_EXPECT_FALSE(test, is_answer(test, 2, syn[2], STATION, 0));
	KUNIT_EXPECT_FALSE(test, is_answer(test, 3, syn[3], OTHER, 0));
	KUNIT_EXPECT_TRUE(test, is_answer(test, 4, syn[4], STATION, 3 * HZ));
	KUNIT_EXPECT_FALSE(test, is_answer(test, 5, syn[5], STATION, 4 * HZ));
	KUNIT_EXPECT_FALSE(test, is_answer(test, 6, data(6, 1), STATION, 0));
	KUNIT_EXPECT_FALSE(test, is_answer(test, 7, ack(7, 1), STATION, 0));
}

static struct kunit_case lasack_question_test_cases[] = {
	KUNIT_CASE(questions_are_answered_first),
	KUNIT_CASE(questions_do_not_wait_for_a_flood),
	KUNIT_CASE(questions_of_others),
	KUNIT_CASE(datagrams_ask),
	KUNIT_CASE(questions_in_anothers_name),
	KUNIT_CASE(questions_do_not_delay_a_call),
	KUNIT_CASE(old_questions_do_not_delay_a_call),
	KUNIT_CASE(many_questions_do_not_delay_a_call),
	KUNIT_CASE(questions_do_not_delay_a_video_call),
	KUNIT_CASE(questions_do_not_delay_key_frames),
	KUNIT_CASE(questions_do_not_delay_a_later_call),
	KUNIT_CASE(questions_come_before_none_of_two_calls),
	KUNIT_CASE(questions_come_before_a_page),
	KUNIT_CASE(questions_come_before_what_nobody_asked_for),
	KUNIT_CASE(questions_only),
	{}
};

static struct kunit_suite lasack_question_test_suite = {
	.name = "lasack_question",
	.init = observe_test_init,
	.exit = observe_test_exit,
	.test_cases = lasack_question_test_cases,
};

kunit_test_suite(lasack_question_test_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of what stations ask of LAS-ACK");
