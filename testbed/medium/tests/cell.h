/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A cell for tests of the MAC core: hrdsss-11 with frames of 1536 bytes, whose
 * times the standard gives (test_phy.c): data 1310 us, ACK 248, DIFS 50, EIFS
 * 364, ACK timeout 222, slot 20. It writes down every callback with its time.
 */
#ifndef DCFMEDIUM_TEST_CELL_H
#define DCFMEDIUM_TEST_CELL_H

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/mac.h"

#define US(x)		((ns_t)(x) * NS_PER_US)
#define DATA		US(1310)
#define ACK		US(248)
#define SIFS		US(10)
#define DIFS		US(50)
#define EIFS		US(364)
#define ACK_TIMEOUT	US(222)
#define SLOT		US(20)
#define EXCHANGE	(DATA + SIFS + ACK)

#define LOG_MAX		4096

struct attempt {
	int from;
	ns_t start;
	bool collided;
	unsigned int number;
};

struct outcome {
	int from;
	ns_t at;
	bool acked;
	unsigned int attempts;
};

struct cell {
	struct mac mac;
	ns_t now;
	struct attempt attempts[LOG_MAX];
	int n_attempts;
	struct mac_attempt times;	/* of the last one */
	struct outcome outcomes[LOG_MAX];
	int n_outcomes;
	ns_t delivered_at[LOG_MAX];
	uint32_t delivered[LOG_MAX];	/* sequence numbers under block ack */
	int n_delivered;
};

static inline void cell_attempt(void *ctx, int from,
				const struct mac_attempt *attempt)
{
	struct cell *cell = ctx;
	bool lost = attempt->end == MAC_END_COLLIDED ||
		    attempt->end == MAC_END_LOST;

	if (attempt->frame->is_bar)
		return;
	cell->times = *attempt;
	cell->attempts[cell->n_attempts++ % LOG_MAX] = (struct attempt){
		from, attempt->start, lost, attempt->frame->attempts,
	};
}

static inline void cell_deliver(void *ctx, int from, struct mac_frame *frame)
{
	struct cell *cell = ctx;

	(void)from;
	cell->delivered[cell->n_delivered % LOG_MAX] = frame->sequence;
	cell->delivered_at[cell->n_delivered++ % LOG_MAX] = cell->now;
}

static inline void cell_status(void *ctx, int from, struct mac_frame *frame,
			       bool acked)
{
	struct cell *cell = ctx;

	cell->outcomes[cell->n_outcomes++ % LOG_MAX] = (struct outcome){
		from, cell->now, acked, frame->attempts,
	};
}

static inline void cell_done(void *ctx, int from, struct mac_frame *frame)
{
	(void)ctx;
	(void)from;
	free(frame);
}

/* A cell with its medium idle for long; release it with cell_end(). */
static inline struct cell *cell_of(const struct mac_config *config)
{
	static const struct mac_ops ops = {
		cell_attempt, cell_deliver, cell_status, cell_done,
	};
	struct cell *cell = calloc(1, sizeof(*cell));

	mac_init(&cell->mac, config, &ops, cell);
	return cell;
}

static inline struct cell *cell_begin(bool eifs, unsigned int rts_threshold,
				      uint64_t seed)
{
	struct mac_config config = mac_defaults(phy_find("hrdsss-11"));

	config.eifs = eifs;
	config.rts_threshold = rts_threshold;
	config.seed = seed;
	return cell_of(&config);
}

static inline void cell_end(struct cell *cell)
{
	mac_end(&cell->mac);
	for (int i = 0; i < cell->mac.n_stations; i++) {
		struct mac_frame *frame = cell->mac.stations[i].head, *next;

		for (; frame; frame = next) {
			next = frame->next;
			if (!frame->is_bar)
				free(frame);
		}
	}
	free(cell);
}

/* cw = 1: the only draw is 0, so that times are known beforehand. */
static inline int cell_station(struct cell *cell, unsigned int cw_min,
			       unsigned int cw_max, unsigned int retry_limit)
{
	struct mac_station_config config = {
		.addr = { 2, 0, 0, 0, cell->mac.n_stations, 0 },
		.retry_limit = retry_limit, .cw_min = cw_min, .cw_max = cw_max,
	};

	return mac_add_station(&cell->mac, &config);
}

/* A station of a network in which names, channels or levels matter. */
static inline int cell_join(struct cell *cell, const char *name,
			    unsigned int freq, double signal_db)
{
	struct mac_station_config config = {
		.addr = { 2, 0, 0, 0, cell->mac.n_stations, 0 },
		.retry_limit = 7, .cw_min = 1, .cw_max = 1,
		.freq = freq, .signal_db = signal_db,
	};

	strcpy(config.name, name);
	return mac_add_station(&cell->mac, &config);
}

/* Play up to @t, waking only when the core asks for it, as its users do. */
static inline void cell_play(struct cell *cell, ns_t t)
{
	while (cell->now < t) {
		ns_t next = mac_next(&cell->mac);

		cell->now = next < t ? next : t;
		mac_advance(&cell->mac, cell->now);
	}
}

/* Play up to @t and hand in a frame of 1536 bytes there. */
static inline void cell_send(struct cell *cell, int from, int to, ns_t t)
{
	struct mac_frame *frame = calloc(1, sizeof(*frame));

	frame->to = to;
	frame->bytes = 1536;
	frame->wants_ack = to != MAC_EVERYBODY;
	cell_play(cell, t);
	mac_enqueue(&cell->mac, from, frame, t);
}

/* The stream of draws that station @from will make from here on. */
static inline struct rng cell_draws(const struct cell *cell, int from)
{
	return cell->mac.stations[from].rng;
}

#endif
