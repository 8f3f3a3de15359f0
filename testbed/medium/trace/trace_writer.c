// SPDX-License-Identifier: GPL-2.0-only
/* Writes a trace of all transmissions: see trace_writer.h. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "core/phy/phy_rate.h"
#include "options.h"
#include "radiotap.h"
#include "trace_writer.h"

#define FCS_BYTES	4
#define MPDU_MAX	2400	/* captured of one, with FCS */

/* A block ack's BA Control, starting sequence control and bitmap. */
#define BLOCK_ACK_REST	12
/* A BlockAckReq's BAR Control and starting sequence control. */
#define REQUEST_REST	4

/* One PPDU, or one MPDU of an A-MPDU, to be written. */
struct ppdu {
	struct radiotap radiotap;
	bool collided;
	uint8_t bytes[MPDU_MAX];
	size_t captured;	/* without FCS */
	size_t length;		/* with FCS */
};

static void describe(const struct mac_words *words, char *text, size_t size)
{
	size_t used = 0;

	*text = '\0';
	for (int i = 0; i < words->n && used < size; i++)
		used += snprintf(text + used, size - used, "%s%s %s",
				 used ? " " : "",
				 mac_option_name(words->word[i].option),
				 words->word[i].value);
}

void trace_writer_begin(struct trace_writer *trace, const char *path,
		     const struct mac_words *words)
{
	char comment[4096];

	*trace = (struct trace_writer){ .path = path };
	if (!path)
		return;
	trace->file = fopen(path, "wb");
	if (!trace->file)
		fatal("--pcap: cannot write %s: %s", path, strerror(errno));
	describe(words, comment, sizeof(comment));
	pcapng_begin(trace->file, comment);
}

void trace_writer_station(struct trace_writer *trace,
		       const struct mac_station_config *station)
{
	if (trace->file)
		pcapng_name(&trace->names, station->addr, station->name);
}

void trace_writer_end(struct trace_writer *trace)
{
	bool failed;

	if (!trace->file)
		return;
	pcapng_names_end(trace->file, &trace->names);
	failed = ferror(trace->file);
	if (fclose(trace->file) || failed)
		fatal("--pcap: cannot write %s: %s", trace->path,
		      strerror(errno));
	trace->file = NULL;
}

/* The frame check sequence, CRC-32 (8.2.4.8), four bits at a time. */
static uint32_t frame_check(const uint8_t *bytes, size_t length)
{
	static const uint32_t table[] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
		0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
		0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < length; i++) {
		crc = crc >> 4 ^ table[(crc ^ bytes[i]) & 15];
		crc = crc >> 4 ^ table[(crc ^ bytes[i] >> 4) & 15];
	}
	return ~crc;
}

/* Where all of it is captured its FCS follows, a wrong one if it was lost. */
static void write_ppdu(struct trace_writer *trace, struct ppdu *ppdu)
{
	bool lost = ppdu->radiotap.flags & RADIOTAP_BAD_FCS;
	uint8_t header[RADIOTAP_MAX];
	struct pcapng_packet packet = {
		.interface = ppdu->collided ? PCAPNG_COLLIDED : PCAPNG_HEARD,
		.at = ppdu->radiotap.start,
		.header = header,
		.bytes = ppdu->bytes,
		.captured = ppdu->captured,
		.length = ppdu->length,
	};

	if (ppdu->captured + FCS_BYTES == ppdu->length) {
		uint32_t fcs = htole32(frame_check(ppdu->bytes, ppdu->captured));

		if (lost)
			fcs = ~fcs;
		memcpy(ppdu->bytes + ppdu->captured, &fcs, FCS_BYTES);
		packet.captured += FCS_BYTES;
	}
	ppdu->radiotap.flags |= RADIOTAP_FCS_FOLLOWS;
	packet.header_length = radiotap_write(&ppdu->radiotap, header);
	pcapng_names_end(trace->file, &trace->names);
	pcapng_packet(trace->file, &packet);
}

/* Of a transmission at @rate: the format, MCS and preamble that this means. */
static struct radiotap sent_at(const struct phy_profile *phy, unsigned int rate,
			       unsigned int freq, ns_t start, ns_t end)
{
	const struct phy_rate *row = phy_rate_of(phy, rate);
	bool long_plcp = rate == 10 || phy->plcp_us != 96;

	return (struct radiotap){
		.start = start, .end = end, .rate = rate, .freq = freq,
		.format = row ? row->format : PHY_FORMAT_OFDM,
		.mcs = row ? row->index : 0,
		.flags = phy->kind == PHY_DSSS && !long_plcp ?
			 RADIOTAP_SHORT_PREAMBLE : 0,
	};
}

/* Frame Control, Duration of @nav and Address 1; Address 2 follows in some. */
static void put_control(struct ppdu *ppdu, uint8_t type, ns_t nav,
			const uint8_t *to, const uint8_t *from)
{
	uint16_t us = nav / NS_PER_US;

	ppdu->bytes[0] = type;
	ppdu->bytes[2] = us;
	ppdu->bytes[3] = us >> 8;
	memcpy(ppdu->bytes + MPDU_ADDR1, to, MAC_ADDR_LEN);
	ppdu->captured = MPDU_ADDR2;
	if (from) {
		memcpy(ppdu->bytes + MPDU_ADDR2, from, MAC_ADDR_LEN);
		ppdu->captured = MPDU_ADDR3;
	}
}

