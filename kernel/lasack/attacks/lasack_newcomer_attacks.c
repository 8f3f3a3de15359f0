// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite: attacks on the lasack discipline of a device by connections that are always new,
 * and by what ACKs of connections that nobody has acknowledge.
 *
 * Principle: as in lasack_attacks.c. All new connections together are served as one, so a
 * download beside them has half of all services; and a new connection need not wait for longer
 * than LASACK_CREDIT bytes of each other one.
 *
 * selftests/qdisc/attacks.sh makes the device and loads this, after test_parameters.
 */
#include "lasack/attacks/attacked_link.h"

#define CREDIT	65535	/* bytes: LASACK_CREDIT */
#define TRUESIZE	3072	/* bytes: no packet here takes more memory */

/*
 * A connection that always has packets sends a FIN each @each services, and goes on. After two
 * thirds of these a SYN says that it is a new one. Return: how often of @services the download
 * was served.
 */
static u32 served_beside_a_new_life(struct kunit *test, struct packet p, u32 each, u32 services)
{
	u32 i, served[__MARKS] = {};

	for (i = 0; i < WARM_UP + services; i++) {
		keep_backlog(test, download(VICTIM, 1));
		p.fin = i % each == 0;
		if (p.fin)
			attack_enqueue(test, &p);
		p.fin = false;
		p.syn = i % each == each * 2 / 3;
		if (p.syn)
			attack_enqueue(test, &p);
		p.syn = false;
		keep_backlog(test, p);
		served[attack_serve(test)] += i >= WARM_UP;
	}
	return served[VICTIM];
}

/* It begins where new ones begin, not with nothing attained; all new ones are served as one. */
static void attack_syn_after_fin(struct kunit *test)
{
	struct packet p = download(ATTACKER, 10);
	struct attack *a = test->priv;

	attack_forget(test);
	a->station = 2;
	p.station = 2;
	/* It is one of those, and one itself. */
	KUNIT_EXPECT_GE(test, served_beside_a_new_life(test, p, 300, 3000) * 3, 3000U);
}

/*
 * Connections nobody has: each has two ACKs, the second 100 kB ahead. A new download beside an old
 * one then has as much, once as many packets were sent as wait at most.
 */
static void attack_forged_newcomers(struct kunit *test)
{
	u32 i, served[__MARKS] = {};
	struct packet ack, p;

	attack_forget(test);
	for (i = 0; i < WARM_UP + 4000; i++) {
		if (i == WARM_UP + 1000)
			memset(served, 0, sizeof(served));
		keep_backlog(test, download(VICTIM, 1));
		ack = (struct packet) {
			.mark = ATTACKER, .station = 3, .protocol = IPPROTO_TCP,
			.host = 100 + i, .sport = 5001, .dport = 6000,
		};
		attack_enqueue(test, &ack);
		ack.ack_seq = 100000;
		attack_enqueue(test, &ack);
		p = download(OTHER, 2);
		p.station = 2;
		if (i >= WARM_UP)
			keep_backlog(test, p);
		served[attack_serve(test)]++;
	}
	KUNIT_EXPECT_GE(test, served[OTHER] * 10, served[VICTIM] * 8);
}

/*
 * One ACK far ahead, 200 that acknowledge nothing, one that takes the first one back: what has
 * paid for the 200 is not given back. Beside short packets the download has a quarter.
 */
static void attack_spent_surplus(struct kunit *test)
{
	struct attack *a = test->priv;
	u32 i, j, served[__MARKS] = {};
	struct packet ack = {
		.mark = ATTACKER, .station = 2, .protocol = IPPROTO_TCP, .host = 9,
		.sport = 5001, .dport = 6000,
	};

	attack_forget(test);
	for (i = 0; i < WARM_UP + 6000; i++) {
		keep_backlog(test, download(VICTIM, 1));
		if (i >= 500 && a->queued[ATTACKER] < 2) {
			ack.ack_seq = 1000000;
			attack_enqueue(test, &ack);
			ack.ack_seq += 131072;
			for (j = 0; j < 201; j++)
				attack_enqueue(test, &ack);
			ack.ack_seq = 1000000;
			attack_enqueue(test, &ack);
		}
		served[attack_serve(test)] += i >= WARM_UP;
	}
	KUNIT_EXPECT_GE(test, served[VICTIM] * 4, 6000);
}

