/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sending end of a flow that always has payload: which chunk the next packet carries, when it
 * may leave, and what is lost. Sources: RFC 9002, sections 6 and 7 and its appendices; there is
 * one packet number space. It reads no clock and no socket.
 */
#ifndef QUIC_SENDER_H
#define QUIC_SENDER_H

#include "newreno.h"
#include "ranges.h"
#include "rtt.h"
#include "stream.h"

/* Packets from the oldest whose fate is open. Of these each carries a chunk of the window. */
#define SENDER_PACKETS	(2 * STREAM_WINDOW)

enum packet_fate { PACKET_GONE, PACKET_OPEN, PACKET_NEWLY_ACKED };
enum chunk_fate { CHUNK_UNSENT, CHUNK_SENT, CHUNK_LOST, CHUNK_ACKED };

struct sent_packet {
	int64_t sent;			/* ns */
	uint64_t chunk;
	enum packet_fate fate;
};

struct sender {
	struct rtt rtt;
	struct newreno cc;
	uint64_t next_packet;		/* its number; none is used twice */
	uint64_t oldest;		/* all before are acknowledged or lost */
	uint64_t acked;			/* the highest acknowledged, plus 1; 0: none */
	uint64_t allowed;		/* chunks from the first that is missing: flow control */
	uint64_t next_chunk;
	uint64_t delivered;		/* chunks: all before are acknowledged */
	uint64_t lost_chunks;		/* to be sent again */
	int64_t loss_time;		/* ns: when the next packet is lost by its age, or NEVER */
	int64_t probe_base;		/* ns: the last packet or probe timeout */
	unsigned int timeouts;		/* in a row */
	unsigned int probes;		/* that may leave whatever the window is */
	uint64_t retransmitted;		/* packets whose chunk had been sent before */
	struct sent_packet packets[SENDER_PACKETS];	/* by number */
	uint8_t chunks[STREAM_WINDOW];	/* enum chunk_fate, by number */
};

/* ALLOWED: chunks that the receiver takes from the first that is missing, STREAM_WINDOW at most. */
void sender_init(struct sender *sender, uint32_t datagram, uint32_t allowed);

/* When the next packet may leave, in ns; in the past: now. NEVER: not before an ACK or a timer. */
int64_t sender_release(struct sender *sender);

/* The chunk for the packet that may leave. */
uint64_t sender_chunk(const struct sender *sender);

/* That packet was sent, with number next_packet. */
void sender_sent(struct sender *sender, int64_t now, uint64_t chunk);

/* It could not be: the socket is full. */
void sender_held_up(struct sender *sender);

/* Returns false, and changes nothing, if a packet is acknowledged that was never sent. */
bool sender_acked(struct sender *sender, int64_t now, const struct ranges *acked,
		  int64_t ack_delay);

/* When sender_timeout() is due, in ns, or NEVER. */
int64_t sender_timer(const struct sender *sender);
void sender_timeout(struct sender *sender, int64_t now);

#endif
