// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rates of a device's stations, and so what their bytes cost.
 *
 * Principle: cfg80211 tells rates, but may sleep. So a work item asks, ten times a second, for
 * the stations that were charged since. It computes prices; a packet only reads them. While
 * nobody is charged, nothing is asked.
 *
 * The work may wait for the wiphy's lock, and that may be held by who removes the device or the
 * queue discipline. So nobody waits for the work: it has a reference on all this, and this on the
 * device. Only the module waits, before it is removed.
 *
 * The driver does not know the addresses behind a repeater, and of a station with several links
 * (Wi-Fi 7) it tells no rate that is read here. They cost the mean of the stations that are
 * known, and the driver is asked for them ever less often. It tells no rate of groups either:
 * see lasack_airs_group().
 *
 * cfg80211 may be missing: a machine without Wi-Fi needs no module for it. So the references to
 * its functions are weak, and taken as data: not every machine's calls reach the address 0. If
 * it is loaded later, lasack must be loaded again.
 */
#include <linux/bits.h>
#include <linux/etherdevice.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <net/cfg80211.h>
#include "lasack/airtime/lasack_rates.h"

/* How often rates are asked for; drivers may have to ask their firmware. */
#define LASACK_RATES_PERIOD	(HZ / 10)
/* Of stations that were not charged for so many periods, none is the fastest. */
#define LASACK_RATES_IDLE	50
/* A station that the driver does not know is asked for every 2^6 periods in the end. */
#define LASACK_RATES_SELDOM	6U

static struct workqueue_struct *lasack_rates_queue;

#if IS_ENABLED(CONFIG_CFG80211)
#pragma weak cfg80211_get_station
#pragma weak cfg80211_calculate_bitrate

/* Always read: the compiler would call what they are set to instead. */
static int (*lasack_get_station)(struct net_device *dev, const u8 *address,
				 struct station_info *info) = cfg80211_get_station;
static u32 (*lasack_bitrate)(struct rate_info *rate) = cfg80211_calculate_bitrate;

static void lasack_rate_read(struct lasack_rate *rate, struct rate_info *info)
{
	rate->value = READ_ONCE(lasack_bitrate)(info);
	rate->aggregates = info->flags;
}

/* Asks for the rates of the station @address. Return: whether there are any. */
static bool lasack_rates_read(struct net_device *dev, u64 address, struct lasack_rate *tx,
			      struct lasack_rate *rx)
{
	struct station_info *info = kzalloc(sizeof(*info), GFP_KERNEL);
	u8 mac[ETH_ALEN];
	bool known;

	if (!info)
		return false;
	u64_to_ether_addr(address, mac);
	known = !READ_ONCE(lasack_get_station)(dev, mac, info);
	if (known) {
		if (info->filled & BIT_ULL(NL80211_STA_INFO_TX_BITRATE))
			lasack_rate_read(tx, &info->txrate);
		if (info->filled & BIT_ULL(NL80211_STA_INFO_RX_BITRATE))
			lasack_rate_read(rx, &info->rxrate);
		cfg80211_sinfo_release_content(info);
	}
	kfree(info);
	return known && (tx->value || rx->value);
}

/* Does the device tell its stations' rates? A bridge or VLAN above one does not. */
bool lasack_rates_told(const struct net_device *dev)
{
	return dev->ieee80211_ptr && READ_ONCE(lasack_get_station) &&
	       READ_ONCE(lasack_bitrate);
}
#else
static bool lasack_rates_read(struct net_device *dev, u64 address, struct lasack_rate *tx,
			      struct lasack_rate *rx)
{
	return false;
}

bool lasack_rates_told(const struct net_device *dev)
{
	return false;
}
#endif

/* Multicast addresses: lasack_station_address() makes them one. */
static bool lasack_is_group(u64 address)
{
	return address >> 40 & 1;
}

