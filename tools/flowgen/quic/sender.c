// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loss is found by ACKs, and by time once a later packet was acknowledged. A probe timeout finds
 * no loss: it sends two packets, so that there is an ACK. What is lost is sent again in packets
 * of their own numbers. A packet that was declared lost and is acknowledged later is passed over.
 */
#include "../loop.h"
#include "sender.h"

#define PACKET_THRESHOLD	3	/* RFC 9002, 6.1.1 */
#define PROBES			2	/* RFC 9002, 6.2.4 */
#define DOUBLINGS_MAX		10	/* of the probe timeout: no clock lasts longer */

static struct sent_packet *packet_at(struct sender *sender, uint64_t number)
{
	return &sender->packets[number % SENDER_PACKETS];
}

static uint8_t *chunk_at(struct sender *sender, uint64_t number)
{
	return &sender->chunks[number % STREAM_WINDOW];
}

void sender_init(struct sender *sender, uint32_t datagram, uint32_t allowed)
{
	*sender = (struct sender) { .loss_time = NEVER, .allowed = allowed };
	rtt_init(&sender->rtt);
	newreno_init(&sender->cc, datagram);
}

static bool has_new_chunk(const struct sender *sender)
{
	return sender->next_chunk < sender->delivered + sender->allowed;
}

int64_t sender_release(struct sender *sender)
{
	if (sender->next_packet >= sender->oldest + SENDER_PACKETS)
		return NEVER;
	if (sender->probes)
		return 0;
	sender->cc.underused = false;
	if (!newreno_has_room(&sender->cc))
		return NEVER;
	if (!sender->lost_chunks && !has_new_chunk(sender)) {
		sender->cc.underused = true;
		return NEVER;
	}
	return newreno_release(&sender->cc, sender->rtt.smoothed);
}

/* The first that is lost; or a new one; or for a probe the first that is not acknowledged. */
uint64_t sender_chunk(const struct sender *sender)
{
	uint64_t chunk = sender->delivered;

	if (sender->lost_chunks)
		while (sender->chunks[chunk % STREAM_WINDOW] != CHUNK_LOST)
			chunk++;
	else if (has_new_chunk(sender))
		chunk = sender->next_chunk;
	return chunk;
}

void sender_sent(struct sender *sender, int64_t now, uint64_t chunk)
{
	*packet_at(sender, sender->next_packet++) = (struct sent_packet) {
		.sent = now, .chunk = chunk, .fate = PACKET_OPEN,
	};
	if (chunk == sender->next_chunk)
		sender->next_chunk++;
	else
		sender->retransmitted++;
	if (*chunk_at(sender, chunk) == CHUNK_LOST)
		sender->lost_chunks--;
	*chunk_at(sender, chunk) = CHUNK_SENT;
	newreno_sent(&sender->cc, now, sender->rtt.smoothed);
	sender->probe_base = now;
	if (sender->probes)
		sender->probes--;
}

void sender_held_up(struct sender *sender)
{
	sender->cc.underused = true;
}

/* A lost chunk too: the packet that was declared lost is not the one that says so. */
static void chunk_acked(struct sender *sender, uint64_t chunk)
{
	uint8_t *fate = chunk_at(sender, chunk);

	if (chunk < sender->delivered)
		return;
	if (*fate == CHUNK_LOST)
		sender->lost_chunks--;
	*fate = CHUNK_ACKED;
	while (*(fate = chunk_at(sender, sender->delivered)) == CHUNK_ACKED) {
		*fate = CHUNK_UNSENT;
		sender->delivered++;
	}
}

static void chunk_lost(struct sender *sender, uint64_t chunk)
{
	if (chunk < sender->delivered || *chunk_at(sender, chunk) != CHUNK_SENT)
		return;
	*chunk_at(sender, chunk) = CHUNK_LOST;
	sender->lost_chunks++;
}

/* Returns how many packets an ACK newly acknowledges. */
static unsigned int mark_acked(struct sender *sender, const struct ranges *acked)
{
	unsigned int found = 0, at;
	uint64_t number;

	for (at = 0; at < acked->count; at++) {
		number = acked->each[at].first;
		if (number < sender->oldest)
			number = sender->oldest;
		for (; number <= acked->each[at].last; number++) {
			if (packet_at(sender, number)->fate != PACKET_OPEN)
				continue;
			packet_at(sender, number)->fate = PACKET_NEWLY_ACKED;
			found++;
		}
	}
	return found;
}

