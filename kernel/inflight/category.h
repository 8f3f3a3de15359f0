/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The access category that Wi-Fi is going to give a packet. See category.c.
 */
#ifndef LASACK_INFLIGHT_CATEGORY_H
#define LASACK_INFLIGHT_CATEGORY_H

#include <linux/types.h>

struct sk_buff;

bool inflight_is_urgent(const struct sk_buff *skb);
void inflight_demote(struct sk_buff *skb);

#endif
