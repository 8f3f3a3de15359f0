// SPDX-License-Identifier: GPL-2.0-only
/*
 * How late a device tells that it has sent, and so how much more it needs below.
 *
 * Principle: some devices free a packet many milliseconds after they have sent it. Until then it
 * counts as below. So what is freed in that time may be below besides what pace.c allows. This is
 * the product of delay and bandwidth that TCP's window needs. As BBR does (N. Cardwell et al.,
 * "BBR: Congestion-Based Congestion Control", ACM Queue 2016), each of the two is measured at a
 * time when the other does not disturb it.
 *
 * The delay. Where many stations contend, packets take long too, and with more below they would
 * only wait for longer. So the delay is measured with samples: packets that are handed down when
 * nothing that counts is below. If the device is late, all samples take about as long. If it is
 * not, or if only one station's packets take long, others take less. While packets always wait
 * there are no samples, so the bound must run dry now and then: for a late device every 10 s, for
 * any other only after a second in which most packets took about as long, until one packet takes
 * nearly no time.
 *
 * If a sample takes much less than the delay, or a quarter of what is freed in a round, the device
 * is not so late any more. Or it never was, and a station that slept made it look so. What is freed
 * at once counts as one: when a station leaves, a driver frees all that it has for it.
 *
 * The bandwidth. What is freed in a round depends on what was allowed. So twice as much as the best
 * round freed is allowed, until three rounds free little more. Then what the best round freed is
 * enough: more would wait below, where nobody orders it. Two of eight rounds try a quarter more.
 *
 * A packet alone takes its time on the air, on an idle device too. If that is taken for a delay,
 * about one packet more is allowed.
 *
 * Pure arithmetic: no packet, no lock, no clock.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/time64.h>
#include "late.h"
#include "pace.h"
#include "ticket.h"
#include "uapi/pkt_sch_inflight.h"

#define INFLIGHT_LATE_LEAST	INFLIGHT_PACE_NS	/* the pace allows for less */
#define INFLIGHT_LATE_MOST	NSEC_PER_SEC
#define INFLIGHT_LATE_COUNT	4U			/* delays at least, to judge by them */
#define INFLIGHT_LATE_SPAN	NSEC_PER_SEC		/* they must take that long */
#define INFLIGHT_LATE_AGAIN	(10ULL * NSEC_PER_SEC)
#define INFLIGHT_LATE_ROUND	(100 * NSEC_PER_MSEC)	/* at least */
#define INFLIGHT_LATE_GAP	(100 * NSEC_PER_USEC)	/* freed closer together: at once */
#define INFLIGHT_LATE_PERIOD	(5ULL * NSEC_PER_SEC)
#define INFLIGHT_LATE_FLAT	3U			/* rounds */
#define INFLIGHT_LATE_CYCLE	8U			/* rounds */
#define INFLIGHT_LATE_BYTES	(256U << 20)		/* 2 Gb/s for INFLIGHT_LATE_MOST */

/* Packets contend for the medium, on a late device too. */
static bool inflight_is_near(u64 delay, u64 other)
{
	return 2 * delay <= 5 * other;
}

static bool inflight_is_sooner(u64 delay, u64 other)
{
	return 4 * delay < 3 * other;
}

static void inflight_delays_add(struct inflight_delays *delays, u64 delay, u64 now)
{
	if (!delays->count) {
		delays->since = now;
		delays->least = delay;
	}
	if (!inflight_is_near(delays->least, delay))
		delays->near = 0;
	delays->least = min(delays->least, delay);
	delays->near += inflight_is_near(delay, delays->least);
	delays->count++;
}

/* What most of them have in common, ns; 0: nothing, or too little to matter. */
static u64 inflight_delays_common(const struct inflight_delays *delays)
{
	if (delays->count < INFLIGHT_LATE_COUNT || 4 * delays->near < 3 * delays->count ||
	    delays->least < INFLIGHT_LATE_LEAST)
		return 0;
	return min_t(u64, delays->least, INFLIGHT_LATE_MOST);
}

/* Return: ns: so late the device may be, as far as it is known. */
u64 inflight_late_at_most(const struct inflight_late *late)
{
	return max(late->ns, min_t(u64, 2 * late->suspected, INFLIGHT_LATE_MOST));
}

static void inflight_late_learn(struct inflight_late *late, u64 ns, u64 now)
{
	if (!ns || !late->ns) {
		late->round = now;
		late->flat = 0;
		late->batches = 0;
		late->sooner = 0;
		memset(&late->freed, 0, sizeof(late->freed));
		memset(late->best, 0, sizeof(late->best));
	}
	late->ns = ns;
	late->suspected = 0;
	late->learnt = now;
	memset(&late->samples, 0, sizeof(late->samples));
}

/**
 * inflight_late_give_up() - the bound has not run dry for too long
 * @late: what is known, and stays so for now
 * @now: ns
 */
