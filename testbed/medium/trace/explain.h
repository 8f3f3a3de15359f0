/* SPDX-License-Identifier: GPL-2.0-only */
/* The text of `dcfmedium explain`: lines of at most 80 columns. */
#ifndef DCFMEDIUM_EXPLAIN_H
#define DCFMEDIUM_EXPLAIN_H

#include <stddef.h>

#include "air_reader.h"

/* Packets by when they began. */
struct span {
	struct air_packet *packets;
	size_t n;
	ns_t busy_until;	/* by what began before it; 0 = nothing did */
};

/* What the columns are. */
void explain_begin(const struct air_reader *reader);

/* The medium was idle from @start to @end, if that is more than SIFS. */
void explain_idle(const struct air_reader *reader, ns_t start, ns_t end);

/* @n packets that were in the air together: one, an A-MPDU, or a collision. */
void explain_together(const struct air_reader *reader,
		      const struct air_packet *packets, size_t n);

/* What @span comes to, by station. */
void explain_summary(const struct air_reader *reader, const struct span *span,
		     ns_t from, ns_t length);

#endif
