/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is out below a discipline, against the bound and by station: see account.c.
 */
#ifndef LASACK_INFLIGHT_ACCOUNT_H
#define LASACK_INFLIGHT_ACCOUNT_H

#include <linux/types.h>
#include "account_state.h"
#include "ticket.h"

void inflight_account_init(struct inflight_account *account, u32 limit, u64 stall);
void inflight_account_set_limit(struct inflight_account *account, u32 limit);
void inflight_account_add(struct inflight_account *account, u64 address, u16 packets,
			  u32 bytes, u64 now, struct inflight_ticket *ticket);
bool inflight_account_may_hurry(const struct inflight_account *account, u64 address,
				u32 bytes, u64 now);
bool inflight_account_add_urgent(struct inflight_account *account, u64 address, u32 bytes,
				 u64 now, struct inflight_ticket *ticket);
void inflight_account_remove(struct inflight_account *account,
			     const struct inflight_ticket *ticket, u64 now,
			     bool in_transmit);

#endif
