/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace of all transmissions, as a pcapng file that Wireshark reads. It has each
 * attempt of each frame, and the RTS, CTS, ACKs and block acks around it. The core
 * only knows the times of these, so their bytes are made up here (802.11-2012,
 * 8.3.1).
 *
 * Frames that collided are on an interface of their own. These, and frames that
 * the channel lost, have radiotap's "failed FCS check".
 */
#ifndef DCFMEDIUM_TRACE_WRITER_H
#define DCFMEDIUM_TRACE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/mac.h"
#include "mac_options.h"
#include "mpdu.h"
#include "pcapng.h"

struct trace_writer {
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
struct trace_frame {
	const uint8_t *bytes;	/* MPDU without FCS */
	size_t length;		/* of them; more of it was in the air */
	unsigned int freq;	/* MHz */
};

/* Begin @path, or trace nothing if it is NULL; ends here if it cannot be. */
void trace_writer_begin(struct trace_writer *trace, const char *path,
		     const struct mac_words *words);

/* A station's name, before the first attempt. */
void trace_writer_station(struct trace_writer *trace,
		       const struct mac_station_config *station);

/* ops->attempt(), with the frame's octets. */
void trace_writer_attempt(struct trace_writer *trace, const struct mac *mac, int from,
		       const struct mac_attempt *attempt,
		       const struct trace_frame *frame);

/*
 * The same, of a BlockAckReq, and of data whose octets nobody has: a header
 * that fits is made up, and of the payload only the length is kept.
 */
void trace_writer_made_up(struct trace_writer *trace, const struct mac *mac, int from,
		       const struct mac_attempt *attempt);

/* The end of the file; ends here if it was not written. */
void trace_writer_end(struct trace_writer *trace);

#endif
