// SPDX-License-Identifier: GPL-2.0-only
/* See machine.h. */
#include <linux/pkt_sched.h>
#include <stdlib.h>
#include <string.h>

#include "die.h"
#include "machine.h"

struct device *machine_device(const struct machine *machine, int index)
{
	for (size_t i = 0; i < machine->device_count; i++)
		if (machine->devices[i].index == index)
			return &machine->devices[i];
	return NULL;
}

struct device *machine_device_named(const struct machine *machine, const char *name)
{
	for (size_t i = 0; i < machine->device_count; i++)
		if (!strcmp(machine->devices[i].name, name))
			return &machine->devices[i];
	return NULL;
}

struct radio *machine_radio(const struct machine *machine, uint32_t number)
{
	for (size_t i = 0; i < machine->radio_count; i++)
		if (machine->radios[i].number == number)
			return &machine->radios[i];
	return NULL;
}

/* One more place of SIZE bytes, all zero, at the end of *ALL. */
static void *add(void *all, size_t *count, size_t size)
{
	char **array = all;

	*array = reallocarray(*array, *count + 1, size);
	if (!*array)
		die("out of memory");
	return memset(*array + size * (*count)++, 0, size);
}

struct device *machine_add_device(struct machine *machine)
{
	return add(&machine->devices, &machine->device_count, sizeof(*machine->devices));
}

struct radio *machine_add_radio(struct machine *machine)
{
	return add(&machine->radios, &machine->radio_count, sizeof(*machine->radios));
}

struct flowtable *machine_add_flowtable(struct machine *machine)
{
	return add(&machine->flowtables, &machine->flowtable_count,
		   sizeof(*machine->flowtables));
}

struct queue *device_add_queue(struct device *device)
{
	return add(&device->queues, &device->queue_count, sizeof(*device->queues));
}

const struct queue *device_root(const struct device *device)
{
	for (size_t i = 0; i < device->queue_count; i++)
		if (device->queues[i].parent == TC_H_ROOT)
			return &device->queues[i];
	return NULL;
}

const struct queue *queue_parent(const struct device *device, const struct queue *queue)
{
	const struct queue *root = device_root(device);
	uint32_t major = TC_H_MAJ(queue->parent);

	if (queue->parent == TC_H_ROOT)
		return NULL;
	/* The kernel's own mq has the handle 0, and so have all its children. */
	if (root && root->handle == major)
		return root;
	for (size_t i = 0; i < device->queue_count; i++)
		if (device->queues[i].handle == major && &device->queues[i] != queue)
			return &device->queues[i];
	return NULL;
}

/* Whether QUEUE is ABOVE or below it. A tree that was read while it changed may be a circle. */
static bool is_within(const struct device *device, const struct queue *queue,
		      const struct queue *above)
{
	for (size_t i = 0; queue && i < device->queue_count; i++) {
		if (queue == above)
			return true;
		queue = queue_parent(device, queue);
	}
	return false;
}

bool queue_managed(const struct queue *queue)
{
	static const char *const managed[] = {
		"cake", "cake_mq", "fq_codel", "fq_pie", "codel", "pie", "sfq", "fq", "dualpi2",
		"lasack", "ackwrr", NULL
	};

	for (const char *const *kind = managed; *kind; kind++)
		if (!strcmp(queue->kind, *kind))
			return true;
	return false;
}

const struct queue *device_ours(const struct device *device)
{
	for (size_t i = 0; i < device->queue_count; i++)
		if (device->queues[i].ours)
			return &device->queues[i];
	return NULL;
}

const struct queue *device_bounded(const struct device *device)
{
	for (size_t i = 0; i < device->queue_count; i++)
		if (device->queues[i].ours && device->queues[i].bound != TC_INFLIGHT_OFF)
			return &device->queues[i];
	return NULL;
}

/* Whether one of ours is QUEUE or below it. */
static bool has_ours(const struct device *device, const struct queue *queue)
{
	for (size_t i = 0; i < device->queue_count; i++)
		if (device->queues[i].ours && is_within(device, &device->queues[i], queue))
			return true;
	return false;
}

const struct queue *device_shaper(const struct device *device)
{
	bool any = !device_ours(device);

	for (size_t i = 0; i < device->queue_count; i++)
		if (device->queues[i].limits_rate &&
		    (any || has_ours(device, &device->queues[i])))
			return &device->queues[i];
	return NULL;
}

const struct queue *device_scheduler(const struct device *device, const struct queue *shaper)
{
	for (size_t i = 0; i < device->queue_count; i++)
		if (queue_managed(&device->queues[i]) &&
		    is_within(device, &device->queues[i], shaper))
			return &device->queues[i];
	return NULL;
}

struct coverage device_coverage(const struct device *device)
{
	const struct queue *root = device_root(device);
	struct coverage coverage = { };

	if (!root || strcmp(root->kind, "mq"))
		return coverage;
	for (size_t i = 0; i < device->queue_count; i++) {
		if (queue_parent(device, &device->queues[i]) != root)
			continue;
		coverage.all++;
		coverage.ours += has_ours(device, &device->queues[i]);
	}
	return coverage;
}

uint32_t device_backpressure(const struct device *device)
{
	uint32_t worst = TC_INFLIGHT_UNTRIED;

	for (size_t i = 0; i < device->queue_count; i++) {
		const struct queue *queue = &device->queues[i];

		if (queue->ours && queue->bound != TC_INFLIGHT_OFF &&
		    queue->below.backpressure > worst)
			worst = queue->below.backpressure;
	}
	return worst;
}

void machine_clear(struct machine *machine)
{
	for (size_t i = 0; i < machine->device_count; i++)
		free(machine->devices[i].queues);
	free(machine->devices);
	free(machine->radios);
	free(machine->flowtables);
	memset(machine, 0, sizeof(*machine));
}
