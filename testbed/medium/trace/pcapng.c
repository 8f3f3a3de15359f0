// SPDX-License-Identifier: GPL-2.0-only
/* Writing the blocks of a pcapng file: see pcapng.h. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "pcapng.h"

#define SNAPLEN		65535
#define BODY_MAX	16384	/* of the blocks that begin a file */

/* A block under construction: its body without type and lengths. */
struct body {
	uint8_t bytes[BODY_MAX];
	size_t length;
};

static void put(struct body *body, const void *bytes, size_t length)
{
	if (body->length + PCAPNG_PADDED(length) > sizeof(body->bytes))
		fatal("--pcap: too long a description");
	memcpy(body->bytes + body->length, bytes, length);
	memset(body->bytes + body->length + length, 0,
	       PCAPNG_PADDED(length) - length);
	body->length += PCAPNG_PADDED(length);
}

static void put_u32(struct body *body, uint32_t value)
{
	value = htole32(value);
	put(body, &value, sizeof(value));
}

/* Two 16-bit values. */
static void put_u16s(struct body *body, uint16_t first, uint16_t second)
{
	put_u32(body, first | (uint32_t)second << 16);
}

static void put_option(struct body *body, uint16_t code, const void *value,
		       size_t length)
{
	put_u16s(body, code, length);
	put(body, value, length);
}

static void write_u32(FILE *file, uint32_t value)
{
	value = htole32(value);
	fwrite(&value, sizeof(value), 1, file);
}

static void write_block(FILE *file, uint32_t type, const uint8_t *body,
			size_t length)
{
	write_u32(file, type);
	write_u32(file, length + 12);
	fwrite(body, 1, length, file);
	write_u32(file, length + 12);
}

static void write_interface(FILE *file, const char *name,
			    const char *description)
{
	const uint8_t resolution = PCAPNG_NANOSECONDS;
	struct body body = { .length = 0 };

	put_u16s(&body, LINKTYPE_RADIOTAP, 0);
	put_u32(&body, SNAPLEN);
	put_option(&body, PCAPNG_OPT_NAME, name, strlen(name));
	put_option(&body, PCAPNG_OPT_DESCRIPTION, description,
		   strlen(description));
	put_option(&body, PCAPNG_OPT_RESOLUTION, &resolution, 1);
	put_u32(&body, 0);
	write_block(file, PCAPNG_INTERFACE, body.bytes, body.length);
}

void pcapng_begin(FILE *file, const char *comment)
{
	struct body body = { .length = 0 };

	put_u32(&body, PCAPNG_BYTE_ORDER);
	put_u16s(&body, 1, 0);
	/* The length of the section is not known yet: -1. */
	put_u32(&body, UINT32_MAX);
	put_u32(&body, UINT32_MAX);
	put_option(&body, PCAPNG_OPT_COMMENT, comment, strlen(comment));
	put_option(&body, PCAPNG_OPT_APPLICATION, PCAPNG_APPLICATION,
		   strlen(PCAPNG_APPLICATION));
	put_u32(&body, 0);
	write_block(file, PCAPNG_SECTION, body.bytes, body.length);
	write_interface(file, "air", "what did not collide");
	write_interface(file, "collided", "what collided");
}

void pcapng_packet(FILE *file, const struct pcapng_packet *packet)
{
	static const uint8_t padding[4];
	size_t captured = packet->header_length + packet->captured;

	write_u32(file, PCAPNG_PACKET);
	write_u32(file, 32 + PCAPNG_PADDED(captured));
	write_u32(file, packet->interface);
	write_u32(file, packet->at >> 32);
	write_u32(file, packet->at);
	write_u32(file, captured);
	write_u32(file, packet->header_length + packet->length);
	fwrite(packet->header, 1, packet->header_length, file);
	fwrite(packet->bytes, 1, packet->captured, file);
	fwrite(padding, 1, PCAPNG_PADDED(captured) - captured, file);
	write_u32(file, 32 + PCAPNG_PADDED(captured));
}

void pcapng_name(struct pcapng_names *names, const uint8_t *addr,
		 const char *name)
{
	size_t length = 6 + strlen(name) + 1;
	uint16_t head[2] = { htole16(PCAPNG_NAME_EUI48), htole16(length) };
	uint8_t *body = realloc(names->body,
				names->length + 4 + PCAPNG_PADDED(length));

	if (!body)
		fatal("out of memory");
	names->body = body;
	body += names->length;
	memset(body, 0, 4 + PCAPNG_PADDED(length));
	memcpy(body, head, 4);
	memcpy(body + 4, addr, 6);
	memcpy(body + 10, name, strlen(name));
	names->length += 4 + PCAPNG_PADDED(length);
}

void pcapng_names_end(FILE *file, struct pcapng_names *names)
{
	static const uint8_t end[4];

	if (names->length) {
		write_u32(file, PCAPNG_NAMES);
		write_u32(file, names->length + 16);
		fwrite(names->body, 1, names->length, file);
		fwrite(end, 1, sizeof(end), file);
		write_u32(file, names->length + 16);
	}
	free(names->body);
	*names = (struct pcapng_names){ 0 };
}
