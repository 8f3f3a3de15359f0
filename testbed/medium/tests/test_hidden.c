// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stations that do not hear each other, several channels and capture: timelines
 * that follow from the standard's intervals alone, and one probability from
 * renewal theory.
 */
#include "cell.h"
#include "phy/phy_profile.h"
#include "tap.h"

#define RTS	US(272)
#define CTS	US(248)

/* a and b are hidden from each other; r hears both. */
static struct cell *hidden_pair(unsigned int rts_threshold, int *a, int *b, int *r)
{
	struct cell *cell = cell_begin(true, rts_threshold, 1);

	*a = cell_join(cell, "a", 0, 0);
	*b = cell_join(cell, "b", 0, 0);
	*r = cell_join(cell, "r", 0, 0);
	mac_set_hidden(&cell->mac, *a, *b);
	return cell;
}

/* b senses nothing of a's frame and sends into it: r has neither. */
static void hidden_frames_collide(int *failures)
{
	int a, b, r;
	struct cell *cell = hidden_pair(UINT_MAX, &a, &b, &r);
	ns_t late = DATA / 2;

	cell_send(cell, a, r, 0);
	cell_send(cell, b, r, late);
	cell_play(cell, US(100000));
	EXPECT_EQ(cell->n_delivered, 0);
	EXPECT_EQ(cell->n_attempts, 14);
	for (int i = 0; i < 14; i++) {
		ns_t at = (i / 2) * (DATA + ACK_TIMEOUT);

		EXPECT_EQ(cell->attempts[i].from, i % 2 ? b : a);
		EXPECT_EQ(cell->attempts[i].start, at + (i % 2 ? late : 0));
		EXPECT(cell->attempts[i].collided);
	}
	EXPECT_EQ(cell->mac.stations[a].counters.collisions, 7);
	EXPECT_EQ(cell->mac.stations[b].counters.drops, 1);
	cell_end(cell);
}

/* r has heard both at once: its own frame waits EIFS after the later one. */
static void their_receiver_waits_eifs(int *failures)
{
	int a, b, r;
	struct cell *cell = hidden_pair(UINT_MAX, &a, &b, &r);

	cell->mac.stations[a].config.retry_limit = 1;
	cell->mac.stations[b].config.retry_limit = 1;
	cell_send(cell, a, r, 0);
	cell_send(cell, b, r, DATA / 2);
	cell_send(cell, r, a, DATA);
	cell_play(cell, US(100000));
	EXPECT_EQ(cell->attempts[2].from, r);
	EXPECT_EQ(cell->attempts[2].start, DATA / 2 + DATA + EIFS);
	EXPECT(!cell->attempts[2].collided);
	cell_end(cell);
}

/* b hears the ACK alone: to it the medium is busy from there on. */
static void the_ack_is_heard(int *failures)
{
	int a, b, r;
	struct cell *cell = hidden_pair(UINT_MAX, &a, &b, &r);

	cell_send(cell, a, r, 0);
	cell_send(cell, b, r, DATA + SIFS + ACK / 2);
	cell_play(cell, US(100000));
	EXPECT_EQ(cell->n_delivered, 2);
	EXPECT_EQ(cell->attempts[1].from, b);
	EXPECT_EQ(cell->attempts[1].start, EXCHANGE + DIFS);
	cell_end(cell);
}

/* b begins in the SIFS before the ACK, which a hears well and r cannot help. */
static void a_frame_into_the_ack(int *failures)
{
	int a, b, r;
	struct cell *cell = hidden_pair(UINT_MAX, &a, &b, &r);

	cell_send(cell, a, r, 0);
	cell_send(cell, b, r, DATA + SIFS / 2);
	cell_play(cell, US(100000));
	EXPECT(cell->outcomes[0].acked);
	EXPECT_EQ(cell->outcomes[0].at, EXCHANGE);
	EXPECT(cell->attempts[1].collided);
	EXPECT_EQ(cell->attempts[2].start,
		  DATA + SIFS / 2 + DATA + ACK_TIMEOUT);
	EXPECT(!cell->attempts[2].collided);
	cell_end(cell);
}

/* A third station that a hears spoils the ACK: the frame has arrived. */
static void an_ack_can_collide(int *failures)
{
	struct cell *cell = cell_begin(true, UINT_MAX, 1);
	int a = cell_join(cell, "a", 0, 0), r = cell_join(cell, "r", 0, 0);
	int c = cell_join(cell, "c", 0, 0), d = cell_join(cell, "d", 0, 0);

	mac_set_hidden(&cell->mac, c, r);
	mac_set_hidden(&cell->mac, d, a);
	mac_set_hidden(&cell->mac, d, r);
	cell_send(cell, a, r, 0);
	cell_play(cell, DATA + 1);
	/* As if it had not decoded a's frame, whose NAV would hold it off. */
	cell->mac.stations[c].resume = 0;
	cell_send(cell, c, d, DATA + SIFS + ACK / 2);
	cell_play(cell, DATA + SIFS + ACK / 2 + DATA);
	/* a's frame, and c's. */
	EXPECT_EQ(cell->n_delivered, 2);
	EXPECT_EQ(cell->mac.stations[a].counters.ack_collisions, 1);
	EXPECT_EQ(cell->mac.stations[a].counters.collisions, 1);
	EXPECT_EQ(cell->mac.stations[a].counters.lost, 0);
	cell_end(cell);
}

