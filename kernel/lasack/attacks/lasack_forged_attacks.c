// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite: ACKs forged in the name of a connection that somebody has, and what else an
 * attacker does with numbers that nobody checks.
 *
 * Principle: forged ACKs are compared with as many duplicate ACKs of the same connection. Those
 * cost what an ACK costs; forged ones must not cost the victim a tenth of its service more. Ten a
 * second at the rate of the link are one in 43 services.
 *
 * selftests/qdisc/attacks.sh makes the device and loads this, after test_parameters.
 */
#include "lasack/attacks/attacked_link.h"

#define SERVICES	6000
#define CREDIT		65535	/* bytes: LASACK_CREDIT */
#define FAR		BIT(30)

enum lie { DUPLICATE, CLIMB, CAPTURE, BACK, BACK_PAIRS, __LIES };

static const char * const lie_names[] = {
	"duplicates", "each 128 KiB ahead of the one before",
	"twenty far ahead, then each 128 KiB ahead of the one before",
	"the other way, each 128 KiB ahead of the one before",
	"the other way, two at once, 7 MiB ahead of those before",
};

static void lie(struct kunit *test, struct packet *ack, u32 ahead)
{
	ack->ack_seq += ahead;
	attack_enqueue(test, ack);
}

static void capture(struct kunit *test, struct packet *ack)
{
	u32 n;

	ack->ack_seq += FAR;
	for (n = 0; n < 20; n++)
		lie(test, ack, 1000);
}

/* Two equal downloads to two stations; one in @each services a forged ACK is of the first one. */
static u32 served_beside_lies(struct kunit *test, enum lie kind, u32 each)
{
	struct packet victim = download(VICTIM, 1), other = download(OTHER, 2), ack;
	u32 i, served[__MARKS] = {};

	victim.ack_seq = 1000000;
	other.station = 2;
	ack = victim;
	ack.mark = ATTACKER;
	ack.payload = 0;
	ack.back = kind >= BACK;
	attack_forget(test);
	for (i = 0; i < WARM_UP + SERVICES; i++) {
		keep_backlog(test, victim);
		keep_backlog(test, other);
		if (i == WARM_UP && kind == CAPTURE)
			capture(test, &ack);
		if (i >= WARM_UP && i % (kind == BACK_PAIRS ? 2 * each : each) == 0) {
			lie(test, &ack, kind == DUPLICATE ? 0 :
			    kind == BACK_PAIRS ? 7 << 20 : 128 << 10);
			if (kind == BACK_PAIRS)
				lie(test, &ack, 1000);
		}
		served[attack_serve(test)] += i >= WARM_UP;
	}
	attack_drain(test);
	return served[VICTIM];
}

static void lies_about_a_download(struct kunit *test)
{
	u32 each, kind, duplicates, served;

	for (each = 10; each <= 43; each += 33) {
		duplicates = served_beside_lies(test, DUPLICATE, each);
		KUNIT_EXPECT_GE(test, duplicates * 5, SERVICES * 2U);
		for (kind = CLIMB; kind < __LIES; kind++) {
			served = served_beside_lies(test, kind, each);
			KUNIT_EXPECT_GE_MSG(test, served * 10, duplicates * 9,
					    "one in %u: %s", each, lie_names[kind]);
		}
	}
}

static void attack_lies_about_a_download(struct kunit *test)
{
	struct attack *a = test->priv;

	lies_about_a_download(test);
	a->ipv6 = true;
	lies_about_a_download(test);
}

/* Twenty-four at once, each 8 KiB ahead, where the next real ACK is far away. */
static void attack_lies_in_bursts(struct kunit *test)
{
	struct packet victim = download(VICTIM, 1), other = download(OTHER, 2), ack;
	u32 i, n, served[__MARKS] = {};

	other.station = 2;
	ack = victim;
	ack.mark = ATTACKER;
	ack.payload = 0;
	attack_forget(test);
	for (i = 0; i < WARM_UP + SERVICES; i++) {
		keep_backlog(test, victim);
		keep_backlog(test, other);
		for (n = 0; i >= WARM_UP && i % 1000 == 0 && n < 24; n++)
			lie(test, &ack, 8192);
		served[attack_serve(test)] += i >= WARM_UP;
	}
	/* Half of all, but for 24 packets of 640 bytes each time. */
	KUNIT_EXPECT_GE(test, served[VICTIM] * 20, SERVICES * 9U);
}

/*
 * An upload beside a download; each ACK acknowledges @segments. Its server sends twenty ACKs of
 * numbers far away, and one more with each six real ones: what it acknowledges is charged all the
 * same.
 */
static void an_upload_hides(struct kunit *test, u32 segments)
{
	struct packet up = {
		.mark = ATTACKER, .station = 2, .protocol = IPPROTO_TCP, .host = 9,
		.sport = 5001, .dport = 6000, .ack_seq = 1000000,
	}, untrue = up;
	u32 i, real = 0, served[__MARKS] = {};
	struct attack *a = test->priv;

	untrue.mark = OTHER;
	attack_forget(test);
	for (i = 0; i < WARM_UP + SERVICES; i++) {
		keep_backlog(test, download(VICTIM, 1));
		if (i == WARM_UP / 2)
			capture(test, &untrue);
		while (a->queued[ATTACKER] < 8) {
			lie(test, &up, segments * MSS);
			if (++real % 6 == 0)
				attack_enqueue(test, &untrue);
		}
		served[attack_serve(test)] += i >= WARM_UP;
	}
	attack_drain(test);
	KUNIT_EXPECT_LE_MSG(test, served[ATTACKER] * segments * 10, served[VICTIM] * 11,
			    "%u segments an ACK", segments);
}

