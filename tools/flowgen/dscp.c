// SPDX-License-Identifier: GPL-2.0-only
#include <netinet/in.h>
#include <sys/socket.h>

#include "dscp.h"

int dscp_set(int fd, unsigned int dscp)
{
	int field = dscp << 2;		/* the two bits of ECN are the kernel's */
	int family;
	socklen_t length = sizeof(family);

	if (!dscp)
		return 0;
	/* A socket of IPv6 may speak IPv4. */
	if (setsockopt(fd, IPPROTO_IP, IP_TOS, &field, sizeof(field)) ||
	    getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &length))
		return -1;
	if (family != AF_INET6)
		return 0;
	return setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &field, sizeof(field));
}
