// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sender's rules against RFC 9002: its printed formulas with numbers put in by hand, its one
 * worked example (7.6.3), and what it says must or must not happen.
 */
#include <stdlib.h>
#include <string.h>

#include "loop.h"
#include "quic/sender.h"
#include "tap.h"

#define MS	QUIC_MS
#define SECOND	(1000 * MS)
#define SIZE	1200		/* bytes of a datagram */

static struct sender *sender_new(void)
{
	struct sender *sender = malloc(sizeof(*sender));

	if (!sender)
		abort();
	sender_init(sender, SIZE, STREAM_WINDOW);
	return sender;
}

static void send_one(struct sender *sender, int64_t now)
{
	sender_sent(sender, now, sender_chunk(sender));
}

static void send_many(struct sender *sender, unsigned int count, int64_t now)
{
	while (count--)
		send_one(sender, now);
}

static bool ack(struct sender *sender, int64_t now, uint64_t first, uint64_t last)
{
	struct ranges acked = { .count = 1, .each = { { first, last } } };

	return sender_acked(sender, now, &acked, 0);
}

/* 5.3, by hand: 100 ms, then 180 ms of which the receiver kept 20, then 300 of which 60. */
static void test_rtt(int *failures)
{
	struct rtt rtt;

	rtt_init(&rtt);
	EXPECT_EQ(rtt.smoothed, 333 * MS);
	EXPECT_EQ(rtt.variation, 333 * MS / 2);
	rtt_sample(&rtt, SECOND, 100 * MS, 20 * MS);
	EXPECT_EQ(rtt.smoothed, 100 * MS);	/* the first is taken as it is */
	EXPECT_EQ(rtt.variation, 50 * MS);
	rtt_sample(&rtt, 2 * SECOND, 180 * MS, 20 * MS);
	EXPECT_EQ(rtt.smoothed, 107500000);	/* 7/8 100 + 1/8 160 */
	EXPECT_EQ(rtt.variation, 52500000);	/* 3/4 50 + 1/4 60 */
	rtt_sample(&rtt, 3 * SECOND, 300 * MS, 60 * MS);
	EXPECT_EQ(rtt.smoothed, 128437500);	/* no more than 25 ms are taken off: 275 */
	EXPECT_EQ(rtt.variation, 81250000);	/* 3/4 52.5 + 1/4 167.5 */
	EXPECT_EQ(rtt.first_sample, SECOND);
	rtt_sample(&rtt, 4 * SECOND, 110 * MS, 20 * MS);
	EXPECT_EQ(rtt.smoothed, 126132812);	/* 110 - 20 is below the least: 110 */
	EXPECT_EQ(rtt.least, 100 * MS);
}

static void test_timeouts(int *failures)
{
	struct rtt rtt;

	rtt_init(&rtt);		/* 6.2.2: about a second, and max_ack_delay */
	EXPECT_EQ(rtt_probe_timeout(&rtt), (333 + 4 * 333 / 2 + 25) * MS);
	rtt_sample(&rtt, 0, 80 * MS, 0);
	EXPECT_EQ(rtt_probe_timeout(&rtt), (80 + 4 * 40 + 25) * MS);
	EXPECT_EQ(rtt_persistent(&rtt), 3 * 265 * MS);
	EXPECT_EQ(rtt_loss_delay(&rtt), 90 * MS);		/* 9/8 */
	rtt.latest = 800 * MS;
	EXPECT_EQ(rtt_loss_delay(&rtt), 900 * MS);		/* of the larger one */
	rtt = (struct rtt) { .smoothed = 1000, .latest = 1000 };
	EXPECT_EQ(rtt_loss_delay(&rtt), MS);			/* the granularity at least */
	EXPECT_EQ(rtt_probe_timeout(&rtt), 1000 + 26 * MS);
}

