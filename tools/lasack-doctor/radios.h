/* SPDX-License-Identifier: GPL-2.0-only */
/* The Wi-Fi devices and their radios, by nl80211; no privilege is needed. */
#ifndef LASACK_DOCTOR_RADIOS_H
#define LASACK_DOCTOR_RADIOS_H

#include "machine.h"

struct radio_source;

/* NULL: this kernel has no Wi-Fi. */
struct radio_source *radios_open(void);
void radios_close(struct radio_source *source);

/* Marks the Wi-Fi devices of a machine and adds their radios. */
void radios_read(struct radio_source *source, struct machine *machine);

/* One look, after links_look(), at what waits in mac80211. */
void radios_look(struct radio_source *source, struct machine *machine);

#endif
