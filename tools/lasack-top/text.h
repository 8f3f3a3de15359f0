/* SPDX-License-Identifier: GPL-2.0-only */
/* Snapshots as text for people, in lines no longer than a width. */
#ifndef LASACK_TOP_TEXT_H
#define LASACK_TOP_TEXT_H

#include <stdio.h>

#include "snapshot.h"

#define WIDTH_MIN	80
#define WIDTH_MAX	200

/* "[IPv6]:port" with room; a number with its unit is never longer. */
struct text { char text[56]; };

struct text format_bytes(uint64_t bytes);	/* "12.3 MB": powers of 1000 */
struct text format_us(uint64_t us);		/* "1.2 ms" */
struct text format_handle(uint32_t handle);	/* "1:2", "8001:", "root" */
struct text format_rate(double rate);		/* bit/s in Mb/s, or "-" */

/*
 * One end of a flow, "ADDRESS:PORT", in at most WIDTH characters (at least 12):
 * the middle of a long address is left out, for its ends tell stations apart.
 */
struct text format_end(const struct tc_lasack_flow *flow, int end, int width);

/* Items separated by commas, on lines of at most WIDTH characters. */
struct wrap {
	FILE *out;
	int width;
	int column;
};

void wrap_item(struct wrap *wrap, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void wrap_end(struct wrap *wrap);

/*
 * The whole page: what the qdiscs are, what they counted, a line per class and
 * per flow. Returns which lines are headings: bit N is line N, counted from 0.
 */
uint64_t text_page(FILE *out, const struct snapshot *snapshot, int width);

#endif
