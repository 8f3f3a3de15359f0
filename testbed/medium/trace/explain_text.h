/* SPDX-License-Identifier: GPL-2.0-only */
/* The lines of `dcfmedium explain`, of at most 80 columns. */
#ifndef DCFMEDIUM_EXPLAIN_TEXT_H
#define DCFMEDIUM_EXPLAIN_TEXT_H

#include <stddef.h>

#include "core/phy/phy_profile.h"
#include "trace_reader.h"

/* What the columns are. */
void explain_begin(const struct trace_reader *reader);

/* The medium was idle from @start to @end, if that is more than SIFS. */
void explain_idle(const struct trace_reader *reader, ns_t start, ns_t end);

/* @n packets that were in the air together: one, an A-MPDU, or a collision. */
void explain_together(const struct trace_reader *reader,
		      const struct trace_packet *packets, size_t n);

#endif
