/* SPDX-License-Identifier: GPL-2.0-only */
/* A made-up machine, an access point where all is well, and what is said of it. */
#ifndef LASACK_DOCTOR_MADE_MACHINE_H
#define LASACK_DOCTOR_MADE_MACHINE_H

#include <linux/nl80211.h>
#include <linux/pkt_sched.h>
#include <stdio.h>
#include <string.h>

#include "diagnose.h"
#include "tap.h"

/* Pointers into the arrays hold until something is added. */
struct case_machine {
	struct machine machine;
	struct hardware hardware;
	struct findings findings;
};

static inline struct device *access_point(struct case_machine *made)
{
	return machine_device_named(&made->machine, "wlan0");
}

static inline struct queue *queue_of(struct case_machine *made)
{
	return &access_point(made)->queues[0];
}

static inline void make_well(struct case_machine *made)
{
	struct device *device;
	struct radio *radio;
	struct queue *queue;

	memset(made, 0, sizeof(*made));
	made->machine.seconds = 2;
	made->hardware = (struct hardware){
		.driver = "ath10k_pci", .bus = "pci", .debugfs = FILE_READ,
		.aql_enabled = 1, .airtime_tx = 1, .airtime_rx = 1,
	};
	radio = machine_add_radio(&made->machine);
	strcpy(radio->name, "phy0");
	radio->aql = radio->airtime_fairness = radio->counts = true;
	device = machine_add_device(&made->machine);
	strcpy(device->name, "eth0");
	device->index = 1;
	device->up = device->to_internet = true;
	device = machine_add_device(&made->machine);
	strcpy(device->name, "wlan0");
	device->index = 2;
	device->up = device->wifi = true;
	device->type = NL80211_IFTYPE_AP;
	device->packets = 20;
	queue = device_add_queue(device);
	strcpy(queue->kind, "lasack");
	queue->parent = TC_H_ROOT;
	queue->ours = true;
	queue->bound = TC_INFLIGHT_AUTO;
	queue->below.backpressure = TC_INFLIGHT_AIR;
}

/* Diagnoses wlan0 anew. */
static inline const struct findings *look(struct case_machine *made)
{
	findings_clear(&made->findings);
	diagnose(&made->machine, access_point(made), &made->hardware, &made->findings);
	return &made->findings;
}

static inline void end(struct case_machine *made)
{
	findings_clear(&made->findings);
	machine_clear(&made->machine);
}

static inline const struct finding *about(struct case_machine *made, const char *what)
{
	for (size_t i = 0; i < made->findings.count; i++)
		if (!strcmp(made->findings.all[i].about, what))
			return &made->findings.all[i];
	return NULL;
}

/* How many findings are problems; WHAT has that state, and its commands have that word. */
static inline void expect(struct case_machine *made, const char *what, enum state state,
			  int problems, const char *typed, int *failures)
{
	const struct findings *all = look(made);
	const struct finding *one = about(made, what);
	int count = 0;

	for (size_t i = 0; i < all->count; i++)
		count += all->all[i].state == STATE_PROBLEM;
	EXPECT_EQ(count, problems);
	EXPECT(one);
	if (!one)
		return;
	EXPECT_EQ(one->state, state);
	EXPECT_EQ(!!one->type, !!typed);
	if (one->type && typed)
		EXPECT(strstr(one->type, typed));
	if (one->state != state || (typed && (!one->type || !strstr(one->type, typed))))
		printf("# %s: %s\n# %s\n", what, one->said, one->type ?: "");
}

#endif
