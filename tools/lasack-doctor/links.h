/* SPDX-License-Identifier: GPL-2.0-only */
/* Devices, routes and queue disciplines, by rtnetlink; no privilege is needed. */
#ifndef LASACK_DOCTOR_LINKS_H
#define LASACK_DOCTOR_LINKS_H

#include "machine.h"

struct nl_sock;

struct nl_sock *links_open(void);

/* Adds every device to an empty machine, and which of them lead to the Internet. */
void links_read(struct nl_sock *sock, struct machine *machine);

/* One look at all queue disciplines. */
void links_look(struct nl_sock *sock, struct machine *machine);

#endif
