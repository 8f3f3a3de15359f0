/* SPDX-License-Identifier: GPL-2.0-only */
/* What is known of Wi-Fi drivers, as data: until when each keeps a packet. */
#ifndef LASACK_DOCTOR_DRIVER_H
#define LASACK_DOCTOR_DRIVER_H

#include <stdint.h>

struct driver {
	const char *name;		/* pattern (fnmatch) of the driver's name in /sys */
	const char *bus;		/* the same of its bus */
	uint32_t backpressure;		/* enum tc_inflight_backpressure to expect */
	const char *frees;		/* "it frees a packet WHEN" */
};

/* NULL: nothing is known of it. */
const struct driver *driver_find(const char *name, const char *bus);

#endif
