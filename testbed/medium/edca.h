/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * EDCA's access categories (IEEE Std 802.11-2012, 9.19.2): their parameters, and
 * which of them a frame belongs to. The core knows a category as a station that
 * shares its radio with others (struct mac_station_config).
 */
#ifndef DCFMEDIUM_EDCA_H
#define DCFMEDIUM_EDCA_H

#include <stddef.h>
#include <stdint.h>

#include "core/mac.h"

/* Lowest priority first. */
enum edca_category {
	EDCA_BK,
	EDCA_BE,
	EDCA_VI,
	EDCA_VO,
	EDCA_CATEGORIES,
};

struct edca_parameters {
	unsigned int aifsn;
	unsigned int cw_min, cw_max;	/* numbers of values */
	unsigned int txop_us;		/* 0: one frame, or A-MPDU, at a time */
};

/* "bk", "be", "vi", "vo". */
extern const char *const edca_names[EDCA_CATEGORIES];

/*
 * The default EDCA parameter set of @phy (8.4.2.31, Table 8-105).
 */
void edca_defaults(const struct phy_profile *phy,
		   struct edca_parameters parameters[EDCA_CATEGORIES]);

/*
 * "default", or up to four AIFSN:CWMIN:CWMAX[:TXOP_US], comma separated, lowest priority
 * first. Returns how many there are; a wrong value ends the program.
 */
unsigned int edca_parse(const char *text, const struct phy_profile *phy,
			struct edca_parameters parameters[EDCA_CATEGORIES]);

/* @station as one of the categories of its radio. */
void edca_apply(const struct edca_parameters *parameters, unsigned int priority,
		struct mac_station_config *station);

/*
 * The category of @mpdu, without FCS: a QoS data frame's by its TID (Table 9-1),
 * best effort of other data and control frames, voice of management frames
 * (9.2.4.2).
 */
enum edca_category edca_category_of(const uint8_t *mpdu, size_t length);

#endif
