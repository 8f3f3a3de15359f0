/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_BACKPRESSURE_H
#define TOOLS_BACKPRESSURE_H

#include <stdint.h>

/* The word for an enum tc_inflight_backpressure, as tc prints it. */
const char *backpressure_word(uint64_t state);

#endif
