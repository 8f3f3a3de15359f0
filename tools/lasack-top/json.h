/* SPDX-License-Identifier: GPL-2.0-only */
/* Snapshots as JSON, one object on one line each; Documentation/reference/lasack-top.md. */
#ifndef LASACK_TOP_JSON_H
#define LASACK_TOP_JSON_H

#include <stdio.h>

#include "snapshot.h"

#define JSON_SCHEMA	1

void json_page(FILE *out, const struct snapshot *snapshot);

#endif
