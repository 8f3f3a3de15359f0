// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of what stations' bytes cost in airtime.
 *
 * Principle: the airtime of frames follows from IEEE Std 802.11-2020. At 11 Mb/s with the long
 * preamble a frame of 1536 bytes and its ACK at 2 Mb/s take 192 + 1117.1 + 10 + 192 + 56 us; at
 * 1 Mb/s with its ACK at 1 Mb/s 192 + 12288 + 10 + 192 + 112 us. Of 88 bytes, 514 and 1210 us.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include "lasack/tests/lasack_packets.h"

#define FULL	1536
#define BRIEF	88
#define OVERHEAD	640

static const struct lasack_rate one = { .value = 10 };
static const struct lasack_rate eleven = { .value = 110 };
static const struct lasack_rate none;

/* Within 0.1 %. */
static void expect_close(struct kunit *test, u64 is, u64 should)
{
	KUNIT_EXPECT_LE(test, is, should + div_u64(should, 1000));
	KUNIT_EXPECT_GE(test, is, should - div_u64(should, 1000));
}

static void airtime_of_frames(struct kunit *test)
{
	const struct lasack_rate ofdm = { .value = 540 };
	const struct lasack_rate ht = { .value = 650, .aggregates = true };

	expect_close(test, lasack_airtime(&eleven, FULL), 1567091);
	expect_close(test, lasack_airtime(&eleven, BRIEF), 514000);
	expect_close(test, lasack_airtime(&one, FULL), 12794000);
	expect_close(test, lasack_airtime(&one, BRIEF), 1210000);
	/* Bits in symbols of 4 us, 57 of them, and a preamble, SIFS and ACK: 292 us. */
	expect_close(test, lasack_airtime(&ofdm, FULL), 291555);
	/* 189 us of bits, and a tenth of what an A-MPDU of 2 ms has beside its frames. */
	expect_close(test, lasack_airtime(&ht, FULL), 189046 + 8800);
}

static struct lasack_price price_beside(const struct lasack_rate *tx,
					const struct lasack_rate *rx,
					const struct lasack_rate *fast, u32 overhead)
{
	struct lasack_air air = {}, other = {};
	struct lasack_airs airs = {};

	lasack_air_add(&air, tx, rx);
	lasack_air_add(&other, fast, fast);
	lasack_airs_add(&airs, &other);
	lasack_airs_add(&airs, &air);
	return lasack_price_of(&air, &airs.least, overhead);
}

/* Where all rates are the same, sums are of bytes to the last bit. */
static void equal_rates_cost_one(struct kunit *test)
{
	struct lasack_rate rate = {};
	struct lasack_price price;
	u32 bytes;

	for (rate.value = 1; rate.value < 100000; rate.value = rate.value * 3 / 2 + 1) {
		rate.aggregates = rate.value > 600;
		price = price_beside(&rate, &rate, &rate, OVERHEAD);
		for (bytes = 0; bytes < 3000; bytes += 7) {
			KUNIT_ASSERT_EQ(test, lasack_priced_sent(&price, bytes, OVERHEAD),
					bytes);
			KUNIT_ASSERT_EQ(test, lasack_priced(bytes, price.up), bytes);
		}
		KUNIT_EXPECT_EQ(test, price.paid, 0U);
	}
}

/* 12794 beside 1567.1 us: 8.164. A short frame: 1210 beside 514. */
static void one_beside_eleven(struct kunit *test)
{
	struct lasack_price price = price_beside(&one, &one, &eleven, OVERHEAD);

	expect_close(test, lasack_priced_sent(&price, 1448, OVERHEAD), 1448 * 8164 / 1000);
	expect_close(test, lasack_priced(100000, price.up), 816400);
	KUNIT_EXPECT_EQ(test, price.paid, 0U);
	/* A GSO packet costs what its frames do. */
	expect_close(test, lasack_priced_sent(&price, 10 * 1448, OVERHEAD), 14480 * 8164 / 1000);
	expect_close(test, lasack_priced_sent(&price, OVERHEAD, OVERHEAD), OVERHEAD * 1210 / 514);
	/* A longer packet never costs less, whatever the least is. */
	KUNIT_EXPECT_GT(test, lasack_priced_sent(&price, 641, OVERHEAD),
			lasack_priced_sent(&price, 640, OVERHEAD));
	price = price_beside(&one, &one, &eleven, 0);
	expect_close(test, lasack_priced_sent(&price, 1448, 0), 1448 * 8164 / 1000);
	price = price_beside(&one, &one, &eleven, 65535);
	expect_close(test, lasack_priced_sent(&price, 1448, 65535), 1448 * 8164 / 1000);
}