static void attack_hidden_upload(struct kunit *test)
{
	an_upload_hides(test, 2);
	an_upload_hides(test, 20);
	an_upload_hides(test, 44);
}

/*
 * DNS floods, and @acks of a connection that nobody has raise the largest sum, each by @step. A
 * download that begins then has its half, and does not wait for more than one credit.
 */
static void control_after_lies(struct kunit *test, u32 acks, u32 step)
{
	struct packet dns = {
		.mark = ATTACKER, .station = 1, .protocol = IPPROTO_UDP, .sport = 53,
		.dport = 40000, .host = 7, .payload = 1400,
	}, ack = {
		.mark = OTHER, .station = 3, .protocol = IPPROTO_TCP, .host = 100,
		.sport = 5001, .dport = 6000,
	};
	u32 i, n, first = 0, served[__MARKS] = {};

	attack_forget(test);
	for (i = 0; i < 2000 + SERVICES; i++) {
		keep_backlog(test, dns);
		for (n = 0; i >= 500 && i < 2000 && n < acks; n++)
			lie(test, &ack, step);
		if (i < 2000) {
			attack_serve(test);
			continue;
		}
		keep_backlog(test, download(VICTIM, 1));
		served[attack_serve(test)]++;
		if (!served[VICTIM])
			first++;
	}
	attack_drain(test);
	KUNIT_EXPECT_LE_MSG(test, first, CREDIT / MSS, "%u ACKs, %u", acks, step);
	KUNIT_EXPECT_GE_MSG(test, served[VICTIM] * 10, SERVICES * 4U, "%u ACKs, %u", acks, step);
}

static void attack_control_after_lies(struct kunit *test)
{
	control_after_lies(test, 0, 0);
	control_after_lies(test, 1, 8192);
	control_after_lies(test, 5, 8192);
	control_after_lies(test, 5, 128 << 10);
}

/*
 * New connections spend their credit with an ACK 66 kB ahead, take it back, and then send ten
 * packets. Sixty-four do so at a time. They are new ones all the same, and served as one.
 */
static void attack_burnt_credit(struct kunit *test)
{
	struct packet ack = {
		.mark = ATTACKER, .station = 1, .protocol = IPPROTO_TCP,
		.sport = 5001, .dport = 6000,
	}, p = ack;
	u32 i, n, phase = 0, served[__MARKS] = {};
	struct attack *a = test->priv;

	p.payload = MSS;
	p.ack_seq = 1000000;
	attack_forget(test);
	for (i = 0; i < WARM_UP + 20000; i++) {
		keep_backlog(test, download(VICTIM, 1));
		if (i < WARM_UP || a->queued[ATTACKER] >= 2) {
			served[attack_serve(test)] += i >= WARM_UP + 4000;
			continue;
		}
		for (n = 0; n < 64 && phase % 3 < 2; n++) {
			ack.host = 1000 + phase / 3 * 64 + n;
			ack.ack_seq = 1000000;
			attack_enqueue(test, &ack);
			if (phase % 3 == 0)
				lie(test, &ack, 66000);
		}
		for (n = 0; n < 640 && phase % 3 == 2; n++) {
			p.host = 1000 + phase / 3 * 64 + n % 64;
			attack_enqueue(test, &p);
		}
		phase++;
		served[attack_serve(test)] += i >= WARM_UP + 4000;
	}
	attack_drain(test);
	KUNIT_EXPECT_GE(test, served[VICTIM] * 4, 16000U);
}

static struct kunit_case lasack_forged_cases[] = {
	KUNIT_CASE(attack_lies_about_a_download),
	KUNIT_CASE(attack_lies_in_bursts),
	KUNIT_CASE(attack_hidden_upload),
	KUNIT_CASE(attack_control_after_lies),
	KUNIT_CASE(attack_burnt_credit),
	{}
};

static struct kunit_suite lasack_forged_suite = {
	.name		= "lasack_forged_attacks",
	.init		= attack_init,
	.exit		= attack_exit,
	.test_cases	= lasack_forged_cases,
};

/* Packets to twenty multicast groups are one station's. */
static void attack_many_groups(struct kunit *test)
{
	struct packet p = download(ATTACKER, 50);
	u32 i, n, served[__MARKS] = {};
	struct attack *a = test->priv;

	p.protocol = IPPROTO_UDP;
	p.group = true;
	attack_forget(test);
	a->serial = 0;
	for (i = 0; i < 4000 + SERVICES; i++) {
		keep_backlog(test, download(VICTIM, 1));
		for (n = 0; n < 3 && a->queued[ATTACKER] < 80; n++) {
			p.station = 1000 + a->serial++ % 20;
			attack_enqueue(test, &p);
		}
		served[attack_serve(test)] += i >= 4000;
	}
	KUNIT_EXPECT_GE(test, served[VICTIM] * 20, SERVICES * 9U);
}

static struct kunit_case lasack_group_cases[] = {
	KUNIT_CASE(attack_many_groups),
	{}
};

static struct kunit_suite lasack_group_suite = {
	.name		= "lasack_group_attacks",
	.init		= attack_init,
	.exit		= attack_exit,
	.test_cases	= lasack_group_cases,
};

kunit_test_suites(&lasack_forged_suite, &lasack_group_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suites of forged numbers at a device's lasack discipline");
