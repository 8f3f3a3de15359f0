// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block ack: the receiver's reorder buffer and BlockAckReq (802.11-2012, 9.21.7)
 * for ht20 and MPDUs of 1540 bytes. Three in an A-MPDU take 608 us (36, and
 * 37,078 bits in symbols of 260 bits and 4 us), of which the first has 0 .. 202;
 * one alone takes 228, a block ack and a BlockAckReq at 24 Mb/s 32 each. SIFS is
 * 16, DIFS 34, EIFS 94.
 */
#include "cell.h"
#include "phy/phy_profile.h"
#include "tap.h"

#define AMPDU_3		US(608)
#define MPDU		US(228)
#define BLOCK_ACK	US(16 + 32)
#define BAR		US(32)
#define HT_DIFS		US(34)
#define HT_EIFS		US(94)

/* Station 0 has sent three MPDUs to station 1 over a channel of bit errors. */
static struct cell *three_mpdus(const struct channel_step *steps, size_t n,
				unsigned int retry_limit)
{
	struct mac_config config = mac_defaults(phy_find("ht20"));
	struct cell *cell;

	config.channel = (struct channel_config){
		.kind = CHANNEL_TRACE, .trace = steps, .n_trace = n,
	};
	cell = cell_of(&config);
	for (int i = 0; i < 2; i++)
		cell_station(cell, 1, 1, retry_limit);
	for (int i = 0; i < 3; i++) {
		struct mac_frame *frame = calloc(1, sizeof(*frame));

		*frame = (struct mac_frame){
			.to = 1, .bytes = 1540, .wants_ack = true,
			.carries_data = true,
		};
		mac_enqueue(&cell->mac, 0, frame, 0);
	}
	return cell;
}

/* Errors in the first MPDU alone. */
static const struct channel_step first_lost[] = {
	{ 0, 0 }, { US(50), 0.5 }, { US(150), 0 },
};

static void delivery_is_in_order(int *failures)
{
	struct cell *cell = three_mpdus(first_lost, 3, 7);
	const struct mac_counters *c = &cell->mac.stations[0].counters;
	ns_t again = AMPDU_3 + BLOCK_ACK + HT_DIFS;

	cell_play(cell, again);
	EXPECT_EQ(cell->n_delivered, 0);
	EXPECT_EQ(cell->n_outcomes, 2);
	EXPECT_EQ(cell->outcomes[0].at, AMPDU_3 + BLOCK_ACK);
	EXPECT_EQ(cell->mac.stations[0].waiting, 2);
	cell_play(cell, US(10000));
	EXPECT_EQ(cell->n_delivered, 3);
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(cell->delivered_at[i], again + MPDU);
		EXPECT_EQ(cell->delivered[i], i);
	}
	EXPECT_EQ(c->reorder_held, 2);
	EXPECT_EQ(c->reorder_released, 2);
	EXPECT_EQ(c->bars, 0);
	EXPECT_EQ(cell->mac.stations[0].waiting, 0);
	cell_end(cell);
}

/* The first MPDU is given up: a BlockAckReq tells the receiver. */
static void a_drop_moves_the_window(int *failures)
{
	struct cell *cell = three_mpdus(first_lost, 3, 1);
	const struct mac_counters *c = &cell->mac.stations[0].counters;
	ns_t asked = AMPDU_3 + BLOCK_ACK + HT_DIFS;

	cell_play(cell, US(10000));
	EXPECT_EQ(c->drops, 1);
	EXPECT_EQ(c->bars, 1);
	EXPECT_EQ(cell->n_delivered, 2);
	EXPECT_EQ(cell->delivered[0], 1);
	EXPECT_EQ(cell->delivered_at[0], asked + BAR);
	EXPECT_EQ(cell->delivered_at[1], asked + BAR);
	EXPECT_EQ(cell->mac.stations[0].waiting, 0);
	EXPECT_EQ(cell->mac.stations[0].backlog, 0);
	EXPECT_EQ(mac_next(&cell->mac), NS_NEVER);
	cell_end(cell);
}

/* The block ack is lost: EIFS later the sender asks, and sends nothing twice. */
static void a_lost_block_ack_is_asked_for(int *failures)
{
	static const struct channel_step steps[] = {
		{ 0, 0 }, { AMPDU_3, 0.5 }, { AMPDU_3 + BLOCK_ACK, 0 },
	};
	struct cell *cell = three_mpdus(steps, 3, 7);
	const struct mac_counters *c = &cell->mac.stations[0].counters;
	ns_t told = AMPDU_3 + BLOCK_ACK + HT_EIFS + BAR + BLOCK_ACK;

	cell_play(cell, US(10000));
	EXPECT_EQ(cell->n_delivered, 3);
	EXPECT_EQ(cell->delivered_at[2], AMPDU_3);
	EXPECT_EQ(cell->n_outcomes, 3);
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(cell->outcomes[i].at, told);
		EXPECT(cell->outcomes[i].acked);
		EXPECT_EQ(cell->outcomes[i].attempts, 1);
	}
	EXPECT_EQ(c->bars, 1);
	EXPECT_EQ(c->recovered, 3);
	EXPECT_EQ(c->acks_lost, 3);
	EXPECT_EQ(c->tx + c->recovered, c->delivered + c->lost);
	cell_end(cell);
}