/* The CTS tells b how long to keep clear; then its count of 0 is over. */
static void cts_reserves(int *failures)
{
	int a, b, r;
	struct cell *cell = hidden_pair(0, &a, &b, &r);
	ns_t end = RTS + SIFS + CTS + SIFS + EXCHANGE;

	cell_send(cell, a, r, 0);
	cell_send(cell, b, r, RTS + SIFS + CTS + SIFS + DATA / 2);
	cell_play(cell, US(100000));
	EXPECT_EQ(cell->n_attempts, 2);
	EXPECT_EQ(cell->attempts[1].start, end + DIFS);
	EXPECT_EQ(cell->n_delivered, 2);
	cell_end(cell);
}

/*
 * x - y - r - a, each hearing its neighbours. y's CTS holds r off, so it does
 * not answer a's RTS while x sends, though it hears nothing (9.3.2.7).
 */
static void no_cts_against_the_nav(int *failures)
{
	struct cell *cell = cell_begin(true, 0, 1);
	int x = cell_join(cell, "x", 0, 0), y = cell_join(cell, "y", 0, 0);
	int r = cell_join(cell, "r", 0, 0), a = cell_join(cell, "a", 0, 0);
	ns_t data = RTS + SIFS + CTS + SIFS;

	mac_set_hidden(&cell->mac, x, r);
	mac_set_hidden(&cell->mac, x, a);
	mac_set_hidden(&cell->mac, y, a);
	cell_send(cell, x, y, 0);
	cell_send(cell, a, r, data + US(100));
	cell_play(cell, data + US(100) + RTS);
	EXPECT_EQ(cell->mac.stations[a].counters.unanswered, 1);
	EXPECT_EQ(cell->mac.stations[a].counters.withheld, 1);
	cell_play(cell, US(100000));
	EXPECT_EQ(cell->mac.stations[x].counters.delivered, 1);
	EXPECT_EQ(cell->mac.stations[a].counters.delivered, 1);
	cell_end(cell);
}

/* An RTS that is not answered holds nobody off longer than a CTS would take. */
static void nav_is_reset(int *failures)
{
	struct cell *cell = cell_begin(true, 0, 1);
	int a = cell_join(cell, "a", 0, 0), b = cell_join(cell, "b", 0, 0);

	cell->mac.stations[a].config.retry_limit = 1;
	cell_send(cell, a, MAC_NOBODY, 0);
	cell_send(cell, b, a, RTS / 2);
	cell_play(cell, US(100000));
	EXPECT_EQ(cell->attempts[1].start, RTS + SIFS + CTS + DIFS);
	cell_end(cell);
}

/* What a and b on one channel and c and d on another do, as if alone. */
static void channels_are_apart(int *failures)
{
	struct cell *both = cell_begin(true, UINT_MAX, 7);
	struct cell *apart[2] = { cell_begin(true, UINT_MAX, 7),
				  cell_begin(true, UINT_MAX, 7) };
	struct rng rng;
	ns_t t = 0;

	for (int i = 0; i < 8; i++) {
		struct mac_station_config config = {
			.addr = { 2, 0, 0, 0, i, 0 }, .retry_limit = 4,
			.cw_min = 8, .cw_max = 64, .freq = 2412 + i / 4 * 25,
		};

		mac_add_station(&both->mac, &config);
		mac_add_station(&apart[i / 4]->mac, &config);
	}
	rng_seed(&rng, 3, 0);
	for (int i = 0; i < 2000; i++) {
		int cell = rng_below(&rng, 2), from = rng_below(&rng, 4);
		int to = rng_below(&rng, 5);

		to = to == 4 ? MAC_EVERYBODY : to;
		t += rng_below(&rng, EXCHANGE);
		cell_send(both, 4 * cell + from, to < 0 ? to : 4 * cell + to, t);
		cell_send(apart[cell], from, to, t);
	}
	cell_play(both, t + NS_PER_S);
	for (int i = 0; i < 8; i++) {
		cell_play(apart[i / 4], t + NS_PER_S);
		EXPECT(!memcmp(&both->mac.stations[i].counters,
			       &apart[i / 4]->mac.stations[i % 4].counters,
			       sizeof(struct mac_counters)));
	}
	EXPECT(both->mac.stations[0].counters.collisions > 0);
	EXPECT_EQ(both->n_delivered,
		  apart[0]->n_delivered + apart[1]->n_delivered);
	cell_end(both);
	cell_end(apart[0]);
	cell_end(apart[1]);
}

