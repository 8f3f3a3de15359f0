// SPDX-License-Identifier: GPL-2.0-only
/*
 * The MAC core against the timing rules of IEEE Std 802.11-2012, 9.3: every
 * expected time is a sum of the standard's intervals and of known draws.
 */
#include "cell.h"
#include "tap.h"

static void immediate_access(int *failures)
{
	struct cell *cell = cell_begin(true, UINT_MAX, 1);
	int a = cell_station(cell, 32, 1024, 7);
	int b = cell_station(cell, 32, 1024, 7);

	EXPECT_EQ(mac_next(&cell->mac), NS_NEVER);
	cell_send(cell, a, b, US(1000));
	EXPECT_EQ(mac_next(&cell->mac), US(1000) + DATA);
	cell_play(cell, US(10000));
	EXPECT_EQ(cell->attempts[0].start, US(1000));
	EXPECT_EQ(cell->delivered_at[0], US(1000) + DATA);
	EXPECT_EQ(cell->outcomes[0].at, US(1000) + EXCHANGE);
	EXPECT(cell->outcomes[0].acked);
	EXPECT_EQ(cell->outcomes[0].attempts, 1);
	EXPECT_EQ(mac_next(&cell->mac), NS_NEVER);
	cell_end(cell);
}

/* A frame that finds the medium busy, or idle for less than DIFS. */
static void backoff_after_busy(int *failures)
{
	static const ns_t arrivals[] = { DATA / 2, DATA + SIFS / 2,
					 EXCHANGE + DIFS / 2 };

	for (int i = 0; i < 3; i++) {
		struct cell *cell = cell_begin(true, UINT_MAX, 1);
		int a = cell_station(cell, 1, 1, 7);
		int b = cell_station(cell, 32, 1024, 7);
		struct rng draws = cell_draws(cell, b);
		ns_t slots = rng_below(&draws, 32);

		cell_send(cell, a, b, 0);
		cell_send(cell, b, a, arrivals[i]);
		cell_play(cell, US(100000));
		EXPECT_EQ(cell->attempts[1].start,
			  EXCHANGE + DIFS + slots * SLOT);
		cell_end(cell);
	}
}

static void post_transmission_backoff(int *failures)
{
	struct cell *cell = cell_begin(true, UINT_MAX, 1);
	int a = cell_station(cell, 1024, 1024, 7);
	int b = cell_station(cell, 1024, 1024, 7);
	struct rng draws = cell_draws(cell, a);
	ns_t count_over = EXCHANGE + DIFS + rng_below(&draws, 1024) * SLOT;
	ns_t second;

	cell_send(cell, a, b, 0);
	/* Idle longer than DIFS, but the count is not over yet. */
	cell_send(cell, a, b, count_over - SLOT);
	cell_play(cell, count_over + EXCHANGE);
	EXPECT_EQ(cell->attempts[1].start, count_over);
	/* Well after the next count: at once. */
	second = count_over + EXCHANGE + DIFS + 1024 * SLOT;
	cell_send(cell, a, b, second);
	cell_play(cell, second + EXCHANGE);
	EXPECT_EQ(cell->attempts[2].start, second);
	cell_end(cell);
}

/* A count that ended long before the medium became busy is no head start. */
static void used_up_backoff_is_gone(int *failures)
{
	struct cell *cell = cell_begin(true, UINT_MAX, 1);
	int a = cell_station(cell, 32, 1024, 7);
	int b = cell_station(cell, 1, 1, 7);
	struct rng draws = cell_draws(cell, a);
	ns_t slots;

	cell_send(cell, a, b, 0);
	rng_below(&draws, 32);
	cell_send(cell, b, a, US(10000));
	cell_send(cell, a, b, US(10000) + DATA / 2);
	slots = rng_below(&draws, 32);
	cell_play(cell, US(100000));
	EXPECT(slots > 0);
	EXPECT_EQ(cell->attempts[2].start,
		  US(10000) + EXCHANGE + DIFS + slots * SLOT);
	cell_end(cell);
}

/*
 * a waits with a known count while b sends twice: the slot in which b begins
 * is not counted, and what b leaves of the count goes on after its ACK.
 */
