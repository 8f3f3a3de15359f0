/* SPDX-License-Identifier: GPL-2.0-only */
/* The packets of the benchmark: packets.c. */
#ifndef LASACK_BENCH_PACKETS_H
#define LASACK_BENCH_PACKETS_H

#include <linux/types.h>

struct page;
struct sk_buff;
struct bench_connection;

struct bench_packets {
	u32			random;
	struct bench_connection	*connections;
	struct page		*payload;
	struct sk_buff		*ack_pool;
	struct sk_buff		*data_pool;
};

extern uint bench_flows;

bool bench_packets_are_possible(void);
int bench_packets_init(struct bench_packets *p);
void bench_packets_free(struct bench_packets *p);

u32 bench_random(struct bench_packets *p, u32 below_this);
struct sk_buff *bench_packet(struct bench_packets *p, u32 connection);
bool bench_is_last_segment(const struct sk_buff *skb);
void bench_recycle(struct bench_packets *p, struct sk_buff *skb);
void bench_recycle_list(struct bench_packets *p, struct sk_buff **list);

#endif
