// SPDX-License-Identifier: GPL-2.0-only
/* A trace of every attempt: see pcap.h. Both formats are little-endian here. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "options.h"
#include "pcap.h"

#define PCAP_MAGIC_NS		0xa1b23c4d
#define LINKTYPE_RADIOTAP	127
#define SNAPLEN			65535

struct pcap_file_header {
	uint32_t magic;
	uint16_t major, minor;
	uint32_t thiszone, sigfigs, snaplen, linktype;
};

struct pcap_record_header {
	uint32_t sec, nsec, captured, length;
};

#define RADIOTAP_FLAGS		(1U << 1)
#define RADIOTAP_RATE		(1U << 2)
#define RADIOTAP_CHANNEL	(1U << 3)
#define RADIOTAP_DATA_RETRIES	(1U << 17)
#define RADIOTAP_FLAG_BAD_FCS	0x40
#define CHANNEL_CCK		0x0020
#define CHANNEL_OFDM		0x0040
#define CHANNEL_2GHZ		0x0080
#define CHANNEL_5GHZ		0x0100

struct radiotap {
	uint8_t version, pad;
	uint16_t length;
	uint32_t present;
	uint8_t flags;
	uint8_t rate;		/* 500 kb/s */
	uint16_t freq;
	uint16_t channel;
	uint8_t retries;
} __attribute__((packed));

/* Frame Control, second octet: Retry (8.2.4.1.7). */
#define FC1_RETRY	0x08

FILE *pcap_open(const char *path)
{
	struct pcap_file_header header = {
		.magic = htole32(PCAP_MAGIC_NS),
		.major = htole16(2), .minor = htole16(4),
		.snaplen = htole32(SNAPLEN),
		.linktype = htole32(LINKTYPE_RADIOTAP),
	};
	FILE *pcap = fopen(path, "wb");

	if (!pcap)
		fatal("--pcap: cannot write %s: %s", path, strerror(errno));
	fwrite(&header, sizeof(header), 1, pcap);
	return pcap;
}

static bool has_legacy_rate(const struct pcap_attempt *attempt)
{
	static const unsigned int ofdm[] = { 60, 90, 120, 180, 240, 360, 480, 540 };

	for (size_t i = 0; i < sizeof(ofdm) / sizeof(ofdm[0]); i++)
		if (attempt->rate == ofdm[i])
			return true;
	return phy_rate_is_dsss(attempt->rate);
}

static uint16_t channel_flags(const struct pcap_attempt *attempt)
{
	return (phy_rate_is_dsss(attempt->rate) ? CHANNEL_CCK : CHANNEL_OFDM) |
	       (attempt->freq > 3000 ? CHANNEL_5GHZ : CHANNEL_2GHZ);
}

void pcap_write(FILE *pcap, const struct pcap_attempt *attempt)
{
	bool legacy = has_legacy_rate(attempt);
	/* Without Rate its octet is the padding before the Channel field. */
	struct radiotap radiotap = {
		.length = htole16(sizeof(radiotap)),
		.present = htole32(RADIOTAP_FLAGS | RADIOTAP_CHANNEL |
				   RADIOTAP_DATA_RETRIES |
				   (legacy ? RADIOTAP_RATE : 0)),
		.flags = attempt->lost ? RADIOTAP_FLAG_BAD_FCS : 0,
		.rate = legacy ? attempt->rate / 5 : 0,
		.freq = htole16(attempt->freq),
		.channel = htole16(channel_flags(attempt)),
		.retries = attempt->number - 1,
	};
	uint32_t length = sizeof(radiotap) + attempt->length;
	struct pcap_record_header record = {
		.sec = htole32(attempt->start / NS_PER_S),
		.nsec = htole32(attempt->start % NS_PER_S),
		.captured = htole32(length),
		.length = htole32(length),
	};
	uint8_t control[2] = { attempt->bytes[0], attempt->bytes[1] };

	/* The radio sets Retry, so it is not yet in what mac80211 gave us. */
	if (attempt->number > 1)
		control[1] |= FC1_RETRY;
	fwrite(&record, sizeof(record), 1, pcap);
	fwrite(&radiotap, sizeof(radiotap), 1, pcap);
	fwrite(control, sizeof(control), 1, pcap);
	fwrite(attempt->bytes + 2, 1, attempt->length - 2, pcap);
}
