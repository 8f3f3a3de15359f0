/* SPDX-License-Identifier: GPL-2.0-only */
/* The options of ackwrr and of its classes: ackwrr_config.c. */
#ifndef LASACK_ACKWRR_CONFIG_H
#define LASACK_ACKWRR_CONFIG_H

#include <linux/types.h>
#include "ackwrr/ackwrr_round.h"

struct netlink_ext_ack;
struct nlattr;

struct ackwrr_config {
	u32	limit;		/* packets */
	u32	inflight;	/* as in pkt_sch_inflight.h */
	u8	weights[ACKWRR_CLASSES];	/* both TC_ACKWRR_AUTO, or none */
};

int ackwrr_config_parse(struct ackwrr_config *config, struct nlattr *opt,
			struct netlink_ext_ack *extack);
int ackwrr_class_config_parse(u8 *weight, struct nlattr *opt,
			      struct netlink_ext_ack *extack);

#endif
