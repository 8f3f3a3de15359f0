// SPDX-License-Identifier: GPL-2.0-only
/*
 * TXOP limits (802.11-2012, 9.19.2.4) and the short and long retry limits
 * (9.3.3, 9.19.2.6): every expected time is a sum of the standard's intervals.
 */
#include "cell.h"
#include "phy/phy_profile.h"
#include "tap.h"

#define RTS	US(272)
#define CTS	US(248)

static int category(struct cell *cell, ns_t txop)
{
	struct mac_station_config config = {
		.addr = { 2, 0, 0, 0, cell->mac.n_stations, 0 },
		.retry_limit = 7, .cw_min = 1, .cw_max = 1, .aifsn = 2,
		.txop = txop,
	};

	return mac_add_station(&cell->mac, &config);
}

/* Two exchanges and SIFS between them last 3146 us; a us less is for one. */
static void bursts(int *failures)
{
	for (int fits = 0; fits <= 1; fits++) {
		struct cell *cell = cell_begin(true, UINT_MAX, 1);
		int a = category(cell, US(3145 + fits));
		int b = category(cell, 0);
		ns_t second = EXCHANGE + (fits ? SIFS : DIFS);

		for (int i = 0; i < 3; i++)
			cell_send(cell, a, b, 0);
		cell_play(cell, US(100000));
		EXPECT_EQ(cell->attempts[0].start, 0);
		EXPECT_EQ(cell->attempts[1].start, second);
		EXPECT_EQ(cell->attempts[2].start, second + EXCHANGE + DIFS);
		EXPECT_EQ(cell->mac.stations[a].counters.txop_bursts, fits);
		cell_end(cell);
	}
}

/* Who waits gets its turn after the burst, not within; the burst's owner backs off. */
static void a_burst_is_not_broken(int *failures)
{
	struct cell *cell = cell_begin(true, UINT_MAX, 1);
	int a = category(cell, US(3146)), b = category(cell, 0);

	for (int i = 0; i < 3; i++)
		cell_send(cell, a, b, 0);
	cell_send(cell, b, a, DATA);
	cell->mac.stations[a].config.cw_min = 1024;
	cell->mac.stations[a].cw = 1024;
	cell_play(cell, US(100000));
	EXPECT_EQ(cell->attempts[1].from, a);
	EXPECT_EQ(cell->attempts[1].start, EXCHANGE + SIFS);
	EXPECT_EQ(cell->attempts[2].from, b);
	EXPECT_EQ(cell->attempts[2].start, 2 * EXCHANGE + SIFS + DIFS);
	EXPECT_EQ(cell->attempts[3].from, a);
	EXPECT(!cell->attempts[3].collided);
	cell_end(cell);
}

/* A frame that is lost ends the TXOP: the next attempt follows a backoff. */
static void a_failure_ends_it(int *failures)
{
	struct cell *cell = cell_begin(true, UINT_MAX, 1);
	int a = category(cell, US(10000)), b = category(cell, 0);

	cell_send(cell, a, b, 0);
	cell_send(cell, a, MAC_NOBODY, 0);
	cell_play(cell, 2 * EXCHANGE + ACK_TIMEOUT + DATA);
	EXPECT_EQ(cell->attempts[1].start, EXCHANGE + SIFS);
	EXPECT_EQ(cell->attempts[2].start,
		  EXCHANGE + SIFS + DATA + ACK_TIMEOUT);
	EXPECT_EQ(cell->mac.stations[a].counters.txop_bursts, 1);
	cell_end(cell);
}

/* RTS/CTS once, before the first frame of a TXOP. */
static void one_rts_a_burst(int *failures)
{
	struct cell *cell = cell_begin(true, 0, 1);
	ns_t first = RTS + SIFS + CTS + SIFS + EXCHANGE;
	int a = category(cell, first + SIFS + EXCHANGE), b = category(cell, 0);

	cell_send(cell, a, b, 0);
	cell_send(cell, a, b, 0);
	cell_play(cell, US(100000));
	EXPECT_EQ(cell->outcomes[0].at, first);
	EXPECT_EQ(cell->outcomes[1].at, first + SIFS + EXCHANGE);
	cell_end(cell);
}

