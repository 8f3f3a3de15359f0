/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether this kernel could load sch_lasack. `tc` does not say why a module did not come. */
#ifndef LASACK_DOCTOR_MODULE_H
#define LASACK_DOCTOR_MODULE_H

#include "finding.h"
#include "machine.h"

/*
 * SYS is /sys, MODULES the directory of the running kernel's modules. What cannot be read is
 * unknown.
 */
void module_read(const char *sys, const char *modules, struct module *module);

/* Only of a device without one of ours: if it has one, the module is there. */
void look_at_module(const struct machine *machine, const struct device *device,
		    struct findings *findings);

#endif
