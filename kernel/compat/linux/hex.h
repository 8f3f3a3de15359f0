/* SPDX-License-Identifier: GPL-2.0-only */
/* The hexadecimal functions moved from linux/kernel.h to linux/hex.h in 6.4. */
#ifndef LASACK_COMPAT_LINUX_HEX_H
#define LASACK_COMPAT_LINUX_HEX_H

#ifdef COMPAT_HAVE_LINUX_HEX
#include_next <linux/hex.h>
#else
#include <linux/kernel.h>
#endif

#endif
