/* SPDX-License-Identifier: GPL-2.0-only */
/* Is a device Wi-Fi? A kernel without cfg80211 has none. */
#ifndef LASACK_WIRELESS_H
#define LASACK_WIRELESS_H

#include <linux/netdevice.h>
#include <linux/types.h>

static inline bool device_is_wireless(const struct net_device *dev)
{
#if IS_ENABLED(CONFIG_CFG80211)
	return dev->ieee80211_ptr;
#else
	return false;
#endif
}

#endif
