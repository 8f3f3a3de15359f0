// SPDX-License-Identifier: GPL-2.0-only
/*
 * See driver.h. Read from the drivers' sources of Linux 6.12; no entry was
 * measured on hardware.
 */
#include <fnmatch.h>
#include <stddef.h>

#include "../../kernel/uapi/pkt_sch_inflight.h"
#include "driver.h"

#define AIR	TC_INFLIGHT_AIR
#define BUS	TC_INFLIGHT_BUS
#define NONE	TC_INFLIGHT_NONE
#define DEPENDS	TC_INFLIGHT_UNTRIED

/* The first that fits counts. */
static const struct driver drivers[] = {
	{ "ath9k", "*", AIR, "when it has been transmitted" },
	{ "ath10k_sdio", "*", AIR, "when the firmware reports it, or with disable_tx_comp after the bus" },
	{ "ath10k_usb", "*", AIR, "when the firmware reports it, or with disable_tx_comp after the bus" },
	{ "ath10k_*", "*", AIR, "when the firmware reports that it is done" },
	{ "ath11k*", "*", AIR, "when the hardware releases it" },
	{ "ath12k*", "*", AIR, "when the hardware releases it; WCN7850 may copy it before" },
	{ "mt76_wmac", "*", BUS, "when the chip has read it" },	/* MT7628, of mt7603 */
	{ "mt7603*", "*", BUS, "when the chip has read it" },
	{ "mt76x*", "*", BUS, "when the chip has read it" },
	{ "mt7*", "usb", BUS, "after the bus" },
	{ "mt7*", "sdio", BUS, "after the bus" },
	{ "mt7615*", "*", AIR, "when the firmware reports it" },
	{ "mt7622*", "*", AIR, "when the firmware reports it" },
	{ "mt7915*", "*", AIR, "when the firmware reports it" },
	{ "mt798*", "*", AIR, "when the firmware reports it" },
	{ "mt7921*", "*", AIR, "when the firmware reports it" },
	{ "mt7996*", "*", AIR, "when the firmware reports it" },
	{ "rtw89_*", "pci", AIR, "when the chip reports its release" },
	{ "rtw_8[78]*", "*", BUS, "when the chip has read it" },
	{ "rtw8[78]*", "*", BUS, "when the chip has read it" },
	{ "iwlwifi", "*", AIR, "when the firmware answers, or with the block ACK" },
	{ "brcmfmac", "pci", NONE, "before the chip reads it: a worker orphans it" },
	{ "brcmfmac", "sdio", BUS, "after the bus" },
	{ "mwifiex*", "*", BUS, "after the bus, or earlier if it is copied into an aggregate" },
	{ "mac80211_hwsim", "*", DEPENDS, "when a medium answers, or at once if there is none" },
	{ }
};

const struct driver *driver_find(const char *name, const char *bus)
{
	for (const struct driver *driver = drivers; driver->name; driver++)
		if (!fnmatch(driver->name, name, 0) && !fnmatch(driver->bus, bus, 0))
			return driver;
	return NULL;
}
