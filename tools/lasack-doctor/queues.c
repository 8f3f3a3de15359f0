// SPDX-License-Identifier: GPL-2.0-only
/*
 * See queues.h. A driver of Wi-Fi takes every packet at once, so packets wait
 * in a queue discipline only if it bounds what is below it or if something
 * limits its rate.
 */
#include <linux/pkt_sched.h>
#include <stdio.h>
#include <string.h>

#include "backpressure.h"
#include "queues.h"
#include "shell_word.h"

/* Where a queue discipline is, as tc has it: "root" or "parent 1:2". */
struct spot { char text[sizeof("parent ffff:ffff")]; };

static struct spot spot_of(uint32_t parent)
{
	struct spot spot = { "root" };

	if (parent != TC_H_ROOT)
		snprintf(spot.text, sizeof(spot.text), "parent %x:%x", TC_H_MAJ(parent) >> 16,
			 TC_H_MIN(parent));
	return spot;
}

static bool has_child(const struct device *device, const struct queue *queue)
{
	for (size_t i = 0; i < device->queue_count; i++)
		if (queue_parent(device, &device->queues[i]) == queue)
			return true;
	return false;
}

/* It has a rate, and nothing of ours. */
static void look_at_shaper(const struct device *device, const struct queue *shaper,
			   struct findings *findings)
{
	const struct queue *scheduler = device_scheduler(device, shaper);
	struct word name = shell_word(device->name);

	if (scheduler) {
		find(findings, "qdisc", STATE_NOTE,
		     "%s limits the rate, so packets wait in %s. Unlike lasack, %s does not charge "
		     "an upload for the data that its ACKs acknowledge.", shaper->kind,
		     scheduler == shaper ? "it" : scheduler->kind, scheduler->kind);
		return;
	}
	find(findings, "qdisc", STATE_PROBLEM,
	     "%s limits the rate, but its packets leave in the order they came.", shaper->kind);
	if (!strcmp(shaper->kind, "tbf")) {
		find_type(findings, "tc qdisc replace dev %s parent %x:1 lasack inflight off",
			  name.text, TC_H_MAJ(shaper->handle) >> 16);
		return;
	}
	find_type(findings, "tc class show dev %s", name.text);
	find_type(findings, "tc qdisc replace dev %s parent CLASS lasack inflight off", name.text);
}

static void look_at_unbounded(const struct device *device, struct findings *findings)
{
	find(findings, "qdisc", STATE_PROBLEM,
	     "%s has no bound on the packets below it, so it holds none.",
	     device_ours(device)->kind);
	for (size_t i = 0; i < device->queue_count; i++)
		if (device->queues[i].ours)
			find_type(findings, "tc qdisc replace dev %s %s %s inflight auto",
				  shell_word(device->name).text,
				  spot_of(device->queues[i].parent).text, device->queues[i].kind);
}

static void look_at_bounded(const struct device *device, const struct queue *bounded,
			    struct findings *findings)
{
	const struct queue *parent = queue_parent(device, bounded);
	struct word name = shell_word(device->name);

	if (strcmp(bounded->kind, "inflight") || has_child(device, bounded)) {
		find(findings, "qdisc", STATE_OK, "%s is %s%s.", bounded->kind,
		     parent ? "below " : "at the root", parent ? shell_word(parent->kind).text : "");
		return;
	}
	find(findings, "qdisc", STATE_PROBLEM,
	     "inflight has no scheduler: its packets leave in the order they came.");
	if (bounded->handle)
		find_type(findings, "tc qdisc replace dev %s parent %x:1 fq_codel", name.text,
			  TC_H_MAJ(bounded->handle) >> 16);
	else	/* The kernel's own default has no handle to name. */
		find_type(findings, "tc qdisc replace dev %s root lasack", name.text);
}

