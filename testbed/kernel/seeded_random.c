// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random numbers that follow from a seed, for a User-mode Linux kernel.
 *
 * User-mode Linux takes all its entropy from the host's getrandom(). Preloaded
 * into the kernel's process, this one answers from a splitmix64 sequence
 * (Steele, Lea and Flood, OOPSLA 2014) started by LAB_RANDOM_SEED, so that
 * ports, initial sequence numbers and hash keys repeat from run to run.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

ssize_t getrandom(void *buf, size_t len, unsigned int flags);

static uint64_t splitmix64(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

ssize_t getrandom(void *buf, size_t len, unsigned int flags)
{
	static uint64_t state;
	static int seeded;
	unsigned char *p = buf;
	size_t left = len;

	(void)flags;
	if (!seeded) {
		const char *seed = getenv("LAB_RANDOM_SEED");

		state = seed ? strtoull(seed, NULL, 0) : 0;
		seeded = 1;
	}
	while (left) {
		uint64_t word = splitmix64(&state);
		size_t n = left < sizeof(word) ? left : sizeof(word);

		memcpy(p, &word, n);
		p += n;
		left -= n;
	}
	return len;
}
