// SPDX-License-Identifier: GPL-2.0-only
/* The options that configure the MAC and the channel: see mac_options.h. */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "channel_option.h"
#include "link_option.h"
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
	struct mac_word *word = realloc(words->word, (words->n + 1) * sizeof(*word));

	if (!word)
		fatal("out of memory");
	word[words->n++] = (struct mac_word){ option, optarg };
	words->word = word;
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
	case 'K':
		parse_link(optarg, config);
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
	check_links(config);
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