void look_at_qdisc(const struct device *device, struct findings *findings)
{
	const struct queue *root = device_root(device), *ours = device_ours(device);
	const struct queue *bounded = device_bounded(device), *shaper = device_shaper(device);
	struct coverage coverage = device_coverage(device);
	struct word kind = shell_word(root ? root->kind : "none");
	struct word name = shell_word(device->name);

	if (!device->wifi) {
		find(findings, "qdisc", STATE_NOTE, "The queue discipline is %s.", kind.text);
	} else if (!ours && shaper) {
		look_at_shaper(device, shaper, findings);
	} else if (!ours) {
		find(findings, "qdisc", STATE_PROBLEM,
		     "The queue discipline is %s. On Wi-Fi it holds no packets, because the driver "
		     "takes them all: it does not decide who is served.", kind.text);
		find_type(findings, "tc qdisc replace dev %s root lasack", name.text);
	} else if (coverage.ours < coverage.all) {
		find(findings, "qdisc", STATE_PROBLEM,
		     "%s is below %u of the %u queues of mq. The packets of the others pass it by.",
		     ours->kind, coverage.ours, coverage.all);
		find_type(findings, "tc qdisc replace dev %s root lasack", name.text);
	} else if (shaper) {
		find(findings, "qdisc", STATE_OK, "%s limits the rate, so packets wait in %s.",
		     shaper->kind, ours->kind);
	} else if (bounded) {
		look_at_bounded(device, bounded, findings);
	} else {
		look_at_unbounded(device, findings);
	}
}

static bool has_major(const struct device *device, uint32_t major)
{
	for (size_t i = 0; i < device->queue_count; i++)
		if (TC_H_MAJ(device->queues[i].handle) >> 16 == major)
			return true;
	return false;
}

/* The kernel refuses a handle that another queue discipline of the device has. */
static uint32_t free_major(const struct device *device)
{
	uint32_t major = 1;

	while (has_major(device, major))
		major++;
	return major;
}

/* A rate below that of the radio makes a queue above any driver. */
static void type_shaper(const struct device *device, struct findings *findings)
{
	struct word name = shell_word(device->name);
	uint32_t major = free_major(device);

	find_type(findings, "tc qdisc replace dev %s root handle %x: htb default 1", name.text,
		  major);
	find_type(findings, "tc class replace dev %s parent %x: classid %x:1 htb rate RATE",
		  name.text, major, major);
	find_type(findings, "tc qdisc replace dev %s parent %x:1 lasack inflight off", name.text,
		  major);
}

void look_at_backpressure(const struct device *device, const struct driver *known,
			  struct findings *findings)
{
	static const char cure[] = "A rate a little below what the Wi-Fi gets helps with any driver.";
	const struct queue *shaper = device_shaper(device);
	bool bounded = device_bounded(device);
	uint32_t found = device_backpressure(device);
	uint32_t expected = known ? known->backpressure : TC_INFLIGHT_UNTRIED;

	if (shaper) {
		find(findings, "backpressure", STATE_OK,
		     "Not needed: %s sends at its rate, whatever the driver does.",
		     shaper->kind);
	} else if (found == TC_INFLIGHT_UNTRIED && expected >= TC_INFLIGHT_BUS) {
		find(findings, "backpressure", STATE_PROBLEM,
		     "%s is to be expected: the driver frees a packet %s. %s",
		     backpressure_word(expected), known->frees, cure);
		type_shaper(device, findings);
	} else if (!bounded) {
		find(findings, "backpressure", STATE_UNKNOWN,
		     "Nothing bounds what is below the queue discipline, so nothing is known.");
	} else if (found == TC_INFLIGHT_UNTRIED) {
		find(findings, "backpressure", STATE_UNKNOWN,
		     "untried: fewer than 64 packets were freed. Ask again while there is traffic.");
	} else if (found == TC_INFLIGHT_AIR) {
		find(findings, "backpressure", STATE_OK,
		     "air: the driver keeps a packet until it has been transmitted.");
	} else {
		find(findings, "backpressure", STATE_PROBLEM, "%s: %s %s", backpressure_word(found),
		     found == TC_INFLIGHT_BUS ?
		     "the driver frees a packet once the chip has it, and the chip's own queue "
		     "is in nobody's order." :
		     "the driver frees or copies a packet at once, so the bound does nothing.",
		     cure);
		type_shaper(device, findings);
	}
}