static void count_freezes(int *failures)
{
	struct cell *cell = cell_begin(true, UINT_MAX, 3);
	int a = cell_station(cell, 32, 1024, 7);
	int b = cell_station(cell, 8, 1024, 7);
	int c = cell_station(cell, 1, 1, 7);
	struct rng draws_a = cell_draws(cell, a), draws_b = cell_draws(cell, b);
	ns_t slots_a = rng_below(&draws_a, 32), slots_b = rng_below(&draws_b, 8);
	ns_t start_b, start_a;

	EXPECT(slots_b > 0 && slots_b < slots_a);
	/* c sends at once, then again straight after DIFS: no slot passes. */
	cell_send(cell, c, a, 0);
	cell_send(cell, c, a, 1);
	cell_send(cell, a, c, 2);
	cell_send(cell, b, c, 3);
	cell_play(cell, US(100000));
	EXPECT_EQ(cell->attempts[1].from, c);
	EXPECT_EQ(cell->attempts[1].start, EXCHANGE + DIFS);
	start_b = 2 * (EXCHANGE + DIFS) + slots_b * SLOT;
	EXPECT_EQ(cell->attempts[2].from, b);
	EXPECT_EQ(cell->attempts[2].start, start_b);
	start_a = start_b + EXCHANGE + DIFS + (slots_a - slots_b) * SLOT;
	EXPECT_EQ(cell->attempts[3].from, a);
	EXPECT_EQ(cell->attempts[3].start, start_a);
	EXPECT_EQ(cell->n_attempts, 4);
	cell_end(cell);
}

/* Window 1: two stations meet in every slot until both give up. */
static void collision_until_drop(int *failures)
{
	struct cell *cell = cell_begin(true, UINT_MAX, 1);
	int a = cell_station(cell, 1, 1, 7);
	int b = cell_station(cell, 1, 1, 4);
	const struct mac_counters *ca = &cell->mac.stations[a].counters;
	const struct mac_counters *cb = &cell->mac.stations[b].counters;

	cell_send(cell, a, b, 0);
	cell_send(cell, b, a, 0);
	cell_play(cell, US(100000));
	/* b gives up after its 4th attempt, so a's 5th goes through. */
	EXPECT_EQ(cell->n_attempts, 9);
	for (int i = 0; i < 8; i++) {
		EXPECT(cell->attempts[i].collided);
		EXPECT_EQ(cell->attempts[i].start,
			  (i / 2) * (DATA + ACK_TIMEOUT));
	}
	EXPECT(!cell->attempts[8].collided);
	EXPECT_EQ(cell->outcomes[0].from, b);
	EXPECT(!cell->outcomes[0].acked);
	EXPECT_EQ(cell->outcomes[0].attempts, 4);
	EXPECT(cell->outcomes[1].acked);
	EXPECT_EQ(cell->outcomes[1].attempts, 5);
	EXPECT_EQ(cb->drops, 1);
	EXPECT_EQ(ca->delivered, 1);
	EXPECT_EQ(ca->collisions, 4);
	EXPECT_EQ(ca->retries, 4);
	EXPECT_EQ(cell->n_delivered, 1);
	cell_end(cell);
}

/* Counts that end less than a slot apart meet; a slot apart they do not. */
static void collision_window(int *failures)
{
	static const struct { ns_t after; bool collide; } cases[] = {
		{ 0, true }, { SLOT - 1, true }, { SLOT, false },
	};

	for (int i = 0; i < 3; i++) {
		struct cell *cell = cell_begin(true, UINT_MAX, 1);
		int a = cell_station(cell, 1, 1024, 7);
		int b = cell_station(cell, 1, 1024, 7);

		cell_send(cell, a, b, US(100));
		cell_send(cell, b, a, US(100));
		/* As if b's own wait ended that much later. */
		cell->mac.stations[b].resume = US(100) + cases[i].after;
		cell_play(cell, US(100) + DATA + SLOT);
		EXPECT_EQ(cell->attempts[0].collided, cases[i].collide);
		cell_end(cell);
	}
}

