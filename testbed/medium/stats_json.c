// SPDX-License-Identifier: GPL-2.0-only
/* The statistics of a medium as JSON: see stats_json.h. */
#include <inttypes.h>

#include "core/phy/phy_rate.h"
#include "stats_json.h"

static double seconds(ns_t t)
{
	return (double)t / NS_PER_S;
}

struct mac_counters stats_total(const struct mac *mac)
{
	struct mac_counters total = { 0 };

	for (int i = 0; i < mac->n_stations; i++) {
		const struct mac_counters *c = &mac->stations[i].counters;

		total.frames_in += c->frames_in;
		total.tx += c->tx;
		total.collisions += c->collisions;
		total.lost += c->lost;
		total.drops += c->drops;
		total.delivered += c->delivered;
		total.broadcasts += c->broadcasts;
		total.broadcast_collisions += c->broadcast_collisions;
	}
	return total;
}

double stats_collision_probability(const struct mac_counters *total)
{
	return total->tx ? (double)total->collisions / total->tx : 0.0;
}

static void write_airtime(FILE *out, const struct mac *mac, ns_t span)
{
	const struct mac_airtime *a = &mac->airtime;
	ns_t busy = a->success + a->collision + a->broadcast + a->unanswered +
		    a->lost;

	/* Transmissions count when they end, so what is not done is idle. */
	fprintf(out, " \"airtime_s\": {\"success\": %.9f", seconds(a->success));
	fprintf(out, ", \"collision\": %.9f", seconds(a->collision));
	fprintf(out, ", \"broadcast\": %.9f", seconds(a->broadcast));
	fprintf(out, ", \"unanswered\": %.9f", seconds(a->unanswered));
	fprintf(out, ", \"lost\": %.9f", seconds(a->lost));
	fprintf(out, ", \"idle\": %.9f},\n",
		seconds(span > busy ? span - busy : 0));
}

static void write_counter(FILE *out, const char *name, uint64_t value)
{
	fprintf(out, ", \"%s\": %" PRIu64, name, value);
}

/* Attempts of all frames by their rate in Mb/s. */
static void write_rates(FILE *out, const struct mac_counters *c)
{
	const char *comma = "";

	fputs(", \"attempts_by_rate\": {", out);
	for (int i = 0; i < PHY_N_RATES; i++) {
		if (!c->attempts_at[i])
			continue;
		fprintf(out, "%s\"%g\": %" PRIu64, comma,
			phy_rates[i].rate / 10.0, c->attempts_at[i]);
		comma = ", ";
	}
	fputc('}', out);
}

