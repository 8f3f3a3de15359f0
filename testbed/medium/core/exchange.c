// SPDX-License-Identifier: GPL-2.0-only
/* Frame exchanges of IEEE Std 802.11-2012, 9.3 and 9.12: see exchange.h. */
#include <limits.h>

#include "exchange.h"
#include "reorder.h"

/* Whether @bytes at @rate in @start .. @end cross between @s and @to. */
static bool crosses(struct mac *mac, const struct mac_station *s, int to,
		    ns_t start, ns_t end, unsigned int bytes, unsigned int rate)
{
	int from = s - mac->stations;

	if (to < 0 || to == from || mac->config.channel.kind == CHANNEL_IDEAL)
		return true;
	if (mac->config.channel.kind == CHANNEL_SNR)
		return channel_hears(mac_link(mac, from, to), &s->quality,
				     &mac->stations[to].quality,
				     phy_rate_of(mac->config.phy, rate), bytes);
	return channel_passes(&mac->config.channel, mac_link(mac, from, to),
			      mac->mark, start, end, bytes, s->coded);
}

bool mac_reaches(struct mac *mac, int from, int to,
		 const struct mac_frame *frame)
{
	const struct mac_station *s = &mac->stations[from];

	return air_hears(mac, to, from) && !air_spoilt(mac, to, from) &&
	       crosses(mac, s, to, s->start, s->start + s->occupied,
		       frame->bytes, mac_rate(mac, frame));
}

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
		   channel_codes(&mac->config.channel, mac_link(mac, from, to),
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
					     mac_rate(mac, s->sent[0])));
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
	mac_draw_backoff(mac, s);
}

void exchange_yield(struct mac *mac, struct mac_station *s)
{
	s->sent[0] = s->head;
	s->n_sent = 1;
	s->head->attempts++;
	s->times = (struct mac_attempt){ 0 };
	s->counters.internal_collisions++;
	mac_record(mac, s, OUTCOME_INTERNAL, s->head->attempts);
	outcome_settle(mac, s, 0);
}

ns_t exchange_shortest(const struct mac *mac, const struct mac_station *s)
{
	const struct phy_profile *phy = mac->config.phy;
	unsigned int rate = mac_rate(mac, s->head);
	ns_t data = phy_protection(phy, rate) +
		    phy_airtime(phy, rate, s->head->bytes);
	ns_t rts = phy_airtime(phy, phy_control_rate(phy, rate), PHY_RTS_BYTES);

	if (s->head->wants_ack && mac->config.rts_threshold != UINT_MAX &&
	    rts < data)
		return rts;
	return data;
}

/* The receiver of what @s sends, or MAC_NOBODY if none can hear it. */
static int receiver_of(const struct mac *mac, const struct mac_station *s)
{
	int to = s->sent[0]->to;

	return to >= 0 && air_hears(mac, to, s - mac->stations) ? to : MAC_NOBODY;
}

/* Whether what @s has in the air is lost already for what overlaps it. */
static bool collided(const struct mac *mac, const struct mac_station *s)
{
	int from = s - mac->stations, to = receiver_of(mac, s);

	if (to == MAC_NOBODY)
		return air_spoilt_for_all(mac, from);
	/* A station that expects an answer takes no other frame. */
	return air_spoilt(mac, to, from) ||
	       (to != from && set_has(&mac->engaged, to));
}

ns_t exchange_next(const struct mac *mac)
{
	ns_t next = NS_NEVER;

	for (int i = 0; i < mac->n_air; i++) {
		const struct mac_ppdu *ppdu = &mac->stations[mac->air[i]].ppdu;
		const struct mac_station *s = &mac->stations[ppdu->exchange];
		ns_t t = ppdu->end;

		/* A collision shows when its sender hears nothing any more. */
		if (ppdu->exchange == mac->air[i] && collided(mac, s))
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

		if (crosses(mac, s, frame->to, from, to, frame->bytes,
			    mac_rate(mac, frame)))
			arrived |= 1ULL << i;
		sent = psdu_next_mpdu(until);
	}
	return arrived;
}

/*
 * What becomes of an RTS or a data frame of @s that is over: the outcome if it
 * remains without answer, else OUTCOME_ACKED.
 */
static enum mac_outcome received(struct mac *mac, struct mac_station *s,
				 const struct mac_ppdu *ppdu)
{
	int to = receiver_of(mac, s);

	if (collided(mac, s))
		return OUTCOME_COLLIDED;
	if (!s->sent[0]->wants_ack)
		return OUTCOME_BROADCAST;
	if (to == MAC_NOBODY)
		return OUTCOME_UNANSWERED;
	if (ppdu->kind == MAC_PPDU_DATA) {
		s->arrived = arrivals(mac, s, ppdu->end);
		return s->arrived ? OUTCOME_ACKED : OUTCOME_LOST;
	}
	if (!crosses(mac, s, to, ppdu->start, ppdu->end, PHY_RTS_BYTES,
		     psdu_control_rate(mac, s)))
		return OUTCOME_LOST;
	/* 9.3.2.7: no CTS while the NAV says that the medium is busy. */
	if (mac->stations[to].reserved > ppdu->end) {
		s->counters.withheld++;
		return OUTCOME_UNANSWERED;
	}
	return OUTCOME_ACKED;
}

