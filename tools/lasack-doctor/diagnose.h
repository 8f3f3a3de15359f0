/* SPDX-License-Identifier: GPL-2.0-only */
/* From what a machine tells to what its operator should know. Pure. */
#ifndef LASACK_DOCTOR_DIAGNOSE_H
#define LASACK_DOCTOR_DIAGNOSE_H

#include "finding.h"
#include "machine.h"

/* "access point", "station", ...; of a device that is no Wi-Fi, its kind or "wired". */
const char *device_role(const struct device *device);

void diagnose(const struct machine *machine, const struct device *device,
	      const struct hardware *hardware, struct findings *findings);

#endif
