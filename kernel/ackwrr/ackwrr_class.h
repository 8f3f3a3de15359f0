/* SPDX-License-Identifier: GPL-2.0-only */
/* The classes of ackwrr: ackwrr_class.c. */
#ifndef LASACK_ACKWRR_CLASS_H
#define LASACK_ACKWRR_CLASS_H

struct Qdisc_class_ops;

extern const struct Qdisc_class_ops ackwrr_class_ops;

#endif