static void test_initial_window(int *failures)
{
	struct newreno cc;

	newreno_init(&cc, 1200);		/* 7.2 */
	EXPECT_EQ(cc.window, 12000);
	newreno_init(&cc, 1472);
	EXPECT_EQ(cc.window, 14720);
	newreno_init(&cc, 1500);
	EXPECT_EQ(cc.window, 14720);
	newreno_init(&cc, 9000);
	EXPECT_EQ(cc.window, 18000);
}

static void test_window(int *failures)
{
	struct newreno cc;
	int i;

	newreno_init(&cc, SIZE);
	for (i = 0; i < 10; i++)
		newreno_sent(&cc, i, MS);
	EXPECT(!newreno_has_room(&cc));
	for (i = 0; i < 10; i++)		/* slow start: doubled in a round trip (7.3.1) */
		newreno_acked(&cc, i);
	EXPECT_EQ(cc.window, 24000);
	EXPECT_EQ(cc.in_flight, 0);
	for (i = 0; i < 20; i++)
		newreno_sent(&cc, 100 + i, MS);
	newreno_lost(&cc, 1, 100, 200);		/* halved */
	EXPECT_EQ(cc.window, 12000);
	EXPECT_EQ(cc.threshold, 12000);
	newreno_lost(&cc, 1, 101, 201);		/* once in a round trip (7.3.2) */
	newreno_acked(&cc, 102);		/* nor is it raised */
	EXPECT_EQ(cc.window, 12000);
	EXPECT_EQ(cc.in_flight, 17 * SIZE);
	for (i = 0; i < 10; i++)		/* a window acknowledged: a datagram at most (7.3.3) */
		newreno_acked(&cc, 300 + i);
	EXPECT(cc.window > 12000 + SIZE - 100 && cc.window <= 12000 + SIZE);
	newreno_lost(&cc, 1, 301, 400);		/* one that was sent in the recovery */
	EXPECT(cc.window < 6700);
	newreno_lost(&cc, 1, 401, 500);
	newreno_lost(&cc, 1, 501, 600);
	newreno_lost(&cc, 1, 601, 700);
	EXPECT_EQ(cc.window, 2400);		/* two datagrams at least */
	newreno_init(&cc, SIZE);
	cc.in_flight = SIZE;
	cc.underused = true;			/* 7.8 */
	newreno_acked(&cc, 0);
	EXPECT_EQ(cc.window, 12000);
}

/* 7.7: interval = smoothed_rtt * packet_size / congestion_window / 1.25; no burst above 7.2. */
static void test_pacing(int *failures)
{
	struct newreno cc;
	int sent = 0;

	newreno_init(&cc, SIZE);
	EXPECT_EQ(newreno_interval(&cc, 100 * MS), 8 * MS);	/* 100 ms / 10 / 1.25 */
	cc.window = 1000 * SIZE;
	while (newreno_release(&cc, SECOND) <= 0 && sent < 1000) {
		newreno_sent(&cc, 0, SECOND);
		sent++;
	}
	EXPECT_EQ(sent, 10);
	EXPECT_EQ(newreno_release(&cc, SECOND), SECOND * 4 / 5 / 1000);
	for (; newreno_release(&cc, SECOND) <= SECOND && sent < 5000; sent++)
		newreno_sent(&cc, newreno_release(&cc, SECOND), SECOND);
	EXPECT_EQ(sent, 10 + 1250);		/* 1.25 windows in a round trip */
	EXPECT(newreno_release(&cc, SECOND) > SECOND);
}

static void test_packet_threshold(int *failures)
{
	struct sender *sender = sender_new();

	send_many(sender, 6, 0);
	EXPECT(ack(sender, 100 * MS, 2, 2));	/* 0 and 1 are two and one before it */
	EXPECT_EQ(sender->lost_chunks, 0);
	EXPECT(ack(sender, 100 * MS, 3, 3));	/* 0 is three before it (6.1.1) */
	EXPECT_EQ(sender->lost_chunks, 1);
	EXPECT_EQ(sender_chunk(sender), 0);	/* sent again, with a number of its own */
	send_one(sender, 101 * MS);
	EXPECT_EQ(sender->next_packet, 7);
	EXPECT_EQ(sender->retransmitted, 1);
	EXPECT_EQ(sender_chunk(sender), 6);
	EXPECT_EQ(sender->cc.window, 12000 / 2 + SIZE / 2);	/* 3 was not acknowledged yet: 2 was */
	free(sender);
}

