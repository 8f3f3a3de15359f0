/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What lasack-top knows of a kind of queue discipline: tables of its options
 * and counters, and the lines that are its own. Another kind is another file
 * and a line in disciplines[].
 */
#ifndef LASACK_TOP_DISCIPLINE_H
#define LASACK_TOP_DISCIPLINE_H

#include <stdbool.h>
#include <stdio.h>

#include "snapshot.h"

struct wrap;

enum unit { UNIT_NUMBER, UNIT_BYTES, UNIT_MS };

/* A u32 attribute of TCA_OPTIONS, named as tc names it. */
struct option {
	const char *name;		/* NULL ends the table */
	int attribute;
	enum unit unit;
	const char *zero, *one;		/* the words for 0 and 1, if they have one */
	const char *ones;		/* the word for ~0 */
};

/* A counter in the xstats, named as in tc -s -j. */
struct counter {
	const char *name;		/* NULL ends the table */
	size_t offset, size;		/* in the union; 4 or 8 bytes */
	enum { ADD, LARGEST } sum;	/* over several qdiscs of a device */
	/* UNLESS_0: left out then, as tc does. */
	enum { COUNT, UNLESS_0, SIGNED, ESTIMATE, BACKPRESSURE } form;
};

struct discipline {
	const char *kind;
	bool shown;			/* a device that has one can be looked at */
	int bound;			/* the option that bounds packets below it */
	const struct option *options;
	const struct counter *counters;
	size_t xstats_size;
	/* Lines about all qdiscs of the kind added up, below what all kinds have. */
	void (*text)(struct wrap *wrap, const struct qdisc *total);
	/* A line for each class, below a heading; NULL if its classes are flows. */
	const char *classes_heading;
	void (*text_class)(FILE *out, const struct class *class);
};

extern const struct discipline lasack, ackwrr, inflight;
extern const struct discipline *const disciplines[];	/* NULL ends it */

uint64_t counter_read(const struct counter *counter, const struct qdisc *qdisc);

/* The counter of that name, 0 if the kind has none. */
uint64_t counter_named(const char *name, const struct qdisc *qdisc);

/* The word for that value of an option, or NULL: it is a number. */
const char *option_word(const struct option *option, uint32_t value);

#endif
