// SPDX-License-Identifier: GPL-2.0-only
/* See backpressure.h. */
#include "../../kernel/uapi/pkt_sch_inflight.h"
#include "backpressure.h"

const char *backpressure_word(uint64_t state)
{
	static const char *const words[] = {
		[TC_INFLIGHT_UNTRIED] = "untried",
		[TC_INFLIGHT_AIR] = "air",
		[TC_INFLIGHT_BUS] = "bus",
		[TC_INFLIGHT_NONE] = "none",
	};

	return state < sizeof(words) / sizeof(*words) ? words[state] : "unknown";
}
