// SPDX-License-Identifier: GPL-2.0-only
/* See diagnose.h. One function for each thing that is looked at. */
#include <linux/nl80211.h>
#include <string.h>

#include "diagnose.h"
#include "driver.h"
#include "place.h"
#include "queues.h"
#include "shell_word.h"

const char *device_role(const struct device *device)
{
	if (!device->wifi)
		return device->kind[0] ? device->kind : "wired";
	switch (device->type) {
	case NL80211_IFTYPE_AP:
	case NL80211_IFTYPE_P2P_GO:
		return "access point";
	case NL80211_IFTYPE_AP_VLAN:
		return "VLAN of an access point";
	case NL80211_IFTYPE_MESH_POINT:
		return "mesh point";
	case NL80211_IFTYPE_STATION:
	case NL80211_IFTYPE_P2P_CLIENT:
		return "station";
	default:
		return "Wi-Fi";
	}
}

/* The Wi-Fi device that the operator may have meant, or NULL. */
static const struct device *wifi_meant(const struct machine *machine,
				       const struct device *device)
{
	const struct device *any = NULL;

	for (size_t i = 0; i < machine->device_count; i++) {
		const struct device *other = &machine->devices[i];

		if (!other->wifi)
			continue;
		if (other->master == device->index)
			return other;
		any = any ?: other;
	}
	return any;
}

static void look_at_device(const struct machine *machine, const struct device *device,
			   struct findings *findings)
{
	struct word name = shell_word(device->name);
	const struct device *meant = device->wifi ? NULL : wifi_meant(machine, device);

	if (meant) {
		find(findings, "device", STATE_PROBLEM,
		     "%s is no Wi-Fi device. The queue that matters is that of %s%s.", name.text,
		     shell_word(meant->name).text,
		     meant->master == device->index ? ", a port of it" : "");
		if (device_ours(device))
			find_type(findings, "tc qdisc del dev %s root", name.text);
		find_type(findings, "lasack-doctor %s", shell_word(meant->name).text);
	} else if (!device->wifi) {
		find(findings, "device", STATE_PROBLEM,
		     "%s is no Wi-Fi device, and this machine has none.", name.text);
		find_type(findings, "iw dev");
	} else if (!device->up) {
		find(findings, "device", STATE_PROBLEM, "%s is down.", name.text);
		find_type(findings, "ip link set %s up", name.text);
	} else {
		find(findings, "device", STATE_OK, "%s is up.", name.text);
	}
}

/* Only of a device without one of ours: if it has one, the module is there. */
static void look_at_module(const struct machine *machine, const struct device *device,
			   struct findings *findings)
{
	const struct module *module = &machine->module;
	struct word release = shell_word(module->release);

	if (!device->wifi || device_ours(device))
		return;
	if (module->loaded) {
		find(findings, "module", STATE_OK, MODULE_NAME " is loaded.");
	} else if (module->built == MODULE_ABSENT) {
		find(findings, "module", STATE_PROBLEM,
		     MODULE_NAME " is not built for this kernel, %s. tc will say that it does not know "
		     "this kind of queue discipline.", release.text);
		find_type(findings, "apt install linux-headers-%s && dkms autoinstall   # Debian",
			  release.text);
	} else if (module->signed_only) {
		find(findings, "module", STATE_NOTE,
		     "This kernel loads signed modules only (Secure Boot). If tc says that it does "
		     "not know this kind of queue discipline, let the firmware know DKMS's key "
		     "and boot again.");
		find_type(findings, "mokutil --import /var/lib/dkms/mok.pub");
	} else if (module->built == MODULE_THERE) {
		find(findings, "module", STATE_OK, MODULE_NAME " is built for this kernel.");
	} else {
		find(findings, "module", STATE_UNKNOWN,
		     "Whether " MODULE_NAME " is built for this kernel cannot be told: "
		     "/lib/modules/%s has no list of modules.", release.text);
	}
}

static void look_at_driver(const struct device *device, const struct hardware *hardware,
			   const struct driver *known, struct findings *findings)
{
	uint32_t found = device_backpressure(device);

	if (!hardware->driver[0])
		find(findings, "driver", STATE_NOTE, "The device has no driver: it is virtual.");
	else if (!known)
		find(findings, "driver", STATE_NOTE, "Nothing is known of the driver %s.",
		     shell_word(hardware->driver).text);
	else if (found == TC_INFLIGHT_AIR && known->backpressure >= TC_INFLIGHT_BUS)
		find(findings, "driver", STATE_NOTE,
		     "%s frees a packet %s. Back-pressure looks like air all the same: a chip "
		     "whose queue is full takes packets at the pace of the radio.",
		     shell_word(hardware->driver).text, known->frees);
	else
		find(findings, "driver", STATE_OK, "%s frees a packet %s.",
		     shell_word(hardware->driver).text, known->frees);
}

static void look_at_offload(const struct machine *machine, const struct hardware *hardware,
			    struct findings *findings)
{
	const struct flowtable *offloaded = NULL;

