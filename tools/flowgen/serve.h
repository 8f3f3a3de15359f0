/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The server: answers TCP and QUIC-like flows and counts UDP pulses on one port.
 */
#ifndef FLOWGEN_SERVE_H
#define FLOWGEN_SERVE_H

#include "loop.h"

/* ADDRESS may be NULL: all addresses, IPv6 and IPv4. Dies on failure. */
void serve_open(struct loop *loop, const char *address, const char *port);

#endif
