// SPDX-License-Identifier: GPL-2.0-only
/* Frame exchanges of IEEE Std 802.11-2012, 9.3 and 9.12: see exchange.h. */
#include <limits.h>

#include "access.h"
#include "air.h"
#include "channel.h"
#include "digest.h"
#include "exchange.h"
#include "outcome.h"
#include "psdu.h"
#include "reception.h"
#include "release.h"
#include "reorder.h"

/* The exchange of @s goes on, or is answered, with @airtime from @from. */
static struct mac_ppdu *announce(struct mac *mac, struct mac_station *s, int from,
				 enum mac_ppdu_kind kind, ns_t start,
				 ns_t airtime)
{
	struct mac_ppdu ppdu = {
		.kind = kind,
		.exchange = s - mac->stations,
		.answers = start != s->start || s->bursting,
		.start = start,
		.end = start + airtime,
		.reserved = start + airtime,
	};

	air_announce(mac, from, &ppdu);
	return &mac->stations[from].ppdu;
}

/* What the exchange takes after a PPDU that is followed by one of @airtime. */
static ns_t answer_time(const struct mac *mac, ns_t airtime)
{
	return mac->sifs + airtime;
}

static ns_t response_time(const struct mac *mac, const struct mac_station *s)
{
	return answer_time(mac, psdu_control_airtime(mac, s,
						     psdu_response_bytes(s)));
}

static void announce_data(struct mac *mac, struct mac_station *s, ns_t start,
			  ns_t protection)
{
	struct mac_ppdu *ppdu = announce(mac, s, s - mac->stations,
					 MAC_PPDU_DATA, start,
					 protection + psdu_airtime(mac, s));

	if (s->sent[0]->wants_ack)
		ppdu->reserved += response_time(mac, s);
	s->times.data_start = start + protection;
	s->times.data_end = ppdu->end;
	s->occupied = ppdu->end - s->start;
}

static void announce_rts(struct mac *mac, struct mac_station *s)
{
	ns_t cts = psdu_control_airtime(mac, s, PHY_CTS_BYTES);
	struct mac_ppdu *ppdu;

	ppdu = announce(mac, s, s - mac->stations, MAC_PPDU_RTS, s->start,
			psdu_control_airtime(mac, s, PHY_RTS_BYTES));
	ppdu->reserved += answer_time(mac, cts) +
			  answer_time(mac, psdu_airtime(mac, s)) +
			  response_time(mac, s);
	s->times.rts_end = ppdu->end;
	s->occupied = ppdu->end - s->start;
}

/* What is next in the queue of @s, to begin at s->start. */
static void gather(struct mac *mac, struct mac_station *s)
{
	int from = s - mac->stations, to = s->head->to;

	s->coded = to >= 0 && to != from &&
		   channel_codes(&mac->config.channel, reception_link(mac, from, to),
				 s->start);
	psdu_gather(mac, s);
}

/* What has been gathered is on its way. */
static void send(struct mac *mac, struct mac_station *s)
{
	for (unsigned int i = 0; i < s->n_sent; i++) {
		s->sent[i]->attempts++;
		/* An A-MPDU is one PPDU: it goes at its first frame's rate. */
		s->sent[i]->rate = s->head->rate;
	}
	s->arrived = 0;
	s->times = (struct mac_attempt){ .start = s->start };
	set_add(&mac->engaged, s - mac->stations);
	if (psdu_wants_rts(mac, s))
		announce_rts(mac, s);
	else
		announce_data(mac, s, s->start, s->bursting ? 0 :
			      phy_protection(mac->config.phy,
					     psdu_rate(mac, s)));
}

void exchange_begin(struct mac *mac, struct mac_station *s)
{
	s->bursting = false;
	s->txop_end = s->config.txop ? s->start + s->config.txop : NS_NEVER;
	gather(mac, s);
	send(mac, s);
}

/*
 * 9.19.2.4: @s, whose exchange has succeeded at @now, goes on SIFS later if it
 * has a frame and the rest of its TXOP is long enough; else its backoff follows.
 */
static void continue_txop(struct mac *mac, struct mac_station *s, ns_t now)
{
	s->backing_off = false;
	s->bursting = true;
	s->start = now + mac->sifs;
	if (s->head) {
		gather(mac, s);
		if (s->start + psdu_exchange_time(mac, s) <= s->txop_end) {
			s->busy_since = s->start;
			s->resume = NS_NEVER;
			set_add(&mac->held, s - mac->stations);
			s->counters.txop_bursts++;
			send(mac, s);
			return;
		}
	}
	access_draw_backoff(mac, s);
}

void exchange_yield(struct mac *mac, struct mac_station *s)
{
	s->sent[0] = s->head;
	s->n_sent = 1;
	s->head->attempts++;
	s->times = (struct mac_attempt){ 0 };
	s->counters.internal_collisions++;
	digest_add(mac, s, OUTCOME_INTERNAL, s->head->attempts);
	outcome_settle(mac, s, 0);
}

