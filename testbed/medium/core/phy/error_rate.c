// SPDX-License-Identifier: GPL-2.0-only
/*
 * Error probabilities by modulation and SNR: see error_rate.h.
 *
 * DSSS, differential detection (J. G. Proakis, "Digital Communications", 4th
 * ed., 5.2.8), with Eb/N0 = SNR * 22 MHz / bit rate:
 *	DBPSK	Pb = exp(-Eb/N0) / 2
 *	DQPSK	Pb = Q1(a, b) - I0(ab) exp(-(a^2 + b^2) / 2) / 2,
 *		a^2, b^2 = 2 Eb/N0 (1 -+ sqrt(1/2))
 * with Marcum's function as a finite integral (M. K. Simon and M.-S. Alouini,
 * "Digital Communication over Fading Channels", 8.1.5).
 *
 * HR/DSSS, coherent detection, Es/N0 = 16 SNR (22 MHz times 8 chips): the 16
 * code words of 5.5 Mb/s are 8 orthogonal signals and their negatives, for which
 * Proakis 5.2.2 has
 *	P16 = 1 - integral over v > 0 of (1 - 2 Q(v))^7 phi(v - sqrt(2 Es/N0))
 * A word of 11 Mb/s is treated as two of these with half the energy each, as in
 * ns-3. tests/medium/test_snr.py compares this with detection of all 256 words:
 *	P256 = 1 - (1 - P16(Es/N0 / 2))^2
 *
 * OFDM (M. Lacage and T. R. Henderson, "Yet Another Network Simulator", WNS2
 * 2006; G. Pei and T. R. Henderson, "Validation of OFDM error rate model in
 * ns-3", 2010): hard decisions, errors of coded bits independent. Gray coding,
 * nearest neighbours: p = 4 / log2(M) (1 - 1 / sqrt(M)) Q(sqrt(3 SNR / (M - 1))),
 * BPSK Q(sqrt(2 SNR)). An error event of the Viterbi decoder begins at a place
 * of the trellis with probability at most (union bound)
 *	Pu = sum of a_d P_d over d.
 * P_d is the probability that of two paths d apart the wrong one looks more
 * likely; if both look equally likely, half of the probability counts.
 */
#include <float.h>
#include <math.h>

#include "error_rate.h"

#define DSSS_BAND_MBPS	22.0	/* MHz */
#define SPECTRUM_TERMS	10

/*
 * a_d of the K = 7 code (133, 171) from d_free on, summed over the @period input
 * bits of its puncturing. The leading ones are in P. Frenger, P. Orten and T.
 * Ottosson, IEEE Commun. Lett. 3(11), 1999 (rate 1/2) and D. Haccoun and G.
 * Begin, IEEE Trans. Commun. 37(11), 1989 (punctured); all are counted anew,
 * path by path, by testbed/apbed/papers/error_rate.py.
 */
static const struct spectrum {
	unsigned int period;
	unsigned int d_free;
	double paths[SPECTRUM_TERMS];
} spectra[] = {
	[PHY_CODE_1_2] = { 1, 10, { 11, 0, 38, 0, 193, 0, 1331, 0, 7275, 0 } },
	[PHY_CODE_2_3] = { 2, 6, { 1, 16, 48, 158, 642, 2435, 9174, 34701,
				   131533, 499312 } },
	[PHY_CODE_3_4] = { 3, 5, { 8, 31, 160, 892, 4512, 23297, 120976, 624304,
				   3229885, 16721329 } },
	[PHY_CODE_5_6] = { 5, 4, { 14, 69, 654, 4996, 39677, 314973, 2503576,
				   19875546, 157824160, 1253169928 } },
};

/* The tail of the normal distribution. */
static double q(double x)
{
	return erfc(x * M_SQRT1_2) / 2;
}

static double dbpsk_bit(double snr)
{
	return exp(-snr * DSSS_BAND_MBPS / 1) / 2;
}

static double dqpsk_bit(double snr)
{
	double ebn0 = snr * DSSS_BAND_MBPS / 2;
	double a = sqrt(2 * ebn0 * (1 - M_SQRT1_2));
	double b = sqrt(2 * ebn0 * (1 + M_SQRT1_2));
	double zeta = a / b, sum = 0;
	const int steps = 512;

	/* Over a whole period the trapezoidal rule is as good as any. */
	for (int i = 0; i < steps; i++) {
		double w = 1 + 2 * zeta * sin(2 * M_PI * i / steps) + zeta * zeta;

		sum += (1 - zeta * zeta) / w * exp(-b * b / 2 * w);
	}
	return sum / steps / 2;
}

/* Symbol error of 16 biorthogonal signals; the error itself is integrated. */
static double biorthogonal_16(double esn0)
{
	double mean = sqrt(2 * esn0), sum = 0;
	const double reach = 9, step = 1.0 / 256;

	for (double v = fmax(mean - reach, 0) + step / 2; v < mean + reach; v += step) {
		double others = -expm1(7 * log1p(-fmin(2 * q(v), 1 - DBL_EPSILON)));

		sum += others * exp(-(v - mean) * (v - mean) / 2);
	}
	return fmin(q(mean) + sum * step / sqrt(2 * M_PI), 15.0 / 16);
}

/* Of a coded bit, hard decision. */
static double qam_bit(enum phy_modulation modulation, double snr)
{
	double m, bits;

	switch (modulation) {
	case PHY_BPSK:
		return q(sqrt(2 * snr));
	case PHY_QPSK:
		return q(sqrt(snr));
	case PHY_16QAM:
		m = 16, bits = 4;
		break;
	case PHY_64QAM:
		m = 64, bits = 6;
		break;
	default:
		m = 256, bits = 8;
		break;
	}
	return 4 / bits * (1 - 1 / sqrt(m)) * q(sqrt(3 * snr / (m - 1)));
}

/* That of two paths @d bits apart the wrong one is chosen. */
static double wrong_path(unsigned int d, double p)
{
	double choose = 1, sum = 0;

	for (unsigned int k = 0; k <= d; k++) {
		if (2 * k >= d)
			sum += (2 * k == d ? 0.5 : 1) * choose * pow(p, k) *
			       pow(1 - p, d - k);
		choose = choose * (d - k) / (k + 1);
	}
	return sum;
}

/* Log of the probability that a data bit of the coded stream is right. */
static double coded_bit(const struct phy_rate *rate, double snr)
{
	const struct spectrum *spectrum = &spectra[rate->code];
	double p = qam_bit(rate->modulation, snr), event = 0;

	for (unsigned int i = 0; i < SPECTRUM_TERMS; i++)
		event += spectrum->paths[i] *
			 wrong_path(spectrum->d_free + i, p);
	return log1p(-fmin(event, 1 - DBL_EPSILON)) / spectrum->period;
}

double error_rate_octet(const struct phy_rate *rate, double snr_db)
{
	double snr = pow(10, fmin(fmax(snr_db, SNR_DB_MIN), SNR_DB_MAX) / 10);

	switch (rate->modulation) {
	case PHY_DBPSK:
		return 8 * log1p(-dbpsk_bit(snr));
	case PHY_DQPSK:
		return 8 * log1p(-dqpsk_bit(snr));
	case PHY_CCK_5_5:	/* two words */
		return 2 * log1p(-biorthogonal_16(16 * snr));
	case PHY_CCK_11:
		return 2 * log1p(-biorthogonal_16(8 * snr));
	default:
		return 8 * coded_bit(rate, snr);
	}
}
