// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames at rates of their own: each is in the air, and is answered, as its own
 * rate has it. Times by hand from clause 17, as in test_phy.c.
 */
#include <string.h>

#include "cell.h"
#include "phy/phy_profile.h"
#include "tap.h"

/* A frame of 1536 bytes at @rate; plays up to @t. */
static void send_at(struct cell *cell, int from, int to, unsigned int rate, ns_t t)
{
	struct mac_frame *frame = calloc(1, sizeof(*frame));

	frame->to = to;
	frame->bytes = 1536;
	frame->wants_ack = true;
	frame->carries_data = true;
	frame->rate = rate;
	cell_play(cell, t);
	mac_enqueue(&cell->mac, from, frame, t);
}

static void each_frame_its_own(int *failures)
{
	struct cell *cell = cell_begin(true, UINT_MAX, 1);
	int a = cell_station(cell, 1, 1, 7), b = cell_station(cell, 1, 1, 7);

	/* 192 us, 12288 bits at 5.5 Mb/s; an ACK at 2 Mb/s. */
	send_at(cell, a, b, 55, US(1000));
	cell_play(cell, US(50000));
	EXPECT_EQ(cell->times.data_end, US(1000 + 192 + 2235));
	EXPECT_EQ(cell->times.ack_end, US(1000 + 192 + 2235 + 10 + 248));
	/* At 1 Mb/s the ACK is at 1 Mb/s too. */
	send_at(cell, a, b, 10, US(50000));
	cell_play(cell, US(100000));
	EXPECT_EQ(cell->times.data_end, US(50000 + 192 + 12288));
	EXPECT_EQ(cell->times.ack_end, US(50000 + 192 + 12288 + 10 + 304));
	send_at(cell, a, b, 0, US(100000));
	cell_play(cell, US(150000));
	EXPECT_EQ(cell->times.ack_end, US(100000) + EXCHANGE);
	cell_end(cell);
}

static void station_has_a_rate(int *failures)
{
	struct cell *cell = cell_begin(true, UINT_MAX, 1);
	struct mac_station_config config = {
		.addr = { 2, 0, 0, 0, 9, 0 }, .retry_limit = 7,
		.cw_min = 1, .cw_max = 1, .rate = 20,
	};
	int a = cell_station(cell, 1, 1, 7);
	int slow = mac_add_station(&cell->mac, &config);

	send_at(cell, slow, a, 0, US(1000));
	cell_play(cell, US(50000));
	EXPECT_EQ(cell->times.data_end, US(1000 + 192 + 6144));
	/* What is said of the frame itself goes before. */
	send_at(cell, slow, a, 55, US(50000));
	cell_play(cell, US(100000));
	EXPECT_EQ(cell->times.data_end, US(50000 + 192 + 2235));
	send_at(cell, a, slow, 0, US(100000));
	cell_play(cell, US(150000));
	EXPECT_EQ(cell->times.data_end, US(100000) + DATA);
	cell_end(cell);
}

/* Two MPDUs for one receiver are an A-MPDU at an HT rate, and only there. */
static void aggregates_by_format(int *failures)
{
	static const struct { unsigned int rate, n; } rows[] = {
		{ 0, 2 }, { 65, 2 }, { 390, 2 }, { 360, 1 }, { 60, 1 },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct mac_config config = mac_defaults(phy_find("ht20"));
		struct cell *cell = cell_of(&config);
		int a = cell_station(cell, 1, 1, 7), b = cell_station(cell, 1, 1, 7);

		for (int j = 0; j < 2; j++)
			send_at(cell, a, b, rows[i].rate, US(1000));
		cell_play(cell, US(100000));
		EXPECT_EQ(cell->times.n, rows[i].n);
		EXPECT_EQ(cell->n_outcomes, 2);
		cell_end(cell);
	}
}

/* Nobody answers: the chain is used up attempt by attempt, then it is over. */
static void chain_is_followed(int *failures)
{
	static const ns_t data[] = {
		US(192 + 1118), US(192 + 1118), US(192 + 2235), US(192 + 12288),
		US(192 + 12288), US(192 + 12288),
	};
	struct cell *cell = cell_begin(true, UINT_MAX, 1);
	int a = cell_station(cell, 1, 1, 2);
	struct mac_frame *frame = calloc(1, sizeof(*frame));
	ns_t start = US(1000);

	frame->to = MAC_NOBODY;
	frame->bytes = 1536;
	frame->wants_ack = true;
	frame->rate = 20;
	frame->chain = (struct rate_chain){ { 110, 55, 10 }, { 2, 1, 3 } };
	cell_play(cell, start);
	mac_enqueue(&cell->mac, a, frame, start);
	cell_play(cell, US(200000));
	EXPECT_EQ(cell->n_attempts, 6);
	for (int i = 0; i < 6; i++) {
		EXPECT_EQ(cell->attempts[i].start, start);
		start += data[i] + ACK_TIMEOUT;
	}
	EXPECT_EQ(cell->n_outcomes, 1);
	EXPECT_EQ(cell->outcomes[0].attempts, 6);
	EXPECT_EQ(cell->mac.stations[a].counters.attempts_at[3], 2);
	EXPECT_EQ(cell->mac.stations[a].counters.attempts_at[2], 1);
	EXPECT_EQ(cell->mac.stations[a].counters.attempts_at[0], 3);
	EXPECT_EQ(cell->mac.stations[a].counters.drops, 1);
	cell_end(cell);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "a frame goes at its own rate", each_frame_its_own },
		{ "a station's data goes at its rate", station_has_a_rate },
		{ "a retry chain is followed to its end", chain_is_followed },
		{ "A-MPDUs are formed at HT rates only", aggregates_by_format },
		{ }
	};

	return tap_run(cases);
}