static void write_control(struct trace_writer *trace, struct ppdu *ppdu, bool lost)
{
	if (ppdu->collided || lost)
		ppdu->radiotap.flags |= RADIOTAP_BAD_FCS;
	ppdu->length = ppdu->captured + FCS_BYTES;
	write_ppdu(trace, ppdu);
}

/* How long the medium is used after @t: what Duration says. */
static ns_t remaining(const struct mac_attempt *a, ns_t t)
{
	ns_t end = a->ack_end ? a->ack_end : a->data_end;

	return end > t ? end - t : 0;
}

static void write_rts(struct trace_writer *trace, const struct mac *mac,
		      const uint8_t *from, const struct mac_attempt *a,
		      const struct trace_frame *frame)
{
	const struct phy_profile *phy = mac->config.phy;
	unsigned int rate = phy_control_rate(phy, frame_rate(phy, a->frame));
	struct ppdu rts = {
		.radiotap = sent_at(phy, rate, frame->freq, a->start, a->rts_end),
		.collided = a->end == MAC_END_COLLIDED,
	};
	struct ppdu cts = {
		.radiotap = sent_at(phy, rate, frame->freq, a->cts_start,
				    a->cts_end),
	};

	rts.radiotap.retries = a->frame->attempts - 1;
	if (a->given_up && !a->data_end)
		rts.radiotap.tx_flags |= RADIOTAP_TX_FAIL;
	put_control(&rts, FC0_RTS, remaining(a, a->rts_end),
		    frame->bytes + MPDU_ADDR1, from);
	write_control(trace, &rts, !a->cts_end && a->end == MAC_END_LOST);
	if (!a->cts_end)
		return;
	put_control(&cts, FC0_CTS, remaining(a, a->cts_end), from, NULL);
	write_control(trace, &cts, !a->data_end);
}

static void write_cts_to_self(struct trace_writer *trace, const struct mac *mac,
			      const uint8_t *from, const struct mac_attempt *a,
			      const struct trace_frame *frame)
{
	const struct phy_profile *phy = mac->config.phy;
	ns_t end = a->data_start - mac->sifs;
	struct ppdu cts = {
		.radiotap = sent_at(phy, phy->protection_rate, frame->freq,
				    a->start, end),
		.collided = a->end == MAC_END_COLLIDED,
	};

	put_control(&cts, FC0_CTS, remaining(a, end), from, NULL);
	write_control(trace, &cts, false);
}

static void write_data(struct trace_writer *trace, const struct mac *mac,
		       const struct mac_attempt *a,
		       const struct trace_frame *frame)
{
	unsigned int rate = frame_rate(mac->config.phy, a->frame);
	unsigned int number = a->frame->attempts;
	struct ppdu ppdu = {
		.radiotap = sent_at(mac->config.phy, rate, frame->freq,
				    a->data_start, a->data_end),
		.collided = a->end == MAC_END_COLLIDED,
		.captured = frame->length,
		.length = a->frame->bytes,
	};
	struct radiotap *radiotap = &ppdu.radiotap;

	if (ppdu.collided || a->end == MAC_END_LOST)
		radiotap->flags |= RADIOTAP_BAD_FCS;
	radiotap->retries = number - 1;
	if (!a->frame->wants_ack)
		radiotap->tx_flags |= RADIOTAP_TX_NO_ACK;
	else if (a->given_up)
		radiotap->tx_flags |= RADIOTAP_TX_FAIL;
	if (a->rts_end)
		radiotap->tx_flags |= RADIOTAP_TX_RTS;
	else if (a->data_start > a->start)
		radiotap->tx_flags |= RADIOTAP_TX_CTS;
	radiotap->in_ampdu = a->n > 1 || radiotap->format == PHY_FORMAT_VHT;
	radiotap->ampdu = trace->ampdu;
	radiotap->last_of_ampdu = a->index + 1 == a->n;

	memcpy(ppdu.bytes, frame->bytes, frame->length);
	/* The radio sets Retry, so it is not yet in what mac80211 gave us. */
	if (number > 1 && !a->frame->is_bar)
		ppdu.bytes[1] |= FC1_RETRY;
	write_ppdu(trace, &ppdu);
}

/* What has arrived of the A-MPDU, as the block ack will have it. */
static void acknowledge(struct trace_writer *trace, const struct mac_attempt *a,
			const struct trace_frame *frame)
{
	uint16_t sequence, ahead;

	if (a->frame->is_bar)
		trace->first_sequence = trace->acknowledged = 0;
	if (frame->length < MPDU_SEQUENCE + 2)
		return;
	sequence = frame->bytes[MPDU_SEQUENCE] |
		   frame->bytes[MPDU_SEQUENCE + 1] << 8;
	sequence >>= 4;
	if (!a->index) {
		trace->first_sequence = sequence;
		trace->acknowledged = 0;
	}
	ahead = (sequence - trace->first_sequence) & 0xfff;
	if (a->end != MAC_END_LOST && ahead < MAC_MAX_AMPDU)
		trace->acknowledged |= 1ULL << ahead;
}

