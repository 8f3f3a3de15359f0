/* SPDX-License-Identifier: GPL-2.0-only */
/* The value of --station: ADDR[,FIELD=VALUE]..., or NUMBER[,FIELD=VALUE]... */
#ifndef DCFMEDIUM_STATION_OPTION_H
#define DCFMEDIUM_STATION_OPTION_H

#include "core/mac.h"

/*
 * Fill *@station from @text; what @text does not say keeps the value it has,
 * and the name becomes the address. A wrong value ends the program.
 */
void parse_station(const char *text, const struct phy_profile *phy,
		   struct mac_station_config *station);

/* The same of the fields alone, "name=NAME,retry=M"; an empty text is none. */
void parse_station_fields(const char *text, const struct phy_profile *phy,
			  struct mac_station_config *station);

/* What only shows when all options are known; ends with one line if wrong. */
void check_station(const struct mac_config *config,
		   const struct mac_station_config *station);

/* "M", attempts in all, or "SHORT/LONG", the standard's two limits. */
void parse_retry(const char *option, const char *text,
		 struct mac_station_config *station);

/* Whether @text is a unicast address such as "02:00:00:00:01:00". */
bool is_station_address(const char *text);

/* The address in the usual notation, as the name of an unnamed station. */
void name_after_address(struct mac_station_config *station);

/* Enough for the words of any station. */
#define STATION_WORDS_MAX	256

/*
 * What parse_station() takes, all fields said: a new field there is one here,
 * or `replay` plays another station than was recorded.
 */
void station_words(const struct mac_station_config *station,
		   char words[STATION_WORDS_MAX]);

#endif
