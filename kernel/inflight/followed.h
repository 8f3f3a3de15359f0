/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The packets that are followed, found again by their addresses: see followed.c.
 */
#ifndef LASACK_INFLIGHT_FOLLOWED_H
#define LASACK_INFLIGHT_FOLLOWED_H

#include <linux/types.h>
#include "account.h"

struct inflight;
struct sk_buff;
struct sock;

/* A packet that is out; or a spare one of its tracker. In one cache line. */
struct inflight_entry {
	struct inflight_entry	*next;	/* in its bucket, or among the spare ones */
	const void		*key;	/* the packet, or its socket */
	const struct sock	*sk;
	void			(*destructor)(struct sk_buff *skb);
	struct inflight		*inf;
	struct inflight_ticket	ticket;
};

void inflight_followed_init(void);
void inflight_followed_add(struct inflight_entry *entry, const struct sk_buff *skb);
struct inflight_entry *inflight_followed_take(const struct sk_buff *skb, unsigned long *flags);
struct inflight_entry *inflight_followed_take_moved(const struct sk_buff *skb,
						    unsigned long *flags);

#endif
