// SPDX-License-Identifier: GPL-2.0-only
/* The channel against the distributions it is meant to have. */
#include <math.h>
#include <string.h>

#include "cell.h"
#include "chi_square.h"
#include "core/channel.h"
#include "phy/phy.h"
#include "phy/phy_profile.h"
#include "tap.h"

#define SAMPLES	20000

/* The channel of channel-errors: 0.1 s and 0.0333 s, 1e-6 and 1e-2. */
static const struct channel_config bursty = {
	.kind = CHANNEL_GE,
	.ber = { 1e-6, 1e-2 },
	.mean_s = { 0.1, 0.0333 },
	.fec_n = 255, .fec_k = 181,
};

static void durations(int *failures)
{
	double counts[2][20] = { 0 }, expected[20];
	struct channel_link link;
	ns_t since;

	for (int i = 0; i < 20; i++)
		expected[i] = SAMPLES / 20.0;
	channel_start(&bursty, &link, 1, 2, 3, 0);
	since = link.until;
	for (int i = 0; i < 2 * SAMPLES; i++) {
		double share;
		int state;

		channel_codes(&bursty, &link, since);
		state = link.bad;
		share = 1 - exp(-(double)(link.until - since) / NS_PER_S /
				bursty.mean_s[state]);
		counts[state][(int)(share * 20)]++;
		since = link.until;
	}
	EXPECT(chi_square(counts[0], expected, 20) < CHI_SQUARE_19);
	EXPECT(chi_square(counts[1], expected, 20) < CHI_SQUARE_19);
}

/* Frames of 100 bytes that lie wholly in one state; the rates apart. */
static void errors_by_state(int *failures)
{
	static const struct channel_config config = {
		.kind = CHANNEL_GE, .ber = { 1e-4, 1e-3 },
		.mean_s = { 0.1, 0.05 }, .fec_n = 255, .fec_k = 181,
	};
	double counts[2][2] = { 0 };
	struct channel_link link;
	ns_t t = 0;

	channel_start(&config, &link, 5, 2, 3, 0);
	for (int i = 0; i < 4 * SAMPLES; i++, t += 3 * NS_PER_US * 1000) {
		bool bad = channel_codes(&config, &link, t);

		if (link.until > t + US(500))
			counts[bad][channel_passes(&config, &link, 0, t,
						   t + US(500), 100, false)]++;
	}
	for (int state = 0; state < 2; state++) {
		double n = counts[state][0] + counts[state][1];
		double pass = pow(1 - config.ber[state], 800);
		double expected[] = { n * (1 - pass), n * pass };

		EXPECT(n > SAMPLES);
		EXPECT(chi_square(counts[state], expected, 2) < CHI_SQUARE_1);
	}
}

/*
 * Frames much shorter than a state, all lost while it is bad and none else: a
 * chain of two states seen every 10 ms, so runs of losses are geometric with
 * P(bad again) = pb + pg exp(-10 ms (1 / 100 ms + 1 / 33.3 ms)).
 */
static void runs_of_errors(int *failures)
{
	struct channel_config config = bursty;
	double again = 0.0333 / 0.1333 + 0.1 / 0.1333 *
		       exp(-0.01 * (1 / 0.1 + 1 / 0.0333));
	double counts[10] = { 0 }, expected[10];
	struct channel_link link;
	int run = 0, runs = 0;

	config.ber[0] = 0;
	config.ber[1] = 0.5;
	channel_start(&config, &link, 3, 2, 3, 0);
	for (ns_t t = 0; runs < SAMPLES; t += 10 * US(1000)) {
		if (!channel_passes(&config, &link, 0, t, t + 1, 1500, false)) {
			run++;
			continue;
		}
		if (run) {
			counts[run < 10 ? run - 1 : 9]++;
			runs++;
		}
		run = 0;
	}
	for (int i = 0; i < 10; i++)
		expected[i] = SAMPLES * pow(again, i) * (i < 9 ? 1 - again : 1);
	EXPECT(chi_square(counts, expected, 10) < CHI_SQUARE_9);
}

/* A frame half in a bad state has half its bits there. */
static void straddling_frames(int *failures)
{
	static const struct channel_step steps[] = { { 0, 0 }, { US(500), 1e-3 } };
	static const struct channel_config config = {
		.kind = CHANNEL_TRACE, .trace = steps, .n_trace = 2,
	};
	double pass = pow(1 - 1e-3, 400), counts[2] = { 0 };
	double expected[] = { SAMPLES * (1 - pass), SAMPLES * pass };

	for (int i = 0; i < SAMPLES; i++) {
		struct channel_link link;

		channel_start(&config, &link, i, 2, 3, 0);
		counts[channel_passes(&config, &link, 0, 0, US(1000), 100,
				      false)]++;
	}
	EXPECT(chi_square(counts, expected, 2) < CHI_SQUARE_1);
}