/* What the loss of packets amounts to, from the oldest on. */
struct losses {
	uint64_t count;
	int64_t last_sent;
	int64_t since;			/* when the first was sent of those without an ACK between */
	bool persistent;		/* RFC 9002, 7.6 */
};

static void note_loss(struct losses *losses, const struct rtt *rtt, int64_t sent)
{
	losses->count++;
	losses->last_sent = sent;
	if (!rtt->sampled || sent <= rtt->first_sample)
		return;
	if (losses->since == NEVER)
		losses->since = sent;
	else if (sent - losses->since > rtt_persistent(rtt))
		losses->persistent = true;
}

/* RFC 9002, 6.1: packets before the highest acknowledged one. Sets the time of the next loss. */
static void find_lost(struct sender *sender, int64_t now)
{
	int64_t delay = rtt_loss_delay(&sender->rtt);
	struct losses losses = { .since = NEVER };
	struct sent_packet *packet;
	uint64_t number;

	sender->loss_time = NEVER;
	for (number = sender->oldest; number < sender->acked; number++) {
		packet = packet_at(sender, number);
		if (packet->fate != PACKET_OPEN) {
			losses.since = NEVER;
			continue;
		}
		if (packet->sent + delay > now && number + PACKET_THRESHOLD >= sender->acked) {
			if (sender->loss_time == NEVER)
				sender->loss_time = packet->sent + delay;
			continue;
		}
		packet->fate = PACKET_GONE;
		chunk_lost(sender, packet->chunk);
		note_loss(&losses, &sender->rtt, packet->sent);
	}
	if (losses.count)
		newreno_lost(&sender->cc, losses.count, losses.last_sent, now);
	if (losses.persistent)
		newreno_persistent(&sender->cc);
}

static void settle_acked(struct sender *sender)
{
	struct sent_packet *packet;
	uint64_t number;

	for (number = sender->oldest; number < sender->acked; number++) {
		packet = packet_at(sender, number);
		if (packet->fate == PACKET_NEWLY_ACKED) {
			packet->fate = PACKET_GONE;
			chunk_acked(sender, packet->chunk);
			newreno_acked(&sender->cc, packet->sent);
		}
	}
}

static void forget_gone(struct sender *sender)
{
	while (sender->oldest < sender->next_packet &&
	       packet_at(sender, sender->oldest)->fate == PACKET_GONE)
		sender->oldest++;
}

bool sender_acked(struct sender *sender, int64_t now, const struct ranges *acked,
		  int64_t ack_delay)
{
	uint64_t highest = acked->each[0].last;
	struct sent_packet *packet = packet_at(sender, highest);

	if (highest >= sender->next_packet)
		return false;
	if (!mark_acked(sender, acked))
		return true;
	if (highest >= sender->acked)
		sender->acked = highest + 1;
	if (highest >= sender->oldest && packet->fate == PACKET_NEWLY_ACKED)
		rtt_sample(&sender->rtt, now, now - packet->sent, ack_delay);
	find_lost(sender, now);
	settle_acked(sender);
	forget_gone(sender);
	sender->timeouts = 0;
	sender->probes = 0;
	return true;
}

int64_t sender_timer(const struct sender *sender)
{
	unsigned int doublings = sender->timeouts;

	if (sender->loss_time != NEVER)
		return sender->loss_time;
	if (!sender->cc.in_flight)
		return NEVER;
	if (doublings > DOUBLINGS_MAX)
		doublings = DOUBLINGS_MAX;
	return sender->probe_base + (rtt_probe_timeout(&sender->rtt) << doublings);
}

void sender_timeout(struct sender *sender, int64_t now)
{
	if (sender->loss_time != NEVER) {
		find_lost(sender, now);
		forget_gone(sender);
		return;
	}
	sender->timeouts++;
	sender->probes = PROBES;
	sender->probe_base = now;
}
