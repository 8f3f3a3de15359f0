// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stations behind a device, told apart by their MAC addresses.
 *
 * Principle: the table is bounded. A secret hash of its address says in which few places a
 * station may be. A new station takes an unused one of these places, or the place of a station
 * without packets that is new itself or idle. So invented addresses take each other's places,
 * and not that of a station that had service and is quiet for a moment. If there is none, its
 * packet goes to the place that all such stations share with packets whose flow cannot be told. It
 * never waits for memory, and no packet is lost because of this.
 */
#include <linux/bits.h>
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "lasack/airtime/lasack_rates.h"
#include "lasack/lasack_station.h"

#define LASACK_STATION_PROBES	8	/* places a station may be in */
#define LASACK_STATION_GROUPS	GENMASK_ULL(47, 0)	/* ff:ff:ff:ff:ff:ff */

/*
 * Without Ethernet addresses there is but one next hop. All groups are one station: who sends to
 * many of them has no more service than who sends to one.
 */
u64 lasack_station_address(const struct sk_buff *skb)
{
	if ((skb->dev && skb->dev->type != ARPHRD_ETHER) || skb_headlen(skb) < ETH_ALEN)
		return 0;
	if (unlikely(is_multicast_ether_addr(skb->data)))
		return LASACK_STATION_GROUPS;
	return ether_addr_to_u64(skb->data);
}

static void lasack_station_take(struct lasack_stations *stations, struct lasack_station *station,
				u64 address)
{
	stations->count += !station->known;
	station->retaken = station->known;
	station->known = 1;
	station->is_new = 1;
	station->address = address;
	lasack_rates_begin(stations->rates, station->number, address);
}

/* How well the place suits another station; 0: not at all. */
static u32 lasack_station_suits(const struct lasack_station *station, u32 now)
{
	if (!station->known)
		return 3;
	if (station->account.packets)
		return 0;
	if (station->account.credit)
		return 2;
	return now - station->idle_since >= LASACK_STATION_IDLE;
}

/**
 * lasack_station_of() - the station a packet goes to
 * @stations: the table
 * @skb: the packet
 * @now: the queue's time
 */
struct lasack_station *lasack_station_of(struct lasack_stations *stations,
					 const struct sk_buff *skb, u32 now)
{
	u64 address = lasack_station_address(skb);
	u32 first = jhash_2words(address, address >> 32, stations->secret), i;
	struct lasack_station *station, *free = NULL;
	u32 suits, best = 0;

	for (i = 0; i < LASACK_STATION_PROBES; i++) {
		station = &stations->place[(first + i) % LASACK_STATIONS];
		if (station->known && station->address == address)
			return station;
		suits = lasack_station_suits(station, now);
		if (suits > best) {
			best = suits;
			free = station;
		}
	}
	if (!free)
		return &stations->place[LASACK_STATION_SHARED];
	lasack_station_take(stations, free, address);
	return free;
}

/* Return: an empty table, to be freed by kvfree(), or NULL: no memory. */
struct lasack_stations *lasack_stations_create(void)
{
	struct lasack_stations *stations = kvzalloc(sizeof(*stations), GFP_KERNEL);
	u32 i;

	if (!stations)
		return NULL;
	for (i = 0; i < ARRAY_SIZE(stations->place); i++) {
		stations->place[i].flows = RB_ROOT_CACHED;
		stations->place[i].number = i;
	}
	stations->place[LASACK_STATION_SHARED].is_new = 1;
	get_random_bytes(&stations->secret, sizeof(stations->secret));
	return stations;
}

/* From now on these are the @rates of the stations; NULL: none are known. */
void lasack_stations_rate(struct lasack_stations *stations, struct lasack_rates *rates)
{
	u32 i;

	if (stations->rates == rates)
		return;
	stations->rates = rates;
	for (i = 0; i < LASACK_STATIONS; i++) {
		if (stations->place[i].known)
			lasack_rates_begin(rates, i, stations->place[i].address);
	}
}