static void write_ack(struct trace_writer *trace, const struct mac *mac,
		      const uint8_t *to, const struct mac_attempt *a,
		      const struct trace_frame *frame)
{
	const struct phy_profile *phy = mac->config.phy;
	unsigned int rate = phy_control_rate(phy, frame_rate(phy, a->frame));
	struct ppdu ack = {
		.radiotap = sent_at(phy, rate, frame->freq, a->ack_start,
				    a->ack_end),
	};
	uint8_t *block = ack.bytes + MPDU_ADDR3;

	if (a->n == 1 && !a->frame->is_bar) {
		put_control(&ack, FC0_ACK, 0, to, NULL);
	} else {
		put_control(&ack, FC0_BLOCK_ACK, 0, to,
			    frame->bytes + MPDU_ADDR1);
		block[0] = BA_COMPRESSED;
		block[2] = trace->first_sequence << 4;
		block[3] = trace->first_sequence >> 4;
		for (int i = 0; i < 8; i++)
			block[4 + i] = trace->acknowledged >> 8 * i;
		ack.captured += BLOCK_ACK_REST;
	}
	write_control(trace, &ack, trace->ack_lost);
}

void trace_writer_attempt(struct trace_writer *trace, const struct mac *mac, int from,
		       const struct mac_attempt *a,
		       const struct trace_frame *frame)
{
	const uint8_t *addr = mac->stations[from].config.addr;

	if (!trace->file || frame->length + FCS_BYTES > MPDU_MAX)
		return;
	if (!a->index) {
		trace->ampdu++;
		trace->ack_lost = false;
		if (a->rts_end)
			write_rts(trace, mac, addr, a, frame);
		else if (a->data_start > a->start)
			write_cts_to_self(trace, mac, addr, a, frame);
	}
	trace->freq = frame->freq;
	trace->ack_lost |= a->end == MAC_END_ACK_LOST;
	acknowledge(trace, a, frame);
	if (a->data_end)
		write_data(trace, mac, a, frame);
	if (a->ack_end && a->index + 1 == a->n)
		write_ack(trace, mac, addr, a, frame);
}

/* What the core asks for itself; it keeps the sequence numbers to itself. */
static void put_request(struct trace_frame *frame, uint8_t *bytes,
			const uint8_t *from)
{
	bytes[0] = FC0_BLOCK_ACK_REQ;
	memcpy(bytes + MPDU_ADDR2, from, MAC_ADDR_LEN);
	memset(bytes + MPDU_ADDR3, 0, REQUEST_REST);
	bytes[MPDU_ADDR3] = BA_COMPRESSED;
	frame->length = MPDU_ADDR3 + REQUEST_REST;
}

void trace_writer_made_up(struct trace_writer *trace, const struct mac *mac, int from,
		       const struct mac_attempt *attempt)
{
	/* LLC/SNAP with the EtherType for local experiments (802, clause 9). */
	static const uint8_t llc[] = { 0xaa, 0xaa, 3, 0, 0, 0, 0x88, 0xb5 };
	static const uint8_t everybody[] = { 255, 255, 255, 255, 255, 255 };
	const struct phy_profile *phy = mac->config.phy;
	const struct mac_frame *f = attempt->frame;
	uint8_t bytes[MPDU_HEADER + MPDU_QOS + sizeof(llc)] = { FC0_TYPE_DATA };
	struct trace_frame frame = {
		.bytes = bytes,
		.length = MPDU_HEADER,
		.freq = phy->kind == PHY_DSSS || phy->kind == PHY_ERP ? 2412 : 5180,
	};

	if (!trace->file)
		return;
	if (trace->freq)
		frame.freq = trace->freq;
	memcpy(bytes + MPDU_ADDR1,
	       f->to >= 0 ? mac->stations[f->to].config.addr : everybody,
	       MAC_ADDR_LEN);
	memcpy(bytes + MPDU_ADDR2, mac->stations[from].config.addr, MAC_ADDR_LEN);
	memcpy(bytes + MPDU_ADDR3, mac->stations[0].config.addr, MAC_ADDR_LEN);
	bytes[MPDU_SEQUENCE] = f->sequence << 4;
	bytes[MPDU_SEQUENCE + 1] = f->sequence >> 4;
	if (phy->ampdu_bytes) {
		bytes[0] |= FC0_QOS;
		frame.length += MPDU_QOS;
	}
	memcpy(bytes + frame.length, llc, sizeof(llc));
	frame.length += sizeof(llc);
	if (f->is_bar)
		put_request(&frame, bytes, mac->stations[from].config.addr);
	else if (frame.length + FCS_BYTES > f->bytes)
		frame.length = MPDU_HEADER;
	trace_writer_attempt(trace, mac, from, attempt, &frame);
}