/* Each direction has a price of its own. */
static void slow_in_one_direction(struct kunit *test)
{
	struct lasack_price price = price_beside(&one, &eleven, &eleven, OVERHEAD);

	expect_close(test, lasack_priced_sent(&price, 1448, OVERHEAD), 1448 * 8164 / 1000);
	KUNIT_EXPECT_EQ(test, lasack_priced(100000, price.up), 100000ULL);
	/* An ACK takes 696 us more; a frame of 1448 bytes takes 1567.1. */
	expect_close(test, lasack_priced(100 * OVERHEAD, price.paid), 64310);
	/* If only one direction is known, the other is like it. */
	price = price_beside(&one, &none, &eleven, OVERHEAD);
	expect_close(test, lasack_priced(100000, price.up), 816400);
	price = price_beside(&none, &one, &eleven, OVERHEAD);
	expect_close(test, lasack_priced_sent(&price, 1448, OVERHEAD), 1448 * 8164 / 1000);
}

/* Rates nobody can have: nothing is divided by 0, and no price leaves its range. */
static void absurd_rates(struct kunit *test)
{
	static const u32 values[] = { 0, 1, 2, 10, 1000000, U32_MAX };
	struct lasack_price price;
	u32 i, j, k;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		for (j = 0; j < ARRAY_SIZE(values); j++) {
			for (k = 0; k < 2; k++) {
				const struct lasack_rate tx = { values[i], k };
				const struct lasack_rate rx = { values[j], !k };

				price = price_beside(&tx, &rx, &eleven, OVERHEAD);
				KUNIT_EXPECT_GE(test, price.brief, 1U);
				KUNIT_EXPECT_LE(test, price.brief, LASACK_PRICE_MAX);
				KUNIT_EXPECT_GE(test, price.up, 1U);
				KUNIT_EXPECT_LE(test, price.up, LASACK_PRICE_MAX);
				KUNIT_EXPECT_LE(test, price.more, 2 * LASACK_PRICE_MAX);
				KUNIT_EXPECT_LE(test, price.paid, LASACK_PRICE_MAX);
			}
		}
	}
	price = price_beside(&none, &none, &eleven, OVERHEAD);
	KUNIT_EXPECT_EQ(test, price.more, LASACK_PRICE_ONE);
}

/* One frame at another rate, such as a probe of the rate control, changes little. */
static void rates_are_smoothed(struct kunit *test)
{
	struct lasack_air air = {};
	u32 i, before;

	for (i = 0; i < 20; i++)
		lasack_air_add(&air, &eleven, &eleven);
	before = air.down;
	lasack_air_add(&air, &one, &eleven);
	KUNIT_EXPECT_LT(test, air.down, 2 * before);
	for (i = 0; i < 50; i++)
		lasack_air_add(&air, &one, &one);
	expect_close(test, air.down, 12794000);
}

static int airtime_test_init(struct kunit *test)
{
	struct lasack_queue *q;
	u32 i;

	test->priv = NULL;
	q = lasack_test_reshape(test, (struct lasack_shape) { .by_station = true });
	q->stations->rates = kunit_kzalloc(test, sizeof(*q->stations->rates), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, q->stations->rates);
	spin_lock_init(&q->stations->rates->lock);
	q->stations->rates->group = LASACK_PRICES_ONE;
	q->stations->rates->unknown = LASACK_PRICES_ONE;
	/* No work is queued. */
	q->stations->rates->running = 1;
	for (i = 0; i <= LASACK_STATIONS; i++)
		lasack_rates_begin(q->stations->rates, i, 0);
	return 0;
}

