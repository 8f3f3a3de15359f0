/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blocks of a pcapng file with two interfaces: what was heard and what collided.
 *
 * Source: draft-ietf-opsawg-pcapng; little-endian here, time stamps in ns.
 */
#ifndef DCFMEDIUM_PCAPNG_H
#define DCFMEDIUM_PCAPNG_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/phy/phy.h"

#define PCAPNG_SECTION		0x0a0d0d0a
#define PCAPNG_BYTE_ORDER	0x1a2b3c4d
#define PCAPNG_INTERFACE	1
#define PCAPNG_NAMES		4
#define PCAPNG_PACKET		6

#define PCAPNG_OPT_COMMENT	1
#define PCAPNG_OPT_APPLICATION	4	/* of a section */
#define PCAPNG_OPT_NAME		2	/* of an interface */
#define PCAPNG_OPT_DESCRIPTION	3
#define PCAPNG_OPT_RESOLUTION	9
#define PCAPNG_NAME_EUI48	3

#define PCAPNG_APPLICATION	"dcfmedium"
#define PCAPNG_NANOSECONDS	9	/* 10^-9 s */
#define PCAPNG_PADDED(length)	(((length) + 3) & ~3U)

#define LINKTYPE_RADIOTAP	127

enum pcapng_interface {
	PCAPNG_AIR,		/* what did not collide */
	PCAPNG_COLLIDED,
	PCAPNG_INTERFACES,
};

struct pcapng_packet {
	enum pcapng_interface interface;
	ns_t at;
	const uint8_t *header;		/* radiotap */
	size_t header_length;
	const uint8_t *bytes;		/* MPDU without FCS, as far as captured */
	size_t captured;
	size_t length;
};

/* The beginning of a file; @comment says of what. */
void pcapng_begin(FILE *file, const char *comment);
void pcapng_packet(FILE *file, const struct pcapng_packet *packet);

/* Names of addresses: any number of pcapng_name() between the other two. */
struct pcapng_names {
	uint8_t *body;
	size_t length;
};

void pcapng_name(struct pcapng_names *names, const uint8_t *addr,
		 const char *name);
/* Write them, if there are any, and forget them. */
void pcapng_names_end(FILE *file, struct pcapng_names *names);

#endif
