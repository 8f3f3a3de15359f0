/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pearson's chi-square of counts against expected ones. The critical values
 * are those of 0.1 %: a right generator fails one test in a thousand, and with
 * the fixed seeds of these tests it is known not to.
 */
#ifndef DCFMEDIUM_CHI_SQUARE_H
#define DCFMEDIUM_CHI_SQUARE_H

#define CHI_SQUARE_1	10.83	/* degrees of freedom */
#define CHI_SQUARE_9	27.88
#define CHI_SQUARE_19	43.82

static inline double chi_square(const double *counts, const double *expected,
				int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += (counts[i] - expected[i]) * (counts[i] - expected[i]) /
		       expected[i];
	return sum;
}

#endif
