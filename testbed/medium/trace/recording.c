// SPDX-License-Identifier: GPL-2.0-only
/* Writing a recording: see recording.h. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "options.h"
#include "recording.h"
#include "station_option.h"

void recording_begin(struct recording *recording, const char *path,
		  const struct mac_words *words)
{
	*recording = (struct recording){ .path = path };
	if (!path)
		return;
	recording->file = fopen(path, "w");
	if (!recording->file)
		fatal("--record: cannot write %s: %s", path, strerror(errno));
	fprintf(recording->file, "%s %d\n", RECORDING_FORMAT, RECORDING_SCHEMA);
	for (int i = 0; i < words->n; i++)
		fprintf(recording->file, "option %s %s\n",
			mac_option_name(words->word[i].option), words->word[i].value);
}

void recording_advance(struct recording *recording)
{
	recording->advanced = true;
}

static void begin_event(struct recording *recording, ns_t now)
{
	fprintf(recording->file, "%c %" PRIu64 " ",
		recording->advanced ? '+' : '=', now);
	recording->advanced = false;
	recording->events++;
}

void recording_station(struct recording *recording, ns_t now,
		    const struct mac_station_config *station)
{
	char words[STATION_WORDS_MAX];

	if (!recording->file)
		return;
	begin_event(recording, now);
	station_words(station, words);
	fprintf(recording->file, "station %s\n", words);
}

static void put_rate(struct recording *recording, const struct mac_frame *frame)
{
	const struct rate_chain *chain = &frame->chain;

	if (!rate_chain_attempts(chain)) {
		fprintf(recording->file, "%u\n", frame->rate);
		return;
	}
	for (int i = 0; i < RATE_CHAIN_MAX && chain->count[i]; i++)
		fprintf(recording->file, "%s%ux%u", i ? "+" : "", chain->rate[i],
			chain->count[i]);
	fputc('\n', recording->file);
}

static void put_frame(struct recording *recording, int from,
		      const struct mac_frame *frame)
{
	char flags[5], *end = flags;

	if (frame->wants_ack)
		*end++ = 'a';
	if (frame->basic_rate)
		*end++ = 'b';
	if (frame->carries_data)
		*end++ = 'd';
	if (frame->is_tcp_ack)
		*end++ = 't';
	if (end == flags)
		*end++ = '-';
	*end = '\0';
	fprintf(recording->file, "frame %d %d %u %s ", from, frame->to,
		frame->bytes, flags);
	put_rate(recording, frame);
}

void recording_frame(struct recording *recording, ns_t now, int from,
		  const struct mac_frame *frame)
{
	if (!recording->file)
		return;
	begin_event(recording, now);
	put_frame(recording, from, frame);
}

void recording_reply(struct recording *recording, ns_t now, int from,
		  const struct mac_frame *frame)
{
	if (!recording->file)
		return;
	fprintf(recording->file, "@ %" PRIu64 " ", now);
	recording->events++;
	put_frame(recording, from, frame);
}

void recording_channel(struct recording *recording, ns_t now, int station,
		    unsigned int freq)
{
	if (!recording->file)
		return;
	begin_event(recording, now);
	fprintf(recording->file, "channel %d %u\n", station, freq);
}

void recording_mark(struct recording *recording, ns_t now)
{
	if (!recording->file)
		return;
	begin_event(recording, now);
	fputs("mark\n", recording->file);
}

void recording_lossless(struct recording *recording, ns_t now)
{
	if (!recording->file)
		return;
	begin_event(recording, now);
	fputs("lossless\n", recording->file);
}

void recording_end(struct recording *recording, ns_t now, uint64_t digest)
{
	bool failed;

	if (!recording->file)
		return;
	fprintf(recording->file, "%c %" PRIu64 " end %" PRIu64 " %016" PRIx64 "\n",
		recording->advanced ? '+' : '=', now, recording->events, digest);
	failed = ferror(recording->file);
	if (fclose(recording->file) || failed)
		fatal("--record: cannot write %s: %s", recording->path,
		      strerror(errno));
	recording->file = NULL;
}
