// SPDX-License-Identifier: GPL-2.0-only
/* The summary at the end of `dcfmedium explain`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain_summary.h"

/* One sender. A PPDU counts once; its MPDUs are attempts each. */
struct row {
	uint8_t addr[MAC_ADDR_LEN];
	size_t attempts, again, collided, lost, given_up;
	ns_t airtime;
};

struct table {
	struct row rows[MAC_MAX_STATIONS];
	int n;
};

static struct row *row_of(struct table *table, const uint8_t *addr)
{
	for (int i = 0; i < table->n; i++)
		if (!memcmp(table->rows[i].addr, addr, MAC_ADDR_LEN))
			return &table->rows[i];
	if (table->n == MAC_MAX_STATIONS)
		return NULL;
	memcpy(table->rows[table->n].addr, addr, MAC_ADDR_LEN);
	return &table->rows[table->n++];
}

/* Whose exchange it is of: an ACK, block ack or CTS is the one's it is for. */
static const uint8_t *owner(const struct trace_packet *packet)
{
	uint8_t type = packet->mpdu[0];

	if (type == FC0_ACK || type == FC0_CTS || type == FC0_BLOCK_ACK)
		return packet->mpdu + MPDU_ADDR1;
	return packet->mpdu + MPDU_ADDR2;
}

static bool is_response(const struct trace_packet *packet)
{
	return owner(packet) == packet->mpdu + MPDU_ADDR1;
}

static void count(struct row *row, const struct trace_packet *packet, bool anew,
		  ns_t until)
{
	ns_t end = packet->end < until ? packet->end : until;
	bool bad = packet->radiotap.flags & RADIOTAP_BAD_FCS;

	if (anew)
		row->airtime += end - packet->at;
	if (is_response(packet))
		return;
	if (packet->mpdu[0] == FC0_BLOCK_ACK_REQ)
		return;
	/* An RTS that was answered announces an attempt and is none itself. */
	if (packet->mpdu[0] == FC0_RTS && !bad)
		return;
	row->attempts++;
	row->again += packet->radiotap.retries > 0;
	row->collided += packet->collided;
	row->lost += bad && !packet->collided;
	row->given_up += (packet->radiotap.tx_flags & RADIOTAP_TX_FAIL) != 0;
}

/* @packet begins another PPDU than the one before it did. */
static bool begins_ppdu(const struct trace_packet *packet,
			const struct trace_packet *before)
{
	return !before || !packet->radiotap.in_ampdu ||
	       !before->radiotap.in_ampdu ||
	       packet->radiotap.ampdu != before->radiotap.ampdu;
}

static int by_address(const void *a, const void *b)
{
	return memcmp(((const struct row *)a)->addr, ((const struct row *)b)->addr,
		      MAC_ADDR_LEN);
}

static void print_row(const struct trace_reader *reader, const struct row *row,
		      ns_t length)
{
	char text[MAC_NAME_LEN];

	printf("%-17.17s %9zu %8zu %9zu %8zu %9zu %10.1f %%\n",
	       trace_reader_name(reader, row->addr, text), row->attempts,
	       row->again, row->collided, row->lost, row->given_up,
	       100.0 * row->airtime / length);
}

/*
 * Time in which at least one frame, or a collision, was in the air. Frames from
 * before the span keep it busy until span->busy_until.
 */
static void add_busy(const struct span *span, ns_t until, ns_t *busy,
		     ns_t *colliding, size_t *collisions)
{
	ns_t end = span->busy_until, collision_end = 0;

	for (size_t i = 0; i < span->n; i++) {
		const struct trace_packet *p = &span->packets[i];
		ns_t stop = p->end < until ? p->end : until;
		ns_t start = p->at > end ? p->at : end;

		if (stop > start)
			*busy += stop - start;
		if (stop > end)
			end = stop;
		if (!p->collided)
			continue;
		*collisions += p->at >= collision_end;
		start = p->at > collision_end ? p->at : collision_end;
		if (stop > start)
			*colliding += stop - start;
		if (stop > collision_end)
			collision_end = stop;
	}
}

void explain_summary(const struct trace_reader *reader, const struct span *span,
		     ns_t from, ns_t length)
{
	static struct table table;
	ns_t before = span->busy_until < from + length ? span->busy_until : from + length;
	ns_t busy = before > from ? before - from : 0, colliding = 0;
	size_t collisions = 0;

	for (size_t i = 0; i < span->n; i++) {
		const struct trace_packet *packet = &span->packets[i];
		struct row *row = row_of(&table, owner(packet));

		if (row)
			count(row, packet,
			      begins_ppdu(packet, i ? packet - 1 : NULL),
			      from + length);
	}
	qsort(table.rows, table.n, sizeof(table.rows[0]), by_address);
	add_busy(span, from + length, &busy, &colliding, &collisions);
	printf("\n%.6f s from %.6f: idle %.1f %%, %zu collisions %.1f %%\n",
	       (double)length / NS_PER_S, (double)from / NS_PER_S,
	       100.0 * (length - busy) / length, collisions,
	       100.0 * colliding / length);
	printf("%-17s %9s %8s %9s %8s %9s %12s\n", "station", "attempts", "again",
	       "collided", "lost", "given up", "airtime");
	for (int i = 0; i < table.n; i++)
		print_row(reader, &table.rows[i], length);
}