/* The same for the CTS or response to @s, from station @from. */
static enum mac_outcome answered(struct mac *mac, struct mac_station *s, int from,
				 const struct mac_ppdu *ppdu)
{
	bool cts = ppdu->kind == MAC_PPDU_CTS;

	if (air_spoilt(mac, ppdu->exchange, from))
		return cts ? OUTCOME_COLLIDED : OUTCOME_ACK_COLLIDED;
	if (!crosses(mac, s, s->sent[0]->to, ppdu->start, ppdu->end,
		     cts ? PHY_CTS_BYTES : psdu_response_bytes(s),
		     psdu_control_rate(mac, s)))
		return cts ? OUTCOME_LOST : OUTCOME_ACK_LOST;
	return OUTCOME_ACKED;
}

/*
 * A PPDU of @from is over; @i, which has heard or sent it, keeps its NAV
 * (9.3.2.4) and counts again if it hears nothing else. Who could not decode it
 * waits EIFS (9.3.2.3.7), but for those who sent meanwhile: they cannot have
 * observed it, and go on when no answer has begun in time. Whoever would hear
 * the exchange go on, but does not, has its NAV reset at @silence.
 */
static void leave(struct mac *mac, int i, int from, const struct mac_ppdu *ppdu,
		  ns_t silence, enum mac_outcome what)
{
	struct mac_station *s = &mac->stations[i];
	bool owner = i == ppdu->exchange;
	bool no_ack = owner && what == OUTCOME_ACK_LOST;
	bool spoilt = !set_empty(&ppdu->with) && air_spoilt(mac, i, from);
	ns_t reserved = air_hears(mac, i, ppdu->exchange) ? silence
							  : ppdu->reserved;
	ns_t clear, after_error, resume;

	if (!spoilt && !ppdu->shared_loss && !owner)
		s->reserved = mac_later(s->reserved, reserved);
	if (air_busy(mac, i))
		return;
	clear = mac_later(ppdu->end, s->reserved) + mac->difs;
	after_error = mac_later(clear, ppdu->end +
				       (mac->config.eifs ? mac->eifs : mac->difs));
	resume = clear;
	if (no_ack || (ppdu->shared_loss && (!owner || what == OUTCOME_ACK_LOST)) ||
	    (spoilt && i != from && !set_has(&ppdu->with, i)))
		resume = after_error;
	s->released = spoilt || ppdu->shared_loss ? after_error :
		      mac_later(clear, reserved + mac->difs);
	mac_resume(mac, i, resume - mac->difs + mac_interframe(mac, s));
}

/* The attempts of @n senders in @failed have shown as such at @now. */
static void settle_failed(struct mac *mac, const int *failed, int n, ns_t now)
{
	ns_t since = NS_NEVER;

	for (int i = 0; i < n; i++) {
		struct mac_station *s = &mac->stations[failed[i]];

		s->failed = false;
		mac->n_failed--;
		if (s->sent[0]->wants_ack && s->outcome != OUTCOME_ACK_LOST &&
		    s->outcome != OUTCOME_ACK_COLLIDED)
			mac_resume(mac, failed[i], mac_later(s->resume, s->start +
					s->occupied + mac->ack_timeout));
		if (s->outcome == OUTCOME_COLLIDED && s->busy_since < since)
			since = s->busy_since;
	}
	if (since != NS_NEVER)
		mac->airtime.collision += mac_measured(mac, since, now);
	for (int i = 0; i < n; i++) {
		struct mac_station *s = &mac->stations[failed[i]];

		outcome_count(mac, s, s->outcome, s->ended);
		outcome_settle(mac, s, 0);
	}
}

/* All that hear the end of @ppdu, but those that will hear station @follower. */
static void leave_all(struct mac *mac, int from, const struct mac_ppdu *ppdu,
		      int follower, enum mac_outcome what)
{
	struct mac_set set = mac->stations[from].hears;
	int failed[MAC_MAX_STATIONS], n = 0;
	ns_t silence = ppdu->reserved;

	if (follower == MAC_NOBODY && ppdu->kind < MAC_PPDU_DATA)
		silence = ppdu->end + answer_time(mac,
			psdu_control_airtime(mac, &mac->stations[ppdu->exchange],
					     PHY_CTS_BYTES));
	for (int word = 0; word < MAC_SET_WORDS; word++) {
		uint64_t bits = set.bits[word];

		/* SIFS is shorter than any wait, so those stay held. */
		if (follower != MAC_NOBODY)
			bits &= ~mac->stations[follower].hears.bits[word];
		for (; bits; bits &= bits - 1) {
			int i = 64 * word + __builtin_ctzll(bits);
			struct mac_station *s = &mac->stations[i];

			leave(mac, i, from, ppdu, silence, what);
			if (s->failed && s->resume != NS_NEVER)
				failed[n++] = i;
		}
	}
	settle_failed(mac, failed, n, ppdu->end);
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
	what = to_receiver ? received(mac, s, &ppdu)
			   : answered(mac, s, from, &ppdu);
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
	leave_all(mac, from, &ppdu, follower, what);
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
