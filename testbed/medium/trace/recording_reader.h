/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading what recording.h writes. Whatever is wrong with a recording ends the
 * program with one line that names the file and the line.
 */
#ifndef DCFMEDIUM_RECORDING_READER_H
#define DCFMEDIUM_RECORDING_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/mac.h"

enum recording_event_kind {
	RECORDING_STATION,
	RECORDING_FRAME,
	RECORDING_CHANNEL,
	RECORDING_MARK,
	RECORDING_LOSSLESS,
	RECORDING_END,
};

/* One line that has a time. */
struct recording_event {
	enum recording_event_kind kind;
	char how;
	ns_t at;
	struct mac_station_config station;
	int from;
	unsigned int freq;	/* of a channel that @from goes to */
	struct mac_frame frame;
	uint64_t events;	/* of the last line: how many came before it */
	uint64_t digest;
};

struct recording_reader {
	const char *path;
	FILE *file;
	char *line;
	size_t line_size;
	unsigned long line_number;

	const struct phy_profile *phy;	/* the user's, before the first event */
	int n_stations;			/* of the events so far */
	bool has_chains;		/* a frame came with a retry chain */
	uint64_t events;		/* read so far */
	struct recording_event next;
};

/* Open @path and read its first line. */
void recording_open(struct recording_reader *reader, const char *path);
void recording_close(struct recording_reader *reader);

/* "NAME VALUE" of the next option, or NULL where the events begin. */
char *recording_option(struct recording_reader *reader);

/* The first event, after all options, and each that follows become reader->next. */
void recording_first(struct recording_reader *reader);
void recording_next(struct recording_reader *reader);

/* End the program: the line read last @why. */
void recording_bad_line(const struct recording_reader *reader, const char *why)
	__attribute__((noreturn));

#endif
