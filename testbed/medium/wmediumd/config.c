// SPDX-License-Identifier: GPL-2.0-only
/* wmediumd's configuration file: see config.h. */
#include <errno.h>
#include <string.h>

#include "config.h"
#include "core/phy/error_rate.h"
#include "options.h"
#include "path_loss.h"
#include "setting.h"
#include "station_option.h"

/* wmediumd's SNR of a link that nothing is said of, in dB. */
#define WMEDIUMD_SNR	30

static const config_setting_t *find(const config_setting_t *of, const char *key)
{
	return of ? config_setting_get_member((config_setting_t *)of, key) : NULL;
}

static void read_ids(const config_setting_t *ids, struct wmediumd_radios *config)
{
	config->n = setting_count(ids);
	if (config->n < 1 || config->n > WMEDIUMD_RADIOS_MAX)
		setting_error(ids, "has %d members instead of 1 to %d", config->n,
			      WMEDIUMD_RADIOS_MAX);
	for (int i = 0; i < config->n; i++) {
		const config_setting_t *at = config_setting_get_elem(ids, i);
		const char *word = setting_word(at);

		if (!is_station_address(word))
			setting_error(at, "\"%s\" is not a station's address such as 02:00:00:00:01:00",
				      word);
		strcpy(config->addr[i], word);
	}
}

static void fill(struct wmediumd_radios *config, double rest)
{
	config->rest = rest;
	for (int i = 0; i < config->n; i++)
		for (int j = 0; j < config->n; j++)
			config->value[i][j] = rest;
}

/* The third member of a link: an SNR in dB, or a probability. */
static double link_value(const config_setting_t *at, bool losses)
{
	double value = setting_number(at);

	if (losses && (value < 0 || value > 1))
		setting_error(at, "%g is not a probability", value);
	if (!losses && (value < SNR_DB_MIN || value > SNR_DB_MAX))
		setting_error(at, "%g is not a number of dB from %g to %g", value,
			      SNR_DB_MIN, SNR_DB_MAX);
	return value;
}

/* (FROM, TO, VALUE)...; @mirrored: it holds back too unless that is there itself. */
static void read_links(const config_setting_t *links, bool mirrored,
		       struct wmediumd_radios *config)
{
	bool said[WMEDIUMD_RADIOS_MAX][WMEDIUMD_RADIOS_MAX] = { 0 };

	for (int i = 0; i < setting_count(links); i++) {
		const config_setting_t *link = config_setting_get_elem(links, i);
		int from, to;

		setting_expect(link, 3, "(FROM, TO, VALUE)");
		from = setting_integer(config_setting_get_elem(link, 0), 0, config->n - 1);
		to = setting_integer(config_setting_get_elem(link, 1), 0, config->n - 1);
		if (from == to)
			setting_error(link, "radio %d has no link to itself", from);
		config->value[from][to] = link_value(config_setting_get_elem(link, 2),
						     config->losses);
		said[from][to] = true;
		if (mirrored && !said[to][from])
			config->value[to][from] = config->value[from][to];
	}
}

/* An older form: a row for each radio. Both ways what stands right of the diagonal. */
static void read_error_probs(const config_setting_t *rows, struct wmediumd_radios *config)
{
	config->losses = true;
	fill(config, 0);
	setting_expect(rows, config->n, "one for each of ifaces.ids");
	for (int i = 0; i < config->n; i++) {
		const config_setting_t *row = config_setting_get_elem(rows, i);

		setting_expect(row, config->n, "one for each of ifaces.ids");
		for (int j = i + 1; j < config->n; j++)
			config->value[i][j] = config->value[j][i] =
				link_value(config_setting_get_elem(row, j), true);
	}
}

/* Lists of radios: those of one list hear each other, and so do those of none. */
static void read_mediums(const config_setting_t *mediums, struct wmediumd_radios *config)
{
	int medium[WMEDIUMD_RADIOS_MAX] = { 0 };

	for (int m = 0; m < setting_count(mediums); m++) {
		const config_setting_t *radios = config_setting_get_elem(mediums, m);

		for (int i = 0; i < setting_count(radios); i++)
			medium[setting_integer(config_setting_get_elem(radios, i), 0,
					       config->n - 1)] = m + 1;
	}
	for (int i = 0; i < config->n; i++)
		for (int j = 0; j < config->n; j++)
			config->apart[i][j] = medium[i] != medium[j];
}

static void read_losses(const config_setting_t *model, bool mirrored,
			struct wmediumd_radios *config)
{
	static const char *const keys[] = { "type", "default_prob", "links", NULL };
	const config_setting_t *rest = find(model, "default_prob");

	setting_only(model, keys);
	config->losses = true;
	fill(config, rest ? link_value(rest, true) : 0);
	if (find(model, "links"))
		read_links(find(model, "links"), mirrored, config);
}

static void read_model(const config_setting_t *model, struct wmediumd_radios *config)
{
	/* mininet-wifi writes default_prob with SNRs too; wmediumd takes no notice. */
	static const char *const keys[] = { "type", "default_prob", "links", NULL };
	const config_setting_t *at = setting_needed(model, "type");
	const char *type = setting_word(at);

	if (!strcmp(type, "path_loss")) {
		path_loss_read(model, config);
	} else if (!strcmp(type, "prob") || !strcmp(type, "prob_asymmetric")) {
		read_losses(model, !strcmp(type, "prob"), config);
	} else if (!strcmp(type, "snr")) {
		setting_only(model, keys);
		if (find(model, "links"))
			read_links(find(model, "links"), true, config);
	} else {
		setting_error(at, "there is no type \"%s\"; there are snr, prob, prob_asymmetric and path_loss",
			      type);
	}
}

static void read_file(const config_setting_t *root, struct wmediumd_radios *config)
{
	static const char *const sections[] = { "ifaces", "model", NULL };
	static const char *const keys[] = {
		"ids", "links", "error_probs", "medium_array", "enable_interference", NULL
	};
	const config_setting_t *ifaces = setting_needed(root, "ifaces");
	const config_setting_t *model = find(root, "model");
	const config_setting_t *links = find(ifaces, "links");
	const config_setting_t *probs = find(ifaces, "error_probs");

	setting_only(root, sections);
	setting_only(ifaces, keys);
	read_ids(setting_needed(ifaces, "ids"), config);
	if ((links || probs) && (model || (links && probs)))
		setting_error(links ? links : probs, "links are described twice; keep one of ifaces.links, ifaces.error_probs and model");
	fill(config, WMEDIUMD_SNR);
	if (links)
		read_links(links, true, config);
	if (probs)
		read_error_probs(probs, config);
	if (model)
		read_model(model, config);
	if (find(ifaces, "medium_array"))
		read_mediums(find(ifaces, "medium_array"), config);
}

void wmediumd_read(const char *path, struct wmediumd_radios *config)
{
	config_t parsed;

	*config = (struct wmediumd_radios){ 0 };
	config_init(&parsed);
	errno = 0;
	if (!config_read_file(&parsed, path) &&
	    config_error_type(&parsed) == CONFIG_ERR_FILE_IO)
		usage_error("%s: cannot read: %s", path,
			    errno ? strerror(errno) : "it is not a file");
	if (config_error_text(&parsed))
		usage_error("%s:%d: %s", path, config_error_line(&parsed),
			    config_error_text(&parsed));
	read_file(config_root_setting(&parsed), config);
	config_destroy(&parsed);
}
