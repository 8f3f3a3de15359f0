// SPDX-License-Identifier: GPL-2.0-only
/* Which MPDUs are TCP ACKs, and the airtime of those that are. */
#include "../trace/mpdu.c"

#include "cell.h"
#include "tap.h"

#define LLC	0xaa, 0xaa, 3, 0, 0, 0
#define HEADER	0x08, 0x01, 0, 0, 2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, \
		2, 0, 0, 0, 0, 0, 0, 0
#define IP	(MPDU_HEADER + LLC_BYTES)
#define TCP	(IP + 20)
#define FLAGS	13

/* As a station sends it: RFC 791 and RFC 9293, 12 octets of timestamps. */
static const uint8_t ack[] = {
	HEADER, LLC, 8, 0,
	0x45, 0, 0, 52, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 1, 0, 11, 10, 2, 0, 2,
	0, 80, 0x13, 0x89, 0, 0, 0, 1, 0, 0, 0, 7, 0x80, 0x10, 1, 0, 0, 0, 0, 0,
	1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 1,
};

/* The same with one octet changed. */
static bool with(size_t at, uint8_t octet)
{
	uint8_t changed[sizeof(ack)];

	memcpy(changed, ack, sizeof(ack));
	changed[at] = octet;
	return mpdu_is_tcp_ack(changed, sizeof(changed));
}

static void ipv4(int *failures)
{
	EXPECT(mpdu_is_tcp_ack(ack, sizeof(ack)));
	EXPECT(with(TCP + FLAGS, 0x18));	/* PSH too */
	EXPECT(!with(TCP + FLAGS, 0x12));	/* SYN */
	EXPECT(!with(TCP + FLAGS, 0x11));	/* FIN */
	EXPECT(!with(TCP + FLAGS, 0x14));	/* RST */
	EXPECT(!with(TCP + FLAGS, 0));
	EXPECT(!with(TCP + 12, 0x70));		/* 4 octets of payload */
	EXPECT(!with(TCP + 12, 0x90));		/* options beyond the end */
	EXPECT(!with(IP + 9, 17));		/* UDP */
	EXPECT(!with(IP + 7, 1));		/* a fragment */
	EXPECT(!with(IP + 6, 0x20));		/* the first one of several */
	EXPECT(!with(IP, 0x4f));		/* options beyond the end */
	EXPECT(!with(IP + 3, 53));		/* cut short */
	EXPECT(!with(IP - 1, 6));		/* ARP */
	EXPECT(!with(1, 0x41));			/* encrypted */
	EXPECT(!with(0, 0x48));			/* null */
	EXPECT(!with(0, 0x80));			/* a beacon */
}

/* Read in place, at the end of an allocation: the sanitizer sees each octet too many. */
static void every_length(int *failures)
{
	for (size_t length = 0; length < sizeof(ack); length++) {
		uint8_t *cut = malloc(length + 1);

		memcpy(cut + 1, ack, length);
		EXPECT(!mpdu_is_tcp_ack(cut + 1, length));
		free(cut);
	}
}

static void qos_and_ipv6(int *failures)
{
	static const uint8_t qos6[] = {
		0x88, 0x81, 0, 0, 2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0,
		2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		LLC, 0x86, 0xdd,
		0x60, 0, 0, 0, 0, 20, 6, 64, [30 + 8 + 40] =
		0, 80, 0x13, 0x89, 0, 0, 0, 1, 0, 0, 0, 7, 0x50, 0x10, 1, 0,
		0, 0, 0, 0,
	};

	EXPECT_EQ(sizeof(qos6), 30 + 8 + 40 + 20);
	EXPECT(mpdu_is_tcp_ack(qos6, sizeof(qos6)));
}

static void send(struct cell *cell, int from, int to, unsigned int bytes, bool is_ack)
{
	struct mac_frame *frame = calloc(1, sizeof(*frame));

	frame->to = to;
	frame->bytes = bytes;
	frame->wants_ack = to != MAC_EVERYBODY;
	frame->carries_data = frame->wants_ack;
	frame->is_tcp_ack = is_ack;
	mac_enqueue(&cell->mac, from, frame, cell->now);
}

/*
 * Data of 1536 bytes one way and a TCP ACK of 84 the other way: the times of
 * hrdsss-11, preamble 192 us and 84 * 8 / 11 = 61.1, rounded up.
 */
static void airtime_of_acks(int *failures)
{
	struct cell *cell = cell_begin(true, UINT_MAX, 1);
	int a = cell_station(cell, 1, 1, 7), b = cell_station(cell, 1, 1, 7);
	const struct mac_counters *of_a = &cell->mac.stations[a].counters;
	const struct mac_counters *of_b = &cell->mac.stations[b].counters;
	ns_t answer = US(192 + 62) + SIFS + ACK;

	send(cell, a, b, 1536, false);
	cell_play(cell, US(10000));
	send(cell, b, a, 84, true);
	cell_play(cell, US(20000));
	send(cell, a, MAC_EVERYBODY, 1536, false);
	cell_play(cell, US(30000));
	EXPECT_EQ(of_a->airtime, EXCHANGE + DATA);
	EXPECT_EQ(of_a->tcp_ack_airtime, 0);
	EXPECT_EQ(of_a->airtime_to, answer);
	EXPECT_EQ(of_b->airtime, answer);
	EXPECT_EQ(of_b->tcp_ack_airtime, answer);
	EXPECT_EQ(of_b->airtime_to, EXCHANGE);
	cell_end(cell);
}

/* An A-MPDU of 1536 + 1000 + 160 + 504 bytes: the TCP ACK of 160 is a twentieth of it. */
static void airtime_in_an_ampdu(int *failures)
{
	struct mac_config config = mac_defaults(phy_find("ht20"));
	struct cell *cell = cell_of(&config);
	int a = cell_station(cell, 1, 1, 7), b = cell_station(cell, 1, 1, 7);
	const struct mac_counters *c = &cell->mac.stations[a].counters;

	send(cell, a, b, 1536, false);
	send(cell, a, b, 1000, false);
	send(cell, a, b, 160, true);
	send(cell, a, b, 504, false);
	cell_play(cell, US(20000));
	EXPECT_EQ(c->ampdu_mpdus, 4);
	EXPECT(c->airtime > 0);
	EXPECT_EQ(c->tcp_ack_airtime, c->airtime / 20);
	cell_end(cell);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "a TCP ACK over IPv4 is told from all else", ipv4 },
		{ "nothing beyond the end is read", every_length },
		{ "QoS data and IPv6", qos_and_ipv6 },
		{ "airtime of TCP ACKs, and to a station", airtime_of_acks },
		{ "an A-MPDU's airtime is divided by bytes", airtime_in_an_ampdu },
		{ }
	};

	return tap_run(cases);
}
