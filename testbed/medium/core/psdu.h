/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a station sends at once: one MPDU, or an A-MPDU (802.11-2012, 8.6 and
 * 9.12), and the control frames around it. Internal to the MAC core.
 */
#ifndef DCFMEDIUM_PSDU_H
#define DCFMEDIUM_PSDU_H

#include <stdbool.h>

#include "frame.h"
#include "state.h"

/* The rate of what @s has gathered, its first frame's. */
static inline unsigned int psdu_rate(const struct mac *mac,
				     const struct mac_station *s)
{
	return frame_rate(mac->config.phy, s->sent[0]);
}

/*
 * Into s->sent: the head of @s's queue and, as far as limits and the receiver's
 * window of sequence numbers go, what is queued behind it for the same receiver.
 */
void psdu_gather(const struct mac *mac, struct mac_station *s);

/*
 * How long the exchange of what @s has gathered takes, with RTS and CTS or
 * protection before it and the response, if any, after it.
 */
ns_t psdu_exchange_time(const struct mac *mac, const struct mac_station *s);

/* Of what @s has gathered. */
unsigned int psdu_bytes(const struct mac *mac, const struct mac_station *s);
ns_t psdu_airtime(const struct mac *mac, const struct mac_station *s);

/* Length in the air of one of its MPDUs, coded if that is. */
unsigned int psdu_mpdu_bytes(const struct mac *mac, const struct mac_frame *frame,
			     bool coded);

/* Where in an A-MPDU the MPDU after the first @bytes begins. */
unsigned int psdu_next_mpdu(unsigned int bytes);

/* Whether RTS/CTS goes before it: by the length of the PSDU (9.3.5, 9.7.6.2). */
bool psdu_wants_rts(const struct mac *mac, const struct mac_station *s);

/* ACK, or the compressed block ack of an A-MPDU. */
unsigned int psdu_response_bytes(const struct mac_station *s);

/* Rate of the control frames around what @s sends. */
unsigned int psdu_control_rate(const struct mac *mac, const struct mac_station *s);

/* Airtime of a control frame that goes with what @s sends, coded as that is. */
ns_t psdu_control_airtime(const struct mac *mac, const struct mac_station *s,
			  unsigned int bytes);

#endif
