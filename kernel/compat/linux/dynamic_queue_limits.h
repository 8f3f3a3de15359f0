/* SPDX-License-Identifier: GPL-2.0-only */
/* From Linux 6.9 the header uses jiffies without including what declares them. */
#ifndef LASACK_COMPAT_LINUX_DYNAMIC_QUEUE_LIMITS_H
#define LASACK_COMPAT_LINUX_DYNAMIC_QUEUE_LIMITS_H

#include <linux/jiffies.h>
#include_next <linux/dynamic_queue_limits.h>

#endif
