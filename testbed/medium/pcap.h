/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace of every attempt as a pcap file with radiotap headers. An attempt
 * that collided or that the channel lost carries radiotap's "failed FCS check"
 * flag. Rate has no place for those of HT and VHT, so it is absent then.
 *
 * Source: draft-ietf-opsawg-pcap (nanosecond variant); radiotap.org, fields
 * Flags, Rate, Channel and data retries.
 */
#ifndef DCFMEDIUM_PCAP_H
#define DCFMEDIUM_PCAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "phy.h"

struct pcap_attempt {
	ns_t start;
	unsigned int rate;	/* 100 kb/s */
	uint32_t freq;		/* MHz */
	unsigned int number;	/* 1 = first attempt */
	bool lost;		/* in a collision, or by the channel */
	const uint8_t *bytes;	/* MPDU without FCS */
	size_t length;
};

/* Open @path for writing; ends the program with one line if it cannot be. */
FILE *pcap_open(const char *path);
void pcap_write(FILE *pcap, const struct pcap_attempt *attempt);

#endif
