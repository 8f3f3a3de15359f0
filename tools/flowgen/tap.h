/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Watches the datagrams of pulses leave a device: a packet socket sees a packet
 * when its queue discipline has given it to the driver, so a datagram's delay
 * here is what it has waited in that queue (and on its way to it).
 */
#ifndef FLOWGEN_TAP_H
#define FLOWGEN_TAP_H

#include "loop.h"

/* DEVICE is an interface's name. Needs CAP_NET_RAW; IPv4 without options only. */
void tap_open(struct loop *loop, const char *device);

#endif