void inflight_late_give_up(struct inflight_late *late, u64 now)
{
	inflight_late_learn(late, late->ns, now);
}

/* A packet was freed. What do all that were freed in this second say? */
static void inflight_late_suspect(struct inflight_late *late, u64 delay, u64 now)
{
	struct inflight_delays *any = &late->any;
	u64 common;

	inflight_delays_add(any, delay, now);
	if (now - any->since < INFLIGHT_LATE_SPAN)
		return;
	common = max(late->ns, inflight_delays_common(any));
	if (late->suspected || !late->learnt || now - late->learnt >= INFLIGHT_LATE_AGAIN)
		late->suspected = max(late->suspected, common);
	memset(any, 0, sizeof(*any));
}

/* The device is not so late. But perhaps it is less late. */
static void inflight_late_forget(struct inflight_late *late, u64 now)
{
	inflight_late_learn(late, 0, now);
	late->suspected = INFLIGHT_LATE_LEAST;
}

/*
 * A packet was freed while samples are wanted. A sample that takes little longer than the device is
 * known to be late says that it is not later. Any packet that takes nearly no time says that it is
 * not late.
 */
static void inflight_late_sample(struct inflight_late *late, u64 delay, bool sample, u64 now)
{
	struct inflight_delays *samples = &late->samples;

	if (late->ns ? sample && 2 * delay < 3 * late->ns : delay < INFLIGHT_LATE_LEAST) {
		inflight_late_learn(late, late->ns, now);
		return;
	}
	if (!sample)
		return;
	inflight_delays_add(samples, delay, now);
	if (samples->count < INFLIGHT_LATE_COUNT)
		return;
	if (now - samples->since >= INFLIGHT_LATE_SPAN || 2 * samples->near < samples->count)
		inflight_late_learn(late, max(inflight_delays_common(samples), late->ns), now);
}

/* A round is over: does the device send more than in the best one so far? */
static void inflight_late_round(struct inflight_late *late, u64 now)
{
	u64 ns = now - late->round;
	u64 bytes = div64_u64((u64)late->freed.bytes * late->ns, ns);
	u64 packets = div64_u64((u64)late->freed.packets * late->ns, ns);
	struct inflight_freed *best = late->best;
	u64 before = max(best[0].bytes, best[1].bytes);

	if (bytes > before + before / 4)
		late->flat = 0;
	else
		late->flat++;
	if (now - late->period >= INFLIGHT_LATE_PERIOD) {
		late->period = now;
		best[1] = best[0];
		best[0] = (struct inflight_freed) {};
	}
	best[0].bytes = max_t(u32, best[0].bytes, min_t(u64, bytes, INFLIGHT_LATE_BYTES));
	best[0].packets = max_t(u32, best[0].packets, min_t(u64, packets, TC_INFLIGHT_MAX));
	late->freed = (struct inflight_freed) {};
	late->batches = 0;
	late->sooner = 0;
	late->round = now;
}

/**
 * inflight_late_note() - a packet was freed
 * @late: what is known
 * @ticket: the packet's
 * @counts: it counted until now
 * @now: ns
 *
 * What does not count, as packets for a station that sleeps, is no sample, and says nothing of the
 * bandwidth.
 */
void inflight_late_note(struct inflight_late *late, const struct inflight_ticket *ticket,
			bool counts, u64 now)
{
	u64 delay = now - ticket->at;

	inflight_late_suspect(late, delay, now);
	if (!counts)
		return;
	if (ticket->first && inflight_is_sooner(delay, late->ns))
		inflight_late_forget(late, now);
	if (late->suspected)
		inflight_late_sample(late, delay, ticket->first, now);
	if (!late->ns)
		return;
	if (now - late->last >= INFLIGHT_LATE_GAP) {
		late->batches++;
		late->sooner += inflight_is_sooner(delay, late->ns);
	}
	late->last = now;
	late->freed.bytes += ticket->bytes;
	late->freed.packets += ticket->packets;
	if (now - late->round < max_t(u64, late->ns, INFLIGHT_LATE_ROUND))
		return;
	if (late->sooner >= INFLIGHT_LATE_COUNT && 4 * late->sooner >= late->batches)
		inflight_late_forget(late, now);
	else
		inflight_late_round(late, now);
}

/* How much of what the best round freed may be below, in quarters. */
static u32 inflight_late_gain(const struct inflight_late *late)
{
	if (late->flat < INFLIGHT_LATE_FLAT)
		return 8;
	return late->flat % INFLIGHT_LATE_CYCLE < 2 ? 5 : 4;
}

/* Return: bytes that may be below besides. */
u32 inflight_late_bytes(const struct inflight_late *late)
{
	return max(late->best[0].bytes, late->best[1].bytes) / 4 * inflight_late_gain(late);
}

/* Return: packets that may be below besides. */
u32 inflight_late_packets(const struct inflight_late *late)
{
	return max(late->best[0].packets, late->best[1].packets) * inflight_late_gain(late) / 4;
}
