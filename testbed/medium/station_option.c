// SPDX-License-Identifier: GPL-2.0-only
/* The value of --station: see station_option.h. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel_option.h"
#include "mac_options.h"
#include "options.h"
#include "station_option.h"

#define CW_LIMIT	65536

/* "02:00:00:00:01:00", a unicast address, up to the end or a comma. */
static bool parse_address(const char *text, uint8_t *addr)
{
	for (int i = 0; i < MAC_ADDR_LEN; i++, text += 3) {
		char end = i + 1 < MAC_ADDR_LEN ? ':' : '\0';

		if (!isxdigit((unsigned char)text[0]) ||
		    !isxdigit((unsigned char)text[1]) || text[2] != end)
			return false;
		addr[i] = strtoul((char[]){ text[0], text[1], '\0' }, NULL, 16);
	}
	return !(addr[0] & 1);
}

bool is_station_address(const char *text)
{
	return parse_address(text, (uint8_t[MAC_ADDR_LEN]){ 0 });
}

/* Names go into JSON as they are, so they hold nothing that needs escaping. */
static void parse_name(const char *text, char *name)
{
	size_t length = 0;

	while (isalnum((unsigned char)text[length]) ||
	       (text[length] && strchr("_.-", text[length])))
		length++;
	if (!length || text[length] || length >= MAC_NAME_LEN)
		usage_error("--station: name '%s' is not 1 to %d letters, digits, '_', '.' or '-'",
			    text, MAC_NAME_LEN - 1);
	memcpy(name, text, length + 1);
}

void name_after_address(struct mac_station_config *station)
{
	const uint8_t *a = station->addr;

	snprintf(station->name, sizeof(station->name),
		 "%02x:%02x:%02x:%02x:%02x:%02x", a[0], a[1], a[2], a[3], a[4],
		 a[5]);
}

void parse_retry(const char *option, const char *text,
		 struct mac_station_config *station)
{
	const char *slash = strchr(text, '/');
	struct mac_retries *retries = &station->retries;
	char first[8] = "";

	*retries = (struct mac_retries){ 0 };
	if (!slash) {
		station->retry_limit = parse_number(option, text, 1, RETRY_MAX);
		return;
	}
	if ((size_t)(slash - text) < sizeof(first))
		memcpy(first, text, slash - text);
	retries->short_limit = parse_number(option, first, 1, RETRY_MAX / 2);
	retries->long_limit = parse_number(option, slash + 1, 1, RETRY_MAX / 2);
	/* The most attempts there can be: the last one fails either way. */
	station->retry_limit = retries->short_limit + retries->long_limit - 1;
}

static void parse_field(char *field, const struct phy_profile *phy,
			struct mac_station_config *station)
{
	char *value = strchr(field, '=');

	if (value)
		*value++ = '\0';
	if (!value || !*value)
		usage_error("--station: '%s' lacks its value; say %s=VALUE",
			    field, field);
	if (!strcmp(field, "name"))
		parse_name(value, station->name);
	else if (!strcmp(field, "retry"))
		parse_retry("--station: retry", value, station);
	else if (!strcmp(field, "cwmin"))
		station->cw_min = parse_number("--station: cwmin", value, 1,
					       CW_LIMIT);
	else if (!strcmp(field, "cwmax"))
		station->cw_max = parse_number("--station: cwmax", value, 1,
					       CW_LIMIT);
	else if (!strcmp(field, "aifsn"))
		station->aifsn = parse_number("--station: aifsn", value, 1, 15);
	else if (!strcmp(field, "txop"))
		station->txop = parse_number("--station: txop", value, 0,
					     2097120) * NS_PER_US;
	else if (!strcmp(field, "rate"))
		station->rate = parse_rate("--station: rate", value, phy);
	else if (!strcmp(field, "snr")) {
		station->has_snr = true;
		station->snr_db = parse_snr("--station: snr", value);
	} else if (!strcmp(field, "signal"))
		station->signal_db = parse_snr("--station: signal", value);
	else if (!strcmp(field, "freq"))
		station->freq = parse_number("--station: freq", value, 1, 100000);
	else if (!strcmp(field, "radio"))
		station->radio = parse_number("--station: radio", value, 0,
					      MAC_MAX_STATIONS);
	else if (!strcmp(field, "priority"))
		station->priority = parse_number("--station: priority", value,
						 0, 3);
	else if (!strcmp(field, "status-delay"))
		station->status_delay = parse_number("--station: status-delay", value,
						     0, 10000000) * NS_PER_US;
	else if (!strcmp(field, "access"))
		station->access = parse_access("--station: access", value);
	else
		usage_error("--station: no field '%s'; there are name, retry, cwmin, cwmax, aifsn, txop, rate, snr, signal, freq, access, radio, priority, status-delay",
			    field);
}

