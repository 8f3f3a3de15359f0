/* SPDX-License-Identifier: GPL-2.0-only */
/* The flowtables of nftables, by nfnetlink; this needs root (CAP_NET_ADMIN). */
#ifndef LASACK_DOCTOR_FLOWTABLES_H
#define LASACK_DOCTOR_FLOWTABLES_H

#include "machine.h"

/* Adds them to the machine, or notes that this needs root; a kernel without nftables has none. */
void flowtables_read(struct machine *machine);

#endif
