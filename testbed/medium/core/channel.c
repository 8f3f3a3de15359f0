// SPDX-License-Identifier: GPL-2.0-only
/* The radio channel: see channel.h. */
#include <math.h>

#include "channel.h"
#include "phy/error_rate.h"
#include "phy/phy_rate.h"

/* Streams of one link for different purposes must differ. */
enum channel_stream {
	STREAM_ERRORS = 1,
	STREAM_STATES = 2,
};

static void seed_stream(struct rng *rng, uint64_t seed, uint64_t a, uint64_t b,
			enum channel_stream purpose)
{
	uint64_t low = a < b ? a : b, high = a < b ? b : a;
	uint64_t state = (low + ((uint64_t)purpose << 56));

	state = splitmix64(&state) ^ high;
	rng_seed(rng, seed, splitmix64(&state));
}

/* Uniform in (0, 1). */
static double uniform(struct rng *rng)
{
	return ((rng_next(rng) >> 11) + 0.5) / 9007199254740992.0;
}

static ns_t duration(const struct channel_config *config,
		     struct channel_link *link)
{
	double s = -log(uniform(&link->states)) * config->mean_s[link->bad];

	return 1 + (ns_t)(s * NS_PER_S);
}

void channel_start(const struct channel_config *config,
		   struct channel_link *link, uint64_t seed, uint64_t a,
		   uint64_t b, ns_t now)
{
	const double *mean = config->mean_s;
	uint64_t state_a = config->shared ? 0 : a % CHANNEL_OTHER_CATEGORY;
	uint64_t state_b = config->shared ? 0 : b % CHANNEL_OTHER_CATEGORY;

	seed_stream(&link->errors, seed, a, b, STREAM_ERRORS);
	seed_stream(&link->states, seed, state_a, state_b, STREAM_STATES);
	link->step = 0;
	link->bad = false;
	link->until = NS_NEVER;
	if (config->kind != CHANNEL_GE)
		return;
	/* In its stationary state; what is left of an exponential is one. */
	link->bad = uniform(&link->states) * (mean[0] + mean[1]) < mean[1];
	link->until = now + duration(config, link);
}

static void advance(const struct channel_config *config,
		    struct channel_link *link, ns_t t)
{
	while (link->until <= t) {
		link->bad = !link->bad;
		link->until += duration(config, link);
	}
}

/* The rate at @t, and in *@until the time it changes. */
static double rate_at(const struct channel_config *config,
		      struct channel_link *link, ns_t origin, ns_t t,
		      ns_t *until)
{
	const struct channel_step *trace = config->trace;

	*until = NS_NEVER;
	if (config->kind == CHANNEL_BER)
		return config->ber[0];
	if (config->kind == CHANNEL_GE) {
		advance(config, link, t);
		*until = link->until;
		return config->ber[link->bad];
	}
	while (link->step + 1 < config->n_trace &&
	       origin + trace[link->step + 1].at <= t)
		link->step++;
	if (link->step + 1 < config->n_trace)
		*until = origin + trace[link->step + 1].at;
	return trace[link->step].ber;
}

bool channel_codes(const struct channel_config *config,
		   struct channel_link *link, ns_t t)
{
	if (!config->fec_n || config->kind != CHANNEL_GE)
		return false;
	advance(config, link, t);
	return link->bad;
}

/* A shorter word has its share of parity octets: a punctured RS code. */
static unsigned int parity_bytes(const struct channel_config *config,
				 unsigned int bytes)
{
	unsigned int parity = config->fec_n - config->fec_k;

	return (bytes * parity + config->fec_k - 1) / config->fec_k;
}

unsigned int channel_coded_bytes(const struct channel_config *config,
				 unsigned int bytes)
{
	return bytes + parity_bytes(config, bytes);
}

double channel_code_word_loss(unsigned int n, unsigned int k, double ber)
{
	double wrong = -expm1(8 * log1p(-ber));	/* of an octet */
	double loss = 0;

	if (wrong <= 0)
		return 0;
	/* The small tail itself, not 1 minus the rest. */
	for (unsigned int i = (n - k) / 2 + 1; i <= n; i++)
		loss += exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) +
			    i * log(wrong) + (n - i) * log1p(-wrong));
	return loss;
}

/* Probability that @share of a frame of @bytes passes at @ber. */
static double pass_probability(const struct channel_config *config, double ber,
			       unsigned int bytes, double share, bool coded)
{
	unsigned int words = 0, rest = bytes;
	double kept;

	if (!coded)
		return exp(8.0 * bytes * share * log1p(-ber));
	if (bytes >= config->fec_k) {
		words = bytes / config->fec_k;
		rest = bytes % config->fec_k;
	}
	kept = pow(1 - channel_code_word_loss(config->fec_n, config->fec_k, ber),
		   words);
	kept *= 1 - channel_code_word_loss(rest + parity_bytes(config, rest),
					   rest, ber);
	return pow(kept, share);
}

bool channel_spares(struct channel_link *link, double loss)
{
	return uniform(&link->errors) >= loss;
}

bool channel_passes(const struct channel_config *config,
		    struct channel_link *link, ns_t origin, ns_t start,
		    ns_t end, unsigned int bytes, bool coded)
{
	double pass = 1;
	ns_t t = start, until;

	if (config->kind == CHANNEL_IDEAL)
		return true;
	if (config->kind == CHANNEL_LOSS)
		return channel_spares(link, config->loss);
	/* The bits of the frame are spread evenly over its time. */
	while (t < end) {
		double ber = rate_at(config, link, origin, t, &until);

		if (until > end)
			until = end;
		pass *= pass_probability(config, ber, bytes,
					 (double)(until - t) / (end - start),
					 coded);
		t = until;
	}
	return uniform(&link->errors) < pass;
}

void channel_rate(struct channel_quality *quality, double snr_db)
{
	quality->snr_db = snr_db;
	for (int i = 0; i < PHY_N_RATES; i++)
		quality->octet[i] = error_rate_octet(&phy_rates[i], snr_db);
}

/* Standard normal: G. E. P. Box, M. E. Muller, Ann. Math. Statist. 29(2), 1958. */
static double normal(struct rng *rng)
{
	double radius = sqrt(-2 * log(uniform(rng)));

	return radius * cos(2 * M_PI * uniform(rng));
}

bool channel_hears(const struct channel_config *config,
		   struct channel_link *link, const struct channel_quality *a,
		   const struct channel_quality *b, const struct phy_rate *rate,
		   unsigned int bytes)
{
	const struct channel_quality *worse = a->snr_db < b->snr_db ? a : b;
	double octet = worse->octet[rate - phy_rates];

	if (config->fading_db)
		octet = error_rate_octet(rate, worse->snr_db + config->fading_db *
					 normal(&link->errors));
	return uniform(&link->errors) < exp(bytes * octet);
}
