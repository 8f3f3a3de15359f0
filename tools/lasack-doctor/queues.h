/* SPDX-License-Identifier: GPL-2.0-only */
/* What a device's queue disciplines do: whether packets wait there, and in whose order. Pure. */
#ifndef LASACK_DOCTOR_QUEUES_H
#define LASACK_DOCTOR_QUEUES_H

#include "driver.h"
#include "finding.h"
#include "machine.h"

void look_at_qdisc(const struct device *device, struct findings *findings);

/* KNOWN is what is known of the driver, or NULL. */
void look_at_backpressure(const struct device *device, const struct driver *known,
			  struct findings *findings);

#endif
