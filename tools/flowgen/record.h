/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a flow leaves behind: JSON lines, one whole line per write(2), so that
 * several writers may append to one file. Times are seconds of CLOCK_MONOTONIC
 * with nanosecond digits: all network namespaces of a machine share that clock.
 */
#ifndef FLOWGEN_RECORD_H
#define FLOWGEN_RECORD_H

#include <stdint.h>

#define NSEC_PER_SEC	1000000000LL
#define UNSET		INT64_MIN	/* a time or count nobody knows: null */

#define ID_MAX		32		/* longest flow id, bytes */

enum direction { DIR_UP, DIR_DOWN };	/* up: the client sends */

/* One end's account of a flow. Times in ns of CLOCK_MONOTONIC or UNSET. */
struct record {
	char id[ID_MAX + 1];
	enum direction dir;
	int sender;		/* this end sends */
	int tap;		/* neither end: seen on its way */
	int turn;		/* of a ping: where it was sent back */
	uint64_t bytes;		/* payload: read, or acknowledged by the peer */
	int64_t start;
	int64_t connected;
	int64_t first_byte;
	int64_t end;		/* UNSET: the flow was cut short */
	int64_t retrans;	/* segments sent again, as TCP_INFO's total_retrans; sender only */
	int64_t segments;	/* with payload: sent, retransmissions too, or received */
	int64_t mss;		/* bytes of a full one's payload; sender only */
	int64_t ignored;	/* datagrams of a QUIC-like flow that make no sense */
	char error[96];		/* empty: none */
};

int64_t now_ns(void);

/* Nothing is known yet. */
void record_init(struct record *rec);

/* Write one line to FD; die when that fails. */
void record_sample(int fd, const struct record *rec, int64_t at);
void record_flow(int fd, const struct record *rec);

#define DELAYS_MAX	64	/* in one line */

/*
 * The delays, in ns, of the frames that came before AT: one-way, or of a ping there and back. A
 * frame's is that of its slowest datagram.
 */
void record_delays(int fd, const struct record *rec, int64_t at,
		   const int64_t *delays, unsigned int count);

/* Of pings that came before AT: the delays, in ns, of their ways back. */
void record_returns(int fd, const struct record *rec, int64_t at,
		    const int64_t *delays, unsigned int count);

/* TCP's smoothed round-trip times, in ns, sampled before AT; at most DELAYS_MAX. */
void record_rtts(int fd, const struct record *rec, int64_t at,
		 const int64_t *rtts, unsigned int count);

#endif