/* A BlockAckReq that gets no answer is repeated like any other frame. */
static void a_lost_request_is_repeated(int *failures)
{
	static const struct channel_step steps[] = {
		{ 0, 0 }, { AMPDU_3, 0.5 },
		{ AMPDU_3 + BLOCK_ACK + HT_EIFS + BAR, 0 },
	};
	struct cell *cell = three_mpdus(steps, 3, 7);
	const struct mac_counters *c = &cell->mac.stations[0].counters;

	cell_play(cell, US(10000));
	EXPECT_EQ(c->bars, 2);
	EXPECT_EQ(c->bars_failed, 1);
	EXPECT_EQ(c->recovered, 3);
	cell_end(cell);
}

/*
 * Without the BlockAckReq that follows a drop the receiver holds 63 MPDUs back
 * for one that was given up, until one beyond its window arrives.
 */
static void the_window_moves_by_itself(int *failures)
{
	struct cell *cell = three_mpdus(first_lost, 3, 1);
	struct mac_station *s = &cell->mac.stations[0];

	cell_play(cell, AMPDU_3 + BLOCK_ACK);
	/* Nobody asks. */
	EXPECT(s->asking);
	s->head = NULL;
	s->tail = &s->head;
	s->asking = false;
	for (int i = 3; i <= 64; i++) {
		struct mac_frame *frame = calloc(1, sizeof(*frame));

		*frame = (struct mac_frame){
			.to = 1, .bytes = 1540, .wants_ack = true,
			.carries_data = true,
		};
		cell_play(cell, US(1000) * i);
		EXPECT_EQ(cell->n_delivered, 0);
		mac_enqueue(&cell->mac, 0, frame, cell->now);
	}
	EXPECT_EQ(s->waiting, 63);
	cell_play(cell, US(100000));
	/* 64 is beyond a window that begins at 0: now it begins at 1. */
	EXPECT_EQ(cell->n_delivered, 64);
	EXPECT_EQ(cell->delivered[0], 1);
	EXPECT_EQ(cell->delivered[63], 64);
	EXPECT_EQ(s->waiting, 0);
	cell_end(cell);
}

/* All three are given up: the BlockAckReq moves a window that holds nothing. */
static void an_empty_window_moves(int *failures)
{
	static const struct channel_step steps[] = {
		{ 0, 0 }, { US(10), 0.5 }, { US(650), 0 },
	};
	struct cell *cell = three_mpdus(steps, 3, 1);
	const struct mac_counters *c = &cell->mac.stations[0].counters;
	struct mac_frame *frame = calloc(1, sizeof(*frame));

	cell_play(cell, US(2000));
	EXPECT_EQ(c->drops, 3);
	EXPECT_EQ(c->bars - c->bars_failed, 1);
	*frame = (struct mac_frame){
		.to = 1, .bytes = 1540, .wants_ack = true, .carries_data = true,
	};
	mac_enqueue(&cell->mac, 0, frame, cell->now);
	cell_play(cell, US(5000));
	EXPECT_EQ(cell->n_delivered, 1);
	EXPECT_EQ(c->reorder_held, 0);
	cell_end(cell);
}

/* Losses of all kinds: in order, once each, and all given back. */
static void random_losses(int *failures)
{
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct mac_config config = mac_defaults(phy_find("ht20"));
		struct cell *cell;

		config.seed = seed;
		config.channel = (struct channel_config){
			.kind = CHANNEL_LOSS, .loss = 0.03 * seed,
		};
		cell = cell_of(&config);
		for (int i = 0; i < 3; i++)
			cell_station(cell, 16, 1024, 1 + seed % 4);
		for (int i = 0; i < 3000; i++) {
			struct mac_frame *frame = calloc(1, sizeof(*frame));

			*frame = (struct mac_frame){
				.to = 1, .bytes = 1540, .wants_ack = true,
				.carries_data = true,
			};
			if (i % 3)
				cell_play(cell, cell->now + US(150));
			mac_enqueue(&cell->mac, seed % 2 || i % 7 ? 0 : 2, frame,
				    cell->now);
		}
		cell_play(cell, cell->now + 60 * NS_PER_S);
		for (int i = 0; i < 3; i += 2) {
			const struct mac_station *s = &cell->mac.stations[i];
			const struct mac_counters *c = &s->counters;

			EXPECT_EQ(c->tx + c->recovered,
				  c->delivered + c->collisions + c->lost);
			EXPECT_EQ(c->frames_in, c->delivered + c->drops);
			EXPECT_EQ(c->reorder_held,
				  c->reorder_released + s->waiting);
			EXPECT(c->reorder_held > 0 || !c->frames_in);
		}
		EXPECT(cell->n_delivered > 1500);
		/* With odd seeds station 0 alone sends. */
		for (int i = 1; seed % 2 && i < cell->n_delivered; i++)
			if (cell->delivered[i] <= cell->delivered[i - 1])
				EXPECT_EQ(cell->delivered[i], cell->delivered[i - 1] + 1);
		cell_end(cell);
	}
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "delivery is in order", delivery_is_in_order },
		{ "a drop moves the window", a_drop_moves_the_window },
		{ "a lost block ack is asked for", a_lost_block_ack_is_asked_for },
		{ "a lost BlockAckReq is repeated", a_lost_request_is_repeated },
		{ "an MPDU beyond the window moves it", the_window_moves_by_itself },
		{ "an empty window moves", an_empty_window_moves },
		{ "counters add up under losses", random_losses },
		{ }
	};

	return tap_run(cases);
}
