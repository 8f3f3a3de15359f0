/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How likely a frame is to arrive without an error, by its modulation, code and
 * the signal to noise ratio, over additive white Gaussian noise. The preamble
 * and PLCP header are taken as heard.
 *
 * SNR is signal over noise power in the band of the format: 22 MHz for DSSS and
 * HR/DSSS (chips at 11 MHz); for OFDM the energy of a symbol on a subcarrier
 * over the noise density. error_rate.c has the equations and their sources.
 */
#ifndef DCFMEDIUM_ERROR_RATE_H
#define DCFMEDIUM_ERROR_RATE_H

#include "phy_rate.h"

/* The limits of an SNR in dB, beyond which nothing changes any more. */
#define SNR_DB_MIN	(-30.0)
#define SNR_DB_MAX	60.0

/*
 * Natural logarithm of the probability that an octet of a PSDU at @rate has no
 * error at @snr_db. Errors of different octets count as independent, so that n
 * octets arrive with exp(n times this). 0 or below, and finite.
 */
double error_rate_octet(const struct phy_rate *rate, double snr_db);

#endif
