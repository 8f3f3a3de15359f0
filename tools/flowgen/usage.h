/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FLOWGEN_USAGE_H
#define FLOWGEN_USAGE_H

extern const char usage_text[];

#endif