/* Every byte of the station that connection @id goes to has this price. */
static void set_price(struct kunit *test, u32 id, u32 times)
{
	struct lasack_queue *q = test->priv;
	u32 number = known(q, id)->station, price = times << LASACK_PRICE_SHIFT;

	q->stations->rates->station[number].price = (struct lasack_price) {
		price, price, price, price
	};
}

/* Station 2 is eight times as slow: its upload has an eighth of what the other downloads. */
static void slow_station_has_an_eighth(struct kunit *test)
{
	u32 i, acked = 0, served[3] = {}, mark;

	add_to(test, 1, data(1, 1000), 1);
	add_to(test, 2, ack(2, acked), 2);
	set_price(test, 2, 8);
	for (i = 0; i < 9000; i++) {
		mark = serve(test);
		served[mark]++;
		if (mark == 1)
			add_to(test, 1, data(1, 1000), 1);
		else
			add_to(test, 2, ack(2, acked += 1000), 2);
	}
	/* Each is new until it has had its credit. */
	KUNIT_EXPECT_GE(test, served[2], 1000 - 70U);
	KUNIT_EXPECT_LE(test, served[2], 1000 + 70U);
}

/*
 * What comes from station 2 is as fast as station 1's download, but its ACKs go at 1 Mb/s. Both
 * take the same airtime, of data and ACKs. An ACK comes with every two frames.
 */
static void slow_acks_are_paid(struct kunit *test)
{
	u32 i, acked = 0, served[3] = {}, mark, first, second;
	struct lasack_queue *q = test->priv;

	q->overhead = OVERHEAD;
	add_to(test, 1, data(1, 1448), 1);
	add_to(test, 2, ack(2, acked), 2);
	q->stations->rates->station[known(q, 2)->station].price =
		price_beside(&one, &eleven, &eleven, OVERHEAD);
	for (i = 0; i < 9000; i++) {
		mark = serve(test);
		served[mark]++;
		if (mark == 1)
			add_to(test, 1, data(1, 1448), 1);
		else
			add_to(test, 2, ack(2, acked += 2896), 2);
	}
	first = served[1] * (1567 + 514 / 2);	/* us */
	second = served[2] * (1210 + 2 * 1567);
	KUNIT_EXPECT_GE(test, second, first / 100 * 95);
	KUNIT_EXPECT_LE(test, second, first / 100 * 105);
}

/* Of an ACK's 640 bytes what it acknowledges pays for half: only that half costs more. */
static void half_paid_costs_half(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct lasack_station *station;
	u64 before;

	q->overhead = OVERHEAD;
	add_to(test, 1, ack(1, 0), 1);
	serve(test);
	set_price(test, 1, 1);
	station = &q->stations->place[known(q, 1)->station];
	q->stations->rates->station[known(q, 1)->station].price.paid = 2 << LASACK_PRICE_SHIFT;
	add_to(test, 1, ack(1, OVERHEAD / 2), 1);
	before = station->account.sum;
	serve(test);
	KUNIT_EXPECT_EQ(test, station->account.sum, before + OVERHEAD / 2 + OVERHEAD);
}

/*
 * Of a station whose rates are not told a full frame takes the harmonic mean of the others: of
 * 12794 and 1567.1 us, 2792.2, 1.7818 times as much as the fastest needs. A group's takes as long
 * as the slowest's, and at 6 Mb/s at least: 2112 us, 10.68 times what 197.8 us are.
 */