/* Datagrams of new ports, a few of each, in a queue that holds @limit packets: they are one. */
static void attack_new_ports_in(struct kunit *test, u32 limit, u32 each)
{
	u32 i, j, n = 0, served[__MARKS] = {};
	struct packet p = download(ATTACKER, 0);

	p.protocol = IPPROTO_UDP;
	attack_set_limit(test, limit);
	attack_forget(test);
	for (i = 0; i < 8000 + 10000; i++) {
		keep_backlog(test, download(VICTIM, 1));
		for (j = 0; j < 2; j++) {
			p.host = 1000 + n++ / each;
			attack_enqueue(test, &p);
		}
		served[attack_serve(test)] += i >= 8000;
	}
	attack_drain(test);
	KUNIT_EXPECT_GE_MSG(test, served[VICTIM] * 10, 10000 / 2 * 9, "limit %u, %u each",
			    limit, each);
}

static void attack_new_ports_in_long_queues(struct kunit *test)
{
	struct attack *a = test->priv;
	u32 was = a->sch->limit;

	attack_new_ports_in(test, 300, 1);
	attack_new_ports_in(test, 1000, 1);
	attack_new_ports_in(test, 1000, 43);
	attack_new_ports_in(test, 6000, 43);
	attack_set_limit(test, was);
}

/* Each twentieth service there are @acks of a connection that nobody has. */
static void forge_newcomer(struct kunit *test, u32 i, u32 acks)
{
	static const u32 numbers[] = { 0, 100000, 0 };
	struct packet ack = {
		.mark = ATTACKER, .station = 1, .protocol = IPPROTO_TCP,
		.host = 1000 + i, .sport = 5001, .dport = 6000,
	};
	u32 j;

	for (j = 0; i % 20 == 0 && j < acks; j++) {
		ack.ack_seq = numbers[j];
		attack_enqueue(test, &ack);
	}
}

/* A SYN of a connection that is new waits for no more services, and none is dropped. */
static void attack_a_syn_waits(struct kunit *test, u32 acks)
{
	u32 i, waited = 0, worst = 0, sent = 0, came = 0;
	struct attack *a = test->priv;
	struct packet syn;

	attack_forget(test);
	for (i = 0; i < WARM_UP + 30000; i++) {
		keep_backlog(test, download(VICTIM, 1));
		forge_newcomer(test, i, acks);
		if (i >= WARM_UP && !a->queued[PROBE] && i % 1000 == 0) {
			syn = download(PROBE, 500000 + i);
			syn.syn = true;
			syn.payload = 0;
			attack_enqueue(test, &syn);
			waited = 0;
			sent++;
		}
		came += attack_serve(test) == PROBE;
		worst = max(worst, a->queued[PROBE] ? ++waited : 0);
	}
	attack_drain(test);
	KUNIT_EXPECT_EQ_MSG(test, sent, 30U, "%u ACKs", acks);
	KUNIT_EXPECT_EQ_MSG(test, came, sent, "%u ACKs", acks);
	/* The download's, and as many of the forged ones, which are one and have short packets. */
	KUNIT_EXPECT_LE_MSG(test, worst, 2 * CREDIT / MSS, "%u ACKs", acks);
}

static void attack_newcomers_wait(struct kunit *test)
{
	attack_a_syn_waits(test, 0);
	attack_a_syn_waits(test, 2);
	attack_a_syn_waits(test, 3);
}

