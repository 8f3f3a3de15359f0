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
	       hello->duration_ns && hello->duration_ns <= QUIC_DURATION_MAX &&
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

/* The next lower range, from what the packet says of it. Returns false if it cannot be. */
static bool range_below(struct range *range, const struct quic_range *said, uint64_t above,
			bool first)
{
	uint64_t gap = first ? 0 : be16toh(said->gap) + 2ULL, length = be16toh(said->length);

	if (above < gap || above - gap < length)
		return false;
	range->last = above - gap;
	range->first = range->last - length;
	return true;
}

bool quic_ack_read(const char *datagram, size_t length, struct ranges *acked, int64_t *delay_ns)
{
	uint64_t delay_us, above;
	struct quic_range said;
	struct quic_ack ack;
	unsigned int at;

	if (length < sizeof(ack))
		return false;
	memcpy(&ack, datagram, sizeof(ack));
	acked->count = be16toh(ack.count);
	delay_us = be64toh(ack.delay_us);
	above = be64toh(ack.largest);
	if (!acked->count || acked->count > RANGES_MAX || delay_us > NUMBER_MAX / 1000 ||
	    above > NUMBER_MAX || length != sizeof(ack) + acked->count * sizeof(said))
		return false;
	*delay_ns = delay_us * 1000;
	for (at = 0; at < acked->count; at++) {
		memcpy(&said, datagram + sizeof(ack) + at * sizeof(said), sizeof(said));
		if (!range_below(&acked->each[at], &said, above, !at))
			return false;
		above = acked->each[at].first;
	}
	return true;
}

size_t quic_ack_write(char *datagram, uint64_t connection, const struct ranges *seen,
		      int64_t delay_ns)
{
	struct quic_ack ack = {
		.delay_us = htobe64(delay_ns / 1000),
		.largest = htobe64(seen->each[0].last),
	};
	struct quic_range said;
	uint64_t gap, length;
	unsigned int at;

	for (at = 0; at < seen->count; at++) {
		gap = at ? seen->each[at - 1].first - seen->each[at].last - 2 : 0;
		length = seen->each[at].last - seen->each[at].first;
		if (gap > UINT16_MAX || seen->each[0].last - seen->each[at].last > ACK_AGE)
			break;
		said = (struct quic_range) {
			.gap = htobe16(gap),
			.length = htobe16(length < UINT16_MAX ? length : UINT16_MAX),
		};
		memcpy(datagram + sizeof(ack) + at * sizeof(said), &said, sizeof(said));
		if (length > UINT16_MAX) {
			at++;
			break;
		}
	}
	ack.count = htobe16(at);
	quic_header_compose(&ack.header, QUIC_ACK, connection);
	memcpy(datagram, &ack, sizeof(ack));
	return sizeof(ack) + at * sizeof(said);
}
