/* SPDX-License-Identifier: GPL-2.0-only */
/* What `dcfmedium explain` says at the end, by station. */
#ifndef DCFMEDIUM_EXPLAIN_SUMMARY_H
#define DCFMEDIUM_EXPLAIN_SUMMARY_H

#include <stddef.h>

#include "core/phy/phy_profile.h"
#include "trace_reader.h"

/* Packets by when they began. */
struct span {
	struct trace_packet *packets;
	size_t n;
	ns_t busy_until;	/* by what began before it; 0 = nothing did */
};

/* What @span comes to, by station. */
void explain_summary(const struct trace_reader *reader, const struct span *span,
		     ns_t from, ns_t length);

#endif
