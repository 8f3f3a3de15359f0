// SPDX-License-Identifier: GPL-2.0-only
/* In-order delivery under block ack: see reorder.h. */
#include "psdu.h"
#include "queue.h"
#include "reorder.h"

static struct mac_reorder *buffer_of(struct mac *mac, const struct mac_station *s,
				     int to)
{
	return &mac->reorder[s - mac->stations][to];
}

/* Hand on the first of those held back. */
static void release_first(struct mac *mac, struct mac_station *s,
			  struct mac_reorder *reorder)
{
	struct mac_frame *frame = reorder->held;
	int from = s - mac->stations;

	reorder->held = frame->held_next;
	reorder->next = frame->sequence + 1;
	if (frame->held) {
		s->counters.reorder_released++;
		s->waiting--;
	}
	frame->held = false;
	/* To its receiver it is a first copy. */
	frame->arrived = false;
	if (mac->ops->deliver)
		mac->ops->deliver(mac->ctx, from, frame);
	frame->arrived = true;
	if (frame->settled && mac->ops->done)
		mac->ops->done(mac->ctx, from, frame);
}

/* Sequence numbers wrap. */
static bool before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

/* The window begins at @start or later: release what is older or next. */
static void move_window(struct mac *mac, struct mac_station *s,
			struct mac_reorder *reorder, uint32_t start)
{
	while (reorder->held && before(reorder->held->sequence, start))
		release_first(mac, s, reorder);
	if (before(reorder->next, start))
		reorder->next = start;
	while (reorder->held && reorder->held->sequence == reorder->next)
		release_first(mac, s, reorder);
}

void reorder_receive(struct mac *mac, struct mac_station *s,
		     struct mac_frame *frame)
{
	struct mac_reorder *reorder = buffer_of(mac, s, frame->to);
	struct mac_frame **link = &reorder->held;
	uint32_t start = reorder->next;

	while (*link && before((*link)->sequence, frame->sequence))
		link = &(*link)->held_next;
	frame->held_next = *link;
	*link = frame;
	if (frame->sequence != reorder->next) {
		frame->held = true;
		s->counters.reorder_held++;
		s->waiting++;
	}
	/* 9.21.7.6.2: an MPDU beyond the window becomes its end. */
	if (!before(frame->sequence, start + MAC_MAX_AMPDU))
		start = frame->sequence - MAC_MAX_AMPDU + 1;
	move_window(mac, s, reorder, start);
}

void reorder_request(struct mac *mac, struct mac_station *s)
{
	int to = s->bar.to;
	uint32_t start = s->next_sequence[to];

	for (const struct mac_frame *frame = s->head; frame; frame = frame->next)
		if (frame->ordered && frame->to == to) {
			start = frame->sequence;
			break;
		}
	move_window(mac, s, buffer_of(mac, s, to), start);
}

void reorder_ask(struct mac *mac, struct mac_station *s, int to)
{
	if (s->asking)
		return;
	s->bar = (struct mac_frame){
		.to = to,
		.bytes = PHY_BLOCK_ACK_REQ_BYTES,
		.wants_ack = true,
		.is_bar = true,
		.rate = psdu_control_rate(mac, s),
	};
	queue_put_bar(s);
}

void reorder_end(struct mac *mac)
{
	for (int i = 0; i < mac->n_stations; i++)
		for (int j = 0; j < mac->n_stations; j++) {
			struct mac_frame *frame = mac->reorder[i][j].held, *next;

			mac->reorder[i][j].held = NULL;
			for (; frame; frame = next) {
				next = frame->held_next;
				if (frame->settled && mac->ops->done)
					mac->ops->done(mac->ctx, i, frame);
			}
		}
}
