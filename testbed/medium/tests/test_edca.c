// SPDX-License-Identifier: GPL-2.0-only
/* EDCA's parameters and which category a frame belongs to. */
#include <stdlib.h>

#include "../edca.c"
#include "phy/phy_profile.h"

#include "tap.h"

/* What edca.c says to a wrong option; not called here. */
void usage_error(const char *format, ...)
{
	(void)format;
	abort();
}

/* Table 8-105 for aCWmin 15 and 31, aCWmax 1023, as numbers of values. */
static void defaults(int *failures)
{
	struct edca_parameters p[EDCA_CATEGORIES];

	edca_defaults(phy_find("ofdm-54"), p);
	EXPECT_EQ(p[EDCA_BK].aifsn, 7);
	EXPECT_EQ(p[EDCA_BK].cw_max, 1024);
	EXPECT_EQ(p[EDCA_BE].aifsn, 3);
	EXPECT_EQ(p[EDCA_BE].cw_min, 16);
	EXPECT_EQ(p[EDCA_VI].aifsn, 2);
	EXPECT_EQ(p[EDCA_VI].cw_min, 8);
	EXPECT_EQ(p[EDCA_VI].cw_max, 16);
	EXPECT_EQ(p[EDCA_VO].aifsn, 2);
	EXPECT_EQ(p[EDCA_VO].cw_min, 4);
	EXPECT_EQ(p[EDCA_VO].cw_max, 8);
	EXPECT_EQ(p[EDCA_BE].txop_us, 0);
	EXPECT_EQ(p[EDCA_VI].txop_us, 3008);
	EXPECT_EQ(p[EDCA_VO].txop_us, 1504);
	EXPECT_EQ(edca_parse("default", phy_find("hrdsss-11"), p), 4);
	EXPECT_EQ(p[EDCA_VO].cw_min, 8);
	EXPECT_EQ(p[EDCA_VO].cw_max, 16);
	EXPECT_EQ(p[EDCA_VI].txop_us, 6016);
	EXPECT_EQ(p[EDCA_VO].txop_us, 3264);
	EXPECT_EQ(edca_parse("7:32:64,1:2:4:320", phy_find("hrdsss-11"), p), 2);
	EXPECT_EQ(p[1].aifsn, 1);
	EXPECT_EQ(p[0].cw_max, 64);
	EXPECT_EQ(p[0].txop_us, 0);
	EXPECT_EQ(p[1].txop_us, 320);
}

static void categories(int *failures)
{
	/* Table 9-1, by user priority; TIDs of 8 and more by their low bits. */
	static const enum edca_category by_tid[] = {
		EDCA_BE, EDCA_BK, EDCA_BK, EDCA_BE,
		EDCA_VI, EDCA_VI, EDCA_VO, EDCA_VO,
		EDCA_BE, EDCA_BK,
	};
	uint8_t mpdu[40] = { 0x88, 0x01 };

	for (int tid = 0; tid < 10; tid++) {
		mpdu[24] = 0x60 | tid;
		EXPECT_EQ(edca_category_of(mpdu, sizeof(mpdu)), by_tid[tid]);
	}
	/* Four addresses: QoS Control is six octets further on. */
	mpdu[1] = 0x03;
	mpdu[24] = 7;
	mpdu[30] = 1;
	EXPECT_EQ(edca_category_of(mpdu, sizeof(mpdu)), EDCA_BK);
	EXPECT_EQ(edca_category_of(mpdu, 30), EDCA_BE);
	mpdu[0] = 0x08;		/* data without QoS */
	EXPECT_EQ(edca_category_of(mpdu, sizeof(mpdu)), EDCA_BE);
	mpdu[0] = 0x80;		/* beacon */
	EXPECT_EQ(edca_category_of(mpdu, sizeof(mpdu)), EDCA_VO);
	mpdu[0] = 0xa4;		/* PS-Poll */
	EXPECT_EQ(edca_category_of(mpdu, sizeof(mpdu)), EDCA_BE);
	EXPECT_EQ(edca_category_of(mpdu, 0), EDCA_BE);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "default parameters are the standard's", defaults },
		{ "a frame's TID and type say its category", categories },
		{ }
	};

	return tap_run(cases);
}
