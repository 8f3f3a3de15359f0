/* SPDX-License-Identifier: GPL-2.0-only */
/* No flow's own packets wait for long: see lasack_aqm.c, and lasack_accept.c. */
#ifndef LASACK_AQM_H
#define LASACK_AQM_H

#include <linux/build_bug.h>
#include <linux/types.h>
#include <net/codel.h>
#include "lasack/lasack_flow.h"
#include "lasack/window/lasack_near.h"
#include "lasack/window/lasack_window.h"

struct lasack_queue;
struct net_device;
struct tcp_segment;

/* Of every flow, so kept small. */
struct lasack_aqm_flow {
	u32				state:16, /* its state's number, counted from 1; 0: none */
					trip:8;	  /* to the server and back: lasack_near.c */
	struct lasack_window_scale	scale;
};

static_assert(sizeof(struct lasack_aqm_flow) == sizeof(u32));

/* Of a flow that was served lately: one of four may have it. */
struct lasack_aqm_state {
	struct codel_vars	codel;
	struct lasack_window	window;
	u32			flow;	/* whose it is: its number, counted from 1; 0: nobody's */
	/* what the flow had sent and received, modulo 2^32, when what is recent began */
	u32			sent;
	u32			received;
};

struct lasack_aqm {
	struct codel_params	codel;		/* of what is not TCP */
	struct codel_params	codel_tcp;
	struct codel_stats	codel_stats;
	struct lasack_window_aim	aim;
	struct lasack_near	near;		/* data of TCP */
	bool			heeds_stations;	/* whether data waits there for long */
	struct sk_buff		*discarded;	/* since they were taken; linked by next */
	u64			thinned;	/* ACKs that gave way to later ones */
	u64			windows;	/* ACKs whose window became less */
	struct lasack_aqm_state	*states;
	u32			count;		/* of states */
	u32			hand;		/* the state that was given away last */
	struct lasack_aqm_flow	*flows;		/* by number */
	u32			size;		/* of these */
};

/* Takes the first packet of the flow, which has others, off the queue, onto aqm->discarded. */
typedef void (*lasack_discard_t)(struct lasack_queue *q, struct lasack_flow *flow);

struct lasack_aqm *lasack_aqm_create(u32 flows);
void lasack_aqm_free(struct lasack_aqm *aqm);
struct lasack_aqm_flow *lasack_aqm_of(struct lasack_queue *q, const struct lasack_flow *flow);
void lasack_aqm_set(struct lasack_aqm *aqm, u32 target, u32 mtu);
void lasack_aqm_set_aggregates(struct lasack_aqm *aqm, bool aggregates, bool automatic);
void lasack_aqm_forget(struct lasack_queue *q, const struct lasack_flow *flow);
void lasack_aqm_give_up(struct lasack_queue *q, const struct lasack_flow *flow);
void lasack_aqm_accepted(struct lasack_queue *q, const struct lasack_flow *flow,
			 const struct sk_buff *skb, const struct tcp_segment *seg);
void lasack_aqm_serve(struct lasack_queue *q, struct lasack_flow *flow, lasack_discard_t discard);

#endif
