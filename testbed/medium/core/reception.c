// SPDX-License-Identifier: GPL-2.0-only
/* Whether a PPDU arrives at its receiver: see reception.h. */
#include <string.h>

#include "air.h"
#include "channel.h"
#include "phy/phy.h"
#include "phy/phy_rate.h"
#include "psdu.h"
#include "reception.h"

void reception_start_links(struct mac *mac, int station)
{
	if (mac->config.channel.kind == CHANNEL_IDEAL)
		return;
	for (int i = 0; i < station; i++)
		channel_start(&mac->config.channel, reception_link(mac, i, station),
			      mac->config.seed, mac->stations[i].id,
			      mac->stations[station].id, mac->mark);
}

/* Whether @station is, or is a category of, the radio called @name. */
static bool is_of(const struct mac *mac, int station, const char *name)
{
	for (int i = 0; i <= station; i++)
		if (!strcmp(mac->stations[i].config.name, name))
			return air_same_radio(mac, i, station);
	return false;
}

void reception_own_links(struct mac *mac, int station)
{
	for (unsigned int k = 0; k < mac->config.n_links; k++) {
		const struct mac_link *link = &mac->config.links[k];
		bool sends = is_of(mac, station, link->name[0]);
		bool receives = is_of(mac, station, link->name[1]);

		for (int i = 0; (sends || receives) && i < station; i++) {
			if (sends && is_of(mac, i, link->name[1]))
				mac->own_links[station][i] = link;
			if (receives && is_of(mac, i, link->name[0]))
				mac->own_links[i][station] = link;
		}
	}
}

/* What the configuration says of frames from @from to @to alone, or NULL. */
static const struct mac_link *own_link(const struct mac *mac, int from, int to)
{
	return from < 0 || to < 0 ? NULL : mac->own_links[from][to];
}

/* Whether what @s sends to @to, or gets from it, crosses a link that is @own. */
static bool crosses(struct mac *mac, const struct mac_link *own,
		    const struct mac_station *s, int to, ns_t start, ns_t end,
		    unsigned int bytes, unsigned int rate)
{
	int from = s - mac->stations;

	if (to < 0 || to == from || mac->lossless ||
	    mac->config.channel.kind == CHANNEL_IDEAL)
		return true;
	if (mac->config.channel.kind == CHANNEL_SNR)
		return channel_hears(&mac->config.channel,
				     reception_link(mac, from, to),
				     own ? &own->quality : &s->quality,
				     own ? &own->quality : &mac->stations[to].quality,
				     phy_rate_of(mac->config.phy, rate), bytes);
	if (own)
		return channel_spares(reception_link(mac, from, to), own->loss);
	return channel_passes(&mac->config.channel, reception_link(mac, from, to),
			      mac->mark, start, end, bytes, s->coded);
}

bool reception_crosses(struct mac *mac, const struct mac_station *s, int to,
		       ns_t start, ns_t end, unsigned int bytes, unsigned int rate)
{
	return crosses(mac, own_link(mac, s - mac->stations, to), s, to, start,
		       end, bytes, rate);
}

/* The receiver of what @s sends, or MAC_NOBODY if none can hear it. */
static int receiver_of(const struct mac *mac, const struct mac_station *s)
{
	int to = s->sent[0]->to;

	return to >= 0 && air_hears(mac, to, s - mac->stations) ? to : MAC_NOBODY;
}

bool reception_collided(const struct mac *mac, const struct mac_station *s)
{
	int from = s - mac->stations, to = receiver_of(mac, s);

	if (to == MAC_NOBODY)
		return air_spoilt_for_all(mac, from);
	/* A station that expects an answer takes no other frame. */
	return air_spoilt(mac, to, from) ||
	       (to != from && set_has(&mac->engaged, to));
}

/* What arrives of the PSDU in @ppdu of @s, a bit for each MPDU. */
static uint64_t arrivals(struct mac *mac, struct mac_station *s, ns_t end)
{
	ns_t airtime = psdu_airtime(mac, s);
	unsigned int total = psdu_bytes(mac, s), sent = 0;
	uint64_t arrived = 0;

	for (unsigned int i = 0; i < s->n_sent; i++) {
		struct mac_frame *frame = s->sent[i];
		unsigned int until = sent + psdu_mpdu_bytes(mac, frame, s->coded);
		/* Each MPDU has its part of the time. */
		ns_t from = end - airtime + airtime * sent / total;
		ns_t to = end - airtime + airtime * until / total;

		if (reception_crosses(mac, s, frame->to, from, to, frame->bytes,
				      frame_rate(mac->config.phy, frame)))
			arrived |= 1ULL << i;
		sent = psdu_next_mpdu(until);
	}
	return arrived;
}

enum mac_outcome reception_of_frame(struct mac *mac, struct mac_station *s,
				    const struct mac_ppdu *ppdu)
{
	int to = receiver_of(mac, s);

	if (reception_collided(mac, s))
		return OUTCOME_COLLIDED;
	if (!s->sent[0]->wants_ack)
		return OUTCOME_BROADCAST;
	if (to == MAC_NOBODY)
		return OUTCOME_UNANSWERED;
	if (ppdu->kind == MAC_PPDU_DATA) {
		s->arrived = arrivals(mac, s, ppdu->end);
		return s->arrived ? OUTCOME_ACKED : OUTCOME_LOST;
	}
	if (!reception_crosses(mac, s, to, ppdu->start, ppdu->end, PHY_RTS_BYTES,
			       psdu_control_rate(mac, s)))
		return OUTCOME_LOST;
	/* 9.3.2.7: no CTS while the NAV says that the medium is busy. */
	if (mac->stations[to].reserved > ppdu->end) {
		s->counters.withheld++;
		return OUTCOME_UNANSWERED;
	}
	return OUTCOME_ACKED;
}

enum mac_outcome reception_of_answer(struct mac *mac, struct mac_station *s,
				     int from, const struct mac_ppdu *ppdu)
{
	bool cts = ppdu->kind == MAC_PPDU_CTS;
	int to = s->sent[0]->to;

	if (air_spoilt(mac, ppdu->exchange, from))
		return cts ? OUTCOME_COLLIDED : OUTCOME_ACK_COLLIDED;
	if (!crosses(mac, own_link(mac, to, s - mac->stations), s, to,
		     ppdu->start, ppdu->end,
		     cts ? PHY_CTS_BYTES : psdu_response_bytes(s),
		     psdu_control_rate(mac, s)))
		return cts ? OUTCOME_LOST : OUTCOME_ACK_LOST;
	return OUTCOME_ACKED;
}
