/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wmediumd's configuration file (libconfig's syntax), as the medium needs it:
 * which radios there are, and what frames from each to each other meet.
 *
 * Source: the manual of wmediumd (README.md of bcopeland/wmediumd), and what
 * mininet-wifi writes for its own version of it.
 */
#ifndef DCFMEDIUM_WMEDIUMD_CONFIG_H
#define DCFMEDIUM_WMEDIUMD_CONFIG_H

#include "radios.h"

/*
 * Read @path into *@config. What has no meaning here, and what is wrong, ends
 * the program with one line that names the file's line and the key.
 */
void wmediumd_read(const char *path, struct wmediumd_radios *config);

#endif