static void not_told_costs_the_mean(struct kunit *test)
{
	const struct lasack_rate sixty_five = { .value = 650, .aggregates = true };
	struct lasack_air fast = {}, slow = {}, ht = {}, mean;
	struct lasack_airs airs = {};
	struct lasack_price price;

	mean = lasack_airs_mean(&airs);
	KUNIT_EXPECT_EQ(test, mean.down, 0U);
	price = lasack_price_of(&mean, &airs.least, OVERHEAD);
	KUNIT_EXPECT_EQ(test, price.full, LASACK_PRICE_ONE);
	lasack_air_add(&fast, &eleven, &eleven);
	lasack_air_add(&slow, &one, &one);
	lasack_air_add(&ht, &sixty_five, &sixty_five);
	lasack_airs_add(&airs, &fast);
	lasack_airs_add(&airs, &slow);
	mean = lasack_airs_mean(&airs);
	price = lasack_price_of(&mean, &airs.least, OVERHEAD);
	expect_close(test, lasack_priced_sent(&price, 14480, OVERHEAD), 14480 * 17818 / 10000);
	mean = lasack_airs_group(&airs);
	price = lasack_price_of(&mean, &airs.least, OVERHEAD);
	expect_close(test, lasack_priced_sent(&price, 14480, OVERHEAD), 14480 * 8164 / 1000);
	airs = (struct lasack_airs) {};
	lasack_airs_add(&airs, &ht);
	mean = lasack_airs_group(&airs);
	price = lasack_price_of(&mean, &airs.least, OVERHEAD);
	expect_close(test, lasack_priced_sent(&price, 14480, OVERHEAD), 14480 * 10676 / 1000);
}

/* The station of connection 1, charged for @count ACKs of 2000 bytes each at the price @times. */
static struct lasack_station *charged_acks(struct kunit *test, u32 count, u32 times)
{
	struct lasack_queue *q = test->priv;
	u32 i;

	add_to(test, 1, ack(1, 0), 1);
	set_price(test, 1, times);
	for (i = 1; i <= count; i++)
		add_to(test, 1, ack(1, i * 2000), 1);
	return &q->stations->place[known(q, 1)->station];
}

/*
 * A station is charged for forged ACKs while it is fast, and is slow when they turn out to be
 * forged. It has back what it was charged, and not eight times as much.
 */
static void refund_is_what_was_charged(struct kunit *test)
{
	struct lasack_station *station = charged_acks(test, 20, 1);
	u64 before = station->account.sum;
	struct lasack_queue *q = test->priv;
	u32 i;

	for (i = 21; i <= 40; i++)
		add_to(test, 1, ack(1, i * 2000), 1);
	KUNIT_ASSERT_EQ(test, station->account.sum, before + 40000);
	set_price(test, 1, 8);
	lasack_flow_take_back(q, known(q, 1), 40000);
	KUNIT_EXPECT_EQ(test, station->account.sum, before);
	/* All of it, and no more. */
	lasack_flow_take_back(q, known(q, 1), 400000);
	KUNIT_EXPECT_EQ(test, station->account.sum, before - 40000);
}

/* The largest burst of forged ACKs that is let in, after others: all of it is given back. */
static void large_refund_is_whole(struct kunit *test)
{
	const u32 forged = 131072, often = LASACK_PENDING_MOST / 131072 + 2;
	struct lasack_station *station = charged_acks(test, 900, 3);
	struct lasack_queue *q = test->priv;
	u64 before;
	u32 i;

	lasack_flow_settle_all(q, known(q, 1));
	before = station->account.sum;
	for (i = 0; i < often; i++)
		lasack_flow_charge_acked(q, known(q, 1), forged);
	lasack_flow_take_back(q, known(q, 1), often * forged);
	KUNIT_EXPECT_EQ(test, station->account.sum, before);
}

/* Likewise who was slow, and is fast when his server takes ACKs back that it has just sent. */
static void fast_again_has_the_price_of_now(struct kunit *test)
{
	struct lasack_station *station = charged_acks(test, 20, 8);
	u64 before = station->account.sum;
	struct lasack_queue *q = test->priv;

	set_price(test, 1, 1);
	add_to(test, 1, ack(1, 42000), 1);
	lasack_flow_take_back(q, known(q, 1), 2000);
	KUNIT_EXPECT_EQ(test, station->account.sum, before);
}