static void lasack_rates_put(struct lasack_rates *rates)
{
	if (!refcount_dec_and_test(&rates->users))
		return;
	netdev_put(rates->dev, &rates->tracker);
	kvfree(rates);
}

/* Is it the driver's turn to be asked? @tries were in vain. */
static bool lasack_rates_due(const struct lasack_rates *rates, u32 tries)
{
	return !(rates->round & (BIT(min(tries, LASACK_RATES_SELDOM)) - 1));
}

/* Asks for a station's rates, if it was charged. Return: whether it was. */
static bool lasack_rates_ask(struct lasack_rates *rates, struct lasack_rated *station)
{
	struct lasack_rate tx = {}, rx = {};
	u64 address;
	bool used, due, told;

	spin_lock_bh(&rates->lock);
	address = station->address;
	used = xchg(&station->used, 0) && address && !rates->stopped;
	due = used && !lasack_is_group(address) && lasack_rates_due(rates, station->in_vain);
	station->idle = used ? 0 : min_t(u32, station->idle + 1, U8_MAX);
	spin_unlock_bh(&rates->lock);
	if (!due)
		return used;
	told = lasack_rates_read(rates->dev, address, &tx, &rx);
	spin_lock_bh(&rates->lock);
	if (station->address == address) {
		station->in_vain = told ? 0 : min(station->in_vain + 1, LASACK_RATES_SELDOM);
		station->tx = tx;
		station->rx = rx;
		lasack_air_add(&station->air, &tx, &rx);
	}
	spin_unlock_bh(&rates->lock);
	return true;
}

static void lasack_price_write(struct lasack_price *to, const struct lasack_price *price)
{
	WRITE_ONCE(to->full, price->full);
	WRITE_ONCE(to->brief, price->brief);
	WRITE_ONCE(to->more, price->more);
	WRITE_ONCE(to->up, price->up);
	WRITE_ONCE(to->paid, price->paid);
}

/* The prices of all, by what is known of them. */
static void lasack_rates_price(struct lasack_rates *rates)
{
	u32 overhead = READ_ONCE(rates->overhead), i;
	const struct lasack_rated *station;
	struct lasack_airs airs = {};
	struct lasack_price price;
	struct lasack_air air;

	spin_lock_bh(&rates->lock);
	for (i = 0; i < ARRAY_SIZE(rates->station); i++) {
		if (rates->station[i].idle < LASACK_RATES_IDLE)
			lasack_airs_add(&airs, &rates->station[i].air);
	}
	air = lasack_airs_mean(&airs);
	rates->unknown = lasack_price_of(&air, &airs.least, overhead);
	air = lasack_airs_group(&airs);
	price = lasack_price_of(&air, &airs.least, overhead);
	lasack_price_write(&rates->group, &price);
	for (i = 0; i < ARRAY_SIZE(rates->station); i++) {
		station = &rates->station[i];
		if (lasack_is_group(station->address))
			price = rates->group;
		else if (station->air.down)
			price = lasack_price_of(&station->air, &airs.least, overhead);
		else
			price = rates->unknown;
		lasack_price_write(&rates->station[i].price, &price);
	}
	spin_unlock_bh(&rates->lock);
}

/* Nobody was charged. Return: whether somebody is now, so that the work goes on. */
static bool lasack_rates_pause(struct lasack_rates *rates)
{
	u32 i;

	WRITE_ONCE(rates->running, 0);
	smp_mb(); /* pairs with that of lasack_rates_use() */
	for (i = 0; i < ARRAY_SIZE(rates->station); i++) {
		if (READ_ONCE(rates->station[i].used)) {
			WRITE_ONCE(rates->running, 1);
			return true;
		}
	}
	return false;
}

