/* SPDX-License-Identifier: GPL-2.0-only */
/* What a client says first on its connection: the flow that it asks for. */
#ifndef FLOWGEN_REQUEST_H
#define FLOWGEN_REQUEST_H

#include "flow_plan.h"

/* Integers are big-endian. */
struct request {
	uint32_t magic;
	uint8_t version;
	uint8_t dir;
	uint8_t dscp;
	uint8_t reserved;
	uint64_t duration_ns;		/* what is left of it; 0: by bytes */
	uint64_t bytes;
	char id[ID_MAX];
	char congestion_control[CC_MAX];
} __attribute__((packed));

/* LEFT_NS of its duration are left; not used for a flow by bytes. */
void request_compose(struct request *req, const struct flow_plan *plan, int64_t left_ns);

/* Fills in what the request asks for; false if it is none. */
bool request_adopt(const struct request *req, struct flow_plan *plan);

#endif
