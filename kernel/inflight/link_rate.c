// SPDX-License-Identifier: GPL-2.0-only
/*
 * The highest rate of a device's link, to judge its driver by.
 *
 * Principle: if the rate is too high, a driver looks better than it is. If it is too low, a
 * good driver looks bad, which is worse. So the rate is the highest that the device has on any
 * of its bands, not the rate of a station.
 */
#include <linux/ethtool.h>
#include <linux/minmax.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/time64.h>
#include <net/cfg80211.h>
#include "backpressure.h"

#define MBIT	1000000ULL

#if IS_ENABLED(CONFIG_CFG80211)
/*
 * From the packet's begin to the end of the ACK frame, without its bytes:
 * OFDM preamble and SIGNAL 20 us, SIFS 10 us (16 at 5 GHz), ACK at 24 Mb/s 28 us
 * (IEEE Std 802.11-2020, tables 17-5, 17-21, 19-25). Other formats take longer.
 */
#define WIFI_LEAST_NS	(58 * NSEC_PER_USEC)

/* Of one spatial stream, at the greatest bandwidth and shortest guard interval. */
#define HT_RATE		(150 * MBIT)	/* 40 MHz */
#define VHT_RATE	(867 * MBIT)	/* 160 MHz */
#define HE_RATE		(1201 * MBIT)	/* 160 MHz */
#define EHT_RATE	(2882 * MBIT)	/* 320 MHz */

/* 6 GHz bands state no HT: as many streams as there can be. */
static unsigned int band_streams(const struct ieee80211_supported_band *band)
{
	unsigned int streams = 0, i;

	if (!band->ht_cap.ht_supported)
		return 8;
	for (i = 0; i < 4; i++)
		streams += band->ht_cap.mcs.rx_mask[i] != 0;
	/* HT knows of four. */
	return streams == 4 && band->vht_cap.vht_supported ? 8 : max(streams, 1U);
}

static u64 band_rate(const struct ieee80211_supported_band *band, enum nl80211_iftype type)
{
	const struct ieee80211_sband_iftype_data *data =
		ieee80211_get_sband_iftype_data(band, type);
	u64 rate = 0;
	int i;

	for (i = 0; i < band->n_bitrates; i++)
		rate = max(rate, band->bitrates[i].bitrate * (MBIT / 10));
	if (band->ht_cap.ht_supported)
		rate = max(rate, band_streams(band) * HT_RATE);
	if (band->vht_cap.vht_supported)
		rate = max(rate, band_streams(band) * VHT_RATE);
	if (data)
		rate = max(rate, band_streams(band) *
			   (data->eht_cap.has_eht ? EHT_RATE : HE_RATE));
	return rate;
}

static u64 wifi_rate(const struct wireless_dev *wdev)
{
	const struct wiphy *wiphy = wdev->wiphy;
	u64 rate = 0;
	int i;

	for (i = 0; i < NUM_NL80211_BANDS; i++) {
		if (wiphy->bands[i])
			rate = max(rate, band_rate(wiphy->bands[i], wdev->iftype));
	}
	return rate;
}
#endif

/* Only real devices count: the speed that a virtual one reports means nothing. */
static u64 wired_rate(struct net_device *dev)
{
	struct ethtool_link_ksettings settings;

	if (!dev->dev.parent || netif_get_link_ksettings(dev, &settings) ||
	    settings.base.speed == (u32)SPEED_UNKNOWN)
		return 0;
	return settings.base.speed * MBIT;
}

/**
 * inflight_backpressure_ask() - ask the device for its highest rate
 * @bp: the state to be told
 * @dev: the device, under RTNL and, if it has one, under its own lock
 */
void inflight_backpressure_ask(struct inflight_backpressure *bp, struct net_device *dev)
{
	ASSERT_RTNL();
#if IS_ENABLED(CONFIG_CFG80211)
	if (dev->ieee80211_ptr) {
		inflight_backpressure_set_link(bp, wifi_rate(dev->ieee80211_ptr), WIFI_LEAST_NS);
		return;
	}
#endif
	inflight_backpressure_set_link(bp, wired_rate(dev), 0);
}