/* Nothing of a frame for another channel is heard, nor answered. */
static void other_channel_is_nobody(int *failures)
{
	struct cell *cell = cell_begin(true, UINT_MAX, 1);
	int a = cell_join(cell, "a", 2412, 0), b = cell_join(cell, "b", 2437, 0);

	cell_send(cell, a, b, 0);
	cell_play(cell, US(20000));
	EXPECT_EQ(cell->mac.stations[a].counters.unanswered, 7);
	EXPECT_EQ(cell->n_delivered, 0);
	mac_set_channel(&cell->mac, b, 2412);
	cell_send(cell, a, b, US(30000));
	cell_play(cell, US(40000));
	EXPECT_EQ(cell->n_delivered, 1);
	cell_end(cell);
}

/*
 * Two frames at once, of levels 0 and -12 dB: the stronger one survives a
 * capture threshold of 12 dB and not one of 12.1. With two weak ones, together
 * at -8.99 dB, 8.9 is survived and 9.1 is not.
 */
static void capture(int *failures)
{
	static const struct { int weak; double db; bool survives; } cases[] = {
		{ 1, 11.9, true }, { 1, 12.1, false },
		{ 2, 8.9, true }, { 2, 9.1, false },
	};

	for (int i = 0; i < 4; i++) {
		struct mac_config config = mac_defaults(phy_find("hrdsss-11"));
		struct cell *cell;
		int r, a;

		config.capture = true;
		config.capture_db = cases[i].db;
		cell = cell_of(&config);
		r = cell_join(cell, "r", 0, 0);
		a = cell_join(cell, "a", 0, 0);
		cell_send(cell, a, r, 0);
		for (int j = 0; j < cases[i].weak; j++) {
			int weak = cell_join(cell, "w", 0, -12);

			cell->mac.stations[weak].resume = 0;
			cell_send(cell, weak, r, 0);
		}
		cell_play(cell, EXCHANGE);
		EXPECT_EQ(cell->n_delivered, cases[i].survives);
		EXPECT_EQ(cell->mac.stations[a].counters.delivered,
			  cases[i].survives);
		EXPECT_EQ(cell->mac.stations[a].counters.collisions,
			  !cases[i].survives);
		cell_end(cell);
	}
}

#define WINDOW	256

static void send_again(void *ctx, int from, struct mac_frame *frame)
{
	struct cell *cell = ctx;

	mac_enqueue(&cell->mac, from, frame, cell->now);
}

/*
 * Hidden from each other, two stations that always have a group-addressed frame
 * are two independent renewal processes: frames of L = 1310 us, then DIFS and k
 * slots, k uniform below the window. All begin at multiples of 20 us, so a
 * period is 68 + k such steps, and in k - 63 of them, if positive, the other
 * station's whole frame fits in between (first at 1320, last at 50 + 20 k). By
 * renewal theory a frame is alone at a receiver that hears both with
 *	sum of max(0, k - 63) / sum of (68 + k).
 */
static void hidden_renewal_processes(int *failures)
{
	static const struct mac_ops ops = { .done = send_again };
	struct mac_config config = mac_defaults(phy_find("hrdsss-11"));
	struct cell *cell = calloc(1, sizeof(*cell));
	struct mac_frame frames[2] = { 0 };
	double alone = 0, all = 0, sent = 0, lost = 0;

	mac_init(&cell->mac, &config, &ops, cell);
	for (int i = 0; i < 2; i++)
		cell_station(cell, WINDOW, WINDOW, 7);
	cell_station(cell, WINDOW, WINDOW, 7);
	mac_set_hidden(&cell->mac, 0, 1);
	for (int i = 0; i < 2; i++) {
		frames[i] = (struct mac_frame){ .to = MAC_EVERYBODY, .bytes = 1536 };
		mac_enqueue(&cell->mac, i, &frames[i], 0);
	}
	cell_play(cell, 1000 * NS_PER_S);
	for (int i = 0; i < 2; i++) {
		sent += cell->mac.stations[i].counters.broadcasts;
		lost += cell->mac.stations[i].counters.broadcast_collisions;
	}
	for (int k = 0; k < WINDOW; k++) {
		alone += k > 63 ? k - 63 : 0;
		all += 68 + k;
	}
	printf("# %.0f frames, alone %.4f, by renewal theory %.4f\n", sent,
	       1 - lost / sent, alone / all);
	EXPECT(sent > 400000);
	EXPECT((1 - lost / sent) / (alone / all) > 0.99);
	EXPECT((1 - lost / sent) / (alone / all) < 1.01);
	free(cell);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "hidden frames collide at the receiver", hidden_frames_collide },
		{ "their receiver waits EIFS", their_receiver_waits_eifs },
		{ "a hidden station hears the ACK", the_ack_is_heard },
		{ "a frame into the ACK is lost, the ACK is not", a_frame_into_the_ack },
		{ "an ACK can collide", an_ack_can_collide },
		{ "a CTS reserves the medium", cts_reserves },
		{ "no CTS against the NAV", no_cts_against_the_nav },
		{ "the NAV of an unanswered RTS ends", nav_is_reset },
		{ "channels are apart", channels_are_apart },
		{ "a station on another channel does not answer", other_channel_is_nobody },
		{ "the stronger frame is captured", capture },
		{ "hidden senders as renewal processes", hidden_renewal_processes },
		{ }
	};

	return tap_run(cases);
}
