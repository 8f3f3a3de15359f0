// SPDX-License-Identifier: GPL-2.0-only
/*
 * See place.h. Traffic is as fast as its bottleneck, and packets wait before
 * the bottleneck: the longest queue tells where it is.
 */
#include <string.h>

#include "place.h"
#include "shell_word.h"

/* Packets on average; fewer are no queue. */
#define QUEUE_MIN	1.0

static bool is_managed(const struct device *device)
{
	for (size_t i = 0; i < device->queue_count; i++)
		if (queue_managed(&device->queues[i]))
			return true;
	return false;
}

/* Of all others, the device with the longest queue, or NULL. */
static const struct device *longest(const struct machine *machine, const struct device *device)
{
	const struct device *best = NULL;

	for (size_t i = 0; i < machine->device_count; i++) {
		const struct device *other = &machine->devices[i];

		if (other != device && other->packets >= QUEUE_MIN &&
		    (!best || other->packets > best->packets))
			best = other;
	}
	return best;
}

static const char *whereabouts(const struct device *device)
{
	if (!strcmp(device->kind, "ifb"))
		return ", which holds traffic that comes in";
	if (device->to_internet)
		return ", the way to the Internet";
	return device->wifi ? ", another Wi-Fi device" : "";
}

static void elsewhere(const struct machine *machine, const struct device *other,
		      struct findings *findings)
{
	struct word name = shell_word(other->name);
	bool wan = other->to_internet || !strcmp(other->kind, "ifb");
	bool good = wan && is_managed(other);

	find(findings, "queue", good ? STATE_NOTE : STATE_PROBLEM,
	     "The queue is on %s%s: %.0f packets on average in %.1f s, %llu dropped. That is the "
	     "bottleneck now, so no order of packets on the Wi-Fi makes it faster.%s", name.text,
	     whereabouts(other), other->packets, machine->seconds,
	     (unsigned long long)other->drops, good ? " Its queue discipline keeps it short." : "");
	if (other->wifi)
		find_type(findings, "lasack-doctor %s", name.text);
	else if (!good && wan)
		find_type(findings, "tc qdisc replace dev %s root cake bandwidth RATE", name.text);
	else if (!good)
		find_type(findings, "tc -s qdisc show dev %s", name.text);
}

void look_at_place(const struct machine *machine, const struct device *device,
		   struct findings *findings)
{
	const struct radio *radio = device->wifi ? machine_radio(machine, device->radio) : NULL;
	const struct device *other = longest(machine, device);
	double below = radio && radio->counts ? radio->packets : 0;
	double here = device->packets > below ? device->packets : below;
	struct word name = shell_word(device->name);

	if (other && other->packets > here)
		elsewhere(machine, other, findings);
	else if (here < QUEUE_MIN)
		find(findings, "queue", STATE_UNKNOWN,
		     "No packets wait on any device now. Ask again while it is slow. If none wait "
		     "then either, the queue is at the provider or at the other end.");
	else if (below > device->packets)
		find(findings, "queue", STATE_NOTE,
		     "The queue is in mac80211, below the queue discipline of %s: %.0f packets on "
		     "average in %.1f s.", name.text, below, machine->seconds);
	else
		find(findings, "queue", STATE_OK,
		     "The queue is here: %.0f packets on average in %.1f s, %llu dropped.",
		     device->packets, machine->seconds, (unsigned long long)device->drops);
}
