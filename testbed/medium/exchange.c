// SPDX-License-Identifier: GPL-2.0-only
/* Frame exchanges of IEEE Std 802.11-2012, 9.3 and 9.12: see exchange.h. */
#include <limits.h>

#include "exchange.h"

/* A-MPDU (8.6.1): a delimiter before each MPDU, all but the last padded. */
#define DELIMITER_BYTES		4
#define SUBFRAME_ALIGN(bytes)	(((bytes) + 3) & ~3U)

/*
 * The digest holds decisions (who, what, how it ended), not times: two runs
 * that decide the same compare equal though a guest's clock differs by a tick.
 */
void mac_record(struct mac *mac, const struct mac_station *s,
		enum mac_outcome what, uint64_t detail)
{
	uint64_t state = mac->digest ^ s->id ^ ((uint64_t)what << 56);

	state = splitmix64(&state) ^ detail;
	mac->digest = splitmix64(&state);
}

unsigned int mac_rate(const struct mac *mac, const struct mac_frame *frame)
{
	if (frame->rate)
		return frame->rate;
	return frame->basic_rate ? mac->config.phy->lowest_rate
				 : mac->config.phy->data_rate;
}

/* Of the control frames around what @s sends. */
static unsigned int control_rate(const struct mac *mac,
				 const struct mac_station *s)
{
	return phy_control_rate(mac->config.phy, mac_rate(mac, s->head));
}

/* Airtime of a control frame that goes with what @s sends, coded as that is. */
static ns_t control_airtime(const struct mac *mac, const struct mac_station *s,
			    unsigned int bytes)
{
	if (s->coded)
		bytes = channel_coded_bytes(&mac->config.channel, bytes);
	return phy_airtime(mac->config.phy, control_rate(mac, s), bytes);
}

/* Length of one MPDU in the air. */
static unsigned int mpdu_bytes(const struct mac *mac,
			       const struct mac_frame *frame, bool coded)
{
	return coded ? channel_coded_bytes(&mac->config.channel, frame->bytes)
		     : frame->bytes;
}

static unsigned int psdu_bytes(const struct mac *mac, const struct mac_station *s)
{
	bool ampdu = s->n_sent > 1 ||
		     (mac->config.phy->kind == PHY_VHT &&
		      phy_own_format(mac->config.phy, mac_rate(mac, s->sent[0])));
	unsigned int bytes = 0;

	for (unsigned int i = 0; i < s->n_sent; i++) {
		if (ampdu)
			bytes = SUBFRAME_ALIGN(bytes) + DELIMITER_BYTES;
		bytes += mpdu_bytes(mac, s->sent[i], s->coded);
	}
	return bytes;
}

static ns_t psdu_airtime(const struct mac *mac, const struct mac_station *s)
{
	return phy_airtime(mac->config.phy, mac_rate(mac, s->sent[0]),
			   psdu_bytes(mac, s));
}

static bool may_aggregate(const struct mac *mac, const struct mac_frame *frame)
{
	return frame->carries_data && frame->wants_ack && frame->to >= 0 &&
	       phy_own_format(mac->config.phy, mac_rate(mac, frame));
}

/* Whether what @s has gathered is short enough to be one A-MPDU. */
static bool fits(const struct mac *mac, const struct mac_station *s)
{
	return psdu_bytes(mac, s) <= mac->config.phy->ampdu_bytes &&
	       psdu_airtime(mac, s) <= mac->config.max_ppdu;
}

/*
 * The head of the queue and, as far as limits and the receiver's window of
 * sequence numbers go, what is queued behind it for the same receiver (9.12.2).
 */
static void gather(const struct mac *mac, struct mac_station *s)
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

/* 9.3.5, 9.7.6.2: by the length of the PSDU. */
static bool sends_rts(const struct mac *mac, const struct mac_station *s)
{
	return s->sent[0]->wants_ack &&
	       psdu_bytes(mac, s) > mac->config.rts_threshold;
}

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

/*
 * RTS and CTS: how long they take, and whether the channel lets both through.
 * A collision, or nobody to answer, costs the RTS alone.
 */
static ns_t reserve(struct mac *mac, struct mac_station *s, bool alone)
{
	const struct mac_frame *frame = s->sent[0];
	ns_t rts = control_airtime(mac, s, PHY_RTS_BYTES);
	ns_t cts = control_airtime(mac, s, PHY_CTS_BYTES);
	ns_t t = s->start + rts;

	s->reserved = alone && frame->to != MAC_NOBODY &&
		      crosses(mac, s, frame->to, s->start, t, PHY_RTS_BYTES,
			      control_rate(mac, s));
	if (!s->reserved)
		return rts;
	t += mac->sifs;
	s->reserved = crosses(mac, s, frame->to, t, t + cts, PHY_CTS_BYTES,
			      control_rate(mac, s));
	return rts + mac->sifs + cts;
}

