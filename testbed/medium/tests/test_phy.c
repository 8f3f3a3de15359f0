// SPDX-License-Identifier: GPL-2.0-only
/*
 * Airtimes and inter-frame spaces against values computed by hand from the
 * clauses named in phy.c, and those printed in ns-3's Bianchi validation.
 */
#include <stdio.h>
#include <string.h>

#include "phy/phy.h"
#include "phy/phy_rate.h"
#include "tap.h"

#define US(x)	((ns_t)(x) * NS_PER_US)

static void hrdsss_times(int *failures)
{
	const struct phy_profile *phy = phy_find("hrdsss-11");

	/* 1536 bytes: 192 + 12288 / 11 = 1117.09, up to 1118: ns-3's 1310. */
	EXPECT_EQ(phy_airtime(phy, 110, 1536), US(1310));
	EXPECT_EQ(phy_airtime(phy, 20, PHY_ACK_BYTES), US(192 + 56));
	EXPECT_EQ(phy_airtime(phy, 10, PHY_ACK_BYTES), US(192 + 112));
	EXPECT_EQ(phy_airtime(phy, 55, 1536), US(2427));
	EXPECT_EQ(phy_difs(phy), US(50));
	EXPECT_EQ(phy_eifs(phy), US(10 + 304 + 50));
	EXPECT_EQ(phy_ack_timeout(phy), US(10 + 20 + 192));
}

static void short_preamble(int *failures)
{
	const struct phy_profile *phy = phy_find("hrdsss-11-short");

	EXPECT_EQ(phy_airtime(phy, 110, 1536), US(96 + 1118));
	EXPECT_EQ(phy_airtime(phy, 20, PHY_ACK_BYTES), US(96 + 56));
	/* 1 Mb/s exists with the long preamble only, so EIFS is the same. */
	EXPECT_EQ(phy_airtime(phy, 10, PHY_ACK_BYTES), US(192 + 112));
	EXPECT_EQ(phy_eifs(phy), US(364));
}

static void dsss_times(int *failures)
{
	const struct phy_profile *phy = phy_find("dsss-2");

	EXPECT_EQ(phy_airtime(phy, 20, 1536), US(192 + 6144));
	EXPECT_EQ(phy_eifs(phy), US(364));
}

static void ofdm_times(int *failures)
{
	const struct phy_profile *phy = phy_find("ofdm-54");

	/* (22 + 12288) / 216 = 56.99: 57 symbols. ACK: 134 / 96: 2 symbols. */
	EXPECT_EQ(phy_airtime(phy, 540, 1536), US(20 + 57 * 4));
	EXPECT_EQ(phy_airtime(phy, 240, PHY_ACK_BYTES), US(28));
	/* (22 + 12288) / 48 = 256.46: 257 symbols. ACK: 134 / 48: 3 symbols. */
	EXPECT_EQ(phy_airtime(phy, 120, 1536), US(20 + 257 * 4));
	EXPECT_EQ(phy_airtime(phy, 120, PHY_ACK_BYTES), US(32));
	EXPECT_EQ(phy_difs(phy), US(34));
	/* ACK at 6 Mb/s: 134 / 24: 6 symbols, 44 us. */
	EXPECT_EQ(phy_eifs(phy), US(16 + 44 + 34));
	EXPECT_EQ(phy_ack_timeout(phy), US(16 + 9 + 25));
}

static void control_rates(int *failures)
{
	const struct phy_profile *b = phy_find("hrdsss-11");
	const struct phy_profile *a12 = phy_find("ofdm-12");
	const struct phy_profile *a54 = phy_find("ofdm-54");

	EXPECT_EQ(phy_control_rate(b, 110), 20);
	EXPECT_EQ(phy_control_rate(b, 20), 20);
	EXPECT_EQ(phy_control_rate(b, 10), 10);
	EXPECT_EQ(phy_control_rate(a12, 120), 120);
	EXPECT_EQ(phy_control_rate(a54, 540), 240);
	EXPECT_EQ(phy_control_rate(a54, 60), 60);
	EXPECT_EQ(b->lowest_rate, 10);
	EXPECT_EQ(a54->lowest_rate, 60);
}