static void observer_waits_eifs(int *failures)
{
	for (int eifs = 0; eifs <= 1; eifs++) {
		struct cell *cell = cell_begin(eifs, UINT_MAX, 1);
		int a = cell_station(cell, 1, 1, 1);
		int b = cell_station(cell, 1, 1, 1);
		int c = cell_station(cell, 1, 1, 7);

		cell_send(cell, a, b, 0);
		cell_send(cell, b, a, 0);
		cell_send(cell, c, a, DATA / 2);
		cell_play(cell, US(100000));
		EXPECT_EQ(cell->attempts[2].from, c);
		EXPECT_EQ(cell->attempts[2].start, DATA + (eifs ? EIFS : DIFS));
		cell_end(cell);
	}
}

/* A correct frame after the collision ends everybody's EIFS. */
static void eifs_ends_with_a_good_frame(int *failures)
{
	struct cell *cell = cell_begin(true, UINT_MAX, 1);
	int a = cell_station(cell, 1, 1, 1);
	int b = cell_station(cell, 1, 1, 1);
	int c = cell_station(cell, 1, 1, 7);

	cell_send(cell, a, b, 0);
	cell_send(cell, b, a, 0);
	cell_send(cell, c, a, DATA / 2);
	/* a did not observe the collision: it goes first, after its timeout. */
	cell_send(cell, a, b, DATA + 1);
	cell_play(cell, US(100000));
	EXPECT_EQ(cell->attempts[2].from, a);
	EXPECT_EQ(cell->attempts[2].start, DATA + ACK_TIMEOUT);
	EXPECT_EQ(cell->attempts[3].from, c);
	EXPECT_EQ(cell->attempts[3].start,
		  DATA + ACK_TIMEOUT + EXCHANGE + DIFS);
	cell_end(cell);
}

/* Nobody answers: window 32, 64, ... 1024, 1024, back to 32 after the drop. */
static void window_doubles(int *failures)
{
	static const unsigned int windows[] = { 64, 128, 256, 512, 1024, 1024 };
	struct cell *cell = cell_begin(true, UINT_MAX, 5);
	int a = cell_station(cell, 32, 1024, 7);
	struct rng draws = cell_draws(cell, a);
	ns_t start = 0;

	cell_send(cell, a, MAC_NOBODY, 0);
	cell_send(cell, a, MAC_NOBODY, 0);
	cell_play(cell, 10 * NS_PER_S);
	EXPECT_EQ(cell->attempts[0].start, 0);
	for (int i = 0; i < 6; i++) {
		start += DATA + ACK_TIMEOUT + rng_below(&draws, windows[i]) * SLOT;
		EXPECT_EQ(cell->attempts[i + 1].start, start);
	}
	start += DATA + ACK_TIMEOUT + rng_below(&draws, 32) * SLOT;
	EXPECT_EQ(cell->attempts[7].start, start);
	EXPECT_EQ(cell->n_attempts, 14);
	EXPECT_EQ(cell->n_delivered, 0);
	EXPECT_EQ(cell->mac.stations[a].counters.drops, 2);
	EXPECT_EQ(cell->mac.stations[a].counters.unanswered, 14);
	EXPECT_EQ(cell->mac.stations[a].counters.collisions, 0);
	cell_end(cell);
}

static void broadcast_has_no_ack(int *failures)
{
	struct cell *cell = cell_begin(true, UINT_MAX, 1);
	int a = cell_station(cell, 1, 1, 7);
	int b = cell_station(cell, 1, 1, 7);

	cell_send(cell, a, MAC_EVERYBODY, 0);
	cell_send(cell, b, a, 1);
	cell_play(cell, DATA);
	EXPECT_EQ(cell->n_delivered, 1);
	EXPECT_EQ(cell->outcomes[0].at, DATA);
	EXPECT(!cell->outcomes[0].acked);
	cell_play(cell, US(100000));
	EXPECT_EQ(cell->attempts[1].start, DATA + DIFS);
	/* Lost in a collision, it is not repeated. */
	cell_send(cell, a, MAC_EVERYBODY, US(200000));
	cell_send(cell, b, MAC_EVERYBODY, US(200000));
	cell_play(cell, US(300000));
	EXPECT_EQ(cell->n_attempts, 4);
	EXPECT(cell->attempts[3].collided);
	EXPECT_EQ(cell->n_delivered, 2);
	EXPECT_EQ(cell->mac.stations[a].counters.broadcasts, 2);
	EXPECT_EQ(cell->mac.stations[a].counters.broadcast_collisions, 1);
	EXPECT_EQ(cell->mac.stations[a].counters.tx, 0);
	cell_end(cell);
}

