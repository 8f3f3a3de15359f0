// SPDX-License-Identifier: GPL-2.0-only
/* Radiotap headers, written and read: see radiotap.h. */
#include <endian.h>
#include <string.h>

#include "core/phy/phy_rate.h"
#include "radiotap.h"

/* Bits of the present word: the fields follow in their order. */
#define PRESENT_TSFT		(1U << 0)
#define PRESENT_FLAGS		(1U << 1)
#define PRESENT_RATE		(1U << 2)
#define PRESENT_CHANNEL		(1U << 3)
#define PRESENT_TX_FLAGS	(1U << 15)
#define PRESENT_DATA_RETRIES	(1U << 17)
#define PRESENT_MCS		(1U << 19)
#define PRESENT_AMPDU		(1U << 20)
#define PRESENT_VHT		(1U << 21)
#define PRESENT_TIMESTAMP	(1U << 22)
#define ALWAYS_PRESENT		(PRESENT_TSFT | PRESENT_FLAGS |			\
				 PRESENT_CHANNEL | PRESENT_TX_FLAGS |		\
				 PRESENT_DATA_RETRIES | PRESENT_TIMESTAMP)
#define AT_TIMES_PRESENT	(PRESENT_RATE | PRESENT_MCS | PRESENT_AMPDU |	\
				 PRESENT_VHT)

#define CHANNEL_CCK		0x0020
#define CHANNEL_OFDM		0x0040
#define CHANNEL_2GHZ		0x0080
#define CHANNEL_5GHZ		0x0100

/* All: 20 MHz, long guard interval, mixed format, BCC, no STBC, no NESS. */
#define MCS_KNOWN		0x7f
/* STBC, guard interval and bandwidth: none, long, 80 MHz. */
#define VHT_KNOWN		0x0045
#define VHT_80MHZ		4
#define AMPDU_LAST_KNOWN	0x0004
#define AMPDU_LAST		0x0008
/* In nanoseconds, of the end of the PPDU. */
#define TIMESTAMP_END_NS	0x22

#define HEADER_BYTES		8

/* A place in a header; fields are aligned to their own size from its start. */
struct place {
	uint8_t *bytes;
	size_t at;
};

static uint8_t *field(struct place *place, size_t align, size_t size)
{
	uint8_t *start;

	place->at = (place->at + align - 1) & ~(align - 1);
	start = place->bytes + place->at;
	place->at += size;
	return start;
}

static void put8(uint8_t *to, uint8_t value)
{
	*to = value;
}

static void put16(uint8_t *to, uint16_t value)
{
	value = htole16(value);
	memcpy(to, &value, sizeof(value));
}

static void put32(uint8_t *to, uint32_t value)
{
	value = htole32(value);
	memcpy(to, &value, sizeof(value));
}

static void put64(uint8_t *to, uint64_t value)
{
	value = htole64(value);
	memcpy(to, &value, sizeof(value));
}

static uint32_t present(const struct radiotap *radiotap)
{
	uint32_t bits = ALWAYS_PRESENT;

	if (radiotap->in_ampdu)
		bits |= PRESENT_AMPDU;
	if (radiotap->format == PHY_FORMAT_HT)
		return bits | PRESENT_MCS;
	if (radiotap->format == PHY_FORMAT_VHT)
		return bits | PRESENT_VHT;
	return bits | PRESENT_RATE;
}

static uint16_t channel_flags(const struct radiotap *radiotap)
{
	return (radiotap->format == PHY_FORMAT_DSSS ? CHANNEL_CCK : CHANNEL_OFDM) |
	       (radiotap->freq > 3000 ? CHANNEL_5GHZ : CHANNEL_2GHZ);
}

