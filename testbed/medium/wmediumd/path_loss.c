// SPDX-License-Identifier: GPL-2.0-only
/*
 * SNRs from positions and powers: see path_loss.h.
 *
 * Sources: free space, H. T. Friis, Proc. IRE 34(5), 1946; log distance and
 * log-normal shadowing, T. S. Rappaport, "Wireless Communications", section 4.9,
 * with the free-space loss of 1 m as the reference; itu, Recommendation ITU-R
 * P.1238 with wmediumd's coefficients. As in wmediumd, all are for 2412 MHz.
 */
#include <math.h>
#include <string.h>

#include "core/phy/error_rate.h"
#include "path_loss.h"

#define FREQUENCY_MHZ	2412.0
#define WAVELENGTH_M	(299.792458 / FREQUENCY_MHZ)
#define NOISE_DBM	(-91)	/* wmediumd's, if the file says nothing */

/*
 * Only mininet-wifi writes three coordinates, and its wmediumd adds the gains
 * of two antennas of 5 dBi.
 */
#define MININET_GAINS_DB	10

struct point {
	double x, y, z;
};

static const config_setting_t *find(const config_setting_t *model, const char *key)
{
	return config_setting_get_member((config_setting_t *)model, key);
}

static double number_or(const config_setting_t *model, const char *key, double otherwise)
{
	const config_setting_t *at = find(model, key);

	return at ? setting_number(at) : otherwise;
}

static double friis_db(double d_m)
{
	return 20 * log10(4 * M_PI * d_m / WAVELENGTH_M);
}

static double free_space(const config_setting_t *model, double d_m)
{
	double system_loss = number_or(model, "sL", 1);

	if (system_loss < 1)
		setting_error(find(model, "sL"), "%g is below 1", system_loss);
	return friis_db(d_m) + 10 * log10(system_loss);
}

static double log_distance(const config_setting_t *model, double d_m)
{
	double exponent = setting_number(setting_needed(model, "path_loss_exp"));

	return friis_db(1) + 10 * exponent * log10(d_m) + number_or(model, "xg", 0);
}

static double itu(const config_setting_t *model, double d_m)
{
	double n = number_or(model, "pL", 0);
	double floors_db = number_or(model, "lF", number_or(model, "LF", 0)) *
			   number_or(model, "nFLOORS", 0);

	if (!n)
		n = d_m > 16 ? 38 : 28;
	return 20 * log10(FREQUENCY_MHZ) + n * log10(d_m) + floors_db - 28;
}

/* What wmediumd draws for log_normal_shadowing comes over its socket: the median. */
static const struct {
	const char *name;
	double (*loss_db)(const config_setting_t *model, double d_m);
} models[] = {
	{ "free_space", free_space },
	{ "log_distance", log_distance },
	{ "log_normal_shadowing", log_distance },
	{ "itu", itu },
};

static double loss_db(const config_setting_t *model, double d_m)
{
	const config_setting_t *at = setting_needed(model, "model_name");
	const char *name = setting_word(at);

	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
		if (!strcmp(name, models[i].name))
			return models[i].loss_db(model, d_m);
	setting_error(at, "there is no model \"%s\"; there are free_space, log_distance, log_normal_shadowing and itu",
		      name);
}

static struct point position(const config_setting_t *positions, int i, bool *mininet)
{
	const config_setting_t *at = config_setting_get_elem(positions, i);
	double xyz[3] = { 0 };
	int n = setting_count(at);

	if (n != 2 && n != 3)
		setting_error(at, "position %d has %d coordinates instead of 2 or 3",
			      i, n);
	for (int k = 0; k < n; k++)
		xyz[k] = setting_number(config_setting_get_elem(at, k));
	*mininet = n == 3;
	return (struct point){ xyz[0], xyz[1], xyz[2] };
}

static double distance(struct point a, struct point b)
{
	return hypot(hypot(a.x - b.x, a.y - b.y), a.z - b.z);
}

void path_loss_read(const config_setting_t *model, struct wmediumd_radios *config)
{
	static const char *const keys[] = {
		"type", "model_name", "positions", "tx_powers", "directions",
		"fading_coefficient", "noise_threshold", "isnodeaps", "sL",
		"path_loss_exp", "xg", "nFLOORS", "lF", "LF", "pL", NULL
	};
	const config_setting_t *positions, *powers;
	double noise = number_or(model, "noise_threshold", NOISE_DBM);
	bool mininet = false;

	setting_only(model, keys);
	if (find(model, "directions"))
		setting_error(find(model, "directions"), "stations do not move here; remove it");
	positions = setting_needed(model, "positions");
	powers = setting_needed(model, "tx_powers");
	setting_expect(positions, config->n, "one for each of ifaces.ids");
	setting_expect(powers, config->n, "one for each of ifaces.ids");
	config->fading_db = number_or(model, "fading_coefficient", 0);
	for (int i = 0; i < config->n; i++) {
		struct point from = position(positions, i, &mininet);
		double power = setting_number(config_setting_get_elem(powers, i));

		for (int j = 0; j < config->n; j++) {
			struct point to = position(positions, j, &mininet);
			double snr;

			if (i == j)
				continue;
			snr = power - loss_db(model, distance(from, to)) - noise +
			      (mininet ? MININET_GAINS_DB : 0);
			config->value[i][j] = fmin(fmax(snr, SNR_DB_MIN), SNR_DB_MAX);
		}
	}
}