/* RTS at 2 Mb/s 192 + 80, CTS 192 + 56: a collision costs the RTS alone. */
static void rts_cts(int *failures)
{
	struct cell *cell = cell_begin(true, 0, 1);
	int a = cell_station(cell, 1, 1, 2);
	int b = cell_station(cell, 1, 1, 1);
	ns_t rts = US(272), cts = US(248);
	ns_t second = rts + ACK_TIMEOUT;

	cell_send(cell, a, b, 0);
	cell_send(cell, b, a, 0);
	cell_play(cell, US(100000));
	EXPECT(cell->attempts[0].collided);
	EXPECT_EQ(cell->outcomes[0].at, rts);
	EXPECT_EQ(cell->attempts[2].start, second);
	EXPECT_EQ(cell->delivered_at[0],
		  second + rts + SIFS + cts + SIFS + DATA);
	EXPECT_EQ(cell->outcomes[1].at,
		  second + rts + SIFS + cts + SIFS + EXCHANGE);
	cell_end(cell);
}

/* What a trace is told: when each part of an exchange was in the air. */
static void attempt_times(int *failures)
{
	struct cell *cell = cell_begin(true, 0, 1);
	int a = cell_station(cell, 1, 1, 1);
	int b = cell_station(cell, 1, 1, 1);
	ns_t rts = US(272), cts = US(248), cts_end = rts + SIFS + cts;
	const struct mac_attempt *times = &cell->times;

	cell_send(cell, a, b, 0);
	cell_play(cell, US(10000));
	EXPECT_EQ(times->end, MAC_END_HEARD);
	EXPECT_EQ(times->rts_end, rts);
	EXPECT_EQ(times->cts_end, cts_end);
	EXPECT_EQ(times->data_start, cts_end + SIFS);
	EXPECT_EQ(times->data_end, cts_end + SIFS + DATA);
	EXPECT_EQ(times->ack_start, times->data_end + SIFS);
	EXPECT_EQ(times->ack_end, times->ack_start + ACK);

	/* Two at once: the RTS alone was in the air. */
	cell_send(cell, a, b, US(20000));
	cell_send(cell, b, a, US(20000));
	cell_play(cell, US(30000));
	EXPECT_EQ(times->end, MAC_END_COLLIDED);
	EXPECT_EQ(times->rts_end, US(20000) + rts);
	EXPECT_EQ(times->cts_end, 0);
	EXPECT_EQ(times->data_end, 0);
	EXPECT_EQ(times->ack_end, 0);
	cell_end(cell);
}

static void mark_starts_anew(int *failures)
{
	struct cell *cell = cell_begin(true, UINT_MAX, 9);
	int a = cell_station(cell, 32, 1024, 7);
	struct rng fresh = cell_draws(cell, a);
	const struct mac_counters *c = &cell->mac.stations[a].counters;
	uint64_t digest = cell->mac.digest;

	for (int i = 0; i < 3; i++)
		cell_send(cell, a, MAC_NOBODY, 0);
	cell_play(cell, US(5000));
	EXPECT(c->tx > 0);
	EXPECT(cell->mac.digest != digest);
	mac_mark(&cell->mac, US(5000));
	EXPECT_EQ(cell->mac.digest, digest);
	EXPECT_EQ(c->tx, 0);
	EXPECT_EQ(c->frames_in, 0);
	EXPECT_EQ(c->backlog_start, 3);
	EXPECT_EQ(cell->mac.airtime.unanswered, 0);
	EXPECT_EQ(rng_next(&cell->mac.stations[a].rng), rng_next(&fresh));
	cell_end(cell);
}

static void losses_begin_at_mark(int *failures)
{
	struct mac_config config = mac_defaults(phy_find("hrdsss-11"));
	struct cell *cell;
	int a, b;

	config.channel = (struct channel_config){ .kind = CHANNEL_LOSS, .loss = 1 };
	cell = cell_of(&config);
	a = cell_station(cell, 32, 1024, 2);
	b = cell_station(cell, 32, 1024, 2);
	mac_spare_losses(&cell->mac);
	cell_send(cell, a, b, 0);
	cell_play(cell, US(10000));
	EXPECT_EQ(cell->n_outcomes, 1);
	EXPECT(cell->outcomes[0].acked);
	mac_mark(&cell->mac, US(10000));
	cell_send(cell, a, b, US(10000));
	cell_play(cell, US(20000));
	EXPECT_EQ(cell->n_outcomes, 2);
	EXPECT(!cell->outcomes[1].acked);
	cell_end(cell);
}