/*
 * Each twentieth service there is the SYN of a connection that nobody has, and @data packets of
 * the one whose SYN came 1000 services ago. Once the connections that were opened have caught up,
 * they have three shares. New ones have one, and so has the download.
 */
static void attack_after_a_handshake(struct kunit *test, u32 data)
{
	struct packet syn, p = download(ATTACKER, 0);
	u32 i, j, served[__MARKS] = {};

	attack_forget(test);
	for (i = 0; i < WARM_UP + 10000; i++) {
		keep_backlog(test, download(VICTIM, 1));
		if (i % 20 == 0) {
			syn = download(ATTACKER, 1000 + i);
			syn.syn = true;
			syn.payload = 0;
			attack_enqueue(test, &syn);
			p.host = i;
			for (j = 0; i >= 1000 && j < data; j++)
				attack_enqueue(test, &p);
		}
		served[attack_serve(test)] += i >= WARM_UP + 4000;
	}
	attack_drain(test);
	KUNIT_EXPECT_GE_MSG(test, served[VICTIM] * 5, 6000, "%u packets each", data);
}

static void attack_handshakes_of_nobody(struct kunit *test)
{
	attack_after_a_handshake(test, 10);
	attack_after_a_handshake(test, 15);
	attack_after_a_handshake(test, 19);
	attack_after_a_handshake(test, 30);
	attack_after_a_handshake(test, 60);
}

/*
 * ACKs that climb by @step each, and one that takes all of them back: what they cost, which were
 * sent, is not given back. The download has as much as beside ACKs that acknowledge nothing.
 */
static u32 served_beside_climbing(struct kunit *test, u32 station, u32 step, u32 acks)
{
	struct attack *a = test->priv;
	u32 i, j, served[__MARKS] = {};
	struct packet ack = {
		.mark = ATTACKER, .station = station, .protocol = IPPROTO_TCP, .host = 9,
		.sport = 5001, .dport = 6000,
	};

	attack_forget(test);
	for (i = 0; i < WARM_UP + 6000; i++) {
		keep_backlog(test, download(VICTIM, 1));
		if (i >= 500 && a->queued[ATTACKER] < 2) {
			ack.ack_seq = 1000000;
			if (i == 500)
				attack_enqueue(test, &ack);
			for (j = 0; j < acks; j++) {
				ack.ack_seq += step;
				attack_enqueue(test, &ack);
			}
			ack.ack_seq = 1000000;
			attack_enqueue(test, &ack);
		}
		served[attack_serve(test)] += i >= WARM_UP;
	}
	attack_drain(test);
	return served[VICTIM];
}

static void attack_climbing_acks(struct kunit *test)
{
	u32 station, none;

	for (station = 1; station <= 2; station++) {
		none = served_beside_climbing(test, station, 0, 104);
		KUNIT_EXPECT_GE(test, none * 4, 6000);
		KUNIT_EXPECT_GE(test, served_beside_climbing(test, station, 640, 104) * 10,
				none * 9);
		KUNIT_EXPECT_GE(test, served_beside_climbing(test, station, 2896, 40) * 10,
				none * 9);
		KUNIT_EXPECT_GE(test, served_beside_climbing(test, station, 8192, 16) * 10,
				none * 9);
	}
}

/* A connection that was opened begins again and again while it has packets: it is one. */
static void attack_opened_again(struct kunit *test)
{
	struct packet p = download(ATTACKER, 10);
	struct attack *a = test->priv;
	u32 i;

	attack_forget(test);
	for (i = 0; i < WARM_UP; i++) {
		keep_backlog(test, download(VICTIM, 1));
		attack_serve(test);
	}
	p.syn = true;
	attack_enqueue(test, &p);
	while (a->queued[ATTACKER]) {
		keep_backlog(test, download(VICTIM, 1));
		attack_serve(test);
	}
	p.syn = false;
	KUNIT_EXPECT_GE(test, served_beside_a_new_life(test, p, 40, 6000) * 3, 6000U);
}

