/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device may have a lock of its own, which is held when a qdisc is made. Since 7.2
 * __ethtool_get_link_ksettings() takes that lock. netif_get_link_ksettings() does not.
 */
#ifndef LASACK_COMPAT_LINUX_ETHTOOL_H
#define LASACK_COMPAT_LINUX_ETHTOOL_H

#include_next <linux/ethtool.h>

#ifndef COMPAT_HAVE_LINK_KSETTINGS
#define netif_get_link_ksettings	__ethtool_get_link_ksettings
#endif

#endif