void exchange_begin(struct mac *mac, struct mac_station *s, bool alone)
{
	int to = s->head->to;

	s->coded = to >= 0 && to != s - mac->stations &&
		   channel_codes(&mac->config.channel,
				 mac_link(mac, s - mac->stations, to), s->start);
	gather(mac, s);
	for (unsigned int i = 0; i < s->n_sent; i++) {
		s->sent[i]->attempts++;
		/* An A-MPDU is one PPDU: it goes at its first frame's rate. */
		s->sent[i]->rate = s->head->rate;
	}
	s->reserved = true;
	s->occupied = 0;
	if (sends_rts(mac, s)) {
		s->occupied = reserve(mac, s, alone);
		if (!s->reserved)
			return;
		s->occupied += mac->sifs;
	} else {
		s->occupied = phy_protection(mac->config.phy,
					     mac_rate(mac, s->sent[0]));
	}
	s->occupied += psdu_airtime(mac, s);
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

bool mac_reaches(struct mac *mac, int from, int to,
		 const struct mac_frame *frame)
{
	const struct mac_station *s = &mac->stations[from];

	return crosses(mac, s, to, s->start, s->start + s->occupied,
		       frame->bytes, mac_rate(mac, frame));
}

/* Time since @start, without what lies before the mark. */
static ns_t measured(const struct mac *mac, ns_t start, ns_t end)
{
	start = mac_later(start, mac->mark);
	return end > start ? end - start : 0;
}

static void unlink_frame(struct mac_station *s, struct mac_frame *frame)
{
	struct mac_frame **link = &s->head;

	while (*link != frame)
		link = &(*link)->next;
	*link = frame->next;
	if (!*link)
		s->tail = link;
	frame->next = NULL;
	s->backlog--;
}

/* The owner hears that the core is done with @frame. */
static void give_back(struct mac *mac, struct mac_station *s,
		      struct mac_frame *frame, bool acked)
{
	if (!frame->wants_ack)
		s->counters.broadcasts++;
	else if (acked)
		s->counters.delivered++;
	else
		s->counters.drops++;
	if (mac->ops->status)
		mac->ops->status(mac->ctx, s - mac->stations, frame, acked);
	if (mac->ops->done)
		mac->ops->done(mac->ctx, s - mac->stations, frame);
}

/* Whether @frame may be sent again, and if so at which rate. */
static bool goes_again(const struct mac_station *s, struct mac_frame *frame)
{
	unsigned int limit = rate_chain_attempts(&frame->chain);

	if (!limit)
		return frame->attempts < s->config.retry_limit;
	if (frame->attempts >= limit)
		return false;
	frame->rate = rate_chain_next(&frame->chain, frame->attempts);
	return true;
}

/*
 * The attempt of @s is over; bit i of @acked says that its i-th frame was
 * acknowledged. What was, and what has no attempt left, leaves the queue. The
 * window shrinks back after an acknowledgment or when the first frame is given
 * up, and doubles otherwise (9.3.3); a backoff is drawn either way (9.3.4.2),
 * and only then the owner hears.
 */
static void settle(struct mac *mac, struct mac_station *s, uint64_t acked)
{
	struct mac_frame *done[MAC_MAX_AMPDU];
	uint64_t done_acked = 0;
	unsigned int n = 0;
	bool anew = acked;

	for (unsigned int i = 0; i < s->n_sent; i++) {
		struct mac_frame *frame = s->sent[i];
		bool ok = acked >> i & 1;

		if (!ok && frame->wants_ack && goes_again(s, frame))
			continue;
		anew |= !i;
		unlink_frame(s, frame);
		done_acked |= (uint64_t)ok << n;
		done[n++] = frame;
	}
	if (anew)
		s->cw = s->config.cw_min;
	else if (2 * s->cw < s->config.cw_max)
		s->cw *= 2;
	else
		s->cw = s->config.cw_max;
	mac_draw_backoff(mac, s);
	for (unsigned int i = 0; i < n; i++)
		give_back(mac, s, done[i], done_acked >> i & 1);
}

void exchange_yield(struct mac *mac, struct mac_station *s)
{
	s->sent[0] = s->head;
	s->n_sent = 1;
	s->head->attempts++;
	s->counters.internal_collisions++;
	mac_record(mac, s, OUTCOME_INTERNAL, s->head->attempts);
	settle(mac, s, 0);
}

/* Count an attempt of @frame that ended as @what. */
static void end_attempt(struct mac *mac, struct mac_station *s,
			const struct mac_frame *frame, enum mac_outcome what)
{
	const struct phy_rate *rate = phy_rate_of(mac->config.phy,
						  mac_rate(mac, frame));

	mac_record(mac, s, what, ((uint64_t)frame->bytes << 16) | frame->attempts);
	s->counters.attempts_at[rate - phy_rates]++;
	if (frame->wants_ack) {
		s->counters.tx++;
		s->counters.retries += frame->attempts > 1;
		s->counters.collisions += what == OUTCOME_COLLIDED;
		s->counters.unanswered += what == OUTCOME_UNANSWERED;
		s->counters.lost += what == OUTCOME_LOST ||
				    what == OUTCOME_ACK_LOST;
		s->counters.acks_lost += what == OUTCOME_ACK_LOST;
	} else {
		s->counters.broadcast_collisions += what == OUTCOME_COLLIDED;
	}
}

/* The times of what @s sent, for who traces them. */
static struct mac_attempt trace_times(const struct mac *mac,
				      const struct mac_station *s, bool answered)
{
	struct mac_attempt attempt = {
		.start = s->start, .n = s->n_sent, .arrived = s->arrived,
	};
	ns_t end = s->start + s->occupied;

	if (answered) {
		attempt.ack_start = mac->response_since;
		attempt.ack_end = mac->busy_until;
		end = mac->response_since - mac->sifs;
	}
	if (sends_rts(mac, s)) {
		ns_t rts = control_airtime(mac, s, PHY_RTS_BYTES);

		attempt.rts_end = s->start + rts;
		if (s->reserved || s->occupied > rts) {
			attempt.cts_start = attempt.rts_end + mac->sifs;
			attempt.cts_end = attempt.cts_start +
					  control_airtime(mac, s, PHY_CTS_BYTES);
		}
	}
	if (s->reserved) {
		attempt.data_start = end - psdu_airtime(mac, s);
		attempt.data_end = end;
	}
	return attempt;
}

static enum mac_end trace_end(enum mac_outcome what)
{
	switch (what) {
	case OUTCOME_COLLIDED:
		return MAC_END_COLLIDED;
	case OUTCOME_LOST:
		return MAC_END_LOST;
	case OUTCOME_ACK_LOST:
		return MAC_END_ACK_LOST;
	case OUTCOME_UNANSWERED:
		return MAC_END_UNANSWERED;
	default:
		return MAC_END_HEARD;
	}
}

/* What @s sent ended as @what; of an answered A-MPDU, what arrived did. */
static void end_all(struct mac *mac, struct mac_station *s,
		    enum mac_outcome what)
{
	bool answered = what == OUTCOME_ACKED || what == OUTCOME_ACK_LOST;
	struct mac_attempt attempt;

	if (s->n_sent > 1) {
		s->counters.ampdus++;
		s->counters.ampdu_mpdus += s->n_sent;
	}
	s->counters.airtime += measured(mac, s->start, s->start + s->occupied);
	if (mac->ops->attempt)
		attempt = trace_times(mac, s, answered);
	for (unsigned int i = 0; i < s->n_sent; i++) {
		bool lost = answered && !(s->arrived >> i & 1);

		end_attempt(mac, s, s->sent[i], lost ? OUTCOME_LOST : what);
		if (!mac->ops->attempt)
			continue;
		attempt.frame = s->sent[i];
		attempt.end = trace_end(lost ? OUTCOME_LOST : what);
		attempt.index = i;
		mac->ops->attempt(mac->ctx, s - mac->stations, &attempt);
	}
}

/* A frame with errors was the last one heard (9.3.7). */
static ns_t after_error(const struct mac *mac, ns_t end)
{
	return end + (mac->config.eifs ? mac->eifs : mac->difs);
}

/*
 * Those who observed a frame they could not decode wait EIFS (9.3.2.3.7);
 * those who sent it cannot have, and go on when no ACK has begun in time.
 */
static void end_collision(struct mac *mac)
{
	ns_t end = mac->busy_until;

	mac->airtime.collision += measured(mac, mac->busy_since, end);
	mac_release(mac, after_error(mac, end));
	for (int i = 0; i < mac->n_senders; i++) {
		struct mac_station *s = &mac->stations[mac->senders[i]];

		s->resume = end + mac_interframe(mac, s);
		if (s->head->wants_ack)
			s->resume = mac_later(s->resume, s->start + s->occupied +
							 mac->ack_timeout);
	}
	for (int i = 0; i < mac->n_senders; i++) {
		struct mac_station *s = &mac->stations[mac->senders[i]];

		end_all(mac, s, OUTCOME_COLLIDED);
		settle(mac, s, 0);
	}
}

static void end_broadcast(struct mac *mac, struct mac_station *s)
{
	mac->airtime.broadcast += measured(mac, s->start, mac->busy_until);
	mac_release(mac, mac->busy_until + mac->difs);
	end_all(mac, s, OUTCOME_BROADCAST);
	if (mac->ops->deliver)
		mac->ops->deliver(mac->ctx, s - mac->stations, s->head);
	settle(mac, s, 0);
}

/*
 * No ACK comes: nobody is there, or the channel lost the frame. The others
 * heard it and keep clear for the ACK, unless the channel is everybody's.
 */
static void end_silence(struct mac *mac, struct mac_station *s,
			enum mac_outcome what)
{
	ns_t end = mac->busy_until;
	ns_t clear = end + mac->difs + mac->sifs +
		     control_airtime(mac, s, PHY_ACK_BYTES);

	if (what == OUTCOME_LOST && mac->config.channel.shared)
		clear = after_error(mac, end);
	*(what == OUTCOME_LOST ? &mac->airtime.lost : &mac->airtime.unanswered) +=
		measured(mac, s->start, end);
	mac_release(mac, clear);
	s->resume = end + mac_later(mac->ack_timeout, mac_interframe(mac, s));
	end_all(mac, s, what);
	settle(mac, s, 0);
}

/* ACK, or the compressed block ack of an A-MPDU. */
static unsigned int response_bytes(const struct mac_station *s)
{
	return s->n_sent > 1 ? PHY_BLOCK_ACK_BYTES : PHY_ACK_BYTES;
}

/* What arrives of the PSDU that has just ended, a bit for each MPDU. */
static uint64_t arrivals(struct mac *mac, struct mac_station *s)
{
	ns_t end = mac->busy_until, airtime = psdu_airtime(mac, s);
	unsigned int total = psdu_bytes(mac, s), sent = 0;
	uint64_t arrived = 0;

	for (unsigned int i = 0; i < s->n_sent; i++) {
		struct mac_frame *frame = s->sent[i];
		unsigned int until = sent + mpdu_bytes(mac, frame, s->coded);
		/* Each MPDU has its part of the time. */
		ns_t from = end - airtime + airtime * sent / total;
		ns_t to = end - airtime + airtime * until / total;

		if (crosses(mac, s, frame->to, from, to, frame->bytes,
			    mac_rate(mac, frame)))
			arrived |= 1ULL << i;
		sent = SUBFRAME_ALIGN(until) + DELIMITER_BYTES;
	}
	return arrived;
}

void exchange_end_data(struct mac *mac)
{
	struct mac_station *s = &mac->stations[mac->senders[0]];

	if (mac->n_senders > 1) {
		end_collision(mac);
		return;
	}
	if (!s->head->wants_ack) {
		end_broadcast(mac, s);
		return;
	}
	if (s->head->to == MAC_NOBODY) {
		end_silence(mac, s, OUTCOME_UNANSWERED);
		return;
	}
	s->arrived = s->reserved ? arrivals(mac, s) : 0;
	if (!s->arrived) {
		end_silence(mac, s, OUTCOME_LOST);
		return;
	}
	mac->state = MAC_ACK;
	mac->response_since = mac->busy_until + mac->sifs;
	mac->busy_until = mac->response_since +
			  control_airtime(mac, s, response_bytes(s));
	for (unsigned int i = 0; i < s->n_sent; i++) {
		if (!(s->arrived >> i & 1))
			continue;
		if (mac->ops->deliver)
			mac->ops->deliver(mac->ctx, s - mac->stations,
					  s->sent[i]);
		s->sent[i]->arrived = true;
	}
}

/*
 * The ACK or block ack is lost: the sender has heard a frame, but knows of
 * nothing that arrived.
 */
static void end_ack_lost(struct mac *mac, struct mac_station *s)
{
	ns_t end = mac->busy_until;

	if (mac->config.channel.shared)
		mac_release(mac, after_error(mac, end));
	s->resume = after_error(mac, end) - mac->difs + mac_interframe(mac, s);
	mac->airtime.lost += measured(mac, s->start, end);
	end_all(mac, s, OUTCOME_ACK_LOST);
	settle(mac, s, 0);
}

void exchange_end_ack(struct mac *mac)
{
	struct mac_station *s = &mac->stations[mac->senders[0]];

	mac_release(mac, mac->busy_until + mac->difs);
	if (!crosses(mac, s, s->head->to, mac->response_since, mac->busy_until,
		     response_bytes(s), control_rate(mac, s))) {
		end_ack_lost(mac, s);
		return;
	}
	s->occupied = mac->busy_until - s->start;
	mac->airtime.success += measured(mac, s->start, mac->busy_until);
	end_all(mac, s, OUTCOME_ACKED);
	settle(mac, s, s->arrived);
}
