// SPDX-License-Identifier: GPL-2.0-only
/*
 * When to acknowledge: RFC 9000, section 13.2. Every second packet; one that is not the next in
 * order, at once; and no packet later than 25 ms after it came.
 */
#include "../loop.h"
#include "receiver.h"
#include "rtt.h"

#define ACK_EVERY	2		/* packets (13.2.2) */

void receiver_init(struct receiver *receiver)
{
	*receiver = (struct receiver) { .ack_due = NEVER };
}

static void deliver(struct receiver *receiver, uint64_t chunk)
{
	bool *came;

	if (chunk < receiver->delivered)	/* a second time */
		return;
	receiver->chunks[chunk % STREAM_WINDOW] = true;
	while (*(came = &receiver->chunks[receiver->delivered % STREAM_WINDOW])) {
		*came = false;
		receiver->delivered++;
	}
}

bool receiver_take(struct receiver *receiver, int64_t now, uint64_t packet, uint64_t chunk)
{
	bool in_order = packet == receiver->next;

	if (chunk >= receiver->delivered + STREAM_WINDOW ||
	    packet >= receiver->next + 2 * STREAM_WINDOW)
		return false;
	ranges_add(&receiver->seen, packet);
	if (packet >= receiver->next) {
		receiver->next = packet + 1;
		receiver->highest_at = now;
	}
	deliver(receiver, chunk);
	receiver->packets++;
	if (++receiver->unacknowledged >= ACK_EVERY || !in_order)
		receiver->ack_due = now;
	else if (receiver->ack_due == NEVER)
		receiver->ack_due = now + QUIC_MAX_ACK_DELAY;
	return true;
}

int64_t receiver_acknowledge(struct receiver *receiver, int64_t now)
{
	receiver->unacknowledged = 0;
	receiver->ack_due = NEVER;
	return now - receiver->highest_at;
}