static void write_station(FILE *out, const struct mac_station *s)
{
	const struct mac_counters *c = &s->counters;
	const uint8_t *a = s->config.addr;

	fprintf(out,
		"  {\"name\": \"%s\", \"addr\": \"%02x:%02x:%02x:%02x:%02x:%02x\"",
		s->config.name, a[0], a[1], a[2], a[3], a[4], a[5]);
	write_counter(out, "retry_limit", s->config.retry_limit);
	write_counter(out, "frames_in", c->frames_in);
	write_counter(out, "data_frames_in", c->data_frames_in);
	write_counter(out, "bytes_in", c->bytes_in);
	write_counter(out, "tx", c->tx);
	write_counter(out, "collisions", c->collisions);
	write_counter(out, "ack_collisions", c->ack_collisions);
	write_counter(out, "unanswered", c->unanswered);
	write_counter(out, "withheld", c->withheld);
	write_counter(out, "lost", c->lost);
	write_counter(out, "acks_lost", c->acks_lost);
	write_counter(out, "internal_collisions", c->internal_collisions);
	write_counter(out, "ampdus", c->ampdus);
	write_counter(out, "ampdu_mpdus", c->ampdu_mpdus);
	write_counter(out, "recovered", c->recovered);
	write_counter(out, "bars", c->bars);
	write_counter(out, "bars_failed", c->bars_failed);
	write_counter(out, "reorder_held", c->reorder_held);
	write_counter(out, "reorder_released", c->reorder_released);
	write_counter(out, "reorder_start", c->reorder_start);
	write_counter(out, "reorder_waiting", s->waiting);
	write_counter(out, "txop_bursts", c->txop_bursts);
	write_counter(out, "retries", c->retries);
	write_counter(out, "drops", c->drops);
	write_counter(out, "delivered", c->delivered);
	write_counter(out, "broadcasts", c->broadcasts);
	write_counter(out, "broadcast_collisions", c->broadcast_collisions);
	write_counter(out, "backlog_start", c->backlog_start);
	write_counter(out, "backlog", s->backlog);
	write_counter(out, "queue_high_water", c->queue_high_water);
	write_rates(out, c);
	if (s->config.access == MAC_IDLE_SENSE)
		fprintf(out, ", \"mean_idle_slots\": %.4f, \"window\": %.2f",
			c->heard ? (double)c->idle_slots / c->heard : 0,
			s->idle_sense.window);
	fprintf(out, ", \"airtime_s\": %.9f, \"tcp_ack_airtime_s\": %.9f",
		seconds(c->airtime), seconds(c->tcp_ack_airtime));
	fprintf(out, ", \"airtime_to_s\": %.9f}", seconds(c->airtime_to));
}

static void write_integrity(FILE *out, const struct integrity *integrity)
{
	fprintf(out, " \"integrity\": {\"lost\": %" PRIu64, integrity->lost);
	write_counter(out, "overflow", integrity->overflow);
	write_counter(out, "einval", integrity->einval);
	write_counter(out, "unknown_station", integrity->unknown_station);
	write_counter(out, "queue_overflow", integrity->queue_overflow);
	write_counter(out, "malformed", integrity->malformed);
	write_counter(out, "unknown_rate", integrity->unknown_rate);
	fputc('}', out);
}

void stats_write(FILE *out, const struct mac *mac, ns_t now,
		 const struct integrity *integrity,
		 const struct saturation_result *result)
{
	struct mac_counters total = stats_total(mac);
	ns_t span = now - mac->mark;

	fprintf(out, "{\"schema\": 1, \"profile\": \"%s\"",
		mac->config.phy->name);
	write_counter(out, "seed", mac->config.seed);
	fprintf(out, ", \"eifs\": %s", mac->config.eifs ? "true" : "false");
	fprintf(out, ", \"rates\": \"%s\"",
		mac->config.kernel_rates ? "kernel" : "fixed");
	fprintf(out, ", \"idle_target\": %.4f,\n", mac->config.idle_target);
	fprintf(out, " \"virtual_s\": %.9f, \"digest\": \"%016" PRIx64 "\"",
		seconds(span), mac->digest);
	if (result)
		fprintf(out, ", \"throughput_mbps\": %.6f",
			result->throughput_mbps);
	if (result && result->spans)
		fprintf(out, ", \"jain_1s\": {\"mean\": %.6f, \"min\": %.6f}",
			result->jain_sum / result->spans, result->jain_min);
	write_counter(out, "tx", total.tx);
	write_counter(out, "collisions", total.collisions);
	fprintf(out, ", \"collision_probability\": %.6f",
		stats_collision_probability(&total));
	write_counter(out, "lost", total.lost);
	write_counter(out, "drops", total.drops);
	write_counter(out, "delivered", total.delivered);
	write_counter(out, "broadcasts", total.broadcasts);
	fputs(",\n", out);
	write_airtime(out, mac, span);
	fputs(" \"stations\": [\n", out);
	for (int i = 0; i < mac->n_stations; i++) {
		write_station(out, &mac->stations[i]);
		fputs(i + 1 < mac->n_stations ? ",\n" : "\n", out);
	}
	fputs(" ],\n", out);
	write_integrity(out, integrity);
	fputs("}\n", out);
}
