// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of what must be true of LAS-ACK's queue at any time.
 *
 * Principle: random packets, services, losses and changes of all options. After each of them,
 * everything that is counted is counted again, and no key in an order is larger than the sum that
 * it stands for: orders correct keys that are too small, never those that are too large.
 */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include "lasack/tests/lasack_datagrams.h"

#define OPERATIONS	40000
#define CONNECTIONS	40

struct books {
	u32	state;			/* of the random numbers */
	u32	ack_seq[CONNECTIONS];
	u32	asked;			/* connections */
	u64	now;			/* ns */
	u32	of[LASACK_STATIONS + 1];	/* packets, by station */
	u32	spares[LASACK_STATIONS + 1];
};

/* A number less than @n. D. E. Knuth's and H. W. Lewis' linear congruential generator. */
static u32 random_below(struct books *b, u32 n)
{
	b->state = b->state * 1664525 + 1013904223;
	return ((u64)(b->state >> 4) * n) >> 28;
}

static bool one_in(struct books *b, u32 n)
{
	return !random_below(b, n);
}

static u64 leaf_key(const struct lasack_tournament *t, u32 item)
{
	return t->rounds[0][t->places[item] - 1].key;
}

/* The flow has packets, and is not control's. */
static void check_order(struct kunit *test, struct lasack_queue *q, struct books *b, u32 number)
{
	struct lasack_flow *flow = lasack_flow_at(q, number);
	bool spares = lasack_flow_can_spare(q, flow);

	if (lasack_is_grouped(q)) {
		b->of[flow->station] += flow->account.packets;
		b->spares[flow->station] += flow->spare;
		KUNIT_EXPECT_LE(test, q->nodes[number].key, flow->account.sum);
		if (q->dropping && q->shape.by_station)
			KUNIT_EXPECT_EQ(test, (int)flow->spare, (int)spares);
	} else {
		KUNIT_EXPECT_LE(test, leaf_key(&q->order, number), flow->account.sum);
	}
	/* With a half-life, what is deferred weighs more as time goes on. */
	if (q->dropping && !q->shape.by_station && !q->decay.halflife)
		KUNIT_EXPECT_EQ(test, leaf_key(&q->drop, number),
				lasack_drop_key(spares, lasack_flow_sum_in_all(q, flow)));
}

static void check_flows(struct kunit *test, struct lasack_queue *q, struct books *b)
{
	u32 bits[65] = {}, i, n, packets = 0, control = 0, busy = 0;
	const struct lasack_flow *flow;
	const struct sk_buff *skb;
	u64 memory = 0;

	for (i = 0; i < q->table->size + __LASACK_SHARED; i++) {
		flow = lasack_flow_at(q, i);
		for (skb = flow->head, n = 0; skb; skb = skb->next, n++)
			memory += lasack_cb(skb)->memory;
		KUNIT_EXPECT_EQ(test, n, flow->account.packets);
		if (lasack_is_control(flow))
			control += n;
		else
			packets += n;
		if (!flow->shared && flow->entry.in_use) {
			bits[fls64(lasack_flow_bytes(flow))]++;
			busy += flow->entry.busy;
			KUNIT_EXPECT_EQ(test, (int)flow->entry.busy, n > 0);
		}
		if (flow->head && !lasack_is_control(flow))
			check_order(test, q, b, i);
	}
	KUNIT_EXPECT_EQ(test, memcmp(bits, q->by_bits, sizeof(bits)), 0);
	KUNIT_EXPECT_EQ(test, packets, q->packets);
	KUNIT_EXPECT_EQ(test, control, q->control_packets);
	KUNIT_EXPECT_EQ(test, memory, q->memory);
	KUNIT_EXPECT_EQ(test, busy, q->table->busy);
}

static void check_stations(struct kunit *test, struct lasack_queue *q, const struct books *b)
{
	const struct lasack_station *station;
	struct rb_node *node, *next;
	u32 i;

	for (i = 0; i <= LASACK_STATIONS; i++) {
		station = &q->stations->place[i];
		KUNIT_EXPECT_EQ(test, station->account.packets, b->of[i]);
		for (node = rb_first_cached(&station->flows); node; node = next) {
			next = rb_next(node);
			KUNIT_EXPECT_FALSE(test, next && lasack_node_before(lasack_node_of(next),
									    lasack_node_of(node)));
		}
		if (!b->of[i] || !q->shape.by_station)
			continue;
		KUNIT_EXPECT_LE(test, leaf_key(&q->order, i),
				lasack_station_key(q, station, NULL));
		if (q->dropping)
			KUNIT_EXPECT_EQ(test, station->spares, b->spares[i]);
	}
}

