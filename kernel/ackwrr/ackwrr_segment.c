// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parser, compiled for this module: an object file can be part of one only.
 */

#include "common/tcp_segment.c"
