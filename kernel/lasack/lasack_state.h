/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The data of the queue of LAS-ACK. lasack_queue.c has its functions.
 */
#ifndef LASACK_STATE_H
#define LASACK_STATE_H

#include <linux/minmax.h>
#include "lasack/lasack_flow.h"
#include "lasack/airtime/lasack_rates.h"
#include "lasack/lasack_tournament.h"
#include "lasack/lasack_station.h"
#include "lasack/lasack_sum.h"

struct lasack_aqm;
struct lasack_observer;

/* Flows that many packets share, behind those of the table. */
enum lasack_shared {
	/* what other traffic cannot do without: */
	LASACK_LINK,		/* neither IP nor what follows */
	LASACK_EAPOL,
	LASACK_ARP,
	LASACK_ICMPV6,
	LASACK_DHCP,
	LASACK_DNS,
	__LASACK_CONTROL,
	LASACK_OTHER = __LASACK_CONTROL, /* IP that cannot be parsed */
	LASACK_OVERFLOW,	/* more flows with packets than the table holds */
	__LASACK_SHARED
};

/* After a loss an ACK may acknowledge so much: a window. */
#define LASACK_WINDOW	(8U << 20)
/* A flow with at least so many bytes is large. */
#define LASACK_LARGE	100000

/* What the structures depend on: if it changes, they are made anew. */
struct lasack_shape {
	u32	flows;		/* places in the table */
	bool	paper;		/* the paper's rules and no others */
	bool	by_station;	/* first the stations have equal service, then their flows */
	bool	runs;		/* a station is served in runs */
	bool	aqm;		/* no flow's own packets wait for long */
};

/* How long packets waited, ns. */
struct lasack_delay {
	u64	average;	/* moving, of weight 1/8 */
	u64	max;
};

struct lasack_queue {
	/* what every packet needs */
	u64			now;		/* ns, see lasack_queue_advance() */
	u64			age;		/* the same for the sums, see lasack_sum.c */
	u32			time;		/* the same for the table */
	bool			timed;		/* it was just read from the clock */
	bool			dropping;	/* the queue was full lately: drop is kept */
	u64			seq;		/* of the last packet to arrive */
	u32			overhead;	/* bytes: the least that a packet is charged */
	struct lasack_shape	shape;
	u32			floor;		/* percent, see lasack_floor.c; 0: none */
	u32			packets;	/* in the orders: all but the control packets */
	u32			control_packets;
	u64			control_sum;	/* bytes that all of them have attained */
	u64			memory;		/* truesize of all packets, bytes */
	struct flow_table	*table;		/* of struct lasack_flow */
	struct {
		u64		station;	/* where the last packet goes */
		u32		hash;		/* of that station */
		u32		secret;
	} owner;				/* of the flows, see lasack_flow_hash() */
	struct lasack_stations	*stations;	/* NULL unless by_station or with runs */
	struct lasack_level	level;		/* of the stations if by_station, or of the flows */
	struct lasack_decay	decay;
	struct lasack_tournament order;		/* to serve: stations if there are any, or flows */
	struct lasack_delay	delay[2];	/* of small and of large flows */

	/* with stations */
	struct lasack_node	*nodes;		/* by flow */
	u32			quantum;	/* bytes of a run; 0: every packet is a run */
	struct lasack_station	*run;		/* whose packets were served last */
	s64			run_left;	/* bytes */
	u64			run_key;	/* the least of all as the run began */

	/* when it is full */
	u32			drop_below;	/* packets: with fewer, drop is not kept */
	struct lasack_tournament drop;		/* to push out of: as order */

	struct lasack_aqm	*aqm;		/* NULL: off */
	struct lasack_observer	*observer;	/* NULL: off */
	u64			overflow;
	u64			resynchronised;	/* ACKs after which counting began anew */
	u32			by_bits[65];	/* flows of less than 2^n bytes, not of 2^(n - 1) */
};

/* A flow by its number: those of the table, then the shared ones. */
static inline struct lasack_flow *lasack_flow_at(const struct lasack_queue *q, u32 number)
{
	return (struct lasack_flow *)q->table->places + number;
}

static inline u32 lasack_flow_number(const struct lasack_queue *q,
				     const struct lasack_flow *flow)
{
	return flow - (const struct lasack_flow *)q->table->places;
}