void station_words(const struct mac_station_config *station,
		   char words[STATION_WORDS_MAX])
{
	struct mac_station_config unnamed = *station;
	int length;

	name_after_address(&unnamed);
	length = snprintf(words, STATION_WORDS_MAX,
			  "%s,retry=%u,cwmin=%u,cwmax=%u,access=%s",
			  unnamed.name, station->retry_limit, station->cw_min,
			  station->cw_max, access_name(station->access));
	if (station->retries.short_limit)
		length += snprintf(words + length, STATION_WORDS_MAX - length,
				   ",retry=%u/%u", station->retries.short_limit,
				   station->retries.long_limit);
	if (strcmp(station->name, unnamed.name))
		length += snprintf(words + length, STATION_WORDS_MAX - length,
				   ",name=%s", station->name);
	/* 0 is not a value that can be said of these. */
	if (station->aifsn)
		length += snprintf(words + length, STATION_WORDS_MAX - length,
				   ",aifsn=%u", station->aifsn);
	if (station->txop)
		length += snprintf(words + length, STATION_WORDS_MAX - length,
				   ",txop=%llu", station->txop / NS_PER_US);
	if (station->rate)
		length += snprintf(words + length, STATION_WORDS_MAX - length,
				   ",rate=%g", station->rate / 10.0);
	if (station->has_snr)
		length += snprintf(words + length, STATION_WORDS_MAX - length,
				   ",snr=%.17g", station->snr_db);
	if (station->signal_db)
		length += snprintf(words + length, STATION_WORDS_MAX - length,
				   ",signal=%.17g", station->signal_db);
	if (station->freq)
		length += snprintf(words + length, STATION_WORDS_MAX - length,
				   ",freq=%u", station->freq);
	if (station->radio)
		snprintf(words + length, STATION_WORDS_MAX - length,
			 ",radio=%u,priority=%u", station->radio,
			 station->priority);
}

void parse_station_fields(const char *text, const struct phy_profile *phy,
			  struct mac_station_config *station)
{
	char *copy = strdup(text), *rest = *copy ? copy : NULL, *field;

	if (!copy)
		fatal("out of memory");
	while ((field = strsep(&rest, ",")))
		parse_field(field, phy, station);
	if (station->cw_max < station->cw_min)
		usage_error("--station: cwmax %u is below cwmin %u",
			    station->cw_max, station->cw_min);
	free(copy);
}

void parse_station(const char *text, const struct phy_profile *phy,
		   struct mac_station_config *station)
{
	size_t length = strcspn(text, ",");
	char *address = strndup(text, length);

	if (!address)
		fatal("out of memory");
	if (!parse_address(address, station->addr))
		usage_error("--station: '%s' is not a station's address such as 02:00:00:00:01:00",
			    address);
	free(address);
	name_after_address(station);
	parse_station_fields(text + length + (text[length] == ','), phy, station);
}

void check_station(const struct mac_config *config,
		   const struct mac_station_config *station)
{
	if (station->rate && config->kernel_rates)
		usage_error("--station: rate cannot be used with --rates kernel");
	if (station->has_snr && config->channel.kind != CHANNEL_SNR)
		usage_error("--station: snr needs --channel snr=DB, the SNR of all other stations");
}