static void code_words(int *failures)
{
	double w = 1 - pow(0.99, 8);
	double three = channel_code_word_loss(3, 1, 0.01);

	/* RS(3, 1) corrects one octet: lost when two or three are wrong. */
	EXPECT(fabs(three - (3 * w * w * (1 - w) + w * w * w)) < 1e-12);
	EXPECT_EQ(channel_code_word_loss(255, 181, 0) * 1e9, 0);
	/* Words of 181 with 74 octets of parity, 71 %; less by the last one's length. */
	EXPECT_EQ(channel_coded_bytes(&bursty, 181), 255);
	EXPECT_EQ(channel_coded_bytes(&bursty, 1000), 1000 + 5 * 74 + 39);
	EXPECT_EQ(channel_coded_bytes(&bursty, PHY_ACK_BYTES), 14 + 6);
}

/* What is sent, and how much, has no effect on the states. */
static void states_are_apart(int *failures)
{
	struct mac_config config = mac_defaults(phy_find("hrdsss-11"));
	struct cell *busy, *quiet;

	config.channel = bursty;
	busy = cell_of(&config);
	quiet = cell_of(&config);
	for (int i = 0; i < 2; i++) {
		cell_station(busy, 32, 1024, 7);
		cell_station(quiet, 32, 1024, 7);
	}
	for (int i = 0; i < 100; i++)
		cell_send(busy, 0, 1, i * US(3000));
	cell_send(busy, 0, 1, US(5000000));
	cell_send(quiet, 1, 0, US(5000000));
	cell_play(busy, US(6000000));
	cell_play(quiet, US(6000000));
	channel_codes(&config.channel, &busy->mac.links[0], US(7000000));
	channel_codes(&config.channel, &quiet->mac.links[0], US(7000000));
	EXPECT_EQ(busy->mac.links[0].until, quiet->mac.links[0].until);
	EXPECT_EQ(busy->mac.links[0].bad, quiet->mac.links[0].bad);
	EXPECT(memcmp(&busy->mac.links[0].errors, &quiet->mac.links[0].errors,
		      sizeof(struct rng)));
	cell_end(busy);
	cell_end(quiet);
}

/* All frames lost: M attempts, each followed by the ACK timeout. */
static void losses_end_in_a_drop(int *failures)
{
	struct mac_config config = mac_defaults(phy_find("hrdsss-11"));
	struct cell *cell;
	int a, b;

	config.channel = (struct channel_config){ CHANNEL_LOSS, .loss = 1 };
	cell = cell_of(&config);
	a = cell_station(cell, 1, 1, 4);
	b = cell_station(cell, 1, 1, 4);
	cell_send(cell, a, b, 0);
	cell_play(cell, US(100000));
	EXPECT_EQ(cell->n_attempts, 4);
	for (int i = 0; i < 4; i++)
		EXPECT_EQ(cell->attempts[i].start, i * (DATA + ACK_TIMEOUT));
	EXPECT_EQ(cell->n_delivered, 0);
	EXPECT_EQ(cell->mac.stations[a].counters.lost, 4);
	EXPECT_EQ(cell->mac.stations[a].counters.drops, 1);
	cell_end(cell);
}

/* Data arrives and the ACK does not: delivered again, then dropped. */
static void lost_acks_repeat(int *failures)
{
	static const struct channel_step steps[] = { { 0, 0 }, { DATA, 0.5 } };
	struct mac_config config = mac_defaults(phy_find("hrdsss-11"));
	struct cell *cell;
	int a, b;

	config.channel = (struct channel_config){
		.kind = CHANNEL_TRACE, .trace = steps, .n_trace = 2,
	};
	cell = cell_of(&config);
	a = cell_station(cell, 1, 1, 3);
	b = cell_station(cell, 1, 1, 3);
	cell_send(cell, a, b, 0);
	cell_play(cell, US(100000));
	EXPECT_EQ(cell->n_delivered, 1);
	EXPECT_EQ(cell->mac.stations[a].counters.acks_lost, 1);
	EXPECT_EQ(cell->mac.stations[a].counters.lost, 3);
	EXPECT_EQ(cell->mac.stations[a].counters.drops, 1);
	EXPECT_EQ(cell->attempts[1].start, EXCHANGE + EIFS);
	cell_end(cell);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "states last exponentially long", durations },
		{ "each state has its error rate", errors_by_state },
		{ "runs of errors are those of the chain", runs_of_errors },
		{ "frames across a change of state", straddling_frames },
		{ "Reed-Solomon code words", code_words },
		{ "states do not depend on what is sent", states_are_apart },
		{ "a frame that is always lost is dropped", losses_end_in_a_drop },
		{ "a lost ACK repeats the frame", lost_acks_repeat },
		{ }
	};

	return tap_run(cases);
}
