/* SPDX-License-Identifier: GPL-2.0-only */
/* What a band says of each type of interface has an iterator since Linux 6.6. */
#ifndef LASACK_COMPAT_NET_CFG80211_H
#define LASACK_COMPAT_NET_CFG80211_H

#include_next <net/cfg80211.h>

#ifndef for_each_sband_iftype_data
#define for_each_sband_iftype_data(sband, i, iftd)		\
	for (i = 0, iftd = &(sband)->iftype_data[i];		\
	     i < (sband)->n_iftype_data;			\
	     i++, iftd = &(sband)->iftype_data[i])
#endif

#endif
