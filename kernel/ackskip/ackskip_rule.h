/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many segments an ACK may wait for. This is the rule of the series in
 * patches/, for a kernel that does not have the series.
 *
 * Source: ack-skipping (skip a number of ACKs), http-queueing, 4.3 (a number
 * that grows), RFC 5681, 4.2 (what must not wait). patches/6.1/0002 says why.
 * Documentation/papers.md has the papers.
 *
 * Arithmetic on a socket that the caller has locked: no lock, no timer, no memory.
 */
#ifndef LASACK_ACKSKIP_RULE_H
#define LASACK_ACKSKIP_RULE_H

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/tcp.h>
#include <linux/types.h>
#include <net/inet_connection_sock.h>
#include <net/inet_ecn.h>
#include <net/tcp.h>
#include <net/tcp_ecn.h>

#define ACKSKIP_STOCK		2	/* full segments per ACK (RFC 5681, 4.2) */
#define ACKSKIP_EVERY_MAX	16
#define ACKSKIP_SKIP_MAX	15
#define ACKSKIP_AFTER_MAX	(U16_MAX - 1)
#define ACKSKIP_AFTER		64

/* ACKs in a round trip and in a receive window, at least. */
#define ACKSKIP_PER_RTT		4
#define ACKSKIP_PER_WINDOW	2

/* After an ACK for n segments the sender sends n at once, and a short queue
 * overflows earlier. So after a loss n is at most this part of what the queue held.
 * While nothing is queued on the path, waiting for the n-th segment makes the round
 * trip longer. While something is queued, the path stays busy meanwhile.
 */
#define ACKSKIP_QUEUE_SHARE	8
#define ACKSKIP_PER_IDLE_RTT	32
#define ACKSKIP_PER_QUEUE	2

/* The sysctls of a network namespace. */
struct ackskip_config {
	u8	every;
	u8	skip;
	u8	ramp;
	int	after;
};

/* What a socket needs beside what the kernel keeps of it. */
struct ackskip_progress {
	u32	rcv_nxt;	/* when last looked at */
	u32	round_seq;	/* rcv_nxt when the round began */
	u32	round_us;	/* low bits of tcp_mstamp then */
	u32	round_bytes;	/* in a round trip, by the last round */
	u32	queued;		/* of them, on the path */
	u32	rtt_min_us;	/* shortest round trip so far */
	u16	run;		/* segments in order since skipping (re)started */
	u16	segs;		/* an ACK is due for this many full segments */
	u16	segs_most;	/* since data was lost, or 0 */
	bool	growing;	/* the sender is in slow start, it seems */
	bool	hole;		/* data was missing when last looked at */
};

/* All as the kernel does it. */
static inline bool ackskip_off(const struct ackskip_config *config)
{
	return READ_ONCE(config->every) == ACKSKIP_STOCK && !READ_ONCE(config->skip);
}

/* Is data missing? */
static inline bool ackskip_hole(const struct sock *sk)
{
	return !RB_EMPTY_ROOT(&tcp_sk(sk)->out_of_order_queue);
}

/* The sender needs each ACK, or news is not to wait: the first segments of a
 * connection, talk in both directions, loss and reordering, a duplicate, a
 * mark of congestion it has not answered, the end.
 */
static inline bool ackskip_unsafe(struct sock *sk)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	return icsk->icsk_ack.quick || inet_csk_in_pingpong_mode(sk) ||
	       ackskip_hole(sk) || tp->rx_opt.dsack ||
	       (tp->ecn_flags & TCP_ECN_DEMAND_CWR) || tcp_accecn_opt_demanded(tp) ||
	       (sk->sk_shutdown & RCV_SHUTDOWN);
}

static inline u32 ackskip_mss(const struct sock *sk)
{
	return max_t(u32, inet_csk(sk)->icsk_ack.rcv_mss, 1);
}

/* Bytes that no ACK has told of yet. */
static inline u32 ackskip_unacked(const struct sock *sk)
{
	return tcp_sk(sk)->rcv_nxt - tcp_sk(sk)->rcv_wup;
}

/* Has the last of @segs segments begun to arrive since the last ACK? */
static inline bool ackskip_due(const struct sock *sk, u32 segs)
{
	return ackskip_unacked(sk) > (segs - 1) * ackskip_mss(sk);
}

static inline void ackskip_restart(struct ackskip_progress *progress, const struct tcp_sock *tp)
{
	progress->run = 0;
	progress->round_seq = tp->rcv_nxt;
	progress->round_us = (u32)tp->tcp_mstamp;
}

