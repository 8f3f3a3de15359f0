/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A multi-rate retry chain: the rate of each attempt of a frame. mac80211 gives it
 * to its drivers as up to four rates in order, each with a number of attempts
 * (struct ieee80211_tx_rate).
 */
#ifndef DCFMEDIUM_RATE_CHAIN_H
#define DCFMEDIUM_RATE_CHAIN_H

#define RATE_CHAIN_MAX	4

struct rate_chain {
	unsigned int rate[RATE_CHAIN_MAX];	/* 100 kb/s */
	unsigned int count[RATE_CHAIN_MAX];	/* attempts; all 0 = no chain */
};

/* Attempts in all; 0 without a chain. */
static inline unsigned int rate_chain_attempts(const struct rate_chain *chain)
{
	unsigned int attempts = 0;

	for (int i = 0; i < RATE_CHAIN_MAX; i++)
		attempts += chain->count[i];
	return attempts;
}

/* The rate after @attempts, of which there are more to come. */
static inline unsigned int rate_chain_next(const struct rate_chain *chain,
					   unsigned int attempts)
{
	int i = 0;

	while (i + 1 < RATE_CHAIN_MAX && attempts >= chain->count[i])
		attempts -= chain->count[i++];
	return chain->rate[i];
}

#endif
