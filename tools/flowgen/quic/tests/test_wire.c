// SPDX-License-Identifier: GPL-2.0-only
/* What comes from the wire: whole, or refused. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "quic/stream.h"
#include "quic/wire.h"
#include "tap.h"

#define CONNECTION	0x0123456789abcdefULL

static void test_ack_both_ways(int *failures)
{
	struct ranges seen = { .count = 2, .each = { { 9, 12 }, { 3, 7 } } }, read = { };
	char ack[QUIC_ACK_MAX];
	int64_t delay_ns;
	size_t length = quic_ack_write(ack, CONNECTION, &seen, 25000000);

	EXPECT_EQ(length, 44 + 2 * 4);
	EXPECT_EQ(quic_kind(ack, length), QUIC_ACK);
	EXPECT(quic_connection(ack) == CONNECTION);
	EXPECT(quic_ack_read(ack, length, &read, &delay_ns));
	EXPECT_EQ(delay_ns, 25000000);
	EXPECT_EQ(read.count, 2);
	EXPECT_EQ(memcmp(&read.each, &seen.each, 2 * sizeof(seen.each[0])), 0);
	EXPECT(!quic_ack_read(ack, length - 1, &read, &delay_ns));
	EXPECT(!quic_ack_read(ack, length - 4, &read, &delay_ns));
	EXPECT(!quic_ack_read(ack, 43, &read, &delay_ns));
}

/* What the sender has heard of before is left out, and what 16 bits cannot say. */
static void test_old_ranges(int *failures)
{
	static const struct { struct ranges seen; unsigned int count; uint64_t first; } rows[] = {
		{ { 2, { { 9, 300 + ACK_AGE }, { 300, 300 } } }, 1, 9 },
		{ { 2, { { 302 + ACK_AGE, 302 + ACK_AGE }, { 302, 302 } } }, 2, 302 },
		{ { 2, { { 303 + ACK_AGE, 303 + ACK_AGE }, { 302, 302 } } }, 1, 303 + ACK_AGE },
		{ { 1, { { 0, 100000 } } }, 1, 100000 - UINT16_MAX },
	};
	char ack[QUIC_ACK_MAX];
	struct ranges read;
	int64_t delay_ns;

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t length = quic_ack_write(ack, CONNECTION, &rows[i].seen, 0);

		EXPECT(quic_ack_read(ack, length, &read, &delay_ns));
		EXPECT_EQ(read.count, rows[i].count);
		EXPECT(read.each[0].last == rows[i].seen.each[0].last);
		EXPECT(read.each[read.count - 1].first == rows[i].first);
	}
}

/* Ranges that would be below 0, a number that cannot be, none at all. */
static void test_bad_ranges(int *failures)
{
	static const struct ranges good = { .count = 2, .each = { { 9, 12 }, { 3, 7 } } };
	char ack[QUIC_ACK_MAX];
	struct quic_ack *head = (struct quic_ack *)ack;
	struct quic_range *ranges = (struct quic_range *)(head + 1);
	struct ranges read;
	int64_t delay_ns;
	size_t length;

	for (unsigned int i = 0; i < 5; i++) {
		length = quic_ack_write(ack, CONNECTION, &good, 0);
		if (i == 0)
			head->largest = htobe64(2);		/* the first has four */
		else if (i == 1)
			head->largest = UINT64_MAX;
		else if (i == 2)
			ranges[1].gap = htobe16(8);		/* 9 - 2 - 8 */
		else if (i == 3)
			ranges[1].length = htobe16(8);
		else
			head->count = 0;
		EXPECT(!quic_ack_read(ack, length, &read, &delay_ns));
	}
}

static void test_hello(int *failures)
{
	struct quic_hello hello = {
		.datagram = htobe32(1200), .allowed = htobe32(STREAM_WINDOW), .duration_ns = htobe64(5000000000), .id = "up1",
	}, read;
	const char *datagram = (const char *)&hello;

	quic_header_compose(&hello.header, QUIC_HELLO, CONNECTION);
	EXPECT(quic_hello_read(datagram, sizeof(hello), &read));
	EXPECT_EQ(read.datagram, 1200);
	EXPECT_EQ(read.duration_ns, 5000000000);
	EXPECT(!quic_hello_read(datagram, sizeof(hello) - 1, &read));
	hello.dir = 2;
	EXPECT(!quic_hello_read(datagram, sizeof(hello), &read));
	hello.dir = 0;
	hello.id[0] = '"';
	EXPECT(!quic_hello_read(datagram, sizeof(hello), &read));
	memset(hello.id, 'x', sizeof(hello.id));
	EXPECT(quic_hello_read(datagram, sizeof(hello), &read));
	hello.datagram = htobe32(QUIC_DATAGRAM_MIN - 1);
	EXPECT(!quic_hello_read(datagram, sizeof(hello), &read));
	hello.datagram = htobe32(1200);
	hello.allowed = htobe32(STREAM_WINDOW + 1);
	EXPECT(!quic_hello_read(datagram, sizeof(hello), &read));
	hello.allowed = htobe32(1);
	hello.duration_ns = htobe64(UINT64_MAX);
	EXPECT(!quic_hello_read(datagram, sizeof(hello), &read));
}

/* Whatever the bytes are, nothing is read beyond them: the sanitizers see it. */
static void test_noise(int *failures)
{
	uint64_t packet, chunk, state = 1;
	struct quic_hello hello;
	struct ranges acked;
	uint32_t attempt;
	int64_t delay_ns;
	size_t length, i;
	char *datagram;
	int turn;

	for (turn = 0; turn < 20000; turn++) {
		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		length = (state >> 33) % 300;
		datagram = malloc(length ? length : 1);
		for (i = 0; i < length; i++) {
			state = state * 6364136223846793005ULL + 1442695040888963407ULL;
			datagram[i] = state >> 60 > 7 ? 0 : state >> 50;
		}
		if (quic_kind(datagram, length) && length < sizeof(struct quic_header))
			(*failures)++;
		quic_hello_read(datagram, length, &hello);
		quic_welcome_read(datagram, length, &attempt);
		quic_data_read(datagram, length, &packet, &chunk);
		if (quic_ack_read(datagram, length, &acked, &delay_ns) &&
		    (delay_ns < 0 || !acked.count || acked.count > RANGES_MAX))
			(*failures)++;
		free(datagram);
	}
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "an ACK both ways", test_ack_both_ways },
		{ "old ranges", test_old_ranges },
		{ "bad ranges", test_bad_ranges },
		{ "a hello", test_hello },
		{ "noise", test_noise },
		{ },
	};

	return tap_run(cases);
}
