// SPDX-License-Identifier: GPL-2.0-only
/* What comes from the wire is checked whole before anything of it is used. */
#include <endian.h>
#include <string.h>

#include "../flow_plan.h"
#include "stream.h"
#include "wire.h"

#define QUIC_MAGIC	0x66717569U	/* "fqui" */
#define NUMBER_MAX	(UINT64_MAX / 4)	/* RFC 9000, 12.3 */

enum quic_kind quic_kind(const char *datagram, size_t length)
{
	struct quic_header header;

	if (length < sizeof(header))
		return 0;
	memcpy(&header, datagram, sizeof(header));
	if (header.magic != htobe32(QUIC_MAGIC) || header.kind > QUIC_ACK)
		return 0;
	return header.kind;
}

uint64_t quic_connection(const char *datagram)
{
	struct quic_header header;

	memcpy(&header, datagram, sizeof(header));
	return be64toh(header.connection);
}

void quic_header_compose(struct quic_header *header, enum quic_kind kind, uint64_t connection)
{
	*header = (struct quic_header) {
		.magic = htobe32(QUIC_MAGIC),
		.kind = kind,
		.connection = htobe64(connection),
	};
}

bool quic_hello_read(const char *datagram, size_t length, struct quic_hello *hello)
{
	char id[ID_MAX + 1] = "";

	if (length != sizeof(*hello))
		return false;
	memcpy(hello, datagram, sizeof(*hello));
	hello->attempt = be32toh(hello->attempt);
	hello->datagram = be32toh(hello->datagram);
	hello->allowed = be32toh(hello->allowed);
	hello->duration_ns = be64toh(hello->duration_ns);
	memcpy(id, hello->id, ID_MAX);
	return hello->datagram >= QUIC_DATAGRAM_MIN && hello->datagram <= QUIC_DATAGRAM_MAX &&
	       hello->duration_ns && hello->duration_ns < INT64_MAX / 2 &&
	       hello->allowed && hello->allowed <= STREAM_WINDOW &&
	       hello->dir <= DIR_DOWN && flow_id_valid(id);
}

bool quic_welcome_read(const char *datagram, size_t length, uint32_t *attempt)
{
	struct quic_welcome welcome;

	if (length != sizeof(welcome))
		return false;
	memcpy(&welcome, datagram, sizeof(welcome));
	*attempt = be32toh(welcome.attempt);
	return true;
}

bool quic_data_read(const char *datagram, size_t length, uint64_t *packet, uint64_t *chunk)
{
	struct quic_data data;

	if (length < QUIC_DATAGRAM_MIN)
		return false;
	memcpy(&data, datagram, sizeof(data));
	*packet = be64toh(data.packet);
	*chunk = be64toh(data.chunk);
	return *packet <= NUMBER_MAX && *chunk <= NUMBER_MAX;
}

bool quic_ack_read(const char *datagram, size_t length, struct ranges *acked, int64_t *delay_ns)
{
	struct range *range;
	struct quic_ack ack;
	uint64_t delay_us;
	unsigned int at;

	if (length < sizeof(ack))
		return false;
	memcpy(&ack, datagram, sizeof(ack));
	acked->count = be16toh(ack.count);
	delay_us = be64toh(ack.delay_us);
	if (!acked->count || acked->count > RANGES_MAX || delay_us > NUMBER_MAX / 1000 ||
	    length != sizeof(ack) + acked->count * sizeof(*range))
		return false;
	*delay_ns = delay_us * 1000;
	memcpy(acked->each, datagram + sizeof(ack), length - sizeof(ack));
	for (at = 0; at < acked->count; at++) {
		range = &acked->each[at];
		range->first = be64toh(range->first);
		range->last = be64toh(range->last);
		if (range->first > range->last || range->last > NUMBER_MAX ||
		    (at && range->last + 1 >= acked->each[at - 1].first))
			return false;
	}
	return true;
}

size_t quic_ack_write(char *datagram, uint64_t connection, const struct ranges *seen,
		      int64_t delay_ns)
{
	struct quic_ack ack = {
		.delay_us = htobe64(delay_ns / 1000),
		.count = htobe16(seen->count),
	};
	struct range range;
	unsigned int at;

	quic_header_compose(&ack.header, QUIC_ACK, connection);
	memcpy(datagram, &ack, sizeof(ack));
	for (at = 0; at < seen->count; at++) {
		range.first = htobe64(seen->each[at].first);
		range.last = htobe64(seen->each[at].last);
		memcpy(datagram + sizeof(ack) + at * sizeof(range), &range, sizeof(range));
	}
	return sizeof(ack) + seen->count * sizeof(range);
}
