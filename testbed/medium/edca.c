// SPDX-License-Identifier: GPL-2.0-only
/* EDCA's access categories: see edca.h. */
#include <stdio.h>
#include <string.h>

#include "edca.h"
#include "options.h"

#define AIFSN_MAX	15
#define CW_LIMIT	65536
#define TXOP_MAX_US	(65535 * 32)	/* a TXOP Limit has 16 bits (8.4.2.31) */

/* Frame Control and QoS Control (8.2.4.1, 8.2.4.5). */
#define FC0_TYPE	0x0c
#define FC0_TYPE_MGMT	0x00
#define FC0_TYPE_DATA	0x08
#define FC0_QOS		0x80
#define FC1_FOUR_ADDR	0x03	/* To DS and From DS */
#define QOS_AT		24
#define QOS_AT_FOUR	30
#define QOS_PRIORITY	0x07	/* of the TID; a TSPEC's number has one too */

const char *const edca_names[EDCA_CATEGORIES] = { "bk", "be", "vi", "vo" };

void edca_defaults(const struct phy_profile *phy,
		   struct edca_parameters parameters[EDCA_CATEGORIES])
{
	unsigned int min = phy->cw_min, max = phy->cw_max;

	bool dsss = phy->kind == PHY_DSSS;

	parameters[EDCA_BK] = (struct edca_parameters){ 7, min, max, 0 };
	parameters[EDCA_BE] = (struct edca_parameters){ 3, min, max, 0 };
	parameters[EDCA_VI] = (struct edca_parameters){ 2, min / 2, min,
							dsss ? 6016 : 3008 };
	parameters[EDCA_VO] = (struct edca_parameters){ 2, min / 4, min / 2,
							dsss ? 3264 : 1504 };
}

unsigned int edca_parse(const char *text, const struct phy_profile *phy,
			struct edca_parameters parameters[EDCA_CATEGORIES])
{
	const char *rest = text;
	unsigned int n;

	if (!strcmp(text, "default")) {
		edca_defaults(phy, parameters);
		return EDCA_CATEGORIES;
	}
	for (n = 0; rest; n++) {
		struct edca_parameters p = { 0 };
		int length = 0, txop = 0;

		if (n == EDCA_CATEGORIES ||
		    sscanf(rest, "%u:%u:%u%n", &p.aifsn, &p.cw_min, &p.cw_max,
			   &length) != 3 ||
		    (rest[length] == ':' &&
		     sscanf(rest + length, ":%u%n", &p.txop_us, &txop) != 1) ||
		    p.txop_us > TXOP_MAX_US || ((length += txop), false) ||
		    (rest[length] && rest[length] != ',') || !p.aifsn ||
		    p.aifsn > AIFSN_MAX || !p.cw_min || p.cw_max < p.cw_min ||
		    p.cw_max > CW_LIMIT)
			usage_error("--edca: '%s' is not default or 1 to %d of AIFSN:CWMIN:CWMAX[:TXOP_US], comma separated",
				    text, EDCA_CATEGORIES);
		parameters[n] = p;
		rest = rest[length] ? rest + length + 1 : NULL;
	}
	return n;
}

void edca_apply(const struct edca_parameters *parameters, unsigned int priority,
		struct mac_station_config *station)
{
	station->aifsn = parameters->aifsn;
	station->cw_min = parameters->cw_min;
	station->cw_max = parameters->cw_max;
	station->priority = priority;
	station->txop = parameters->txop_us * NS_PER_US;
}

enum edca_category edca_category_of(const uint8_t *mpdu, size_t length)
{
	/* 802.1D priorities 0 to 7 (Table 9-1). */
	static const enum edca_category by_priority[] = {
		EDCA_BE, EDCA_BK, EDCA_BK, EDCA_BE,
		EDCA_VI, EDCA_VI, EDCA_VO, EDCA_VO,
	};
	size_t at;

	if (length < 2)
		return EDCA_BE;
	if ((mpdu[0] & FC0_TYPE) == FC0_TYPE_MGMT)
		return EDCA_VO;
	at = (mpdu[1] & FC1_FOUR_ADDR) == FC1_FOUR_ADDR ? QOS_AT_FOUR : QOS_AT;
	if ((mpdu[0] & FC0_TYPE) != FC0_TYPE_DATA || !(mpdu[0] & FC0_QOS) ||
	    length <= at)
		return EDCA_BE;
	return by_priority[mpdu[at] & QOS_PRIORITY];
}
