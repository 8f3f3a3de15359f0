// SPDX-License-Identifier: GPL-2.0-only
/*
 * A flow's first bytes, written and read. What comes from the wire is checked
 * before anything of it is used.
 */
#include <endian.h>
#include <string.h>

#include "dscp.h"
#include "request.h"

#define REQUEST_MAGIC	0x666c6f77U	/* "flow" */
#define REQUEST_VERSION	1

void request_compose(struct request *req, const struct flow_plan *plan, int64_t left_ns)
{
	*req = (struct request) {
		.magic = htobe32(REQUEST_MAGIC),
		.version = REQUEST_VERSION,
		.dir = plan->dir,
		.dscp = plan->dscp,
		.bytes = htobe64(plan->bytes),
	};
	if (!plan->bytes)
		req->duration_ns = htobe64(left_ns);
	memcpy(req->id, plan->id, strlen(plan->id));
	memcpy(req->congestion_control, plan->congestion_control,
	       strlen(plan->congestion_control));
}

bool request_adopt(const struct request *req, struct flow_plan *plan)
{
	uint64_t duration = be64toh(req->duration_ns);

	plan->bytes = be64toh(req->bytes);
	if (req->magic != htobe32(REQUEST_MAGIC) || req->dir > DIR_DOWN ||
	    req->version != REQUEST_VERSION || req->dscp > DSCP_MAX ||
	    !duration == !plan->bytes || duration > INT64_MAX / 2)
		return false;
	memcpy(plan->id, req->id, ID_MAX);
	if (!flow_id_valid(plan->id) || req->congestion_control[CC_MAX - 1])
		return false;
	memcpy(plan->congestion_control, req->congestion_control, CC_MAX);
	plan->dir = req->dir;
	plan->dscp = req->dscp;
	plan->duration_ns = duration;
	return true;
}
