/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether an ACK says only how much it acknowledges. See lasack_plain.c. */
#ifndef LASACK_PLAIN_H
#define LASACK_PLAIN_H

#include <linux/types.h>

struct sk_buff;
struct tcp_segment;

bool lasack_plain_ack(const struct sk_buff *skb, const struct tcp_segment *seg);

#endif
