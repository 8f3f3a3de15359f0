/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The radio channel: whether a frame that did not collide arrives.
 *
 * At a given bit error rate, bit errors are independent. The rate may change in
 * time. A frame is lost when one bit of it is wrong. With Reed-Solomon coding it
 * is lost when a code word has more wrong symbols than it can correct. The
 * changes of the rate have random numbers of their own, so they do not depend on
 * what the stations send.
 *
 * Source: E. N. Gilbert, "Capacity of a Burst-Noise Channel", BSTJ 39, 1960; in
 * continuous time as in channel-errors, section 3. That paper has the FEC too.
 */
#ifndef DCFMEDIUM_CHANNEL_H
#define DCFMEDIUM_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "phy/phy_rate.h"
#include "rng.h"

enum channel_kind {
	CHANNEL_IDEAL,
	CHANNEL_LOSS,	/* each frame is lost with one probability */
	CHANNEL_BER,	/* one bit error rate */
	CHANNEL_GE,	/* Gilbert-Elliott: two rates in turn */
	CHANNEL_TRACE,	/* rates by the clock */
	CHANNEL_SNR,	/* errors by modulation and SNR (error_rate.h) */
};

/* From @at, since the beginning or the mark, the bit error rate is @ber. */
struct channel_step {
	ns_t at;
	double ber;
};

struct channel_config {
	enum channel_kind kind;
	double loss;
	double ber[2];		/* good, bad; CHANNEL_BER: the first */
	double mean_s[2];	/* mean duration of good and bad, exponential */
	double snr_db;		/* of stations that have none of their own */
	double fading_db;	/* standard deviation of each PPDU's SNR in dB */
	bool shared;		/* one state for all links */
	const struct channel_step *trace;
	size_t n_trace;
	/* RS(fec_n, fec_k) over octets while the state is bad; 0 = none */
	unsigned int fec_n;
	unsigned int fec_k;
};

/* The channel between two stations, both ways. */
struct channel_link {
	struct rng errors;	/* whether a frame is lost */
	struct rng states;	/* how long a state lasts */
	bool bad;
	ns_t until;		/* the end of the state */
	size_t step;		/* of the trace */
};

/* What a station's SNR means for each of phy_rates[]: error_rate_octet(). */
struct channel_quality {
	double snr_db;
	double octet[PHY_N_RATES];
};

void channel_rate(struct channel_quality *quality, double snr_db);

/*
 * Start @link anew at @now; @a and @b are the stations' addresses as numbers,
 * plus multiples of this for further categories of one radio: those have the
 * channel's states in common, though not which frames are lost.
 */
#define CHANNEL_OTHER_CATEGORY	(1ULL << 48)

void channel_start(const struct channel_config *config,
		   struct channel_link *link, uint64_t seed, uint64_t a,
		   uint64_t b, ns_t now);

/* Whether a frame that begins at @t is to be coded. Time never goes back. */
bool channel_codes(const struct channel_config *config,
		   struct channel_link *link, ns_t t);

/*
 * Length in the air of a coded frame of @bytes: its parity octets too. The last
 * word, and the only one of a short frame, has fewer, by its length.
 */
unsigned int channel_coded_bytes(const struct channel_config *config,
				 unsigned int bytes);

/*
 * Whether @bytes sent from @start to @end arrive over @link, whose clock began
 * at @origin. One draw a call, but for CHANNEL_IDEAL.
 */
bool channel_passes(const struct channel_config *config,
		    struct channel_link *link, ns_t origin, ns_t start,
		    ns_t end, unsigned int bytes, bool coded);

/* Whether a frame arrives that is lost with probability @loss. One draw a call. */
bool channel_spares(struct channel_link *link, double loss);

/*
 * Whether @bytes at @rate arrive over @link, CHANNEL_SNR, whose ends are @a and
 * @b: the lower SNR of the two is the link's. With fading, its value at each
 * call is normally distributed in dB around that. One draw a call, three with
 * fading.
 */
bool channel_hears(const struct channel_config *config,
		   struct channel_link *link, const struct channel_quality *a,
		   const struct channel_quality *b, const struct phy_rate *rate,
		   unsigned int bytes);

/*
 * Probability that RS(@n, @k) over octets fails at a bit error rate of @ber:
 * more than (n - k) / 2 of its octets are wrong (bounded distance decoding).
 */
double channel_code_word_loss(unsigned int n, unsigned int k, double ber);

#endif
