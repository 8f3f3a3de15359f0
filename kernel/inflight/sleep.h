/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which stations sleep: see sleep.c.
 */
#ifndef LASACK_INFLIGHT_SLEEP_H
#define LASACK_INFLIGHT_SLEEP_H

#include <linux/types.h>

struct inflight_account;
struct inflight_ticket;

void inflight_station_lives(struct inflight_account *account,
			    const struct inflight_ticket *ticket, bool counts, u64 now);
void inflight_account_end_doubt(struct inflight_account *account);
u64 inflight_account_deadline(const struct inflight_account *account);
void inflight_account_expire(struct inflight_account *account, u64 now);
u32 inflight_account_stalled(const struct inflight_account *account);

#endif
