/* SPDX-License-Identifier: GPL-2.0-only */
/* What a station's bytes cost in airtime. See lasack_airtime.c. */
#ifndef LASACK_AIRTIME_H
#define LASACK_AIRTIME_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

/* A price of 1, and the highest. 1 Mb/s beside 2.4 Gb/s is at 1627. */
#define LASACK_PRICE_SHIFT	16
#define LASACK_PRICE_ONE	((u32)BIT(LASACK_PRICE_SHIFT))
#define LASACK_PRICE_MAX	(4096U << LASACK_PRICE_SHIFT)

/* What a full frame is charged: 1500 bytes without the headers of IP and TCP. */
#define LASACK_FULL_CHARGE	1448U

/* The first few samples count for more: a station's first frames are slower than its others. */
#define LASACK_AIR_SAMPLES	8U

struct lasack_rate {
	u32	value;		/* 100 kb/s; 0: not known */
	bool	aggregates;	/* several frames share one preamble and one ACK */
};

/* Airtime with preamble, SIFS and ACK, ns. */
struct lasack_air {
	u32	down;		/* of a full frame to the station */
	u32	up;		/* likewise, from the station */
	u32	brief;		/* of a short frame to the station */
	u32	samples;	/* at most LASACK_AIR_SAMPLES */
};

/* Of several stations. */
struct lasack_airs {
	struct lasack_air	least;	/* of the fastest */
	struct lasack_air	most;	/* of the slowest */
	u64			down;	/* frames in LASACK_AIR_MEAN ns, of all */
	u64			up;
	u64			brief;
	u32			count;
};

/* Of a byte, in units of 2^-16 of what a byte costs the fastest station. */
struct lasack_price {
	u32	full;		/* sent, of a full frame or several */
	u32	brief;		/* sent, of the least that a packet costs */
	u32	more;		/* sent, beyond that */
	u32	up;		/* acknowledged */
	u32	paid;		/* in addition, of the least, if what is acknowledged pays for it */
};

/* Of the fastest station, and of one whose rates are not known while no other's are. */
#define LASACK_PRICES_ONE	((struct lasack_price) { \
	LASACK_PRICE_ONE, LASACK_PRICE_ONE, LASACK_PRICE_ONE, LASACK_PRICE_ONE })

u32 lasack_airtime(const struct lasack_rate *rate, u32 bytes);
void lasack_air_add(struct lasack_air *air, const struct lasack_rate *tx,
		    const struct lasack_rate *rx);
void lasack_airs_add(struct lasack_airs *airs, const struct lasack_air *air);
struct lasack_air lasack_airs_mean(const struct lasack_airs *airs);
struct lasack_air lasack_airs_group(const struct lasack_airs *airs);
struct lasack_price lasack_price_of(const struct lasack_air *air, const struct lasack_air *least,
				    u32 overhead);

static inline u64 lasack_priced(u32 bytes, u32 price)
{
	return (u64)bytes * price >> LASACK_PRICE_SHIFT;
}

/* Of @bytes that a packet is charged when it is sent; of all packets @overhead at least. */
static inline u64 lasack_priced_sent(const struct lasack_price *price, u32 bytes, u32 overhead)
{
	u32 least = min(bytes, overhead);

	if (bytes >= LASACK_FULL_CHARGE)
		return lasack_priced(bytes, READ_ONCE(price->full));
	return ((u64)least * READ_ONCE(price->brief) +
		(u64)(bytes - least) * READ_ONCE(price->more)) >> LASACK_PRICE_SHIFT;
}

#endif
