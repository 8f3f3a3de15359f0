// SPDX-License-Identifier: GPL-2.0-only
/*
 * JSON lines of flowgen: a "sample" per interval at the receiver, with "delays"
 * if it receives or taps datagrams, "rtts" at a connection's sender, a "flow" per end
 * when it is over. An unknown value is null, never zero.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "die.h"
#include "record.h"

int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

void record_init(struct record *rec)
{
	*rec = (struct record) {
		.start = UNSET, .connected = UNSET, .first_byte = UNSET, .end = UNSET,
		.retrans = UNSET, .segments = UNSET, .mss = UNSET, .ignored = UNSET,
	};
}

struct value_text { char text[32]; };

static struct value_text count(int64_t value)
{
	struct value_text out = { "null" };

	if (value != UNSET)
		snprintf(out.text, sizeof(out.text), "%lld", (long long)value);
	return out;
}

static struct value_text seconds(int64_t ns)
{
	struct value_text out = { "null" };

	if (ns != UNSET)
		snprintf(out.text, sizeof(out.text), "%lld.%09lld",
			 (long long)(ns / NSEC_PER_SEC),
			 (long long)(ns % NSEC_PER_SEC));
	return out;
}

static const char *side(const struct record *rec)
{
	if (rec->tap)
		return "tap";
	if (rec->turn)
		return "turn";
	return rec->sender ? "sender" : "receiver";
}

static void put_line(int fd, const char *line, int length)
{
	ssize_t put;

	do {
		put = write(fd, line, length);
	} while (put < 0 && errno == EINTR);
	if (put != length)
		die(put < 0 ? errno : ENOSPC, "cannot write a record");
}

void record_sample(int fd, const struct record *rec, int64_t at)
{
	char line[256];
	int length;

	length = snprintf(line, sizeof(line),
			  "{\"schema\":1,\"event\":\"sample\",\"id\":\"%s\",\"side\":\"%s\",\"t_s\":%s,\"bytes\":%llu}\n",
			  rec->id, side(rec), seconds(at).text,
			  (unsigned long long)rec->bytes);
	put_line(fd, line, length);
}

void record_flow(int fd, const struct record *rec)
{
	char error[sizeof(rec->error) + 2] = "null";
	char line[768];
	int length;

	/* ids and error texts hold nothing that JSON would have escaped */
	if (rec->error[0])
		snprintf(error, sizeof(error), "\"%s\"", rec->error);
	length = snprintf(line, sizeof(line),
			  "{\"schema\":1,\"event\":\"flow\",\"id\":\"%s\",\"dir\":\"%s\",\"side\":\"%s\",\"bytes\":%llu,"
			  "\"start_s\":%s,\"connected_s\":%s,\"first_byte_s\":%s,\"end_s\":%s,\"retrans\":%s,\"segments\":%s,\"mss\":%s,\"ignored\":%s,\"error\":%s}\n",
			  rec->id, rec->dir == DIR_UP ? "up" : "down", side(rec),
			  (unsigned long long)rec->bytes,
			  seconds(rec->start).text, seconds(rec->connected).text,
			  seconds(rec->first_byte).text, seconds(rec->end).text,
			  count(rec->retrans).text, count(rec->segments).text,
			  count(rec->mss).text, count(rec->ignored).text, error);
	put_line(fd, line, length);
}

static void put_us(int fd, const struct record *rec, const char *event, int64_t at,
		   const int64_t *delays, unsigned int count)
{
	char line[256 + 24 * DELAYS_MAX];
	const char *comma = "";
	unsigned int i;
	int length;

	length = snprintf(line, sizeof(line),
			  "{\"schema\":1,\"event\":\"%s\",\"id\":\"%s\",\"side\":\"%s\",\"t_s\":%s,\"us\":[",
			  event, rec->id, side(rec), seconds(at).text);
	for (i = 0; i < count; i++, comma = ",")
		length += snprintf(line + length, sizeof(line) - length, "%s%lld",
				   comma, (long long)(delays[i] / 1000));
	length += snprintf(line + length, sizeof(line) - length, "]}\n");
	put_line(fd, line, length);
}

void record_delays(int fd, const struct record *rec, int64_t at,
		   const int64_t *delays, unsigned int count)
{
	put_us(fd, rec, "delays", at, delays, count);
}

void record_returns(int fd, const struct record *rec, int64_t at,
		    const int64_t *delays, unsigned int count)
{
	put_us(fd, rec, "returns", at, delays, count);
}

void record_rtts(int fd, const struct record *rec, int64_t at,
		 const int64_t *rtts, unsigned int count)
{
	put_us(fd, rec, "rtts", at, rtts, count);
}
