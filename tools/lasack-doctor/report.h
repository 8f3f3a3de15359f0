/* SPDX-License-Identifier: GPL-2.0-only */
/* Findings as text for people, and as JSON; Documentation/reference/lasack-doctor.md. */
#ifndef LASACK_DOCTOR_REPORT_H
#define LASACK_DOCTOR_REPORT_H

#include <stdio.h>

#include "finding.h"
#include "machine.h"

#define JSON_SCHEMA	1

/* What was found of one device. */
struct report {
	const struct device *device;
	const struct radio *radio;	/* NULL: it has none */
	struct hardware hardware;
	struct findings findings;
};

/* In lines of at most WIDTH characters, but for commands. */
void report_text(FILE *out, const struct report *report, int width);

/* One object for all devices, on one line. */
void report_json(FILE *out, const struct machine *machine, const struct report *reports,
		 size_t count);

#endif
