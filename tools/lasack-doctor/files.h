/* SPDX-License-Identifier: GPL-2.0-only */
/* What files tell of the hardware of a device, and of sch_lasack in this kernel. */
#ifndef LASACK_DOCTOR_FILES_H
#define LASACK_DOCTOR_FILES_H

#include "machine.h"

/*
 * SYS is /sys. RADIO is the name of the device's radio, or NULL. What has no file, or a file
 * that only root may read, is unknown.
 */
void files_read(const char *sys, const char *device, const char *radio,
		struct hardware *hardware);

/* MODULES is the directory of the running kernel's modules. What cannot be read is unknown. */
void module_read(const char *sys, const char *modules, struct module *module);

#endif
