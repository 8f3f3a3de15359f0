/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording: everything that the core was told, in order, so that `dcfmedium
 * replay` can tell it again. The core has its own random numbers, so its decisions
 * depend on nothing but this and the options.
 *
 * Text, one event a line:
 *	dcfmedium-arrivals 1			the format and its schema
 *	option NAME VALUE			as on the command line
 *	HOW NS station WORDS			as the value of --station
 *	HOW NS frame FROM TO BYTES FLAGS RATE
 *	HOW NS channel STATION MHZ		as mac_set_channel() is told
 *	HOW NS mark
 *	HOW NS lossless				no losses until the next mark
 *	HOW NS end EVENTS DIGEST		the last line
 * NS is the time in nanoseconds. HOW says how the event came to the core:
 *	+	the core was advanced to NS before it
 *	=	at the same instant as the event before it
 *	@	from within the next ops->done()
 * Stations are numbered from 0 in the order of their lines;
 * TO is -1 for nobody and -2 for everybody. FLAGS are letters: a wants an ACK,
 * b goes at the basic rate, d carries data; "-" is none. RATE is in 100 kb/s,
 * 0 the profile's or the station's, or a retry chain such as 110x2+55x4. EVENTS
 * counts the lines with HOW, "end" not among them.
 */
#ifndef DCFMEDIUM_RECORDING_H
#define DCFMEDIUM_RECORDING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/mac.h"
#include "mac_options.h"

#define RECORDING_FORMAT	"dcfmedium-arrivals"
#define RECORDING_SCHEMA	1

struct recording {
	FILE *file;		/* NULL: nothing is recorded */
	const char *path;
	bool advanced;		/* since the last event */
	uint64_t events;
};

/* Begin @path, or record nothing if it is NULL; ends here if it cannot be. */
void recording_begin(struct recording *recording, const char *path,
		  const struct mac_words *words);

/* To be called after mac_advance(), mac_add_station() and so on. */
void recording_advance(struct recording *recording);
void recording_station(struct recording *recording, ns_t now,
		    const struct mac_station_config *station);
void recording_frame(struct recording *recording, ns_t now, int from,
		  const struct mac_frame *frame);
void recording_channel(struct recording *recording, ns_t now, int station,
		    unsigned int freq);
void recording_mark(struct recording *recording, ns_t now);
void recording_lossless(struct recording *recording, ns_t now);

/* A frame that is handed in from within ops->done(). */
void recording_reply(struct recording *recording, ns_t now, int from,
		  const struct mac_frame *frame);

/* The last line and the end of the file; ends here if it was not written. */
void recording_end(struct recording *recording, ns_t now, uint64_t digest);

#endif
