// SPDX-License-Identifier: GPL-2.0-only
/* Reading a trace: see trace_reader.h. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/phy/phy_profile.h"
#include "options.h"
#include "pcapng.h"
#include "trace_reader.h"

#define BLOCK_MAX	(1 << 20)
#define BLOCK_FRAME	12	/* type and two lengths around a body */
#define SECTION_FIXED	16
#define PACKET_FIXED	20

static uint32_t get32(const uint8_t *from)
{
	uint32_t value;

	memcpy(&value, from, sizeof(value));
	return le32toh(value);
}

static uint16_t get16(const uint8_t *from)
{
	uint16_t value;

	memcpy(&value, from, sizeof(value));
	return le16toh(value);
}

static void not_ours(const struct trace_reader *reader) __attribute__((noreturn));

static void not_ours(const struct trace_reader *reader)
{
	fatal("%s is no trace that `dcfmedium ... --pcap` wrote", reader->path);
}

/* The body of the next block; false at the end of the file. */
static bool next_block(struct trace_reader *reader, uint32_t *type, size_t *length)
{
	uint8_t head[8];
	size_t got = fread(head, 1, sizeof(head), reader->file);
	size_t rest;

	if (!got)
		return false;
	if (got < sizeof(head)) {
		reader->cut_short = true;
		return false;
	}
	*type = get32(head);
	rest = get32(head + 4);
	if (rest < BLOCK_FRAME || rest > BLOCK_MAX || rest % 4)
		not_ours(reader);
	rest -= sizeof(head);
	if (rest > reader->block_size) {
		reader->block = realloc(reader->block, rest);
		reader->block_size = rest;
		if (!reader->block)
			fatal("out of memory");
	}
	if (fread(reader->block, 1, rest, reader->file) != rest) {
		reader->cut_short = true;
		return false;
	}
	*length = rest - 4;
	return true;
}

/* "phy NAME" among the words of a section's comment. */
static void take_comment(struct trace_reader *reader, const uint8_t *text,
			 size_t length)
{
	char *copy = strndup((const char *)text, length), *rest = copy, *word;

	if (!copy)
		fatal("out of memory");
	while ((word = strsep(&rest, " ")))
		if (!strcmp(word, "phy") && (word = strsep(&rest, " ")))
			reader->phy = phy_find(word);
	free(copy);
}

/* The options of the section header; it must say that it is dcfmedium's. */
static void take_section(struct trace_reader *reader, size_t length)
{
	bool ours = false;
	size_t at = SECTION_FIXED;

	if (length < SECTION_FIXED || get32(reader->block) != PCAPNG_BYTE_ORDER)
		not_ours(reader);
	while (at + 4 <= length) {
		const uint8_t *option = reader->block + at;
		size_t size = get16(option + 2);

		if (!get16(option) || at + 4 + size > length)
			break;
		if (get16(option) == PCAPNG_OPT_COMMENT)
			take_comment(reader, option + 4, size);
		if (get16(option) == PCAPNG_OPT_APPLICATION)
			ours = size == strlen(PCAPNG_APPLICATION) &&
			       !memcmp(option + 4, PCAPNG_APPLICATION, size);
		at += 4 + PCAPNG_PADDED(size);
	}
	if (!ours)
		not_ours(reader);
}

static void take_names(struct trace_reader *reader, size_t length)
{
	size_t at = 0;

	while (at + 4 <= length) {
		const uint8_t *record = reader->block + at;
		size_t size = get16(record + 2);
		struct trace_name *name = &reader->names[reader->n_names];

		if (!get16(record) || at + 4 + size > length ||
		    reader->n_names == MAC_MAX_STATIONS)
			return;
		at += 4 + PCAPNG_PADDED(size);
		if (get16(record) != PCAPNG_NAME_EUI48 || size <= MAC_ADDR_LEN ||
		    size - MAC_ADDR_LEN > MAC_NAME_LEN)
			continue;
		memcpy(name->addr, record + 4, MAC_ADDR_LEN);
		memcpy(name->name, record + 4 + MAC_ADDR_LEN,
		       size - MAC_ADDR_LEN);
		name->name[size - MAC_ADDR_LEN - 1] = '\0';
		reader->n_names++;
	}
}

static bool take_packet(struct trace_reader *reader, size_t length,
			struct trace_packet *packet)
{
	const uint8_t *body = reader->block;
	size_t captured, header;

	if (length < PACKET_FIXED)
		return false;
	captured = get32(body + 12);
	if (captured > length - PACKET_FIXED ||
	    get32(body) >= PCAPNG_INTERFACES || get32(body + 16) < captured)
		return false;
	header = radiotap_read(&packet->radiotap, body + PACKET_FIXED, captured);
	if (!header || captured - header < MPDU_ADDR1 + MAC_ADDR_LEN)
		return false;
	packet->collided = get32(body) == PCAPNG_COLLIDED;
	packet->at = (ns_t)get32(body + 4) << 32 | get32(body + 8);
	packet->end = packet->radiotap.end;
	packet->length = get32(body + 16) - header;
	packet->captured = captured - header;
	if (packet->captured > TRACE_PACKET_MAX)
		packet->captured = TRACE_PACKET_MAX;
	memset(packet->mpdu, 0, sizeof(packet->mpdu));
	memcpy(packet->mpdu, body + PACKET_FIXED + header, packet->captured);
	return packet->end >= packet->at;
}

void trace_reader_open(struct trace_reader *reader, const char *path)
{
	uint32_t type;
	size_t length;

	*reader = (struct trace_reader){ .path = path };
	reader->file = fopen(path, "rb");
	if (!reader->file)
		fatal("cannot read %s: %s", path, strerror(errno));
	if (!next_block(reader, &type, &length) || type != PCAPNG_SECTION)
		not_ours(reader);
	take_section(reader, length);
}

bool trace_reader_next(struct trace_reader *reader, struct trace_packet *packet)
{
	uint32_t type;
	size_t length;

	while (next_block(reader, &type, &length)) {
		if (type == PCAPNG_NAMES)
			take_names(reader, length);
		if (type != PCAPNG_PACKET)
			continue;
		if (!take_packet(reader, length, packet))
			not_ours(reader);
		return true;
	}
	return false;
}

void trace_reader_close(struct trace_reader *reader)
{
	fclose(reader->file);
	free(reader->block);
}

const char *trace_reader_name(const struct trace_reader *reader, const uint8_t *addr,
			    char text[MAC_NAME_LEN])
{
	if (addr[0] & 1)
		return "all";
	for (int i = 0; i < reader->n_names; i++)
		if (!memcmp(reader->names[i].addr, addr, MAC_ADDR_LEN))
			return reader->names[i].name;
	snprintf(text, MAC_NAME_LEN, "%02x:%02x:%02x:%02x:%02x:%02x", addr[0],
		 addr[1], addr[2], addr[3], addr[4], addr[5]);
	return text;
}
