/* SPDX-License-Identifier: GPL-2.0-only */
/* Large arrays that take no more memory than they need. See exact_array.c. */
#ifndef COMMON_EXACT_ARRAY_H
#define COMMON_EXACT_ARRAY_H

#include <linux/types.h>

void *exact_array_alloc(size_t count, size_t size);
void exact_array_free(void *array, size_t count, size_t size);

#endif