size_t radiotap_write(const struct radiotap *radiotap,
		      uint8_t bytes[RADIOTAP_MAX])
{
	struct place place = { bytes, HEADER_BYTES };
	uint32_t bits = present(radiotap);
	uint8_t *at;

	memset(bytes, 0, RADIOTAP_MAX);
	put32(bytes + 4, bits);
	put64(field(&place, 8, 8), radiotap->start / NS_PER_US);
	put8(field(&place, 1, 1), radiotap->flags);
	if (bits & PRESENT_RATE)
		put8(field(&place, 1, 1), radiotap->rate / 5);
	at = field(&place, 2, 4);
	put16(at, radiotap->freq);
	put16(at + 2, channel_flags(radiotap));
	put16(field(&place, 2, 2), radiotap->tx_flags);
	put8(field(&place, 1, 1), radiotap->retries);
	if (bits & PRESENT_MCS) {
		at = field(&place, 1, 3);
		put8(at, MCS_KNOWN);
		put8(at + 2, radiotap->mcs);
	}
	if (bits & PRESENT_AMPDU) {
		at = field(&place, 4, 8);
		put32(at, radiotap->ampdu);
		put16(at + 4, AMPDU_LAST_KNOWN |
			      (radiotap->last_of_ampdu ? AMPDU_LAST : 0));
	}
	if (bits & PRESENT_VHT) {
		at = field(&place, 2, 12);
		put16(at, VHT_KNOWN);
		put8(at + 3, VHT_80MHZ);
		put8(at + 4, radiotap->mcs << 4 | 1);
	}
	at = field(&place, 8, 12);
	put64(at, radiotap->end);
	put8(at + 10, TIMESTAMP_END_NS);
	put16(bytes + 2, place.at);
	return place.at;
}

static uint16_t get16(const uint8_t *from)
{
	uint16_t value;

	memcpy(&value, from, sizeof(value));
	return le16toh(value);
}

static uint32_t get32(const uint8_t *from)
{
	uint32_t value;

	memcpy(&value, from, sizeof(value));
	return le32toh(value);
}

static uint64_t get64(const uint8_t *from)
{
	uint64_t value;

	memcpy(&value, from, sizeof(value));
	return le64toh(value);
}

/* The rate of MCS @mcs of @format, 0 if there is none. */
static unsigned int rate_of(enum phy_format format, unsigned int mcs)
{
	const struct phy_rate *rate = phy_rate_by_index(format, mcs);

	return rate ? rate->rate : 0;
}

static void read_fields(struct radiotap *radiotap, struct place *place,
			uint32_t bits)
{
	const uint8_t *at = field(place, 8, 8);

	radiotap->start = get64(at) * NS_PER_US;
	radiotap->flags = *field(place, 1, 1);
	if (bits & PRESENT_RATE)
		radiotap->rate = *field(place, 1, 1) * 5;
	at = field(place, 2, 4);
	radiotap->freq = get16(at);
	radiotap->format = get16(at + 2) & CHANNEL_CCK ? PHY_FORMAT_DSSS
						       : PHY_FORMAT_OFDM;
	radiotap->tx_flags = get16(field(place, 2, 2));
	radiotap->retries = *field(place, 1, 1);
	if (bits & PRESENT_MCS) {
		radiotap->format = PHY_FORMAT_HT;
		radiotap->mcs = field(place, 1, 3)[2];
	}
	if (bits & PRESENT_AMPDU) {
		at = field(place, 4, 8);
		radiotap->in_ampdu = true;
		radiotap->ampdu = get32(at);
		radiotap->last_of_ampdu = get16(at + 4) & AMPDU_LAST;
	}
	if (bits & PRESENT_VHT) {
		radiotap->format = PHY_FORMAT_VHT;
		radiotap->mcs = field(place, 2, 12)[4] >> 4;
	}
	radiotap->end = get64(field(place, 8, 12));
	if (bits & (PRESENT_MCS | PRESENT_VHT))
		radiotap->rate = rate_of(radiotap->format, radiotap->mcs);
}

size_t radiotap_read(struct radiotap *radiotap, const uint8_t *bytes,
		     size_t length)
{
	uint8_t copy[RADIOTAP_MAX] = { 0 };
	struct place place = { copy, HEADER_BYTES };
	uint32_t bits;

	*radiotap = (struct radiotap){ 0 };
	if (length < HEADER_BYTES || bytes[0] || get16(bytes + 2) > length ||
	    get16(bytes + 2) > RADIOTAP_MAX)
		return 0;
	bits = get32(bytes + 4);
	if ((bits & ~AT_TIMES_PRESENT) != ALWAYS_PRESENT)
		return 0;
	memcpy(copy, bytes, get16(bytes + 2));
	read_fields(radiotap, &place, bits);
	return place.at == get16(bytes + 2) ? place.at : 0;
}