/* Nobody stands in a line twice, and who starves stands in that of those it competes with. */
static void check_floor(struct kunit *test, struct lasack_queue *q)
{
	struct lasack_floor *floor;
	struct lasack_flow *flow;
	u32 i, j, places;

	for (i = 0; i < q->table->size; i++) {
		flow = lasack_flow_at(q, i);
		if (!flow->starved || !flow->entry.in_use)
			continue;
		KUNIT_EXPECT_GT(test, q->floor, 0U);
		floor = &lasack_flow_level(q, flow)->floor;
		KUNIT_ASSERT_LE(test, floor->count, (u32)LASACK_FLOOR_LINE);
		for (j = places = 0; j < floor->count; j++)
			places += floor->line[j].flow == i;
		KUNIT_EXPECT_EQ(test, places, 1U);
	}
}

static void check_books(struct kunit *test, struct books *b)
{
	struct lasack_queue *q = test->priv;

	memset(b->of, 0, sizeof(b->of));
	memset(b->spares, 0, sizeof(b->spares));
	check_floor(test, q);
	check_flows(test, q, b);
	if (lasack_is_grouped(q))
		check_stations(test, q, b);
}

/* ACKs go on, jump, or go back. */
static u32 next_ack(struct books *b, u32 id)
{
	switch (random_below(b, 12)) {
	case 0:
		return b->ack_seq[id] += BIT(random_below(b, 32));
	case 1:
		return b->ack_seq[id] -= BIT(random_below(b, 32));
	case 2:
		return b->ack_seq[id] += LASACK_BELIEVED;
	case 3:
		return b->ack_seq[id] -= LASACK_WINDOW;
	default:
		return b->ack_seq[id] += random_below(b, 9000);
	}
}

/*
 * A station asks for a connection, or sends a datagram of a call and gets others. Calls go ahead
 * of connections that were asked for, so sums become less.
 */
static void random_answer(struct kunit *test, struct books *b)
{
	struct lasack_queue *q = test->priv;
	bool call = one_in(b, 2);
	u32 id = 1000 + (call ? random_below(b, 9) : 9 + b->asked++ % 3000);
	u32 packets = 1 + random_below(b, 3);
	u64 station = 0x020000000000ULL + id % 3;
	struct tcp_segment seg = data(id, 0);

	if (call) {
		seg = datagram(id, 200 + random_below(b, 1200));
		lasack_observer_note(q->observer, &seg, station);
	} else {
		seg.syn = 1;
		lasack_observer_note_tcp(q->observer, &seg, station, 0, NULL);
		seg.syn = 0;
	}
	while (packets--) {
		seg.payload = random_below(b, 1400);
		add_to(test, id % 3, seg, 1);
	}
}

static void random_packet(struct kunit *test, struct books *b)
{
	u32 id = random_below(b, CONNECTIONS);
	struct tcp_segment seg = data(1 + id, one_in(b, 4) ? random_below(b, 1449) : 0);

	seg.ack_seq = next_ack(b, id);
	seg.ack = !one_in(b, 20);
	seg.syn = one_in(b, 40);
	seg.fin = one_in(b, 40);
	seg.rst = one_in(b, 60);
	seg.reversed = one_in(b, 10);
	if (one_in(b, 40))
		seg.class = SEGMENT_NOT_IP;
	else if (one_in(b, 40))
		seg.class = SEGMENT_MALFORMED;
	add_to(test, one_in(b, 30) ? random_below(b, 250) : id % 5, seg, 1);
}

static void random_options(struct lasack_queue *q, struct books *b)
{
	q->quantum = q->shape.runs || (q->shape.by_station && one_in(b, 2)) ? 3000 : 0;
	q->overhead = q->shape.paper || one_in(b, 2) ? 0 : 640;
	lasack_queue_set_floor(q, one_in(b, 3) ? 0 : 10);
	flow_table_set_idle(q->table, one_in(b, 2) ? 300 * NSEC_PER_MSEC : 0);
	lasack_queue_set_halflife(q, one_in(b, 3) ? 100 * NSEC_PER_MSEC : 0);
}

