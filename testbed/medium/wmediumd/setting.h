/* SPDX-License-Identifier: GPL-2.0-only */
/* Typed reading of libconfig's settings; what is wrong ends the program. */
#ifndef DCFMEDIUM_WMEDIUMD_SETTING_H
#define DCFMEDIUM_WMEDIUMD_SETTING_H

#include <libconfig.h>

/* "dcfmedium: FILE:LINE: KEY: MESSAGE" and exit 2; KEY is @at's whole name. */
void setting_error(const config_setting_t *at, const char *format, ...)
	__attribute__((format(printf, 2, 3), noreturn));

/* A number, whole or not; a whole number from @min to @max. */
double setting_number(const config_setting_t *at);
int setting_integer(const config_setting_t *at, int min, int max);

/* The members of a list or array: all of them, or exactly @n. */
int setting_count(const config_setting_t *at);
void setting_expect(const config_setting_t *at, int n, const char *what);

/* Member @key of group @of, which must be there. */
const config_setting_t *setting_needed(const config_setting_t *of, const char *key);

/* A word. */
const char *setting_word(const config_setting_t *at);

/* Every member of group @of must be one of @known, which NULL ends. */
void setting_only(const config_setting_t *of, const char *const *known);

#endif