static void erp_times(int *failures)
{
	const struct phy_profile *g = phy_find("erp-ofdm-54");
	const struct phy_profile *slow = phy_find("erp-ofdm-54-longslot");
	const struct phy_profile *mixed = phy_find("erp-ofdm-54-protected");

	/* As clause 18, and 6 us of signal extension. */
	EXPECT_EQ(phy_airtime(g, 540, 1536), US(20 + 57 * 4 + 6));
	EXPECT_EQ(phy_airtime(g, 240, PHY_ACK_BYTES), US(34));
	EXPECT_EQ(phy_difs(g), US(28));
	EXPECT_EQ(phy_difs(slow), US(50));
	/* The lowest mandatory rate is 1 Mb/s. */
	EXPECT_EQ(phy_eifs(g), US(10 + 304 + 28));
	EXPECT_EQ(phy_airtime(mixed, 10, PHY_ACK_BYTES), US(304));
	/* CTS-to-self at 2 Mb/s, 192 + 56 us, and SIFS; none before DSSS. */
	EXPECT_EQ(phy_protection(g, 540), 0);
	EXPECT_EQ(phy_protection(slow, 540), 0);
	EXPECT_EQ(phy_protection(mixed, 540), US(248 + 10));
	EXPECT_EQ(phy_protection(mixed, 10), 0);
	EXPECT_EQ(phy_control_rate(mixed, 540), 240);
	EXPECT_EQ(phy_control_rate(mixed, 10), 10);
	EXPECT_EQ(mixed->lowest_rate, 10);
}

static void ht_times(int *failures)
{
	const struct phy_profile *n = phy_find("ht20");
	const struct phy_profile *ac = phy_find("vht80");

	/* (22 + 12288) / 260 = 47.3: 48 symbols after 36 us of preamble. */
	EXPECT_EQ(phy_airtime(n, 650, 1536), US(36 + 48 * 4));
	/* (22 + 12288) / 1560 = 7.9: 8 symbols after 40 us. */
	EXPECT_EQ(phy_airtime(ac, 3900, 1536), US(40 + 8 * 4));
	/* Legacy frames have a legacy preamble: block ack, 278 / 96 bits. */
	EXPECT_EQ(phy_airtime(n, 240, 32), US(20 + 3 * 4));
	EXPECT_EQ(phy_control_rate(n, 650), 240);
	/* VHT MCS 0 is BPSK 1/2 at 80 MHz: its reference is 6 Mb/s, not 24. */
	EXPECT_EQ(phy_control_rate(ac, 293), 60);
	EXPECT_EQ(phy_control_rate(ac, 585), 120);
	EXPECT_EQ(phy_control_rate(ac, 878), 120);
	EXPECT_EQ(phy_control_rate(ac, 1170), 240);
	EXPECT_EQ(phy_control_rate(phy_find("ht20-mcs0"), 65), 60);
	EXPECT_EQ(phy_control_rate(phy_find("ht20-mcs2"), 195), 120);
	EXPECT_EQ(phy_difs(n), US(34));
	EXPECT_EQ(phy_eifs(ac), US(16 + 44 + 34));
}

/*
 * Data bits per symbol: Table 18-4; Table 20-30: 52 data carriers; 22.5:
 * 234 of them; times bits per carrier times code rate. One symbol more or less
 * is what a PSDU one byte beyond a whole number of symbols shows.
 */
static void symbols(int *failures)
{
	static const struct { const char *name; unsigned int bits; } rows[] = {
		{ "ofdm-6", 24 }, { "ofdm-9", 36 }, { "ofdm-12", 48 },
		{ "ofdm-18", 72 }, { "ofdm-24", 96 }, { "ofdm-36", 144 },
		{ "ofdm-48", 192 }, { "ofdm-54", 216 },
		{ "ht20-mcs0", 26 }, { "ht20-mcs1", 52 }, { "ht20-mcs2", 78 },
		{ "ht20-mcs3", 104 }, { "ht20-mcs4", 156 },
		{ "ht20-mcs5", 208 }, { "ht20-mcs6", 234 },
		{ "ht20-mcs7", 260 },
		{ "vht80-mcs0", 117 }, { "vht80-mcs1", 234 },
		{ "vht80-mcs2", 351 }, { "vht80-mcs3", 468 },
		{ "vht80-mcs4", 702 }, { "vht80-mcs5", 936 },
		{ "vht80-mcs6", 1053 }, { "vht80-mcs7", 1170 },
		{ "vht80-mcs8", 1404 }, { "vht80-mcs9", 1560 },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct phy_profile *phy = phy_find(rows[i].name);
		unsigned int fit = (1000 * rows[i].bits - 22) / 8;

		EXPECT_EQ(phy_airtime(phy, phy->data_rate, fit),
			  US(phy->plcp_us + 4000));
		EXPECT_EQ(phy_airtime(phy, phy->data_rate, fit + 1),
			  US(phy->plcp_us + 4004));
	}
}