/* Whether the frames of @a and @b were in the air at the same time. */
static bool overlap(const struct attempt *a, const struct attempt *b)
{
	return a->start < b->start + DATA && b->start < a->start + DATA;
}

/*
 * All hear each other, at one rate, without RTS and without capture: attempts
 * overlap only if they begin within a slot, and just those that do are collided.
 */
static void check_attempts(const struct cell *cell, int *failures)
{
	EXPECT(cell->n_attempts <= LOG_MAX);
	for (int i = 0; i < cell->n_attempts && i < LOG_MAX; i++) {
		const struct attempt *attempt = &cell->attempts[i];
		bool alone = true;

		for (int j = 0; j < cell->n_attempts && j < LOG_MAX; j++) {
			const struct attempt *other = &cell->attempts[j];

			if (j == i || !overlap(attempt, other))
				continue;
			EXPECT(attempt->start - other->start < SLOT ||
			       other->start - attempt->start < SLOT);
			alone = false;
		}
		EXPECT_EQ(attempt->collided, !alone);
	}
}

static void check_counters(const struct cell *cell, int *failures)
{
	const struct mac_airtime *air = &cell->mac.airtime;
	uint64_t attempts = 0;

	for (int i = 0; i < cell->mac.n_stations; i++) {
		const struct mac_station *s = &cell->mac.stations[i];
		const struct mac_counters *c = &s->counters;

		EXPECT_EQ(c->frames_in, c->delivered + c->drops +
					c->broadcasts + s->backlog);
		EXPECT_EQ(c->tx, c->delivered + c->collisions + c->unanswered);
		EXPECT(c->queue_high_water >= s->backlog);
		attempts += c->tx + c->broadcasts;
	}
	EXPECT_EQ(attempts, cell->n_attempts);
	EXPECT(air->success + air->collision + air->broadcast +
	       air->unanswered <= cell->now);
}

/* Random arrivals of every kind, near saturation: what always holds. */
static void random_traffic(int *failures)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct cell *cell = cell_begin(seed & 1, UINT_MAX, seed);
		struct rng rng;
		ns_t t = 0;

		rng_seed(&rng, seed, 0);
		for (int i = 0; i < 6; i++)
			cell_station(cell, 16 << (i % 2), 256, 1 + i);
		for (int i = 0; i < 1500; i++) {
			int from = rng_below(&rng, 6);
			int to = (int)rng_below(&rng, 8) - 2;

			t += rng_below(&rng, 2 * EXCHANGE);
			cell_send(cell, from, to, t);
		}
		cell_play(cell, t + EXCHANGE);
		check_counters(cell, failures);
		check_attempts(cell, failures);
		cell_end(cell);
	}
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "an idle medium is taken at once", immediate_access },
		{ "a busy medium means backoff", backoff_after_busy },
		{ "a backoff follows each transmission", post_transmission_backoff },
		{ "a used-up backoff is gone", used_up_backoff_is_gone },
		{ "counts freeze while the medium is busy", count_freezes },
		{ "colliders retry until their limit", collision_until_drop },
		{ "less than a slot apart is a collision", collision_window },
		{ "observers of a collision wait EIFS", observer_waits_eifs },
		{ "a good frame ends EIFS", eifs_ends_with_a_good_frame },
		{ "the window doubles up to its limit", window_doubles },
		{ "broadcast has neither ACK nor retry", broadcast_has_no_ack },
		{ "RTS/CTS shortens collisions", rts_cts },
		{ "a trace hears of each part of an exchange", attempt_times },
		{ "a mark starts statistics and streams anew", mark_starts_anew },
		{ "spared losses begin at the mark", losses_begin_at_mark },
		{ "counters and attempts add up", random_traffic },
		{ }
	};

	return tap_run(cases);
}