/* DNS to a slow station is no way around its price: it has an eighth of a download's bytes. */
static void control_costs_as_much_as_groups(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	const u32 eight = 8 << LASACK_PRICE_SHIFT;
	struct tcp_segment dns = data(53, 1000);
	u32 i, served[3] = {};

	dns.class = SEGMENT_PORTS;
	dns.key.protocol = IPPROTO_UDP;
	q->stations->rates->group = (struct lasack_price) { eight, eight, eight, eight };
	for (i = 0; i < 9000; i++) {
		if (!i || known(q, 1)->account.packets < 2)
			add_to(test, 1, data(1, 1000), 1);
		if (q->control_packets < 2)
			add_to(test, 1, dns, 2);
		served[serve(test)]++;
	}
	KUNIT_EXPECT_GE(test, served[2], 1000 - 110U);
	KUNIT_EXPECT_LE(test, served[2], 1000 + 110U);
}

/* While no known station is charged, nobody is dearer than another, whoever came first. */
static void quiet_stations_set_no_price(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct lasack_rates *rates = q->stations->rates;

	lasack_rates_begin(rates, 0, 1);
	lasack_rates_begin(rates, 1, 2);
	lasack_rates_begin(rates, 2, 3);
	lasack_air_add(&rates->station[0].air, &one, &one);
	lasack_air_add(&rates->station[1].air, &eleven, &eleven);
	lasack_rates_price(rates);
	KUNIT_EXPECT_GT(test, rates->station[2].price.full, LASACK_PRICE_ONE);
	rates->station[0].idle = LASACK_RATES_IDLE;
	rates->station[1].idle = LASACK_RATES_IDLE;
	lasack_rates_price(rates);
	KUNIT_EXPECT_EQ(test, rates->station[2].price.full, LASACK_PRICE_ONE);
	KUNIT_EXPECT_EQ(test, rates->unknown.full, LASACK_PRICE_ONE);
	KUNIT_EXPECT_EQ(test, rates->group.full, LASACK_PRICE_ONE);
}

/* A place that another station takes begins at the price of those that are not known: 1 here. */
static void next_in_place_costs_one(struct kunit *test)
{
	struct lasack_queue *q = test->priv;
	struct lasack_rated *station;

	add_to(test, 1, data(1, 1000), 1);
	set_price(test, 1, 8);
	station = &q->stations->rates->station[known(q, 1)->station];
	KUNIT_EXPECT_EQ(test, station->address, 0x020000000001ULL);
	lasack_rates_begin(q->stations->rates, known(q, 1)->station, 5);
	KUNIT_EXPECT_EQ(test, station->price.more, LASACK_PRICE_ONE);
	KUNIT_EXPECT_EQ(test, station->address, 5ULL);
}

static struct kunit_case lasack_airtime_cases[] = {
	KUNIT_CASE(airtime_of_frames),
	KUNIT_CASE(equal_rates_cost_one),
	KUNIT_CASE(one_beside_eleven),
	KUNIT_CASE(slow_in_one_direction),
	KUNIT_CASE(absurd_rates),
	KUNIT_CASE(rates_are_smoothed),
	KUNIT_CASE(slow_station_has_an_eighth),
	KUNIT_CASE(slow_acks_are_paid),
	KUNIT_CASE(half_paid_costs_half),
	KUNIT_CASE(not_told_costs_the_mean),
	KUNIT_CASE(refund_is_what_was_charged),
	KUNIT_CASE(large_refund_is_whole),
	KUNIT_CASE(fast_again_has_the_price_of_now),
	KUNIT_CASE(control_costs_as_much_as_groups),
	KUNIT_CASE(quiet_stations_set_no_price),
	KUNIT_CASE(next_in_place_costs_one),
	{}
};

static struct kunit_suite lasack_airtime_suite = {
	.name = "lasack_airtime",
	.init = airtime_test_init,
	.exit = lasack_test_exit,
	.test_cases = lasack_airtime_cases,
};

kunit_test_suite(lasack_airtime_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite of what stations' bytes cost in airtime");
