// SPDX-License-Identifier: GPL-2.0-only
/* Reading a recording: see recording_reader.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/phy/phy_rate.h"
#include "options.h"
#include "recording.h"
#include "recording_reader.h"
#include "station_option.h"

#define BYTES_MAX	65535

void recording_bad_line(const struct recording_reader *reader, const char *why)
{
	fatal("%s:%lu: %s", reader->path, reader->line_number, why);
}

/* The next line without its end; a file that ends here was cut short. */
static char *read_line(struct recording_reader *reader)
{
	ssize_t length = getline(&reader->line, &reader->line_size, reader->file);

	if (length <= 0 || reader->line[length - 1] != '\n')
		fatal("%s: the recording is cut short after line %lu; its last line says `end`",
		      reader->path, reader->line_number);
	reader->line_number++;
	reader->line[length - 1] = '\0';
	if (strlen(reader->line) != (size_t)length - 1)
		recording_bad_line(reader, "has an octet 0 in it");
	return reader->line;
}

void recording_open(struct recording_reader *reader, const char *path)
{
	int schema, length = 0;
	char *line = NULL;
	size_t size = 0;

	*reader = (struct recording_reader){ .path = path };
	reader->file = fopen(reader->path, "r");
	if (!reader->file)
		fatal("cannot read %s: %s", reader->path, strerror(errno));
	errno = 0;
	if (getline(&line, &size, reader->file) < 0 && errno)
		fatal("cannot read %s: %s", reader->path, strerror(errno));
	if (!line || sscanf(line, RECORDING_FORMAT " %d\n%n", &schema, &length) != 1 ||
	    !length)
		fatal("%s is no recording; `hwsim --record` and `saturate --record` write one",
		      reader->path);
	if (schema != RECORDING_SCHEMA)
		fatal("%s has schema %d; this program reads %d", reader->path,
		      schema, RECORDING_SCHEMA);
	reader->line_number = 1;
	free(line);
}

void recording_close(struct recording_reader *reader)
{
	fclose(reader->file);
	free(reader->line);
}

char *recording_option(struct recording_reader *reader)
{
	char *line = read_line(reader);

	return strncmp(line, "option ", 7) ? NULL : line + 7;
}

static bool known_rate(const struct recording_reader *reader, unsigned int rate)
{
	return phy_rate_of(reader->phy, rate);
}

/* "0", "110", or a retry chain "110x2+55x4". */
static void read_rate(struct recording_reader *reader, const char *word,
		      struct mac_frame *frame)
{
	struct rate_chain *chain = &frame->chain;
	int end = 0;

	if (sscanf(word, "%u%n", &frame->rate, &end) == 1 && !word[end]) {
		if (frame->rate && !known_rate(reader, frame->rate))
			recording_bad_line(reader, "has a rate that the profile does not have");
		return;
	}
	frame->rate = 0;
	for (int i = 0; i < RATE_CHAIN_MAX; i++) {
		if (sscanf(word, "%ux%u%n", &chain->rate[i], &chain->count[i],
			   &end) != 2 || !chain->count[i] ||
		    chain->count[i] > RETRY_MAX ||
		    !known_rate(reader, chain->rate[i]))
			break;
		word += end;
		if (!*word) {
			reader->has_chains = true;
			return;
		}
		if (*word++ != '+')
			break;
	}
	recording_bad_line(reader, "has rates that are not RATE or RATExCOUNT+...");
}

static void read_frame(struct recording_reader *reader, const char *words,
		       struct recording_event *event)
{
	struct mac_frame *frame = &event->frame;
	char flags[8];
	int rate = 0;

	*frame = (struct mac_frame){ 0 };
	if (sscanf(words, "%d %d %u %7s %n", &event->from, &frame->to,
		   &frame->bytes, flags, &rate) != 4 || !rate || !words[rate])
		recording_bad_line(reader, "is not `frame FROM TO BYTES FLAGS RATE`");
	if (event->from < 0 || event->from >= reader->n_stations ||
	    frame->to < MAC_EVERYBODY || frame->to >= reader->n_stations)
		recording_bad_line(reader, "names a station that does not exist yet");
	if (!frame->bytes || frame->bytes > BYTES_MAX)
		recording_bad_line(reader, "has a frame of an impossible length");
	if (flags[strspn(flags, "abdt-")])
		recording_bad_line(reader, "has a flag other than a, b, d and t");
	frame->wants_ack = strchr(flags, 'a');
	frame->basic_rate = strchr(flags, 'b');
	frame->carries_data = strchr(flags, 'd');
	frame->is_tcp_ack = strchr(flags, 't');
	read_rate(reader, words + rate, frame);
}

/* What follows the time on a line. */
static void read_event(struct recording_reader *reader, char *words)
{
	struct recording_event *event = &reader->next;
	char *rest = strchr(words, ' ');
	int end = 0;

	if (rest)
		*rest++ = '\0';
	if (!strcmp(words, "mark") && !rest) {
		event->kind = RECORDING_MARK;
	} else if (!strcmp(words, "lossless") && !rest) {
		event->kind = RECORDING_LOSSLESS;
	} else if (!strcmp(words, "frame") && rest) {
		event->kind = RECORDING_FRAME;
		read_frame(reader, rest, event);
	} else if (!strcmp(words, "channel") && rest) {
		event->kind = RECORDING_CHANNEL;
		if (sscanf(rest, "%d %u%n", &event->from, &event->freq, &end) != 2 ||
		    rest[end] || event->from < 0 ||
		    event->from >= reader->n_stations)
			recording_bad_line(reader, "is not `channel STATION MHZ` of a station that is there");
	} else if (!strcmp(words, "station") && rest) {
		event->kind = RECORDING_STATION;
		event->station = (struct mac_station_config){ 0 };
		parse_station(rest, reader->phy, &event->station);
		if (!event->station.retry_limit || !event->station.cw_min)
			recording_bad_line(reader, "has a station without retry or cwmin");
		reader->n_stations++;
	} else if (!strcmp(words, "end") && rest &&
		   sscanf(rest, "%" SCNu64 " %" SCNx64 "%n", &event->events,
			  &event->digest, &end) == 2 && !rest[end]) {
		event->kind = RECORDING_END;
	} else {
		recording_bad_line(reader, "is none of station, frame, channel, mark, lossless and end");
	}
}

/* A line with a time becomes reader->next. */
static void take_event(struct recording_reader *reader, char *line)
{
	struct recording_event *event = &reader->next;
	ns_t before = event->at;
	int words = 0;

	if (sscanf(line, "%c %" SCNu64 " %n", &event->how, &event->at,
		   &words) != 2 || !words || !strchr("+=@", event->how))
		recording_bad_line(reader, "does not begin with +, = or @ and a time");
	if (event->at < before)
		recording_bad_line(reader, "goes back in time");
	read_event(reader, line + words);
	if (event->how == '@' && event->kind != RECORDING_FRAME)
		recording_bad_line(reader, "has @, which only a frame can have");
	if (event->kind == RECORDING_END && event->events != reader->events)
		fatal("%s: lines are missing: %" PRIu64 " of %" PRIu64 " events are there",
		      reader->path, reader->events, event->events);
	reader->events++;
}

void recording_first(struct recording_reader *reader)
{
	take_event(reader, reader->line);
}

void recording_next(struct recording_reader *reader)
{
	take_event(reader, read_line(reader));
}
