/* SPDX-License-Identifier: GPL-2.0-only */
/* Since 6.15 a driver may ask for calls under a lock of the device's own. */
#ifndef LASACK_COMPAT_LINUX_NETDEVICE_H
#define LASACK_COMPAT_LINUX_NETDEVICE_H

#include_next <linux/netdevice.h>

static inline void netdev_ask_for_own_lock(struct net_device *dev)
{
#ifdef COMPAT_HAVE_REQUEST_OPS_LOCK
	dev->request_ops_lock = true;
#endif
}

#endif