static void random_shape(struct kunit *test, struct books *b)
{
	bool paper = one_in(b, 8);
	struct lasack_shape shape = {
		.flows = 1 + random_below(b, 24),
		.paper = paper,
		.by_station = !paper && one_in(b, 2),
		.runs = one_in(b, 3),
	};
	struct lasack_queue *q = lasack_queue_create(&shape);

	KUNIT_ASSERT_NOT_NULL(test, q);
	lasack_queue_take_over(q, test->priv);
	lasack_queue_free(test->priv);
	test->priv = q;
	random_options(q, b);
}

static void random_operation(struct kunit *test, struct books *b, u32 services)
{
	struct lasack_queue *q = test->priv;
	u32 kind = random_below(b, 1000);

	b->now += one_in(b, 50) ? random_below(b, 700) * NSEC_PER_MSEC : random_below(b, 100000);
	lasack_queue_advance(q, b->now);
	if (kind < 990 - services && kind % 2)
		random_answer(test, b);
	else if (kind < 990 - services)
		random_packet(test, b);
	else if (kind < 990)
		serve(test);
	else if (kind < 995)
		random_options(q, b);
	else if (kind < 998)
		random_shape(test, b);
	while (q == test->priv && q->packets + q->control_packets > 60)
		push_out(test);
}

/* In turns the queue grows and is emptied. */
static void books_are_right(struct kunit *test)
{
	struct books *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, b);
	begin_hearing(test);
	b->state = 1;
	b->now = NSEC_PER_SEC;
	/* The first that is wrong says all: the others follow from it. */
	for (i = 0; i < OPERATIONS && test->status == KUNIT_SUCCESS; i++) {
		random_operation(test, b, i & 4096 ? 600 : 400);
		check_books(test, b);
	}
	KUNIT_EXPECT_EQ(test, i, OPERATIONS);
}

/* By the paper's rules an ACK may claim a gigabyte. Still no sum is larger than the largest. */
static void a_sum_has_an_end(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	u32 i;

	add(test, ack(1, 0), 1);
	add(test, data(2, 100), 2);
	add(test, data(3, 100), 3);
	known(q, 1)->account.sum = LASACK_SUM_MAX - 2ULL * LASACK_MAX_ACKED;
	for (i = 1; i <= 4; i++)
		add(test, ack(1, i * LASACK_MAX_ACKED), 1);
	KUNIT_EXPECT_EQ(test, known(q, 1)->account.sum, LASACK_SUM_MAX);
	KUNIT_EXPECT_EQ(test, push_out(test), 1U);
	KUNIT_EXPECT_EQ(test, serve(test), 2U);
	KUNIT_EXPECT_EQ(test, serve(test), 3U);
	KUNIT_EXPECT_EQ(test, serve(test), 1U);
}

/* A connection moves to another station: that is not given back what the first one paid. */
static void a_refund_stays_with_its_station(struct kunit *test)
{
	struct lasack_queue *q = lasack_test_reshape(test, (struct lasack_shape) {
		.by_station = true,
	});
	u64 was;
	u32 i;

	lasack_queue_advance(q, 1);
	for (i = 0; i < 40; i++) {
		add_to(test, 1, ack(1, i * 8000), 1);
		add_to(test, 2, data(2, 8000), 2);
		while (serve(test))
			;
	}
	add_to(test, 2, ack(1, 39 * 8000), 1);
	was = lasack_station_at(q, known(q, 1))->account.sum;
	add_to(test, 2, ack(1, 39 * 8000 - 200000), 1);
	KUNIT_EXPECT_EQ(test, lasack_station_at(q, known(q, 1))->account.sum, was);
}

static struct kunit_case lasack_books_cases[] = {
	KUNIT_CASE(books_are_right),
	KUNIT_CASE(a_sum_has_an_end),
	KUNIT_CASE(a_refund_stays_with_its_station),
	{}
};

static struct kunit_suite lasack_books_suite = {
	.name = "lasack_books",
	.init = lasack_test_init,
	.exit = lasack_test_exit,
	.test_cases = lasack_books_cases,
};

kunit_test_suite(lasack_books_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of what LAS-ACK counts");
