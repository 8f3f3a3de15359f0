/* SPDX-License-Identifier: GPL-2.0-only */
/* Before Linux 6.9 a qdisc was found by the module's name alone. */
#ifndef LASACK_COMPAT_NET_PKT_SCHED_H
#define LASACK_COMPAT_NET_PKT_SCHED_H

#include_next <net/pkt_sched.h>

#ifndef MODULE_ALIAS_NET_SCH
#define MODULE_ALIAS_NET_SCH(id)
#endif

#endif
