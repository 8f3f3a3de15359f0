/* SPDX-License-Identifier: GPL-2.0-only */
/* Before Linux 6.6 a table of sysctls ended with an empty entry. */
#ifndef LASACK_COMPAT_NET_NET_NAMESPACE_H
#define LASACK_COMPAT_NET_NET_NAMESPACE_H

#include_next <net/net_namespace.h>

#ifndef COMPAT_HAVE_NET_SYSCTL_SZ
/* The caller's table has that entry after @size others. */
static inline struct ctl_table_header *register_net_sysctl_sz(struct net *net, const char *path,
							      struct ctl_table *table, size_t size)
{
	return register_net_sysctl(net, path, table);
}
#endif

#endif
