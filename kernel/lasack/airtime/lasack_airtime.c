// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a station's bytes cost in airtime.
 *
 * Source: M. Heusse, F. Rousseau, G. Berger-Sabbatel, A. Duda, "Performance Anomaly of 802.11b",
 * IEEE INFOCOM 2003: if stations of different rates send equal bytes, all are as slow as the
 * slowest.
 *
 * Principle: sums stay numbers of bytes, but a station's are weighed with a price. It is the
 * airtime of a full frame at the station's rate as a multiple of what the fastest station needs.
 * So where all have the same rate, every price is 1, and the sums are those of bytes.
 *
 * A frame has a preamble and an ACK whose length hardly depends on the rate. So the price of a
 * packet that is charged no more than "overhead" is another: that of a short frame. From there
 * on it rises to that of a full frame. The time of contention is nobody's. TCP ACKs that come from
 * a station are not told apart: how many there are is not known. Those that go to it are, if its
 * rate makes them longer than its data.
 *
 * Preambles, SIFS and ACKs are those of IEEE Std 802.11-2020. Frames of 802.11n and later share
 * them in an A-MPDU. How many do is not told, so a length of 2 ms is assumed.
 */
#include "lasack/airtime/lasack_airtime.h"

/* 1500 bytes of IP and a TCP ACK, with MAC and LLC headers and FCS. */
#define LASACK_FULL_FRAME	1536
#define LASACK_BRIEF_FRAME	88

/* Beyond that a driver is wrong: 100 kb/s, and more than IEEE 802.11be has, 100 kb/s. */
#define LASACK_RATE_LEAST	1U
#define LASACK_RATE_MOST	500000U

#define LASACK_RATE_BASIC	60U

/* Airtimes are at most 200 ms: there are 2^12 frames and more in it. */
#define LASACK_AIR_MEAN		BIT_ULL(40)

/* ns. Clause 16.2: long preamble and header, SIFS; the same and 14 bytes at 2 Mb/s at most. */
#define LASACK_DSSS_NS		((192 + 10 + 192) * 1000U)
#define LASACK_DSSS_ACK_BYTES	14U
#define LASACK_DSSS_ACK_RATE	20U
/* Clause 17.4: preamble and SIGNAL 20 us, SIFS 16 us, ACK at 24 Mb/s 28 us. */
#define LASACK_OFDM_NS		((20 + 16 + 28) * 1000U)
/* Clause 19.3: preamble 40 us, SIFS 16 us, block ACK at 24 Mb/s 32 us. */
#define LASACK_AMPDU_NS		((40 + 16 + 32) * 1000U)
#define LASACK_AMPDU_LENGTH_NS	(2 * 1000 * 1000U)
#define LASACK_AMPDU_FRAMES	32U

/* A sample's weight in what is known, as a power of two: at first, and later. */
#define LASACK_AIR_FIRST	1
#define LASACK_AIR_WEIGHT	3

/* Of the bytes alone, ns. */
static u32 lasack_air_bytes(u32 rate, u32 bytes)
{
	return bytes * 80000U / rate;
}

static bool lasack_is_dsss(u32 rate)
{
	return rate < 60 || rate == 110;
}

/**
 * lasack_airtime() - how long a frame takes, without contention
 * @rate: at this rate, which is known
 * @bytes: of the frame, 50000 at most
 *
 * Return: ns.
 */
u32 lasack_airtime(const struct lasack_rate *rate, u32 bytes)
{
	u32 value = clamp(rate->value, LASACK_RATE_LEAST, LASACK_RATE_MOST);
	u32 frames, data = lasack_air_bytes(value, bytes);

	if (rate->aggregates) {
		frames = LASACK_AMPDU_LENGTH_NS / lasack_air_bytes(value, LASACK_FULL_FRAME);
		return data + LASACK_AMPDU_NS / clamp(frames, 1U, LASACK_AMPDU_FRAMES);
	}
	if (lasack_is_dsss(value))
		return data + LASACK_DSSS_NS +
		       lasack_air_bytes(min(value, LASACK_DSSS_ACK_RATE), LASACK_DSSS_ACK_BYTES);
	return data + LASACK_OFDM_NS;
}

static void lasack_air_average(u32 *average, u32 sample, u32 samples)
{
	u32 weight = samples < LASACK_AIR_SAMPLES ? LASACK_AIR_FIRST : LASACK_AIR_WEIGHT;

	if (samples)
		sample = ((u64)*average * ((1 << weight) - 1) + sample) >> weight;
	*average = max(sample, 1U);
}

/**
 * lasack_air_add() - a station's rates now
 * @air: what is known of it; zeroes if nothing is
 * @tx: to the station
 * @rx: from it
 *
 * If only one direction's rate is known, the other's is taken to be the same.
 */
