// SPDX-License-Identifier: GPL-2.0-only
/* The frames that a station sends in one transmission: see psdu.h. */
#include "channel.h"
#include "phy/phy.h"
#include "phy/phy_rate.h"
#include "psdu.h"

/* A-MPDU (8.6.1): a delimiter before each MPDU, all but the last padded. */
#define DELIMITER_BYTES		4
#define SUBFRAME_ALIGN(bytes)	(((bytes) + 3) & ~3U)

unsigned int psdu_control_rate(const struct mac *mac, const struct mac_station *s)
{
	return phy_control_rate(mac->config.phy, psdu_rate(mac, s));
}

ns_t psdu_control_airtime(const struct mac *mac, const struct mac_station *s,
			  unsigned int bytes)
{
	if (s->coded)
		bytes = channel_coded_bytes(&mac->config.channel, bytes);
	return phy_airtime(mac->config.phy, psdu_control_rate(mac, s), bytes);
}

unsigned int psdu_mpdu_bytes(const struct mac *mac, const struct mac_frame *frame,
			     bool coded)
{
	return coded ? channel_coded_bytes(&mac->config.channel, frame->bytes)
		     : frame->bytes;
}

unsigned int psdu_next_mpdu(unsigned int bytes)
{
	return SUBFRAME_ALIGN(bytes) + DELIMITER_BYTES;
}

unsigned int psdu_bytes(const struct mac *mac, const struct mac_station *s)
{
	bool ampdu = s->n_sent > 1 ||
		     (mac->config.phy->kind == PHY_VHT &&
		      phy_own_format(mac->config.phy, psdu_rate(mac, s)));
	unsigned int bytes = 0;

	for (unsigned int i = 0; i < s->n_sent; i++) {
		if (ampdu)
			bytes = psdu_next_mpdu(bytes);
		bytes += psdu_mpdu_bytes(mac, s->sent[i], s->coded);
	}
	return bytes;
}

ns_t psdu_airtime(const struct mac *mac, const struct mac_station *s)
{
	return phy_airtime(mac->config.phy, psdu_rate(mac, s),
			   psdu_bytes(mac, s));
}

ns_t psdu_exchange_time(const struct mac *mac, const struct mac_station *s)
{
	ns_t time = psdu_airtime(mac, s);

	if (psdu_wants_rts(mac, s))
		time += psdu_control_airtime(mac, s, PHY_RTS_BYTES) + mac->sifs +
			psdu_control_airtime(mac, s, PHY_CTS_BYTES) + mac->sifs;
	else if (!s->bursting)
		time += phy_protection(mac->config.phy,
				       psdu_rate(mac, s));
	if (s->sent[0]->wants_ack)
		time += mac->sifs +
			psdu_control_airtime(mac, s, psdu_response_bytes(s));
	return time;
}

static bool may_aggregate(const struct mac *mac, const struct mac_frame *frame)
{
	return frame->carries_data && frame->wants_ack && frame->to >= 0 &&
	       phy_own_format(mac->config.phy, frame_rate(mac->config.phy, frame));
}

/* Whether what @s has gathered is short enough to be one A-MPDU. */
static bool fits(const struct mac *mac, const struct mac_station *s)
{
	return psdu_bytes(mac, s) <= mac->config.phy->ampdu_bytes &&
	       psdu_airtime(mac, s) <= mac->config.max_ppdu &&
	       (s->txop_end == NS_NEVER ||
		s->start + psdu_exchange_time(mac, s) <= s->txop_end);
}

void psdu_gather(const struct mac *mac, struct mac_station *s)
{
	const struct mac_frame *head = s->head;
	struct mac_frame *frame;

	s->sent[0] = s->head;
	s->n_sent = 1;
	if (!mac->config.phy->ampdu_bytes || !may_aggregate(mac, head))
		return;
	for (frame = head->next; frame; frame = frame->next) {
		if (frame->to != head->to || !may_aggregate(mac, frame))
			continue;
		if (s->n_sent == mac->config.max_ampdu ||
		    frame->sequence - head->sequence >= MAC_MAX_AMPDU)
			break;
		s->sent[s->n_sent++] = frame;
		if (!fits(mac, s)) {
			s->n_sent--;
			break;
		}
	}
}

bool psdu_wants_rts(const struct mac *mac, const struct mac_station *s)
{
	return s->sent[0]->wants_ack && !s->sent[0]->is_bar && !s->bursting &&
	       psdu_bytes(mac, s) > mac->config.rts_threshold;
}

unsigned int psdu_response_bytes(const struct mac_station *s)
{
	return s->n_sent > 1 || s->sent[0]->is_bar ? PHY_BLOCK_ACK_BYTES : PHY_ACK_BYTES;
}