/*
 * ht20, 65 Mb/s: k MPDUs of 1540 bytes take 36 us and 4 us for each 260 bits of
 * 22 + 8 (1544 k) bits (1540 is a multiple of 4); the block ack at 24 Mb/s
 * takes 32 us, SIFS 16 us. A TXOP of 1504 us has room for 7 (36 + 1332 + 48),
 * not for 8 (36 + 1524 + 48).
 */
static void an_ampdu_fits_the_txop(int *failures)
{
	struct cell *cell;
	struct mac_config config = mac_defaults(phy_find("ht20"));
	int a, b;

	cell = cell_of(&config);
	a = category(cell, US(1504));
	b = category(cell, 0);
	for (int i = 0; i < 64; i++) {
		struct mac_frame *frame = calloc(1, sizeof(*frame));

		*frame = (struct mac_frame){
			.to = b, .bytes = 1540, .wants_ack = true,
			.carries_data = true,
		};
		mac_enqueue(&cell->mac, a, frame, 0);
	}
	/* The first frame found the station idle, and goes with all others. */
	cell_play(cell, US(1416));
	EXPECT_EQ(cell->n_outcomes, 7);
	EXPECT_EQ(cell->outcomes[6].at, US(36 + 1332 + 16 + 32));
	cell_play(cell, US(100000));
	EXPECT_EQ(cell->n_outcomes, 64);
	EXPECT_EQ(cell->mac.stations[a].counters.txop_bursts, 0);
	cell_end(cell);
}

/* Nobody answers the RTS: SRC counts. */
static void short_limit_counts_rts(int *failures)
{
	struct cell *cell = cell_begin(true, 0, 1);
	int a = cell_station(cell, 1, 1, 7);

	cell->mac.stations[a].config.retries = (struct mac_retries){ 3, 2 };
	cell_send(cell, a, MAC_NOBODY, 0);
	cell_play(cell, US(100000));
	EXPECT_EQ(cell->n_attempts, 3);
	EXPECT_EQ(cell->mac.stations[a].counters.drops, 1);
	cell_end(cell);
}

/*
 * The channel dies behind the first CTS: that attempt counts in LRC, and what
 * follows, of which the RTS is lost, in SRC.
 */
static void long_limit_counts_data(int *failures)
{
	static const struct channel_step steps[] = { { 0, 0 },
						     { RTS + SIFS + CTS, 0.5 } };
	static const struct {
		struct mac_retries retries;
		int attempts;
	} cases[] = {
		{ { 7, 1 }, 1 }, { { 3, 2 }, 4 }, { { 1, 4 }, 2 },
	};

	for (int i = 0; i < 3; i++) {
		struct mac_config config = mac_defaults(phy_find("hrdsss-11"));
		struct cell *cell;
		int a, b;

		config.rts_threshold = 0;
		config.channel = (struct channel_config){
			.kind = CHANNEL_TRACE, .trace = steps, .n_trace = 2,
		};
		cell = cell_of(&config);
		a = cell_station(cell, 1, 1, 7);
		b = cell_station(cell, 1, 1, 7);
		cell->mac.stations[a].config.retries = cases[i].retries;
		cell_send(cell, a, b, 0);
		cell_play(cell, US(100000));
		EXPECT_EQ(cell->n_attempts, cases[i].attempts);
		EXPECT_EQ(cell->mac.stations[a].counters.drops, 1);
		cell_end(cell);
	}
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "a TXOP holds what fits, SIFS apart", bursts },
		{ "a burst is not broken", a_burst_is_not_broken },
		{ "a failure ends the TXOP", a_failure_ends_it },
		{ "one RTS a TXOP", one_rts_a_burst },
		{ "an A-MPDU fits the TXOP", an_ampdu_fits_the_txop },
		{ "the short retry limit counts RTS", short_limit_counts_rts },
		{ "the long retry limit counts data", long_limit_counts_data },
		{ }
	};

	return tap_run(cases);
}
