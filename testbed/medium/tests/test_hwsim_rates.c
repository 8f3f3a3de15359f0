// SPDX-License-Identifier: GPL-2.0-only
/* What the kernel's rate control says, and what it is told back. */
#include "../hwsim/hwsim_rates.c"
#include "phy/phy_profile.h"

#include "tap.h"

#define G2	2412
#define G5	5180

static struct hwsim_rates one(int index, uint16_t flags)
{
	return (struct hwsim_rates){
		.tries = { { index, 3 }, { -1, 0 }, { -1, 0 }, { -1, 0 } },
		.flags = { flags },
	};
}

/* The rate of one entry; 0 if it is refused. */
static unsigned int rate_from(const char *profile, int index, uint16_t flags,
			      uint32_t freq)
{
	struct hwsim_rates rates = one(index, flags);
	struct rate_chain chain;

	if (!hwsim_rate_chain(&rates, freq, phy_find(profile), &chain))
		return 0;
	return chain.rate[0];
}

static void indices(int *failures)
{
	EXPECT_EQ(rate_from("hrdsss-11", 0, 0, G2), 10);
	EXPECT_EQ(rate_from("hrdsss-11", 3, 0, G2), 110);
	EXPECT_EQ(rate_from("hrdsss-11", 4, 0, G2), 0);
	EXPECT_EQ(rate_from("erp-ofdm-54", 11, 0, G2), 540);
	EXPECT_EQ(rate_from("ofdm-54", 0, 0, G5), 60);
	EXPECT_EQ(rate_from("ofdm-54", 7, 0, G5), 540);
	EXPECT_EQ(rate_from("ofdm-54", 8, 0, G5), 0);
	EXPECT_EQ(rate_from("ht20", 6, HWSIM_RATE_MCS, G5), 585);
	EXPECT_EQ(rate_from("ht20", 0, 0, G5), 60);
	/* Two streams, 40 MHz and the short guard interval are not here. */
	EXPECT_EQ(rate_from("ht20", 8, HWSIM_RATE_MCS, G5), 0);
	EXPECT_EQ(rate_from("ht20", 7, HWSIM_RATE_MCS | HWSIM_RATE_40_MHZ, G5), 0);
	EXPECT_EQ(rate_from("ht20", 7, HWSIM_RATE_MCS | HWSIM_RATE_SHORT_GI, G5), 0);
	EXPECT_EQ(rate_from("vht80", 9, HWSIM_RATE_VHT_MCS | HWSIM_RATE_80_MHZ, G5),
		  3900);
	EXPECT_EQ(rate_from("vht80", 1, HWSIM_RATE_VHT_MCS | HWSIM_RATE_80_MHZ, G5),
		  585);
	EXPECT_EQ(rate_from("vht80", 9, HWSIM_RATE_VHT_MCS, G5), 0);
	EXPECT_EQ(rate_from("vht80", 0x19, HWSIM_RATE_VHT_MCS | HWSIM_RATE_80_MHZ, G5),
		  0);
	/* HT's MCS 6 has the number of VHT's MCS 1. */
	EXPECT_EQ(rate_from("vht80", 6, HWSIM_RATE_MCS, G5), 0);
}

static void chains(int *failures)
{
	struct hwsim_rates rates = {
		.tries = { { 3, 2 }, { 2, 0 }, { 1, 4 }, { 0, 1 } },
	};
	struct rate_chain chain;

	EXPECT(hwsim_rate_chain(&rates, G2, phy_find("hrdsss-11"), &chain));
	EXPECT_EQ(rate_chain_attempts(&chain), 7);
	EXPECT_EQ(rate_chain_next(&chain, 0), 110);
	EXPECT_EQ(rate_chain_next(&chain, 1), 110);
	EXPECT_EQ(rate_chain_next(&chain, 2), 20);
	EXPECT_EQ(rate_chain_next(&chain, 5), 20);
	EXPECT_EQ(rate_chain_next(&chain, 6), 10);
	/* What is behind the end does not count. */
	rates.tries[2].index = -1;
	EXPECT(hwsim_rate_chain(&rates, G2, phy_find("hrdsss-11"), &chain));
	EXPECT_EQ(rate_chain_attempts(&chain), 2);
	rates = one(-1, 0);
	EXPECT(hwsim_rate_chain(&rates, G2, phy_find("hrdsss-11"), &chain));
	EXPECT_EQ(rate_chain_attempts(&chain), 0);
	/* One rate that is not there, and none of the chain is taken. */
	rates = (struct hwsim_rates){ .tries = { { 3, 2 }, { 5, 2 }, { -1, 0 } } };
	EXPECT(!hwsim_rate_chain(&rates, G2, phy_find("hrdsss-11"), &chain));
	EXPECT_EQ(rate_chain_attempts(&chain), 0);
}

/* hwsim keeps its flags by place, so each count must be in its own. */
static void status(int *failures)
{
	static const struct hwsim_tx_rate tries[HWSIM_TX_RATES] = {
		{ 7, 2 }, { 5, 0 }, { 3, 4 }, { -1, 0 },
	};
	struct hwsim_tx_rate done[HWSIM_TX_RATES];

	hwsim_tries_done(tries, 1, done);
	EXPECT_EQ(done[0].index, 7);
	EXPECT_EQ(done[0].count, 1);
	EXPECT_EQ(done[1].index, -1);
	EXPECT_EQ(done[2].index, -1);
	hwsim_tries_done(tries, 5, done);
	EXPECT_EQ(done[0].count, 2);
	EXPECT_EQ(done[1].count, 0);
	EXPECT_EQ(done[2].index, 3);
	EXPECT_EQ(done[2].count, 3);
	EXPECT_EQ(done[3].index, -1);
}

/* Those of 802.11-2012, Table 20-30, and 802.11ac-2013, 22.5, one stream. */
static void mcs(int *failures)
{
	struct hwsim_tx_rate_flag found = { 0 };

	EXPECT(hwsim_rate_mcs(650, phy_find("ht20"), &found));
	EXPECT_EQ(found.index, 7);
	EXPECT_EQ(found.flags, HWSIM_RATE_MCS);
	EXPECT(hwsim_rate_mcs(65, phy_find("ht20"), &found));
	EXPECT_EQ(found.index, 0);
	EXPECT(hwsim_rate_mcs(3900, phy_find("vht80"), &found));
	EXPECT_EQ(found.index, 9);
	EXPECT_EQ(found.flags, HWSIM_RATE_VHT_MCS | HWSIM_RATE_80_MHZ);
	/* Group-addressed and management frames. */
	EXPECT(!hwsim_rate_mcs(60, phy_find("ht20"), &found));
	EXPECT(!hwsim_rate_mcs(110, phy_find("hrdsss-11"), &found));
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "indices and flags are rates, or refused", indices },
		{ "four entries are a retry chain", chains },
		{ "the TX status has each count in its place", status },
		{ "rates of HT and VHT are told as MCS", mcs },
		{ }
	};

	return tap_run(cases);
}