static void test_time_threshold(int *failures)
{
	struct sender *sender = sender_new();

	send_one(sender, 0);
	send_one(sender, 10 * MS);
	EXPECT(ack(sender, 90 * MS, 1, 1));	/* a round trip of 80 ms, so 0 is lost after 90 */
	EXPECT_EQ(sender->lost_chunks, 1);
	send_one(sender, 100 * MS);
	send_one(sender, 120 * MS);
	EXPECT(ack(sender, 180 * MS, 3, 3));	/* 60 ms; 7/8 80 + 1/8 60 = 77.5, 9/8 of that 87.1875 */
	EXPECT_EQ(sender->lost_chunks, 0);
	EXPECT_EQ(sender_timer(sender), 187187500);
	sender_timeout(sender, 187187500);
	EXPECT_EQ(sender->lost_chunks, 1);
	EXPECT_EQ(sender_timer(sender), NEVER);	/* nothing is in flight */
	free(sender);
}

/* 6.2: twice as long each time; two probes beyond the window; no packet is lost by it. */
static void test_probes(int *failures)
{
	struct sender *sender = sender_new();
	int64_t timeout = 333 * MS + 4 * 333 * MS / 2 + 25 * MS;

	send_many(sender, 10, 0);
	EXPECT_EQ(sender_release(sender), NEVER);	/* the window is full */
	EXPECT_EQ(sender_timer(sender), timeout);
	sender_timeout(sender, timeout);
	EXPECT_EQ(sender->lost_chunks, 0);
	EXPECT_EQ(sender->cc.window, 12000);
	EXPECT_EQ(sender_release(sender), 0);
	EXPECT_EQ(sender_chunk(sender), 10);		/* new payload */
	send_one(sender, timeout);
	send_one(sender, timeout);
	EXPECT_EQ(sender_release(sender), NEVER);
	EXPECT_EQ(sender->cc.in_flight, 12 * SIZE);
	EXPECT_EQ(sender_timer(sender), timeout + 2 * timeout);
	sender_timeout(sender, 3 * timeout);
	EXPECT_EQ(sender_timer(sender), 3 * timeout + 4 * timeout);
	EXPECT(ack(sender, 3 * timeout + MS, 11, 11));
	EXPECT_EQ(sender->timeouts, 0);
	EXPECT_EQ(sender->lost_chunks, 10);	/* not the other probe: it left with the one acked */
	free(sender);
}

/*
 * The example of 7.6.3, in which numbers begin at 1 and three probe timeouts are 6 s. The sample
 * of 0.2 s that packet 9 brings leaves an estimate of 0.2 s and 0.44375 s, which makes it so.
 */
static void persistent_example(struct sender *sender, bool between)
{
	static const int times[] = { 0, 1, 2, 3, 4, 5, 6, 8, 12 };
	unsigned int i;

	for (i = 0; i < 2; i++)
		send_one(sender, times[i] * SECOND);
	ack(sender, 1200 * MS, 0, 0);
	for (; i < 9; i++)
		send_one(sender, times[i] * SECOND);
	sender->rtt = (struct rtt) {
		.sampled = true, .first_sample = -SECOND, .least = 200 * MS,
		.smoothed = 200 * MS, .variation = 1775 * MS / 3,
	};
	sender->cc.window = 100 * SIZE;
	if (between)
		sender->packets[4].fate = PACKET_GONE;
	ack(sender, 12200 * MS, 8, 8);
}

