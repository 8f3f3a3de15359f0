/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a machine tells of its network devices, while it was looked at.
 *
 * Principle: links.c, radios.c, files.c and flowtables.c fill a machine,
 * diagnose.c makes findings of it, report.c prints them; data flows one way.
 */
#ifndef LASACK_DOCTOR_MACHINE_H
#define LASACK_DOCTOR_MACHINE_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../kernel/uapi/pkt_sch_inflight.h"

#define NAME_MAX_BYTES	64	/* of kinds, drivers, radios */

struct queue {
	char kind[NAME_MAX_BYTES];
	uint32_t handle, parent;	/* MAJOR:MINOR as tc has it */
	uint64_t drops;
	uint32_t packets;		/* waiting */
	bool limits_rate;		/* htb and the like; cake with a bandwidth */
	/* Of lasack, ackwrr and inflight alone: */
	bool ours;
	uint32_t bound;			/* packets, or TC_INFLIGHT_OFF, TC_INFLIGHT_AUTO */
	struct tc_inflight_xstats below;
};

enum power_save { POWER_SAVE_UNKNOWN, POWER_SAVE_OFF, POWER_SAVE_ON };

/* What the files of /sys tell of the hardware. */
struct hardware {
	char driver[NAME_MAX_BYTES];	/* "" if none is known */
	char bus[NAME_MAX_BYTES];	/* pci, usb, sdio, platform; "" if not known */
	bool wed;			/* the driver can offload to Wireless Ethernet Dispatch */
	enum { FILE_ABSENT, FILE_NEEDS_ROOT, FILE_READ } debugfs;
	int aql_enabled;		/* -1: not known */
	int airtime_tx, airtime_rx;	/* what fairness charges; -1: not known */
};

struct device {
	int index;
	char name[IFNAMSIZ];
	char kind[NAME_MAX_BYTES];	/* bridge, vlan, ifb, ...; "" for hardware */
	int master;			/* index of its bridge or bond; 0: none */
	bool up, to_internet;		/* has a default route */
	struct queue *queues;		/* as they were at the last look */
	size_t queue_count;
	double packets;			/* that waited at its root, on average */
	uint64_t first_drops, drops;	/* at the root, at the first look; since then */
	uint32_t root;			/* handle of the root at the first look */
	bool wifi;
	uint32_t type;			/* enum nl80211_iftype */
	uint32_t radio;			/* its number */
	enum power_save power_save;
};

struct radio {
	uint32_t number;
	char name[NAME_MAX_BYTES];
	bool airtime_fairness, aql;	/* the driver has them */
	bool counts;			/* it tells what waits in mac80211: */
	double packets;			/* on average */
};

struct flowtable {
	char name[NAME_MAX_BYTES], table[NAME_MAX_BYTES];
	bool hardware;			/* flags offload */
};

#define MODULE_NAME	"sch_lasack"

/* Of this module in the running kernel. tc does not say why a module did not come. */
struct module {
	char release[NAME_MAX_BYTES + 1];	/* uname -r */
	bool loaded;			/* or part of the kernel itself */
	bool signed_only;		/* the kernel refuses what nobody known has signed */
	enum { MODULE_UNKNOWN, MODULE_ABSENT, MODULE_THERE } built;
};

struct machine {
	struct module module;
	struct device *devices;
	size_t device_count;
	struct radio *radios;
	size_t radio_count;
	struct flowtable *flowtables;
	size_t flowtable_count;
	bool flowtables_need_root;
	double seconds;			/* that it was looked at */
	unsigned int looks;
};

struct device *machine_device(const struct machine *machine, int index);
struct device *machine_device_named(const struct machine *machine, const char *name);
struct radio *machine_radio(const struct machine *machine, uint32_t number);

/* Never fail: memory for a few hundred bytes, or the program ends. */
struct device *machine_add_device(struct machine *machine);
struct radio *machine_add_radio(struct machine *machine);
struct flowtable *machine_add_flowtable(struct machine *machine);
struct queue *device_add_queue(struct device *device);

/* The queue discipline at the root, or NULL. */
const struct queue *device_root(const struct device *device);

/* The one that QUEUE is a child of, or NULL at the root. */
const struct queue *queue_parent(const struct device *device, const struct queue *queue);

/* Whether it keeps a queue short, or shares it by flow. */
bool queue_managed(const struct queue *queue);

/* A lasack, ackwrr or inflight anywhere on the device, or NULL. */
const struct queue *device_ours(const struct device *device);

/* One of these that bounds what is below it, or NULL; of several, any. */
const struct queue *device_bounded(const struct device *device);

/*
 * What limits the rate at or above one of ours, or anywhere if the device has none of ours;
 * NULL if nothing does. Packets wait below it for the rate, so nothing need bound what is in the
 * driver.
 */
const struct queue *device_shaper(const struct device *device);

/* What orders the packets that wait for SHAPER: itself, or a managed one below it; or NULL. */
const struct queue *device_scheduler(const struct device *device, const struct queue *shaper);

/* Of the hardware's queues below an mq at the root, how many have one of ours. */
struct coverage { unsigned int ours, all; };
struct coverage device_coverage(const struct device *device);

/* The worst that any of its bounds has found out. */
uint32_t device_backpressure(const struct device *device);

void machine_clear(struct machine *machine);

#endif
