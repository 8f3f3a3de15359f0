// SPDX-License-Identifier: GPL-2.0-only
/*
 * xoshiro256** and splitmix64 from the papers named in rng.h, and bounded
 * integers after D. Lemire, "Fast Random Integer Generation in an Interval",
 * ACM TOMACS 29(1), 2019.
 */
#include "rng.h"

static uint64_t rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

uint64_t splitmix64(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

void rng_seed(struct rng *rng, uint64_t seed, uint64_t stream)
{
	uint64_t state = splitmix64(&seed) ^ stream;

	for (int i = 0; i < 4; i++)
		rng->s[i] = splitmix64(&state);
}

uint64_t rng_next(struct rng *rng)
{
	uint64_t *s = rng->s;
	uint64_t result = rotl(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return result;
}

uint32_t rng_below(struct rng *rng, uint32_t n)
{
	uint64_t product = (rng_next(rng) >> 32) * n;

	/* Only a product in the first 2^32 mod n of its bucket is biased. */
	if ((uint32_t)product < n) {
		uint32_t excess = -n % n;

		while ((uint32_t)product < excess)
			product = (rng_next(rng) >> 32) * n;
	}
	return product >> 32;
}