ns_t exchange_shortest(const struct mac *mac, const struct mac_station *s)
{
	const struct phy_profile *phy = mac->config.phy;
	unsigned int rate = frame_rate(mac->config.phy, s->head);
	ns_t data = phy_protection(phy, rate) +
		    phy_airtime(phy, rate, s->head->bytes);
	ns_t rts = phy_airtime(phy, phy_control_rate(phy, rate), PHY_RTS_BYTES);

	if (s->head->wants_ack && mac->config.rts_threshold != UINT_MAX &&
	    rts < data)
		return rts;
	return data;
}

ns_t exchange_next(const struct mac *mac)
{
	ns_t next = NS_NEVER;

	for (int i = 0; i < mac->n_air; i++) {
		const struct mac_ppdu *ppdu = &mac->stations[mac->air[i]].ppdu;
		const struct mac_station *s = &mac->stations[ppdu->exchange];
		ns_t t = ppdu->end;

		/* A collision shows when its sender hears nothing any more. */
		if (ppdu->exchange == mac->air[i] && reception_collided(mac, s))
			t = air_heard_until(mac, mac->air[i]);
		if (t < next)
			next = t;
	}
	for (int i = 0; mac->n_failed && i < mac->n_stations; i++)
		if (mac->stations[i].failed &&
		    air_heard_until(mac, i) < next)
			next = air_heard_until(mac, i);
	return next;
}

static void deliver(struct mac *mac, struct mac_station *s)
{
	if (s->sent[0]->is_bar) {
		reorder_request(mac, s);
		return;
	}
	for (unsigned int i = 0; i < s->n_sent; i++) {
		struct mac_frame *frame = s->sent[i];

		if (!(s->arrived >> i & 1) || (frame->ordered && frame->arrived))
			continue;
		if (frame->ordered)
			reorder_receive(mac, s, frame);
		else if (mac->ops->deliver)
			mac->ops->deliver(mac->ctx, s - mac->stations, frame);
		frame->arrived = true;
	}
}

/* The PPDU @ppdu of the exchange of @s is over and SIFS later another follows. */
static void follow(struct mac *mac, struct mac_station *s,
		   const struct mac_ppdu *ppdu)
{
	ns_t start = ppdu->end + mac->sifs;
	int to = s->sent[0]->to;
	struct mac_ppdu *next;

	switch (ppdu->kind) {
	case MAC_PPDU_RTS:
		next = announce(mac, s, to, MAC_PPDU_CTS, start,
				psdu_control_airtime(mac, s, PHY_CTS_BYTES));
		next->reserved = ppdu->reserved;
		s->times.cts_start = next->start;
		s->times.cts_end = next->end;
		s->occupied = next->end - s->start;
		break;
	case MAC_PPDU_CTS:
		announce_data(mac, s, start, 0);
		break;
	default:
		next = announce(mac, s, to, MAC_PPDU_RESPONSE, start,
				psdu_control_airtime(mac, s,
						     psdu_response_bytes(s)));
		s->times.ack_start = next->start;
		s->times.ack_end = next->end;
		deliver(mac, s);
	}
}

void exchange_end_ppdu(struct mac *mac, int from)
{
	struct mac_ppdu ppdu = mac->stations[from].ppdu;
	struct mac_station *s = &mac->stations[ppdu.exchange];
	bool to_receiver = ppdu.kind == MAC_PPDU_RTS || ppdu.kind == MAC_PPDU_DATA;
	int follower = MAC_NOBODY;
	enum mac_outcome what;

	air_end(mac, from);
	if (!to_receiver)
		set_remove(&mac->engaged, from);
	what = to_receiver ? reception_of_frame(mac, s, &ppdu)
			   : reception_of_answer(mac, s, from, &ppdu);
	ppdu.shared_loss = mac->config.channel.shared &&
			   (what == OUTCOME_LOST || what == OUTCOME_ACK_LOST);
	if (what == OUTCOME_ACKED && ppdu.kind != MAC_PPDU_RESPONSE) {
		follower = to_receiver ? s->sent[0]->to : ppdu.exchange;
		set_add(&mac->engaged, follower);
	} else {
		set_remove(&mac->engaged, ppdu.exchange);
		s->failed = what != OUTCOME_ACKED && what != OUTCOME_BROADCAST;
		mac->n_failed += s->failed;
		s->outcome = what;
		s->ended = ppdu.end;
	}
	release_hearers(mac, from, &ppdu, follower, what);
	if (follower != MAC_NOBODY) {
		follow(mac, s, &ppdu);
	} else if (what == OUTCOME_ACKED) {
		outcome_count(mac, s, what, ppdu.end);
		outcome_settle(mac, s, s->arrived);
		if (s->config.txop)
			continue_txop(mac, s, ppdu.end);
	} else if (what == OUTCOME_BROADCAST) {
		outcome_count(mac, s, what, ppdu.end);
		if (mac->ops->deliver)
			mac->ops->deliver(mac->ctx, from, s->sent[0]);
		outcome_settle(mac, s, 0);
	}
}