static void test_persistent_congestion(int *failures)
{
	struct sender *sender = sender_new();

	persistent_example(sender, false);
	EXPECT(llabs(rtt_persistent(&sender->rtt) - 6 * SECOND) < 100);
	EXPECT_EQ(sender->lost_chunks, 7);		/* packets 2 to 8 */
	EXPECT_EQ(sender->cc.window, 2 * SIZE + SIZE);	/* the least, and packet 9 in slow start */
	EXPECT_EQ(sender->cc.threshold, 50 * SIZE);
	sender_init(sender, SIZE, STREAM_WINDOW);
	persistent_example(sender, true);		/* one between them was acknowledged */
	EXPECT_EQ(sender->cc.window, 50 * SIZE);
	free(sender);
}

/* 7.6.2: a packet that was sent before there was a round-trip time does not count. */
static void test_no_persistent_congestion_without_rtt(int *failures)
{
	struct sender *sender = sender_new();
	int i;

	for (i = 0; i < 10; i++)
		send_one(sender, i * SECOND);
	ack(sender, 9 * SECOND + MS, 9, 9);
	EXPECT_EQ(sender->lost_chunks, 9);
	EXPECT(sender->cc.window >= 6000);
	free(sender);
}

static void test_nonsense_changes_nothing(int *failures)
{
	struct sender *sender = sender_new(), *before = malloc(sizeof(*before));

	send_many(sender, 5, 0);
	EXPECT(ack(sender, 50 * MS, 0, 1));
	*before = *sender;
	EXPECT(!ack(sender, 60 * MS, 0, 5));		/* 5 was never sent */
	EXPECT(!ack(sender, 60 * MS, 1000000, 2000000));
	EXPECT(ack(sender, 60 * MS, 0, 1));		/* a duplicate */
	EXPECT_EQ(memcmp(before, sender, sizeof(*before)), 0);
	free(before);
	free(sender);
}

/* What is lost and comes after all, or twice, is payload once. */
static void test_payload_counts_once(int *failures)
{
	struct sender *sender = sender_new();

	send_many(sender, 5, 0);
	ack(sender, 50 * MS, 4, 4);
	EXPECT_EQ(sender->lost_chunks, 2);
	send_many(sender, 2, 51 * MS);			/* 0 and 1 again, as 5 and 6 */
	ack(sender, 52 * MS, 0, 4);			/* the first ones were only late */
	EXPECT_EQ(sender->delivered, 0);
	ack(sender, 100 * MS, 5, 6);
	EXPECT_EQ(sender->delivered, 5);
	EXPECT_EQ(sender->cc.in_flight, 0);
	free(sender);
}

/* Flow control: no chunk 100 beyond the first that is missing, however large the window is. */
static void test_flow_control(int *failures)
{
	struct sender *sender = sender_new();

	sender_init(sender, SIZE, 100);
	sender->cc.window = UINT32_MAX;
	send_many(sender, 100, 0);
	EXPECT_EQ(sender_release(sender), NEVER);
	EXPECT(sender->cc.underused);
	sender_timeout(sender, sender_timer(sender));
	EXPECT_EQ(sender_chunk(sender), 0);		/* a probe without new payload */
	send_one(sender, 2 * SECOND);
	EXPECT_EQ(sender->retransmitted, 1);
	ack(sender, 3 * SECOND, 0, 0);
	EXPECT_EQ(sender_chunk(sender), 100);
	free(sender);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "round-trip time", test_rtt },
		{ "timeouts", test_timeouts },
		{ "initial window", test_initial_window },
		{ "window", test_window },
		{ "pacing", test_pacing },
		{ "packet threshold", test_packet_threshold },
		{ "time threshold", test_time_threshold },
		{ "probes", test_probes },
		{ "persistent congestion", test_persistent_congestion },
		{ "no persistent congestion without a round-trip time",
		  test_no_persistent_congestion_without_rtt },
		{ "nonsense changes nothing", test_nonsense_changes_nothing },
		{ "payload counts once", test_payload_counts_once },
		{ "flow control", test_flow_control },
		{ },
	};

	return tap_run(cases);
}
