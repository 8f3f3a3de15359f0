/* SPDX-License-Identifier: GPL-2.0-only */
/* The rates of a device's stations. See lasack_rates.c. */
#ifndef LASACK_RATES_H
#define LASACK_RATES_H

#include <linux/netdevice.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include "lasack/airtime/lasack_airtime.h"

/* Places of stations. */
#define LASACK_STATIONS		256

struct lasack_rated {
	struct lasack_price	price;
	u32			used;	/* it was charged since it was last asked for */
	u32			idle;	/* so often nothing was asked, at most U8_MAX */
	u32			in_vain; /* so often it was asked for, and nothing told */
	u64			address;
	struct lasack_rate	tx;	/* to the station, when last asked */
	struct lasack_rate	rx;
	struct lasack_air	air;
};

struct lasack_rates {
	struct delayed_work	work;
	refcount_t		users;	/* the queue discipline, and the work while it is queued */
	u32			round;	/* of the work */
	struct lasack_price	group;	/* of groups, and of control packets */
	struct lasack_price	unknown; /* of stations whose rates are not told (yet) */
	struct net_device	*dev;
	netdevice_tracker	tracker;
	u32			overhead; /* bytes, the least that a packet is charged */
	u32			running; /* the work is queued, or will be again */
	spinlock_t		lock;	/* of all below, but for prices and used */
	bool			stopped;
	struct lasack_rated	station[LASACK_STATIONS + 1]; /* by number */
};

bool lasack_rates_told(const struct net_device *dev);
struct lasack_rates *lasack_rates_create(struct net_device *dev);
void lasack_rates_free(struct lasack_rates *rates);
void lasack_rates_begin(struct lasack_rates *rates, u32 number, u64 address);
void lasack_rates_start(struct lasack_rates *rates);
u32 lasack_rates_known(struct lasack_rates *rates);
int lasack_rates_init(void);
void lasack_rates_exit(void);

/* The station is charged with something. */
static inline void lasack_rates_use(struct lasack_rates *rates, u32 number)
{
	if (READ_ONCE(rates->station[number].used))
		return;
	WRITE_ONCE(rates->station[number].used, 1);
	smp_mb(); /* pairs with that of lasack_rates_pause() */
	if (!READ_ONCE(rates->running))
		lasack_rates_start(rates);
}

#endif
