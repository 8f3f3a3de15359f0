// SPDX-License-Identifier: GPL-2.0-only
/*
 * The generators against the outputs of their authors' reference code
 * (prng.di.unimi.it: splitmix64.c from 1234567, xoshiro256starstar.c from
 * state 1, 2, 3, 4), and the bounded draw against what uniform means.
 */
#include "core/rng.h"
#include "tap.h"

static void splitmix64_reference(int *failures)
{
	static const uint64_t expected[] = {
		6457827717110365317U, 3203168211198807973U,
		9817491932198370423U, 4593380528125082431U,
		16408922859458223821U,
	};
	uint64_t state = 1234567;

	for (int i = 0; i < 5; i++)
		EXPECT_EQ(splitmix64(&state), expected[i]);
}

static void xoshiro_reference(int *failures)
{
	static const uint64_t expected[] = {
		11520U, 0U, 1509978240U, 1215971899390074240U,
		1216172134540287360U, 607988272756665600U,
		16172922978634559625U, 8476171486693032832U,
		10595114339597558777U, 2904607092377533576U,
	};
	struct rng rng = { .s = { 1, 2, 3, 4 } };

	for (int i = 0; i < 10; i++)
		EXPECT_EQ(rng_next(&rng), expected[i]);
}

/* Chi-square of 32 equal cells, 31 degrees of freedom: 61.1 at p = 0.001. */
static void below_is_uniform(int *failures)
{
	enum { CELLS = 32, DRAWS = 320000, EXPECTED = DRAWS / CELLS };
	int count[CELLS] = { 0 };
	double chi_square = 0;
	struct rng rng;

	rng_seed(&rng, 1, 0x020000000100);
	for (int i = 0; i < DRAWS; i++)
		count[rng_below(&rng, CELLS)]++;
	for (int i = 0; i < CELLS; i++) {
		double difference = count[i] - EXPECTED;

		chi_square += difference * difference / EXPECTED;
	}
	EXPECT(chi_square < 61.1);
}

static void below_stays_below(int *failures)
{
	static const uint32_t limits[] = { 1, 2, 3, 31, 1023, 3000000000U };
	struct rng rng;

	rng_seed(&rng, 7, 7);
	for (int l = 0; l < 6; l++)
		for (int i = 0; i < 10000; i++)
			EXPECT(rng_below(&rng, limits[l]) < limits[l]);
}

static void streams_differ(int *failures)
{
	struct rng a, b, again;

	rng_seed(&a, 1, 1);
	rng_seed(&b, 1, 2);
	rng_seed(&again, 1, 1);
	for (int i = 0; i < 100; i++) {
		uint64_t value = rng_next(&a);

		EXPECT(value != rng_next(&b));
		EXPECT_EQ(value, rng_next(&again));
	}
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "splitmix64 gives its reference outputs", splitmix64_reference },
		{ "xoshiro256** gives its reference outputs", xoshiro_reference },
		{ "a bounded draw is uniform", below_is_uniform },
		{ "a bounded draw stays below its bound", below_stays_below },
		{ "streams differ and can be repeated", streams_differ },
		{ }
	};

	return tap_run(cases);
}
