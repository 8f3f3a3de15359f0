/* SPDX-License-Identifier: GPL-2.0-only */
/* Where packets wait: on the Wi-Fi, or on the way to the Internet. Pure. */
#ifndef LASACK_DOCTOR_PLACE_H
#define LASACK_DOCTOR_PLACE_H

#include "finding.h"
#include "machine.h"

void look_at_place(const struct machine *machine, const struct device *device,
		   struct findings *findings);

#endif
