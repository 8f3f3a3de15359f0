// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of flows, compiled for this module: an object file can be part of one only.
 */

#include "common/exact_array.c"
#include "common/flow_table.c"
