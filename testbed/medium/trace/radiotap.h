/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Radiotap headers: how one transmission was sent, and what became of it.
 *
 * Source: radiotap.org, "Defined Fields". TSFT and the pcapng stamp are the
 * beginning of the PPDU; Timestamp is its end, so that its airtime is known.
 */
#ifndef DCFMEDIUM_RADIOTAP_H
#define DCFMEDIUM_RADIOTAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/phy/phy_rate.h"

#define RADIOTAP_MAX	96

/* The ones of Flags, and of TX flags, that are used. */
#define RADIOTAP_SHORT_PREAMBLE	0x02
#define RADIOTAP_FCS_FOLLOWS	0x10
#define RADIOTAP_BAD_FCS	0x40
#define RADIOTAP_TX_FAIL	0x0001
#define RADIOTAP_TX_CTS		0x0002
#define RADIOTAP_TX_RTS		0x0004
#define RADIOTAP_TX_NO_ACK	0x0008

struct radiotap {
	ns_t start, end;
	enum phy_format format;
	unsigned int rate;		/* 100 kb/s */
	unsigned int mcs;		/* of HT and VHT */
	unsigned int freq;		/* MHz */
	uint8_t flags;
	uint16_t tx_flags;
	uint8_t retries;
	bool in_ampdu;
	uint32_t ampdu;			/* the same for all of its MPDUs */
	bool last_of_ampdu;
};

/* Write @radiotap into @bytes; returns its length. */
size_t radiotap_write(const struct radiotap *radiotap,
		      uint8_t bytes[RADIOTAP_MAX]);

/*
 * The other way round, of a header with the fields that radiotap_write() knows.
 * Returns its length, or 0 if it is another one or longer than @length.
 */
size_t radiotap_read(struct radiotap *radiotap, const uint8_t *bytes,
		     size_t length);

#endif
