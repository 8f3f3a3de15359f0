/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether an upload's data waits for long in its own station. See lasack_echo.c. */
#ifndef LASACK_ECHO_H
#define LASACK_ECHO_H

#include <linux/bits.h>
#include <linux/types.h>
#include "lasack/window/lasack_overtake.h"
#include "lasack/window/lasack_window.h"

struct sk_buff;
struct segment_key;
struct tcp_segment;

/* NOP, NOP, timestamps, their length: as most senders have them, and no other option. */
#define LASACK_TIMESTAMPS	0x0101080aU
/* How long a station's queue was is known for so long, in units of 2^10 ns. */
#define LASACK_ECHO_WAIT_AGE	BIT(20)

/* Of a connection. Times are in units of 2^10 ns, modulo 2^32. */
struct lasack_echo {
	u32	flow;		/* whose it is: a hash */
	u32	asked;		/* the timestamp of an ACK to the station ... */
	u32	since;		/* ... that was sent then ... */
	u32	pending;	/* ... and that no data has echoed yet */
	u32	fresh;		/* since the last ACK, data came that had waited for so long */
	u32	late;		/* when an ACK told so last; 0: never */
	u32	waited;		/* how late data was since that ACK; 0: it was not */
	u32	heard;		/* sequence number: up to here data has come */
	u32	counted;	/* the second of what follows */
	u32	began;		/* sequence number: up to here data had come when it began */
	u32	segment;	/* bytes that the station sends in a packet at most; 0: none yet */
	bool	large;		/* it is among the station's uploads */
	u8	overtaken;	/* data that does not echo the ACK: LASACK_ECHO_* */
};

/* Of a station. Seconds are of 2^30 ns. */
struct lasack_echo_station {
	u32	station;	/* whose it is: a hash; 0: nobody's */
	u32	heard;		/* the second in which its last packet came */
	u32	second;
	u32	connection;	/* whose packet came last: its ports, or 0: none came */
	u32	shared;		/* the second in which that changed last, or 0: never */
	u32	uploads[2];	/* in this second, and in the one before */
	u32	wait;		/* an upload's data waited in it for so long, in units of 2^10 ns */
	u32	waited;		/* when an ACK told so last; 0: never */
	u32	fair;		/* when an ACK told last that its packets overtake; 0: never */
	struct lasack_overtake overtake;
};

/* Data that has come from a station. */
struct lasack_echo_data {
	u32	timestamp;	/* that it echoes (RFC 7323, 3.2) */
	u32	end;		/* the sequence number behind it */
	u32	segment;	/* bytes of each of its segments */
};

bool lasack_echo_timestamps(const struct sk_buff *skb, const struct tcp_segment *seg,
			    u32 *value, u32 *echo);
bool lasack_echo_end_of(const struct sk_buff *skb, const struct tcp_segment *seg, u32 *end);
bool lasack_echo_read(const struct sk_buff *skb, const struct tcp_segment *seg,
		      struct lasack_echo_data *data);
bool lasack_echo_mix(struct lasack_echo_station *station, u32 hash, const struct segment_key *key,
		     u32 now);
void lasack_echo_end(struct lasack_echo *echo, u32 flow);
void lasack_echo_hear(struct lasack_echo *echo, const struct lasack_echo_station *station, u32 flow,
		      const struct lasack_echo_data *data, u32 now);
struct lasack_window_station lasack_echo_ask(struct lasack_echo *echo,
					     struct lasack_echo_station *station, u32 flow,
					     u32 timestamp, u32 ack_seq, u32 now);
u32 lasack_echo_wait(const struct lasack_echo_station *station, u32 now);

#endif
