/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The medium's own random numbers: xoshiro256** seeded by splitmix64, so that
 * a run can be repeated on any C library.
 *
 * Source: D. Blackman and S. Vigna, "Scrambled Linear Pseudorandom Number
 * Generators", ACM TOMS 47(4), 2021; G. Steele et al., "Fast Splittable
 * Pseudorandom Number Generators", OOPSLA 2014.
 */
#ifndef DCFMEDIUM_RNG_H
#define DCFMEDIUM_RNG_H

#include <stdint.h>

struct rng {
	uint64_t s[4];
};

/* Next output of splitmix64; advances @state. Also a good 64-bit mixer. */
uint64_t splitmix64(uint64_t *state);

/* Start stream number @stream of @seed. Streams of one seed are independent. */
void rng_seed(struct rng *rng, uint64_t seed, uint64_t stream);

uint64_t rng_next(struct rng *rng);

/* Uniform in 0 .. @n - 1, without bias; @n is at least 1. */
uint32_t rng_below(struct rng *rng, uint32_t n);

#endif
