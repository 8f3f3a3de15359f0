/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads traces that trace_writer.h writes. It refuses those of other programs. */
#ifndef DCFMEDIUM_TRACE_READER_H
#define DCFMEDIUM_TRACE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/mac.h"
#include "mpdu.h"
#include "radiotap.h"

/* Enough for what is told of a frame: all headers up to TCP's. */
#define TRACE_PACKET_MAX	160

struct trace_packet {
	unsigned int number;	/* in the file, from 1; the reader leaves it alone */
	ns_t at, end;
	struct radiotap radiotap;
	bool collided;
	uint8_t mpdu[TRACE_PACKET_MAX];
	size_t captured;	/* in @mpdu */
	size_t length;		/* in the air, with FCS */
};

struct trace_name {
	uint8_t addr[MAC_ADDR_LEN];
	char name[MAC_NAME_LEN];
};

struct trace_reader {
	FILE *file;
	const char *path;
	const struct phy_profile *phy;	/* NULL: the trace does not say */
	struct trace_name names[MAC_MAX_STATIONS];
	int n_names;
	uint8_t *block;
	size_t block_size;
	bool cut_short;			/* the file ended within a block */
};

/* Open @path; ends here with one line if it is not such a trace. */
void trace_reader_open(struct trace_reader *reader, const char *path);
void trace_reader_close(struct trace_reader *reader);

/* The next packet of the file into *@packet; false at its end. */
bool trace_reader_next(struct trace_reader *reader, struct trace_packet *packet);

/* A station's name, "all" for a group, else the address, which is put in @text. */
const char *trace_reader_name(const struct trace_reader *reader, const uint8_t *addr,
			    char text[MAC_NAME_LEN]);

#endif
