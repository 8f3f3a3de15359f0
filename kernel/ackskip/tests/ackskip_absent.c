// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcp_ackskip for a kernel whose reader's function has another name or is
 * inlined: it must refuse to load, with its first hook taken off again.
 */
#define ACKSKIP_READ_FUNCTION	"__tcp_cleanup_rbuf_absent"
#include "ackskip/tcp_ackskip.c"
