// SPDX-License-Identifier: GPL-2.0-only
/* The rates of the physical layers: see phy_rate.h. */
#include <stdio.h>

#include "phy_rate.h"

#define DSSS(rate, modulation, index)					\
	{ rate, PHY_FORMAT_DSSS, modulation, PHY_UNCODED, index, rate }
#define OFDM(rate, modulation, code, index)				\
	{ rate, PHY_FORMAT_OFDM, modulation, code, index, rate }
#define HT(rate, modulation, code, index, reference)			\
	{ rate, PHY_FORMAT_HT, modulation, code, index, reference }
#define VHT(rate, modulation, code, index, reference)			\
	{ rate, PHY_FORMAT_VHT, modulation, code, index, reference }

/*
 * Table 9-5 names a non-HT reference rate by constellation and code; what is
 * finer than 64-QAM 3/4 has that of 64-QAM 3/4, 54 Mb/s.
 */
const struct phy_rate phy_rates[PHY_N_RATES] = {
	DSSS(10, PHY_DBPSK, 0),
	DSSS(20, PHY_DQPSK, 1),
	DSSS(55, PHY_CCK_5_5, 2),
	DSSS(110, PHY_CCK_11, 3),
	OFDM(60, PHY_BPSK, PHY_CODE_1_2, 0),
	OFDM(90, PHY_BPSK, PHY_CODE_3_4, 1),
	OFDM(120, PHY_QPSK, PHY_CODE_1_2, 2),
	OFDM(180, PHY_QPSK, PHY_CODE_3_4, 3),
	OFDM(240, PHY_16QAM, PHY_CODE_1_2, 4),
	OFDM(360, PHY_16QAM, PHY_CODE_3_4, 5),
	OFDM(480, PHY_64QAM, PHY_CODE_2_3, 6),
	OFDM(540, PHY_64QAM, PHY_CODE_3_4, 7),
	HT(65, PHY_BPSK, PHY_CODE_1_2, 0, 60),
	HT(130, PHY_QPSK, PHY_CODE_1_2, 1, 120),
	HT(195, PHY_QPSK, PHY_CODE_3_4, 2, 180),
	HT(260, PHY_16QAM, PHY_CODE_1_2, 3, 240),
	HT(390, PHY_16QAM, PHY_CODE_3_4, 4, 360),
	HT(520, PHY_64QAM, PHY_CODE_2_3, 5, 480),
	HT(585, PHY_64QAM, PHY_CODE_3_4, 6, 540),
	HT(650, PHY_64QAM, PHY_CODE_5_6, 7, 540),
	VHT(293, PHY_BPSK, PHY_CODE_1_2, 0, 60),
	VHT(585, PHY_QPSK, PHY_CODE_1_2, 1, 120),
	VHT(878, PHY_QPSK, PHY_CODE_3_4, 2, 180),
	VHT(1170, PHY_16QAM, PHY_CODE_1_2, 3, 240),
	VHT(1755, PHY_16QAM, PHY_CODE_3_4, 4, 360),
	VHT(2340, PHY_64QAM, PHY_CODE_2_3, 5, 480),
	VHT(2633, PHY_64QAM, PHY_CODE_3_4, 6, 540),
	VHT(2925, PHY_64QAM, PHY_CODE_5_6, 7, 540),
	VHT(3510, PHY_256QAM, PHY_CODE_3_4, 8, 540),
	VHT(3900, PHY_256QAM, PHY_CODE_5_6, 9, 540),
};

static bool can_send(const struct phy_profile *phy, const struct phy_rate *row)
{
	switch (phy->kind) {
	case PHY_DSSS:
		return row->format == PHY_FORMAT_DSSS &&
		       row->rate <= phy->data_rate;
	case PHY_OFDM:
		return row->format == PHY_FORMAT_OFDM;
	case PHY_ERP:
		return row->format == PHY_FORMAT_DSSS ||
		       row->format == PHY_FORMAT_OFDM;
	case PHY_HT:
		return row->format == PHY_FORMAT_OFDM ||
		       row->format == PHY_FORMAT_HT;
	case PHY_VHT:
		return row->format == PHY_FORMAT_OFDM ||
		       row->format == PHY_FORMAT_VHT;
	}
	return false;
}

const struct phy_rate *phy_rate_of(const struct phy_profile *phy,
				   unsigned int rate)
{
	for (int i = 0; i < PHY_N_RATES; i++)
		if (phy_rates[i].rate == rate && can_send(phy, &phy_rates[i]))
			return &phy_rates[i];
	return NULL;
}

const struct phy_rate *phy_rate_by_index(enum phy_format format,
					 unsigned int index)
{
	for (int i = 0; i < PHY_N_RATES; i++)
		if (phy_rates[i].format == format && phy_rates[i].index == index)
			return &phy_rates[i];
	return NULL;
}

void phy_rate_list(const struct phy_profile *phy, char *text, size_t size)
{
	size_t used = 0;

	*text = '\0';
	for (int i = 0; i < PHY_N_RATES; i++) {
		if (!can_send(phy, &phy_rates[i]) || used >= size)
			continue;
		used += snprintf(text + used, size - used, "%s%.4g",
				 used ? ", " : "", phy_rates[i].rate / 10.0);
	}
}
