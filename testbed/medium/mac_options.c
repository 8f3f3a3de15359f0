// SPDX-License-Identifier: GPL-2.0-only
/* The options that configure the MAC and the channel: see mac_options.h. */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "channel_option.h"
#include "mac_options.h"
#include "options.h"

static double parse_idle_target(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (!isdigit((unsigned char)*text) || *end || !(value >= 0.1) ||
	    value > 1000)
		usage_error("--idle-target: '%s' is not a number of slots from 0.1 to 1000",
			    text);
	return value;
}

static const struct option mac_options[] = { MAC_OPTIONS, { } };

void keep_mac_option(struct mac_words *words, int option)
{
	if (words->n == MAC_WORDS_MAX)
		usage_error("more than %d options", MAC_WORDS_MAX);
	words->option[words->n] = option;
	words->value[words->n++] = optarg;
}

const char *mac_option_name(int option)
{
	for (const struct option *o = mac_options; o->name; o++)
		if (o->val == option)
			return o->name;
	return NULL;
}

int mac_option_named(const char *name)
{
	for (const struct option *o = mac_options; o->name; o++)
		if (!strcmp(o->name, name))
			return o->val;
	return 0;
}

static void parse_hidden(const char *text, struct mac_config *config)
{
	struct mac_hidden_pair *pair = &config->hidden[config->n_hidden];
	const char *colon = strchr(text, ':');
	size_t length = colon ? colon - text : 0;

	if (config->n_hidden == MAC_MAX_HIDDEN)
		usage_error("more than %d --hidden", MAC_MAX_HIDDEN);
	if (!length || length >= MAC_NAME_LEN || !colon[1] ||
	    strchr(colon + 1, ':') || strlen(colon + 1) >= MAC_NAME_LEN)
		usage_error("--hidden: '%s' is not A:B, the names of two stations",
			    text);
	memcpy(pair->name[0], text, length);
	pair->name[0][length] = '\0';
	strcpy(pair->name[1], colon + 1);
	if (!strcmp(pair->name[0], pair->name[1]))
		usage_error("--hidden: '%s' cannot be hidden from itself",
			    pair->name[0]);
	config->n_hidden++;
}

bool take_mac_option(struct mac_config *config, int option)
{
	switch (option) {
	case 'p':
		config->phy = parse_phy(optarg);
		return true;
	case 'r':
		config->rts_threshold = parse_number("--rts", optarg, 0, UINT_MAX);
		return true;
	case 'e':
		config->eifs = parse_switch("--eifs", optarg);
		return true;
	case 'u':
		config->max_ampdu = parse_number("--ampdu", optarg, 1,
						 MAC_MAX_AMPDU);
		return true;
	case 't':
		config->max_ppdu = parse_number("--ppdu", optarg, 1,
						MAC_PPDU_MAX / NS_PER_US) *
				   NS_PER_US;
		return true;
	case 'i':
		config->idle_target = parse_idle_target(optarg);
		return true;
	case 'l':
		parse_channel(optarg, &config->channel);
		return true;
	case 'f':
		parse_fec(optarg, &config->channel);
		return true;
	case 'H':
		parse_hidden(optarg, config);
		return true;
	case 'C':
		config->capture = true;
		config->capture_db = parse_snr("--capture", optarg);
		return true;
	case 'k':
		config->seed = parse_number("--seed", optarg, 0, UINT64_MAX);
		return true;
	}
	return false;
}

void check_mac_options(const struct mac_config *config)
{
	if (config->channel.fec_n && config->channel.kind != CHANNEL_GE)
		usage_error("--fec needs --channel ge,...: it is used only while a link is bad");
}

void check_hidden(const struct mac *mac)
{
	for (unsigned int i = 0; i < 2 * mac->config.n_hidden; i++) {
		const char *name = mac->config.hidden[i / 2].name[i % 2];
		int j = 0;

		while (j < mac->n_stations &&
		       strcmp(mac->stations[j].config.name, name))
			j++;
		if (j == mac->n_stations)
			usage_error("--hidden: there is no station '%s'; the first is '%s'",
				    name, mac->stations[0].config.name);
	}
}

static const char *const access_names[] = {
	[MAC_DCF] = "dcf",
	[MAC_IDLE_SENSE] = "idle-sense",
	[MAC_AAP] = "aap",
};

const char *access_name(enum mac_access access)
{
	return access_names[access];
}

enum mac_access parse_access(const char *option, const char *text)
{
	for (int i = 0; i < 3; i++)
		if (!strcmp(text, access_names[i]))
			return i;
	usage_error("%s: '%s' is not dcf, idle-sense or aap", option, text);
}
