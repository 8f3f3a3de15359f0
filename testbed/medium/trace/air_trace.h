/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace of what was in the air, as a pcapng file that Wireshark reads: each
 * attempt of each frame, and the RTS, CTS, ACKs and block acks around it, which
 * the core only has as times and are made up here (802.11-2012, 8.3.1).
 *
 * What collided is on an interface of its own. That, and what the channel lost,
 * has radiotap's "failed FCS check".
 */
#ifndef DCFMEDIUM_AIR_TRACE_H
#define DCFMEDIUM_AIR_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/mac.h"
#include "mac_options.h"
#include "mpdu.h"
#include "pcapng.h"

struct air_trace {
	FILE *file;			/* NULL: none is wanted */
	const char *path;
	struct pcapng_names names;
	uint32_t ampdu;			/* the last one's reference number */
	uint16_t first_sequence;	/* of the A-MPDU in hand */
	uint64_t acknowledged;		/* of it, as in the block ack's bitmap */
	bool ack_lost;			/* of it */
	unsigned int freq;		/* of the last frame that had one */
};

/* What the trace keeps of a frame that the core knows by its length alone. */
struct air_frame_bytes {
	const uint8_t *bytes;	/* MPDU without FCS */
	size_t length;		/* of them; more of it was in the air */
	unsigned int freq;	/* MHz */
};

/* Begin @path, or trace nothing if it is NULL; ends here if it cannot be. */
void air_trace_begin(struct air_trace *trace, const char *path,
		     const struct mac_words *words);

/* A station's name, before the first attempt. */
void air_trace_station(struct air_trace *trace,
		       const struct mac_station_config *station);

/* ops->attempt(), with the frame's octets. */
void air_trace_attempt(struct air_trace *trace, const struct mac *mac, int from,
		       const struct mac_attempt *attempt,
		       const struct air_frame_bytes *frame);

/*
 * The same, of a BlockAckReq, and of data whose octets nobody has: a header that fits is made up, and
 * of the payload only the length is kept.
 */
void air_trace_made_up(struct air_trace *trace, const struct mac *mac, int from,
		       const struct mac_attempt *attempt);

/* The end of the file; ends here if it was not written. */
void air_trace_end(struct air_trace *trace);

#endif
