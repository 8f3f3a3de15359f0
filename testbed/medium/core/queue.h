/* SPDX-License-Identifier: GPL-2.0-only */
/* A station's queue of frames. Internal to the MAC core. */
#ifndef DCFMEDIUM_QUEUE_H
#define DCFMEDIUM_QUEUE_H

#include "state.h"

static inline void queue_append(struct mac_station *s, struct mac_frame *frame)
{
	frame->next = NULL;
	*s->tail = frame;
	s->tail = &frame->next;
	s->backlog++;
}

/* A BlockAckReq goes first, and is no part of the backlog. */
static inline void queue_put_bar(struct mac_station *s)
{
	s->bar.next = s->head;
	if (!s->head)
		s->tail = &s->bar.next;
	s->head = &s->bar;
	s->asking = true;
}

/* @frame, which is in the queue of @s, leaves it. */
static inline void queue_remove(struct mac_station *s, struct mac_frame *frame)
{
	struct mac_frame **link = &s->head;

	while (*link != frame)
		link = &(*link)->next;
	*link = frame->next;
	if (!*link)
		s->tail = link;
	frame->next = NULL;
	if (frame->is_bar)
		s->asking = false;
	else
		s->backlog--;
}

#endif
