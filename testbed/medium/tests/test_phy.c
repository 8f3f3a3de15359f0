// SPDX-License-Identifier: GPL-2.0-only
/*
 * Airtimes and inter-frame spaces against values computed by hand from the
 * clauses named in phy.c, and those printed in ns-3's Bianchi validation.
 */
#include <string.h>

#include "phy.h"
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
	EXPECT_EQ(phy_lowest_rate(b), 10);
	EXPECT_EQ(phy_lowest_rate(a54), 60);
}

/* The list in messages is kept by hand: each name in it must exist. */
static void names(int *failures)
{
	char list[256];
	int n = 0;

	strcpy(list, phy_names());
	for (char *name = strtok(list, ", "); name; name = strtok(NULL, ", ")) {
		EXPECT(phy_find(name));
		n++;
	}
	EXPECT_EQ(n, 5);
	EXPECT(!phy_find("ht20"));
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "hrdsss-11 airtimes and spaces", hrdsss_times },
		{ "hrdsss-11-short airtimes and spaces", short_preamble },
		{ "dsss-2 airtimes and spaces", dsss_times },
		{ "ofdm airtimes and spaces", ofdm_times },
		{ "control responses follow the basic rate rule", control_rates },
		{ "the list of profiles is right", names },
		{ }
	};

	return tap_run(cases);
}
