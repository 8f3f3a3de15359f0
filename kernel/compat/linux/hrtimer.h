/* SPDX-License-Identifier: GPL-2.0-only */
/* Before Linux 6.13 a timer was set up in two steps. */
#ifndef LASACK_COMPAT_LINUX_HRTIMER_H
#define LASACK_COMPAT_LINUX_HRTIMER_H

#include_next <linux/hrtimer.h>

#ifndef COMPAT_HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#endif
