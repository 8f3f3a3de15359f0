// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the AQM learns from the packet that accepts a connection, a SYN with an ACK.
 *
 * Principle: only this packet tells two things. One is the scale of the receiver's windows. It is
 * used if no other packet of the connection came before, and if the packet is not signed (RFC 2385,
 * RFC 5925). It may also have come to another queue: lasack_scale.c. The other is how far the
 * server is, as the packet answers a SYN that came in from the station: lasack_near.c.
 */
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/tcp.h>
#include "common/tcp_segment.h"
#include "lasack/lasack_aqm.h"
#include "lasack/lasack_observe.h"
#include "lasack/lasack_state.h"
#include "lasack/window/lasack_near.h"
#include "lasack/window/lasack_scale.h"

/* If the packet comes again soon, that is no round trip. */
static void lasack_accept_note_trip(struct lasack_queue *q, const struct lasack_flow *flow,
				    const struct segment_key *key, u64 station)
{
	struct lasack_aqm_flow *known = lasack_aqm_of(q, flow);

	if (!known->trip)
		known->trip = lasack_near_pack(lasack_observer_trip(q->observer, key, station));
}

/**
 * lasack_aqm_accepted() - a packet that accepts a connection: a SYN with an ACK
 * @q: the queue, with an AQM
 * @flow: the flow, which does not know this packet yet
 * @skb: the packet
 * @seg: what it is
 */
void lasack_aqm_accepted(struct lasack_queue *q, const struct lasack_flow *flow,
			 const struct sk_buff *skb, const struct tcp_segment *seg)
{
	struct lasack_window_scale *scale = &lasack_aqm_of(q, flow)->scale;
	u8 option[MAX_TCP_OPTION_SPACE];
	struct tcphdr _th;
	const struct tcphdr *th;
	u32 length;

	th = skb_header_pointer(skb, seg->transport, sizeof(_th), &_th);
	/* Once more: below an IPv6 jumbogram's header the segments' headers are elsewhere. */
	if (!th || th->doff < sizeof(*th) / 4)
		return;
	length = th->doff * 4 - sizeof(*th);
	if ((flow->ack_seen && !scale->known) ||
	    skb_copy_bits(skb, seg->transport + sizeof(*th), option, length))
		scale->unclear = 1;
	else
		lasack_window_open(scale, seg->reversed, lasack_scale_shift(option, length));
	lasack_scale_note(skb->dev, &seg->key, seg->ack_seq, *scale);
	if (q->observer)
		lasack_accept_note_trip(q, flow, &seg->key, lasack_station_address(skb));
}
