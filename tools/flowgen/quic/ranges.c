// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "ranges.h"

static void remove_at(struct ranges *set, unsigned int at)
{
	set->count--;
	memmove(&set->each[at], &set->each[at + 1], (set->count - at) * sizeof(set->each[0]));
}

static void insert_at(struct ranges *set, unsigned int at, uint64_t number)
{
	if (at == RANGES_MAX)
		return;
	if (set->count == RANGES_MAX)
		set->count--;
	memmove(&set->each[at + 1], &set->each[at], (set->count - at) * sizeof(set->each[0]));
	set->each[at] = (struct range) { number, number };
	set->count++;
}

bool ranges_add(struct ranges *set, uint64_t number)
{
	struct range *range;
	unsigned int at;

	for (at = 0; at < set->count; at++) {
		range = &set->each[at];
		if (number > range->last + 1)
			break;
		if (number == range->last + 1) {
			range->last = number;
			return true;
		}
		if (number >= range->first)
			return false;
		if (number + 1 < range->first)
			continue;
		range->first = number;
		if (at + 1 < set->count && set->each[at + 1].last + 1 == number) {
			range->first = set->each[at + 1].first;
			remove_at(set, at + 1);
		}
		return true;
	}
	insert_at(set, at, number);
	return true;
}
