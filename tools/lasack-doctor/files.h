/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files below /sys tell of the hardware of a device. */
#ifndef LASACK_DOCTOR_FILES_H
#define LASACK_DOCTOR_FILES_H

#include "machine.h"

/*
 * SYS is /sys. RADIO is the name of the device's radio, or NULL. What has no file, or a file
 * that only root may read, is unknown.
 */
void files_read(const char *sys, const char *device, const char *radio,
		struct hardware *hardware);

#endif
