/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The MAC core: the distributed coordination function of IEEE Std 802.11-2012,
 * 9.3, for stations on one or several channels, of which some may not hear
 * others, with A-MPDUs where the profile has them, and with the access methods
 * of idle_sense.h.
 *
 * The core is driven by events and knows no clock, no socket and no kernel
 * header. Its user calls mac_advance() to move time forward, mac_enqueue() to
 * hand in a frame at the time advanced to, and sleeps until mac_next(). What
 * happened comes back through struct mac_ops.
 *
 * Each station has its own view of the medium. The medium becomes busy when a
 * PPDU begins that the station hears. A station needs a slot to notice this (that
 * is the meaning of aSlotTime, 9.3.7). If its own backoff ends earlier, it begins
 * too. So stations with different waits (DIFS, EIFS, ACK timeout) need not have
 * common slots. Each station that hears a PPDU decodes it if nothing else that it
 * hears has overlapped; this is decided when the PPDU ends.
 */
#ifndef DCFMEDIUM_MAC_H
#define DCFMEDIUM_MAC_H

#include <stdbool.h>
#include <stdint.h>

#include "frame.h"
#include "mac_config.h"
#include "phy/phy_profile.h"
#include "report.h"
#include "state.h"

/* Set up *@mac; @ops and @ctx must outlive it. */
void mac_init(struct mac *mac, const struct mac_config *config,
	      const struct mac_ops *ops, void *ctx);

/*
 * Give back, by ops->done(), what receivers hold back and nobody else has.
 * Afterwards only the counters may be read.
 */
void mac_end(struct mac *mac);

/* Add a station; returns its index, or -1 if there are MAC_MAX_STATIONS. */
int mac_add_station(struct mac *mac, const struct mac_station_config *config);

/*
 * Stations @a and @b do not hear each other; nor do other categories of their
 * radios. By default all that are on one channel hear each other. Pairs of the
 * configuration take effect when both are there.
 */
void mac_set_hidden(struct mac *mac, int a, int b);

/*
 * Station @station goes to the channel @freq (MHz). Like mac_set_hidden(), this
 * takes effect when next nothing is in the air.
 */
void mac_set_channel(struct mac *mac, int station, unsigned int freq);

/* The station with this address, or MAC_NOBODY. */
int mac_find_station(const struct mac *mac, const uint8_t *addr);

/*
 * Whether @to is a radio that station @from is not part of: of several stations
 * with one address, the first is the radio.
 */
bool mac_is_peer(const struct mac *mac, int from, int to);

/* Play everything up to and including @now. Time never goes back. */
void mac_advance(struct mac *mac, ns_t now);

/* Hand in @frame at @now, after mac_advance(@now). */
void mac_enqueue(struct mac *mac, int from, struct mac_frame *frame, ns_t now);

/*
 * When to call mac_advance() next: the first instant at which, if nothing
 * is handed in before, a callback may happen. NS_NEVER: nothing to send.
 */
ns_t mac_next(const struct mac *mac);

/*
 * Start measuring at @now: counters, digest and random streams begin again.
 * Queues stay, and so does a backoff that is being counted down.
 */
void mac_mark(struct mac *mac, ns_t now);

/* Let the channel lose no frame until the next mark; collisions stay. */
void mac_spare_losses(struct mac *mac);

/*
 * Whether the group-addressed @frame, which is being delivered, reaches station
 * @to over the channel from station @from. Once for each receiver.
 */
bool mac_reaches(struct mac *mac, int from, int to,
		 const struct mac_frame *frame);

#endif
