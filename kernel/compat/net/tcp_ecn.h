/* SPDX-License-Identifier: GPL-2.0-only */
/* Accurate ECN, and with it the header, is newer than Linux 6.12. */
#ifndef LASACK_COMPAT_NET_TCP_ECN_H
#define LASACK_COMPAT_NET_TCP_ECN_H

#ifdef COMPAT_HAVE_TCP_ECN
#include_next <net/tcp_ecn.h>
#else
#include <net/tcp.h>
#endif

/* Does the next ACK owe the sender the AccECN option? */
static inline bool tcp_accecn_opt_demanded(const struct tcp_sock *tp)
{
#ifdef COMPAT_HAVE_TCP_ECN
	return tcp_ecn_mode_accecn(tp) && tp->accecn_opt_demand;
#else
	return false;
#endif
}

#endif