static inline struct lasack_flow *lasack_shared(const struct lasack_queue *q,
						enum lasack_shared which)
{
	return lasack_flow_at(q, q->table->size + which);
}

/* So often is the largest sum looked at; in the table's time. */
#define LASACK_LOOK	((NSEC_PER_SEC / 2) >> FLOW_TIME_SHIFT)

/* Time goes on: what was the largest sum half a second ago to a second ago? */
static inline void lasack_level_advance(const struct lasack_queue *q, struct lasack_level *level)
{
	u32 since = q->time - level->looked_at;

	if (likely(since < LASACK_LOOK))
		return;
	level->high_was[1] = since < 2 * LASACK_LOOK ? level->high_was[0] : level->high;
	level->high_was[0] = level->high;
	level->looked_at = q->time;
}

/*
 * Who has this @account is served, by @sum: its own, or a lesser one out of turn. Newcomers begin
 * below the sum that was served last: theirs do not count, or each would begin below the one
 * before.
 */
static inline void lasack_level_note(const struct lasack_queue *q, struct lasack_level *level,
				     const struct lasack_account *account, u64 sum)
{
	lasack_level_advance(q, level);
	if (!account->credit) {
		level->current_sum = sum;
		level->sparse = account->packets == 1;
	}
	level->high = max(level->high, sum);
}

/* A run under way has no more left. */
static inline void lasack_queue_set_quantum(struct lasack_queue *q, u32 bytes)
{
	q->quantum = bytes;
	q->run_left = min_t(s64, q->run_left, bytes);
}

/* Do stations order the service? */
static inline bool lasack_is_grouped(const struct lasack_queue *q)
{
	return q->stations;
}

/* Does the flow share its station's service? Control packets belong to no station. */
static inline bool lasack_has_station(const struct lasack_queue *q, const struct lasack_flow *flow)
{
	return q->shape.by_station && !lasack_is_control(flow);
}

static inline struct lasack_station *lasack_station_at(const struct lasack_queue *q,
						       const struct lasack_flow *flow)
{
	return &q->stations->place[flow->station];
}

/* What @bytes that a packet costs when it is sent weigh in the station's sum. */
static inline u64 lasack_station_sent(const struct lasack_queue *q,
				      const struct lasack_station *station, u32 bytes)
{
	const struct lasack_rates *rates = q->stations->rates;

	if (!rates)
		return bytes;
	return lasack_priced_sent(&rates->station[station->number].price, bytes, q->overhead);
}

/* Likewise, @bytes that an ACK acknowledges. */
static inline u64 lasack_station_acked(const struct lasack_queue *q,
				       const struct lasack_station *station, u32 bytes)
{
	const struct lasack_rates *rates = q->stations->rates;

	if (!rates)
		return bytes;
	return lasack_priced(bytes, READ_ONCE(rates->station[station->number].price.up));
}

/*
 * Likewise, a packet that costs @cost: of the least that it would cost, what it acknowledges has
 * paid for the rest.
 */
static inline u64 lasack_station_paid(const struct lasack_queue *q,
				      const struct lasack_station *station, u32 cost)
{
	const struct lasack_rates *rates = q->stations->rates;

	if (!rates || cost >= q->overhead)
		return 0;
	return lasack_priced(q->overhead - cost,
			     READ_ONCE(rates->station[station->number].price.paid));
}

/*
 * Likewise of control packets. They go to anybody and have no station: they may be as slow as
 * those to groups.
 */
static inline u64 lasack_control_weight(const struct lasack_queue *q, u32 bytes)
{
	const struct lasack_rates *rates = q->shape.by_station ? q->stations->rates : NULL;

	return rates ? lasack_priced_sent(&rates->group, bytes, q->overhead) : bytes;
}

/* With whom the flow competes. It has a station, if there are any. */
static inline struct lasack_level *lasack_flow_level(struct lasack_queue *q,
						     const struct lasack_flow *flow)
{
	return lasack_has_station(q, flow) ? &lasack_station_at(q, flow)->level : &q->level;
}

/* A sum with so many bytes more, now. */
static inline u64 lasack_sum_plus(const struct lasack_queue *q, u64 sum, u64 bytes)
{
	return lasack_sum_add(&q->decay, sum, bytes, q->age);
}

static inline u64 lasack_sum_minus(const struct lasack_queue *q, u64 sum, u64 bytes)
{
	return lasack_sum_sub(&q->decay, sum, bytes, q->age);
}

#endif