void lasack_air_add(struct lasack_air *air, const struct lasack_rate *tx,
		    const struct lasack_rate *rx)
{
	if (!tx->value)
		tx = rx;
	if (!rx->value)
		rx = tx;
	if (!tx->value)
		return;
	lasack_air_average(&air->down, lasack_airtime(tx, LASACK_FULL_FRAME), air->samples);
	lasack_air_average(&air->up, lasack_airtime(rx, LASACK_FULL_FRAME), air->samples);
	lasack_air_average(&air->brief, lasack_airtime(tx, LASACK_BRIEF_FRAME), air->samples);
	air->samples = min(air->samples + 1, LASACK_AIR_SAMPLES);
}

/* @least becomes what the fastest station needs, in its faster direction. */
static void lasack_air_least(struct lasack_air *least, const struct lasack_air *air)
{
	if (!air->down)
		return;
	if (!least->down) {
		*least = *air;
	} else {
		least->down = min(least->down, air->down);
		least->up = min(least->up, air->up);
		least->brief = min(least->brief, air->brief);
	}
	least->down = min(least->down, least->up);
	least->up = least->down;
}

/* @most becomes what the slowest station needs. */
static void lasack_air_most(struct lasack_air *most, const struct lasack_air *air)
{
	most->down = max(most->down, air->down);
	most->up = max(most->up, air->up);
	most->brief = max(most->brief, air->brief);
}

/**
 * lasack_airs_add() - another station
 * @airs: of several; zeroes at first
 * @air: of this one; zeroes if it is not known
 */
void lasack_airs_add(struct lasack_airs *airs, const struct lasack_air *air)
{
	if (!air->down)
		return;
	lasack_air_least(&airs->least, air);
	lasack_air_most(&airs->most, air);
	airs->down += div_u64(LASACK_AIR_MEAN, air->down);
	airs->up += div_u64(LASACK_AIR_MEAN, air->up);
	airs->brief += div_u64(LASACK_AIR_MEAN, air->brief);
	airs->count++;
}

static u32 lasack_air_mean(u64 frames, u32 count)
{
	return div64_u64(count * LASACK_AIR_MEAN, frames);
}

/*
 * What a station is taken to need whose rates are not told. It is the harmonic mean of the
 * others: one slow station among fast ones does not make those dear of whom nothing is known.
 */
struct lasack_air lasack_airs_mean(const struct lasack_airs *airs)
{
	if (!airs->count)
		return (struct lasack_air) {};
	return (struct lasack_air) {
		.down = lasack_air_mean(airs->down, airs->count),
		.up = lasack_air_mean(airs->up, airs->count),
		.brief = lasack_air_mean(airs->brief, airs->count),
	};
}

/*
 * What a frame to a group needs. It is sent at a rate that all must have, without aggregation:
 * no faster than 6 Mb/s, the lowest of clause 17, and than the slowest station.
 */
struct lasack_air lasack_airs_group(const struct lasack_airs *airs)
{
	const struct lasack_rate basic = { .value = LASACK_RATE_BASIC };
	struct lasack_air group = {};

	lasack_air_add(&group, &basic, &basic);
	lasack_air_most(&group, &airs->most);
	return group;
}

static u32 lasack_price(u32 air, u32 least)
{
	return clamp_t(u64, div_u64((u64)air << LASACK_PRICE_SHIFT, least), 1, LASACK_PRICE_MAX);
}

/*
 * What an upload's ACK takes to the station, beyond what the fastest station's takes. That one is
 * in no price, and where data takes longer by a factor, ACKs may.
 */
static u32 lasack_price_paid(const struct lasack_air *air, const struct lasack_air *least, u32 up,
			     u32 overhead)
{
	u64 usual = (u64)least->brief * up >> LASACK_PRICE_SHIFT;
	u64 more = air->brief - min_t(u64, air->brief, usual);

	if (!overhead)
		return 0;
	return min_t(u64, LASACK_PRICE_MAX,
		     div64_u64(more * LASACK_FULL_CHARGE << LASACK_PRICE_SHIFT,
			       (u64)least->down * overhead));
}

/**
 * lasack_price_of() - what a station's bytes cost
 * @air: of the station; zeroes if it is not known
 * @least: of the fastest
 * @overhead: bytes, the least that a packet is charged
 */
struct lasack_price lasack_price_of(const struct lasack_air *air, const struct lasack_air *least,
				    u32 overhead)
{
	struct lasack_price price;
	u64 full, brief;

	if (!air->down || !least->down)
		return LASACK_PRICES_ONE;
	price.full = lasack_price(air->down, least->down);
	price.up = lasack_price(air->up, least->up);
	price.paid = lasack_price_paid(air, least, price.up, overhead);
	price.more = price.full;
	price.brief = price.full;
	if (overhead >= LASACK_FULL_CHARGE)
		return price;
	price.brief = lasack_price(air->brief, least->brief);
	full = (u64)price.full * LASACK_FULL_CHARGE;
	brief = (u64)price.brief * overhead;
	price.more = min_t(u64, div_u64(full - min(full, brief), LASACK_FULL_CHARGE - overhead),
			   LASACK_PRICE_MAX);
	return price;
}
