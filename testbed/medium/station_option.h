/* SPDX-License-Identifier: GPL-2.0-only */
/* The value of --station: ADDR,name=NAME[,retry=M][,cwmin=N][,cwmax=N] */
#ifndef DCFMEDIUM_STATION_OPTION_H
#define DCFMEDIUM_STATION_OPTION_H

#include "mac.h"

/*
 * Fill *@station from @text; what @text does not say keeps the value it has,
 * and the name becomes the address. A wrong value ends the program.
 */
void parse_station(const char *text, struct mac_station_config *station);

/* The address in the usual notation, as the name of an unnamed station. */
void name_after_address(struct mac_station_config *station);

#endif