	for (size_t i = 0; i < machine->flowtable_count; i++)
		if (machine->flowtables[i].hardware)
			offloaded = &machine->flowtables[i];
	if (offloaded) {
		find(findings, "offload", STATE_PROBLEM,
		     "Flowtable %s of table %s hands connections to the hardware. Their packets "
		     "pass no queue discipline. Remove \"flags offload\" from it.",
		     shell_word(offloaded->name).text, shell_word(offloaded->table).text);
		find_type(findings, "nft list flowtables");
		find_type(findings, "uci set firewall.@defaults[0].flow_offloading_hw=0 && "
			  "uci commit && service firewall restart   # OpenWrt");
	} else if (machine->flowtables_need_root) {
		find(findings, "offload", STATE_UNKNOWN,
		     "Whether a flowtable offloads to the hardware, only root may see.%s",
		     hardware->wed ? " The driver has Wireless Ethernet Dispatch switched on." : "");
	} else if (hardware->wed) {
		find(findings, "offload", STATE_NOTE,
		     "The driver has Wireless Ethernet Dispatch switched on, but no flowtable "
		     "uses it.");
	} else {
		find(findings, "offload", STATE_OK, "No flowtable offloads to the hardware.");
	}
}

static void look_at_aql(const struct radio *radio, const struct hardware *hardware,
			struct findings *findings)
{
	struct word name = shell_word(radio->name);

	if (!radio->aql) {
		find(findings, "aql", STATE_OK, "The driver has no airtime queue limits.");
	} else if (hardware->aql_enabled == 0) {
		find(findings, "aql", STATE_PROBLEM,
		     "Airtime queue limits are switched off: a slow station may fill the driver.");
		find_type(findings, "echo 1 > /sys/kernel/debug/ieee80211/%s/aql_enable", name.text);
	} else if (hardware->aql_enabled > 0) {
		find(findings, "aql", STATE_OK, "Airtime queue limits are on.");
	} else {
		find(findings, "aql", STATE_UNKNOWN, "The driver has airtime queue limits. %s",
		     hardware->debugfs == FILE_NEEDS_ROOT ?
		     "Whether they are on, only root may see." :
		     "This kernel does not tell whether they are on (no debugfs).");
	}
}

static void look_at_airtime(const struct radio *radio, const struct hardware *hardware,
			    struct findings *findings)
{
	if (!radio->airtime_fairness)
		find(findings, "airtime_fairness", STATE_OK,
		     "The driver does not report airtime: mac80211 takes stations in turn.");
	else if (hardware->airtime_tx < 0)
		find(findings, "airtime_fairness", STATE_UNKNOWN,
		     "The driver reports airtime. %s", hardware->debugfs == FILE_NEEDS_ROOT ?
		     "Whether it counts, only root may see." :
		     "This kernel does not tell whether it counts (no debugfs).");
	else
		find(findings, "airtime_fairness", STATE_OK,
		     "mac80211 shares airtime between stations: transmitted %s, received %s.",
		     hardware->airtime_tx ? "counts" : "does not count",
		     hardware->airtime_rx ? "counts" : "does not count");
}

static void look_at_power_save(const struct device *device, struct findings *findings)
{
	const struct queue *bounded = device_bounded(device);

	if (device->type != NL80211_IFTYPE_STATION && device->type != NL80211_IFTYPE_P2P_CLIENT) {
		if (bounded && bounded->below.stalled)
			find(findings, "power_save", STATE_NOTE,
			     "Stations that are asleep or have gone: %u. Their packets wait in the "
			     "driver and do not count against the bound.", bounded->below.stalled);
		else
			find(findings, "power_save", STATE_OK, "No station keeps packets waiting.");
	} else if (device->power_save == POWER_SAVE_ON) {
		find(findings, "power_save", STATE_PROBLEM,
		     "This station sleeps between beacons: packets to it wait about 100 ms.");
		find_type(findings, "iw dev %s set power_save off", shell_word(device->name).text);
	} else if (device->power_save == POWER_SAVE_OFF) {
		find(findings, "power_save", STATE_OK, "Power save is off.");
	} else {
		find(findings, "power_save", STATE_UNKNOWN, "The driver does not tell its state.");
	}
}

void diagnose(const struct machine *machine, const struct device *device,
	      const struct hardware *hardware, struct findings *findings)
{
	const struct driver *known = hardware->driver[0] ?
				     driver_find(hardware->driver, hardware->bus) : NULL;
	const struct radio *radio = device->wifi ? machine_radio(machine, device->radio) : NULL;

	look_at_device(machine, device, findings);
	look_at_qdisc(device, findings);
	look_at_module(machine, device, findings);
	if (device->wifi || device_ours(device)) {
		look_at_driver(device, hardware, known, findings);
		look_at_backpressure(device, known, findings);
	}
	look_at_offload(machine, hardware, findings);
	if (radio) {
		look_at_aql(radio, hardware, findings);
		look_at_airtime(radio, hardware, findings);
		look_at_power_save(device, findings);
	}
	look_at_place(machine, device, findings);
}