/* What is queued on the path, of the bytes that arrive in a round trip: it makes
 * round trips longer than the shortest.
 */
static inline u32 ackskip_queued(const struct ackskip_progress *progress,
				 const struct tcp_sock *tp)
{
	u32 rtt_us = tp->rcv_rtt_est.rtt_us >> 3, min_us = progress->rtt_min_us;

	if (!min_us || rtt_us <= min_us)
		return 0;
	return div_u64((u64)progress->round_bytes * (rtt_us - min_us), rtt_us);
}

/* Bytes received in a round trip, and whether they grow by half, once in each. */
static inline void ackskip_measure(struct ackskip_progress *progress, const struct tcp_sock *tp)
{
	u32 elapsed_us = (u32)tp->tcp_mstamp - progress->round_us;
	u32 bytes = tp->rcv_nxt - progress->round_seq;
	u32 rtt_us = tp->rcv_rtt_est.rtt_us >> 3;

	if (!rtt_us || elapsed_us < rtt_us)
		return;
	bytes = div_u64((u64)bytes * rtt_us, elapsed_us);
	progress->growing = bytes / 3 > progress->round_bytes / 2;
	progress->round_bytes = bytes;
	if (!progress->rtt_min_us || rtt_us < progress->rtt_min_us)
		progress->rtt_min_us = rtt_us;
	progress->round_seq = tp->rcv_nxt;
	progress->round_us = (u32)tp->tcp_mstamp;
	progress->queued = ackskip_queued(progress, tp);
}

/* Data is missing, for the first time at all or since skipping (re)started. What
 * has been in the queue now is what it holds, or it was not the queue that lost it.
 */
static inline void ackskip_lost(struct ackskip_progress *progress, const struct sock *sk)
{
	u32 share = ackskip_queued(progress, tcp_sk(sk)) / ACKSKIP_QUEUE_SHARE;

	progress->segs_most = min_t(u32, U16_MAX, ACKSKIP_STOCK + share / ackskip_mss(sk));
}

/* Segments the next ACK may wait for, before safety has its say. With the ramp
 * it waits for one more segment each time: 1 + 2 + ... + d of them arrive
 * until d have been waited for.
 */
static inline u32 ackskip_wanted(const struct ackskip_progress *progress,
				 const struct ackskip_config *config, u32 mss)
{
	u32 every = READ_ONCE(config->every), after = READ_ONCE(config->after);
	u32 segs = every * (READ_ONCE(config->skip) + 1), run = progress->run, most;

	if (run < after || (after && progress->growing))
		return every;
	if (READ_ONCE(config->ramp))
		segs = min_t(u32, segs, (int_sqrt(8 * (run - after) + 9) - 1) / 2);
	if (!after)
		return segs;
	most = (progress->round_bytes / ACKSKIP_PER_IDLE_RTT +
		progress->queued / ACKSKIP_PER_QUEUE) / mss;
	/* What a queue held may be forgotten in time. */
	if (progress->segs_most && run < U16_MAX)
		most = min_t(u32, most, progress->segs_most);
	return min(segs, max(every, most));
}

/**
 * ackskip_arrived() - a segment has arrived
 * @progress: of the socket
 * @config: the sysctls
 * @sk: the socket
 *
 * Return: the full segments an ACK is due for from now on.
 */
static inline u32 ackskip_arrived(struct ackskip_progress *progress,
				  const struct ackskip_config *config, struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 len = tp->rcv_nxt - progress->rcv_nxt, mss = ackskip_mss(sk), most;
	bool hole = ackskip_hole(sk), filled = progress->hole && !hole;

	progress->rcv_nxt = tp->rcv_nxt;
	progress->hole = hole;
	/* What fills a hole is the last of its loss, not the first after it. */
	if (filled || ackskip_unsafe(sk)) {
		if (hole && (progress->run || !progress->segs_most))
			ackskip_lost(progress, sk);
		ackskip_restart(progress, tp);
		progress->segs = min_t(u32, READ_ONCE(config->every), ACKSKIP_STOCK);
		return progress->segs;
	}
	ackskip_measure(progress, tp);
	progress->run = min_t(u32, progress->run + DIV_ROUND_UP(len, mss), U16_MAX);
	most = min(progress->round_bytes / ACKSKIP_PER_RTT,
		   tp->rcv_wnd / ACKSKIP_PER_WINDOW) / mss;
	progress->segs = min(ackskip_wanted(progress, config, mss),
			     max_t(u32, most, ACKSKIP_STOCK));
	return progress->segs;
}

#endif
