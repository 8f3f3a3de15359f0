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

const struct queue *device_bounded(const struct device *device)
{
	for (size_t i = 0; i < device->queue_count; i++)
		if (device->queues[i].ours && device->queues[i].bound != TC_INFLIGHT_OFF)
			return &device->queues[i];
	return NULL;
}

const char *device_shaper(const struct device *device)
{
	static const char *const shapers[] = { "htb", "hfsc", "tbf", NULL };
	const struct queue *root = device_root(device);
	const char *found = NULL;
	bool ours = false;

	for (const char *const *kind = shapers; root && *kind; kind++)
		if (!strcmp(root->kind, *kind))
			found = *kind;
	for (size_t i = 0; i < device->queue_count; i++)
		ours |= device->queues[i].ours;
	return ours ? found : NULL;
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
