/* SPDX-License-Identifier: GPL-2.0-only */
/* The mark by which a network may prefer a packet (RFC 2474). */
#ifndef FLOWGEN_DSCP_H
#define FLOWGEN_DSCP_H

#define DSCP_MAX	63

/* What the socket FD sends from now on is marked, unless 0. Returns 0, or -1 with errno. */
int dscp_set(int fd, unsigned int dscp);

#endif