/* A frame at another rate of the family has that family's format. */
static void rate_per_frame(int *failures)
{
	const struct phy_profile *b = phy_find("hrdsss-11");
	const struct phy_profile *n = phy_find("ht20");
	const struct phy_profile *ac = phy_find("vht80");
	char text[128];

	for (int i = 0; i < 8; i++) {
		char name[24];

		snprintf(name, sizeof(name), "ht20-mcs%d", i);
		EXPECT_EQ(phy_airtime(n, phy_rate_by_index(PHY_FORMAT_HT, i)->rate, 1536),
			  phy_airtime(phy_find(name), phy_find(name)->data_rate, 1536));
		EXPECT_EQ(phy_rate_by_index(PHY_FORMAT_HT, i)->rate,
			  phy_find(name)->data_rate);
	}
	for (int i = 0; i < 10; i++) {
		char name[24];

		snprintf(name, sizeof(name), "vht80-mcs%d", i);
		EXPECT_EQ(phy_rate_by_index(PHY_FORMAT_VHT, i)->rate,
			  phy_find(name)->data_rate);
	}
	/* MCS 4 of HT, 39 Mb/s, is no legacy rate; 36 Mb/s is one. */
	EXPECT(phy_own_format(n, 390));
	EXPECT(!phy_own_format(n, 360));
	EXPECT_EQ(phy_airtime(n, 360, 1536), US(20 + 86 * 4));
	/* 58.5 Mb/s is MCS 6 of HT, 64-QAM, and MCS 1 of VHT, QPSK. */
	EXPECT_EQ(phy_rate_of(n, 585)->modulation, PHY_64QAM);
	EXPECT_EQ(phy_rate_of(ac, 585)->modulation, PHY_QPSK);
	EXPECT(!phy_rate_of(ac, 650));
	EXPECT(!phy_rate_of(b, 60));
	EXPECT(!phy_rate_of(phy_find("dsss-2"), 55));
	EXPECT(!phy_rate_by_index(PHY_FORMAT_HT, 8));
	phy_rate_list(b, text, sizeof(text));
	EXPECT(!strcmp(text, "1, 2, 5.5, 11"));
	phy_rate_list(n, text, sizeof(text));
	EXPECT(!strcmp(text, "6, 9, 12, 18, 24, 36, 48, 54, 6.5, 13, 19.5, 26, "
			     "39, 52, 58.5, 65"));
}

/* What messages call a pattern exists with all that the pattern stands for. */
static void names(int *failures)
{
	static const unsigned int rates[] = { 6, 9, 12, 18, 24, 36, 48, 54 };
	static const char *const patterns[] = {
		"ofdm-%u", "erp-ofdm-%u", "erp-ofdm-%u-longslot",
		"erp-ofdm-%u-protected",
	};
	char name[64];

	for (int i = 0; i < 4; i++) {
		for (int j = 0; j < 8; j++) {
			snprintf(name, sizeof(name), patterns[i], rates[j]);
			EXPECT(phy_find(name));
		}
	}
	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "ht20-mcs%d", i);
		EXPECT_EQ(phy_find(name) != NULL, i < 8);
		snprintf(name, sizeof(name), "vht80-mcs%d", i);
		EXPECT(phy_find(name));
	}
	EXPECT(strstr(phy_names(), "erp-ofdm-R-protected"));
	EXPECT(!phy_find("ofdm-11"));
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "hrdsss-11 airtimes and spaces", hrdsss_times },
		{ "hrdsss-11-short airtimes and spaces", short_preamble },
		{ "dsss-2 airtimes and spaces", dsss_times },
		{ "ofdm airtimes and spaces", ofdm_times },
		{ "erp-ofdm airtimes, spaces and protection", erp_times },
		{ "ht20 and vht80 airtimes and spaces", ht_times },
		{ "data bits per symbol", symbols },
		{ "control responses follow the basic rate rule", control_rates },
		{ "a frame at another rate has its family's format", rate_per_frame },
		{ "the list of profiles is right", names },
		{ }
	};

	return tap_run(cases);
}