static void lasack_rates_work(struct work_struct *work)
{
	struct lasack_rates *rates = container_of(work, struct lasack_rates, work.work);
	unsigned long began = jiffies, pause;
	bool again = false;
	u32 i;

	rates->round++;
	for (i = 0; i < ARRAY_SIZE(rates->station); i++)
		again |= lasack_rates_ask(rates, &rates->station[i]);
	lasack_rates_price(rates);
	/* A driver that has to ask its firmware is left alone nine tenths of the time. */
	pause = max_t(unsigned long, LASACK_RATES_PERIOD, 9 * (jiffies - began));

	spin_lock_bh(&rates->lock);
	again = !rates->stopped && (again || lasack_rates_pause(rates));
	if (again)
		queue_delayed_work(lasack_rates_queue, &rates->work, pause);
	spin_unlock_bh(&rates->lock);
	if (!again)
		lasack_rates_put(rates);
}

/* The first after a pause is charged. Until it is sent, its rate may be that of another time. */
void lasack_rates_start(struct lasack_rates *rates)
{
	spin_lock_bh(&rates->lock);
	if (!rates->running && !rates->stopped) {
		WRITE_ONCE(rates->running, 1);
		refcount_inc(&rates->users);
		queue_delayed_work(lasack_rates_queue, &rates->work, LASACK_RATES_PERIOD);
	}
	spin_unlock_bh(&rates->lock);
}

/**
 * lasack_rates_begin() - a place is another station's from now on
 * @rates: the rates, or NULL
 * @number: the place
 * @address: the station
 */
void lasack_rates_begin(struct lasack_rates *rates, u32 number, u64 address)
{
	struct lasack_rated *station;

	if (!rates)
		return;
	station = &rates->station[number];
	spin_lock_bh(&rates->lock);
	station->address = address;
	station->tx = (struct lasack_rate) {};
	station->rx = (struct lasack_rate) {};
	station->air = (struct lasack_air) {};
	station->in_vain = 0;
	lasack_price_write(&station->price, lasack_is_group(address) ? &rates->group :
								      &rates->unknown);
	spin_unlock_bh(&rates->lock);
}

/* Of how many stations the rates are known. */
u32 lasack_rates_known(struct lasack_rates *rates)
{
	u32 i, known = 0;

	spin_lock_bh(&rates->lock);
	for (i = 0; i < ARRAY_SIZE(rates->station); i++)
		known += !!rates->station[i].air.down;
	spin_unlock_bh(&rates->lock);
	return known;
}

/**
 * lasack_rates_create() - follow the rates of a device's stations
 * @dev: the device
 *
 * Return: the rates, to be given to lasack_rates_free(), or NULL: no memory.
 */
struct lasack_rates *lasack_rates_create(struct net_device *dev)
{
	struct lasack_rates *rates = kvzalloc(sizeof(*rates), GFP_KERNEL);
	u32 i;

	if (!rates)
		return NULL;
	INIT_DELAYED_WORK(&rates->work, lasack_rates_work);
	refcount_set(&rates->users, 1);
	spin_lock_init(&rates->lock);
	rates->dev = dev;
	netdev_hold(dev, &rates->tracker, GFP_KERNEL);
	rates->group = LASACK_PRICES_ONE;
	rates->unknown = LASACK_PRICES_ONE;
	for (i = 0; i < ARRAY_SIZE(rates->station); i++)
		lasack_rates_begin(rates, i, 0);
	return rates;
}

/* Also of NULL. Does not wait for the work; nobody charges a station any more. */
void lasack_rates_free(struct lasack_rates *rates)
{
	if (!rates)
		return;
	spin_lock_bh(&rates->lock);
	rates->stopped = true;
	spin_unlock_bh(&rates->lock);
	if (cancel_delayed_work(&rates->work))
		lasack_rates_put(rates);
	lasack_rates_put(rates);
}

int lasack_rates_init(void)
{
	lasack_rates_queue = alloc_workqueue("lasack_rates", WQ_UNBOUND | WQ_FREEZABLE, 0);
	return lasack_rates_queue ? 0 : -ENOMEM;
}

/* Waits for the work that has outlived its queue discipline. */
void lasack_rates_exit(void)
{
	destroy_workqueue(lasack_rates_queue);
}