/*
 * @flows new ones begin at once and always have two packets. A SYN begins no further above the old
 * download than one credit, and what waits.
 */
static void a_syn_beside_begun(struct kunit *test, u32 flows)
{
	struct packet p = download(ATTACKER, 0), syn = download(PROBE, 500000);
	struct attack *a = test->priv;
	u32 i, next = 0, served[__MARKS] = {};

	p.protocol = IPPROTO_UDP;
	syn.syn = true;
	syn.payload = 0;
	attack_forget(test);
	for (i = 0; i < WARM_UP + flows * 50 || !served[PROBE]; i++) {
		keep_backlog(test, download(VICTIM, 1));
		while (i >= WARM_UP && a->queued[ATTACKER] < 2 * flows) {
			p.host = 1000 + next++ % flows;
			attack_enqueue(test, &p);
		}
		if (i == WARM_UP + flows * 50) {
			memset(served, 0, sizeof(served));
			attack_enqueue(test, &syn);
		}
		served[attack_serve(test)]++;
		if (i > WARM_UP + flows * 50 + 100000)
			break;
	}
	attack_drain(test);
	KUNIT_EXPECT_LE_MSG(test, served[VICTIM] * MSS, CREDIT + 2 * flows * TRUESIZE,
			    "%u flows", flows);
}

static void attack_many_begin(struct kunit *test)
{
	a_syn_beside_begun(test, 2);
	a_syn_beside_begun(test, 20);
	a_syn_beside_begun(test, 60);
}

/* A hundred connections are opened with a packet each; then all send: they have 3 MiB first. */
static void attack_opened_in_store(struct kunit *test)
{
	u32 i, j, next = 0, before = 0, served[__MARKS] = {};
	struct packet p = download(ATTACKER, 0);
	struct attack *a = test->priv;

	attack_forget(test);
	for (i = 0; i < WARM_UP + 200 || (!served[VICTIM] && before < 20000); i++) {
		keep_backlog(test, download(VICTIM, 1));
		p.syn = i < 100;
		p.payload = i < WARM_UP + 200 ? 0 : MSS;
		p.host = 1000 + (i < WARM_UP ? i : next++ % 100);
		if (i < 100 || (i >= WARM_UP && i < WARM_UP + 100))
			attack_enqueue(test, &p);
		for (j = 0; i >= WARM_UP + 200 && j < 2 && a->queued[ATTACKER] < 600; j++) {
			p.host = 1000 + next++ % 100;
			attack_enqueue(test, &p);
		}
		if (i == WARM_UP + 200)
			memset(served, 0, sizeof(served));
		served[attack_serve(test)]++;
		before += i >= WARM_UP + 200 && !served[VICTIM];
	}
	attack_drain(test);
	/* What waits when they have caught up comes as well. */
	KUNIT_EXPECT_LE(test, before, 3 * (1024 << 10) / MSS + 600);
}

static struct kunit_case lasack_newcomer_cases[] = {
	KUNIT_CASE(attack_syn_after_fin),
	KUNIT_CASE(attack_forged_newcomers),
	KUNIT_CASE(attack_spent_surplus),
	KUNIT_CASE(attack_new_ports_in_long_queues),
	KUNIT_CASE(attack_newcomers_wait),
	KUNIT_CASE(attack_handshakes_of_nobody),
	KUNIT_CASE(attack_climbing_acks),
	KUNIT_CASE(attack_opened_again),
	KUNIT_CASE(attack_many_begin),
	KUNIT_CASE(attack_opened_in_store),
	{}
};

static struct kunit_suite lasack_newcomer_suite = {
	.name		= "lasack_newcomer_attacks",
	.init		= attack_init,
	.exit		= attack_exit,
	.test_cases	= lasack_newcomer_cases,
};

kunit_test_suite(lasack_newcomer_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of newcomers' attacks on a device's lasack discipline");
