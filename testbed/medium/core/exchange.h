/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What follows when a station gets the medium: RTS and CTS, the data frame or
 * A-MPDU, its acknowledgment, and which stations may count again after each.
 * sensing.c decides who gets the medium and when. Internal to the MAC core.
 */
#ifndef DCFMEDIUM_EXCHANGE_H
#define DCFMEDIUM_EXCHANGE_H

#include "state.h"

/* @s begins at s->start: announce the RTS, or the data frame. */
void exchange_begin(struct mac *mac, struct mac_station *s);

/* @s would begin but its radio sends a higher category: an internal collision. */
void exchange_yield(struct mac *mac, struct mac_station *s);

/* The PPDU that station @from has in the air is over. */
void exchange_end_ppdu(struct mac *mac, int from);

/* The least time that @s would hold the medium, were it to begin. */
ns_t exchange_shortest(const struct mac *mac, const struct mac_station *s);

/* Until when nothing happens that anybody is told, of what is in the air. */
ns_t exchange_next(const struct mac *mac);

#endif
