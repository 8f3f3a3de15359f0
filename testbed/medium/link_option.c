// SPDX-License-Identifier: GPL-2.0-only
/* The values of --hidden and --link: see link_option.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "channel_option.h"
#include "link_option.h"
#include "options.h"

/* The two names of "A:B", up to the end or a comma; false if they are not that. */
static bool parse_names(const char *text, char name[2][MAC_NAME_LEN])
{
	size_t first = strcspn(text, ":,");
	const char *rest = text + first + 1;
	size_t second = text[first] == ':' ? strcspn(rest, ":,") : 0;

	if (!first || first >= MAC_NAME_LEN || !second || second >= MAC_NAME_LEN ||
	    rest[second] == ':')
		return false;
	memcpy(name[0], text, first);
	name[0][first] = '\0';
	memcpy(name[1], rest, second);
	name[1][second] = '\0';
	return true;
}

/* An array of @n elements with room for another one. */
static void *grown(const void *array, size_t n, size_t size)
{
	void *more = realloc((void *)array, (n + 1) * size);

	if (!more)
		fatal("out of memory");
	return more;
}

void parse_hidden(const char *text, struct mac_config *config)
{
	struct mac_hidden_pair pair, *hidden;

	if (strchr(text, ',') || !parse_names(text, pair.name))
		usage_error("--hidden: '%s' is not A:B, the names of two stations",
			    text);
	if (!strcmp(pair.name[0], pair.name[1]))
		usage_error("--hidden: '%s' cannot be hidden from itself",
			    pair.name[0]);
	hidden = grown(config->hidden, config->n_hidden, sizeof(pair));
	hidden[config->n_hidden++] = pair;
	config->hidden = hidden;
}

static double parse_loss(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (!isdigit((unsigned char)*text) || *end || !(value <= 1))
		usage_error("--link: loss: '%s' is not a probability", text);
	return value;
}

void parse_link(const char *text, struct mac_config *config)
{
	const char *value = strchr(text, ',');
	struct mac_link link = { 0 }, *links;

	if (!value || !parse_names(text, link.name))
		usage_error("--link: '%s' is not A:B,snr=DB or A:B,loss=P", text);
	if (!strcmp(link.name[0], link.name[1]))
		usage_error("--link: '%s' has no link to itself", link.name[0]);
	link.has_snr = !strncmp(value, ",snr=", 5);
	if (link.has_snr)
		channel_rate(&link.quality, parse_snr("--link: snr", value + 5));
	else if (!strncmp(value, ",loss=", 6))
		link.loss = parse_loss(value + 6);
	else
		usage_error("--link: '%s' is neither snr=DB nor loss=P", value + 1);
	links = grown(config->links, config->n_links, sizeof(link));
	links[config->n_links++] = link;
	config->links = links;
}

void check_links(const struct mac_config *config)
{
	for (unsigned int i = 0; i < config->n_links; i++) {
		bool snr = config->links[i].has_snr;

		if (config->channel.kind != (snr ? CHANNEL_SNR : CHANNEL_LOSS))
			usage_error("--link: %s needs --channel %s, that of all other links",
				    snr ? "snr" : "loss", snr ? "snr=DB" : "loss=P");
	}
}

static void check_name(const struct mac *mac, const char *option, const char *name)
{
	for (int i = 0; i < mac->n_stations; i++)
		if (!strcmp(mac->stations[i].config.name, name))
			return;
	usage_error("%s: there is no station '%s'; the first is '%s'", option, name,
		    mac->stations[0].config.name);
}

void check_names(const struct mac *mac)
{
	for (unsigned int i = 0; i < 2 * mac->config.n_hidden; i++)
		check_name(mac, "--hidden", mac->config.hidden[i / 2].name[i % 2]);
	for (unsigned int i = 0; i < 2 * mac->config.n_links; i++)
		check_name(mac, "--link", mac->config.links[i / 2].name[i % 2]);
}
