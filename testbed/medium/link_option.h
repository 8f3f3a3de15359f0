/* SPDX-License-Identifier: GPL-2.0-only */
/* The values of --hidden and --link: what holds for two stations only. */
#ifndef DCFMEDIUM_LINK_OPTION_H
#define DCFMEDIUM_LINK_OPTION_H

#include "core/mac.h"

/* "A:B", the names of two stations that do not hear each other. */
void parse_hidden(const char *text, struct mac_config *config);

/* "A:B,snr=DB" or "A:B,loss=P": what frames from A to B meet. */
void parse_link(const char *text, struct mac_config *config);

/* Ends with one line if the channel is not one that has such links. */
void check_links(const struct mac_config *config);

/* Ends with one line if a pair or a link names a station that @mac has not. */
void check_names(const struct mac *mac);

#endif
