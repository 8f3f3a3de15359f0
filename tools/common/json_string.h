/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_JSON_STRING_H
#define TOOLS_JSON_STRING_H

#include <stdio.h>

/* TEXT as a JSON string, in quotation marks. */
void json_string(FILE *out, const char *text);

#endif
