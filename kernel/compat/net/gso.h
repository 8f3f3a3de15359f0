/* SPDX-License-Identifier: GPL-2.0-only */
/* The GSO functions moved from linux/netdevice.h to net/gso.h in Linux 6.5. */
#ifndef LASACK_COMPAT_NET_GSO_H
#define LASACK_COMPAT_NET_GSO_H

#ifdef COMPAT_HAVE_NET_GSO
#include_next <net/gso.h>
#else
#include <linux/netdevice.h>
#endif

#endif
