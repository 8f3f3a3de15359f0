/* SPDX-License-Identifier: GPL-2.0-only */
/* wmediumd's configuration file as options of `dcfmedium hwsim`. */
#ifndef DCFMEDIUM_WMEDIUMD_H
#define DCFMEDIUM_WMEDIUMD_H

/* Takes an option of `dcfmedium hwsim`: @name is without "--". */
typedef void (*wmediumd_take)(void *ctx, const char *name, const char *value);

/*
 * Hand on what file @path says: radio i of ifaces.ids becomes a station named
 * iface<i>. A value lives as long as the program. A wrong file ends it.
 */
void wmediumd_options(const char *path, wmediumd_take take, void *ctx);

/* `dcfmedium wmediumd FILE`: print them. */
int wmediumd_command(int argc, char **argv);

#endif
