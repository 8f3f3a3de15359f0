// SPDX-License-Identifier: GPL-2.0-only
/* The text of `dcfmedium explain`: see explain.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/phy/phy.h"
#include "explain_text.h"

#define COLUMNS		80
#define INDENT		20	/* where what happened begins */
#define LINE_MAX_BYTES	1024

/* A sentence that grows, cut off rather than overrun. */
struct line {
	char text[LINE_MAX_BYTES];
	size_t length;
};

static void say(struct line *line, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void say(struct line *line, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line->text + line->length, LINE_MAX_BYTES - line->length,
		      format, args);
	va_end(args);
	line->length += n;
	if (line->length >= LINE_MAX_BYTES)
		line->length = LINE_MAX_BYTES - 1;
}

/* Print @line after @head, broken at spaces so that it fits. */
static void print_wrapped(const char *head, const struct line *line)
{
	const char *text = line->text;

	while (strlen(text) > COLUMNS - INDENT) {
		size_t cut = COLUMNS - INDENT;

		while (cut && text[cut] != ' ')
			cut--;
		if (!cut)
			break;
		printf("%-*s%.*s\n", INDENT, head, (int)cut, text);
		text += cut + 1;
		head = "";
	}
	printf("%-*s%s\n", INDENT, head, text);
}

static double us(ns_t t)
{
	return (double)t / NS_PER_US;
}

void explain_begin(const struct trace_reader *reader)
{
	const struct phy_profile *phy = reader->phy;

	if (phy)
		printf("%s: SIFS %u us, DIFS %.0f us, slot %u us\n", phy->name,
		       phy->sifs_us, us(phy_difs(phy)), phy->slot_us);
	printf("%*s %*s  what\n", 11, "seconds", 6, "us");
}

void explain_idle(const struct trace_reader *reader, ns_t start, ns_t end)
{
	const struct phy_profile *phy = reader->phy;
	struct line line = { .length = 0 };
	char head[32];

	if (end <= start || (phy && end - start <= phy_sifs(phy)))
		return;
	snprintf(head, sizeof(head), "%*s %6.0f", 11, "", us(end - start));
	say(&line, "idle");
	if (phy && end - start >= phy_difs(phy))
		say(&line, ": DIFS + %.4g slots",
		    us(end - start - phy_difs(phy)) / phy->slot_us);
	print_wrapped(head, &line);
}

/* Control frames but for RTS and such have no sender's address. */
static bool has_sender(const struct trace_packet *packet)
{
	return packet->captured >= MPDU_ADDR3;
}

static void say_stations(struct line *line, const struct trace_reader *reader,
			 const struct trace_packet *packet)
{
	char text[MAC_NAME_LEN];

	if (has_sender(packet))
		say(line, "%s ", trace_reader_name(reader, packet->mpdu + MPDU_ADDR2,
						 text));
	say(line, "> %s  ", trace_reader_name(reader, packet->mpdu + MPDU_ADDR1,
					    text));
}

static void say_rate(struct line *line, const struct radiotap *radiotap)
{
	if (radiotap->format == PHY_FORMAT_HT || radiotap->format == PHY_FORMAT_VHT)
		say(line, ", %s MCS %u", radiotap->format == PHY_FORMAT_HT ? "HT"
									   : "VHT",
		    radiotap->mcs);
	say(line, ", %.4g Mb/s", radiotap->rate / 10.0);
}

/* What came of it beside a collision. */
static void say_fate(struct line *line, const struct trace_packet *packet)
{
	if (packet->radiotap.retries)
		say(line, ", try %u", packet->radiotap.retries + 1);
	if (packet->radiotap.flags & RADIOTAP_BAD_FCS && !packet->collided)
		say(line, ", LOST");
	if (packet->radiotap.tx_flags & RADIOTAP_TX_FAIL)
		say(line, ", GIVEN UP");
}

static void say_packet(struct line *line, const struct trace_reader *reader,
		       const struct trace_packet *packet)
{
	char text[MPDU_TEXT_MAX];

	say_stations(line, reader, packet);
	mpdu_describe(packet->mpdu, packet->captured, packet->length, text);
	say(line, "%s", text);
	say_rate(line, &packet->radiotap);
	say_fate(line, packet);
}

static unsigned int sequence(const struct trace_packet *packet)
{
	const uint8_t *at = packet->mpdu + MPDU_SEQUENCE;

	return (at[0] | at[1] << 8) >> 4;
}

/* Its MPDUs by their sequence numbers, and which of them were lost. */
static void say_ampdu(struct line *line, const struct trace_reader *reader,
		      const struct trace_packet *packets, size_t n)
{
	size_t lost = 0, again = 0, given_up = 0;

	say_stations(line, reader, packets);
	say(line, "A-MPDU of %zu, seq %u to %u", n, sequence(packets),
	    sequence(&packets[n - 1]));
	say_rate(line, &packets->radiotap);
	for (size_t i = 0; i < n; i++) {
		const struct radiotap *radiotap = &packets[i].radiotap;

		lost += radiotap->flags & RADIOTAP_BAD_FCS && !packets[i].collided;
		again += radiotap->retries > 0;
		given_up += radiotap->tx_flags & RADIOTAP_TX_FAIL;
	}
	if (again)
		say(line, ", %zu sent again", again);
	if (lost == n)
		say(line, ", all LOST");
	else if (lost)
		say(line, ", LOST %zu: seq", lost);
	for (size_t i = 0; lost && lost < n && i < n; i++)
		if (packets[i].radiotap.flags & RADIOTAP_BAD_FCS)
			say(line, " %u", sequence(&packets[i]));
	if (given_up)
		say(line, ", %zu GIVEN UP", given_up);
}

/* How many of @packets, from the first on, are one PPDU. */
static size_t in_ppdu(const struct trace_packet *packets, size_t n)
{
	size_t i = 1;

	while (packets->radiotap.in_ampdu && i < n &&
	       packets[i].radiotap.in_ampdu &&
	       packets[i].radiotap.ampdu == packets->radiotap.ampdu)
		i++;
	return i;
}

static void print_ppdu(const char *head, const struct trace_reader *reader,
		       const struct trace_packet *packets, size_t n,
		       const char *mark)
{
	struct line line = { .length = 0 };

	say(&line, "%s", mark);
	if (n > 1)
		say_ampdu(&line, reader, packets, n);
	else
		say_packet(&line, reader, packets);
	print_wrapped(head, &line);
}

void explain_together(const struct trace_reader *reader,
		      const struct trace_packet *packets, size_t n)
{
	bool collision = in_ppdu(packets, n) < n, collided = false;
	char head[32];

	if (collision) {
		struct line line = { .length = 0 };
		ns_t end = packets->end;

		for (size_t i = 0; i < n; i++) {
			end = packets[i].end > end ? packets[i].end : end;
			collided |= packets[i].collided;
		}
		snprintf(head, sizeof(head), "%11.6f %6.0f",
			 (double)packets->at / NS_PER_S, us(end - packets->at));
		say(&line, collided ? "COLLISION" : "AT ONCE");
		print_wrapped(head, &line);
	}
	for (size_t i = 0, ppdu; i < n; i += ppdu) {
		ppdu = in_ppdu(&packets[i], n - i);
		snprintf(head, sizeof(head), "%11.6f %6.0f",
			 (double)packets[i].at / NS_PER_S,
			 us(packets[i].end - packets[i].at));
		print_ppdu(collision ? "" : head, reader, &packets[i], ppdu,
			   collision ? "  " : "");
	}
}
