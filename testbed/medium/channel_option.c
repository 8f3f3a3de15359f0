// SPDX-License-Identifier: GPL-2.0-only
/* The values of --channel and --fec: see channel_option.h. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel_option.h"
#include "core/phy/error_rate.h"
#include "options.h"

double parse_snr(const char *option, const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (!isdigit((unsigned char)text[*text == '-']) || *end ||
	    !(value >= SNR_DB_MIN && value <= SNR_DB_MAX))
		usage_error("%s: '%s' is not a number of dB from %g to %g", option,
			    text, SNR_DB_MIN, SNR_DB_MAX);
	return value;
}

static double parse_probability(const char *name, const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (!isdigit((unsigned char)*text) || *end || !(value < 1))
		usage_error("--channel: %s: '%s' is not a probability below 1",
			    name, text);
	return value;
}

/* The value of field @name if @field is "@name=value", else NULL. */
static const char *value_of(const char *field, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(field, name, length) || field[length] != '=')
		return NULL;
	return field + length + 1;
}

static void parse_ge_field(const char *field, struct channel_config *config)
{
	static const char *const states[] = { "good", "bad" };
	static const char *const rates[] = { "ber-good", "ber-bad" };

	for (int i = 0; i < 2; i++) {
		const char *mean = value_of(field, states[i]);
		const char *ber = value_of(field, rates[i]);

		if (mean)
			config->mean_s[i] = (double)parse_seconds("--channel: ge",
								  mean) / NS_PER_S;
		if (ber)
			config->ber[i] = parse_probability(rates[i], ber);
		if (mean || ber)
			return;
	}
	if (strcmp(field, "shared"))
		usage_error("--channel: no field '%s'; ge has good, bad, ber-good, ber-bad, shared",
			    field);
	config->shared = true;
}

static void parse_ge(const char *text, struct channel_config *config)
{
	char *copy = strdup(text), *rest = copy, *field;

	if (!copy)
		fatal("out of memory");
	while ((field = strsep(&rest, ",")))
		parse_ge_field(field, config);
	free(copy);
	if (!config->mean_s[0] || !config->mean_s[1])
		usage_error("--channel: ge needs good=SECONDS and bad=SECONDS");
}

/* "DB" or "DB,fading=DB". */
static void parse_snr_fields(const char *text, struct channel_config *config)
{
	size_t length = strcspn(text, ",");
	char *first = strndup(text, length);

	if (!first)
		fatal("out of memory");
	config->snr_db = parse_snr("--channel: snr", first);
	free(first);
	if (!text[length])
		return;
	if (!value_of(text + length + 1, "fading"))
		usage_error("--channel: no field '%s'; snr has fading",
			    text + length + 1);
	config->fading_db = parse_snr("--channel: fading", text + length + 8);
	if (config->fading_db < 0)
		usage_error("--channel: fading: '%s' is below 0", text + length + 8);
}

static void add_step(struct channel_config *config, struct channel_step *step)
{
	struct channel_step *trace = realloc((void *)config->trace,
					     (config->n_trace + 1) * sizeof(*trace));

	if (!trace)
		fatal("out of memory");
	trace[config->n_trace++] = *step;
	config->trace = trace;
}

/* Lines "SECONDS BER", times rising from 0; '#' begins a comment line. */
static void read_trace(const char *path, struct channel_config *config)
{
	FILE *file = fopen(path, "r");
	char line[256], extra;
	double s, ber;

	if (!file)
		usage_error("--channel: cannot read %s: %s", path, strerror(errno));
	for (int n = 1; fgets(line, sizeof(line), file); n++) {
		struct channel_step step;

		if (*line == '#')
			continue;
		if (sscanf(line, "%lf %lf %c", &s, &ber, &extra) != 2 ||
		    !(s >= 0 && s <= 1e6) || !(ber >= 0 && ber < 1))
			usage_error("--channel: %s:%d: not \"SECONDS BER\"", path, n);
		step = (struct channel_step){ llround(s * NS_PER_S), ber };
		if (config->n_trace ?
		    step.at <= config->trace[config->n_trace - 1].at : step.at)
			usage_error("--channel: %s:%d: the first time must be 0, and each later than the one before",
				    path, n);
		add_step(config, &step);
	}
	fclose(file);
	if (!config->n_trace)
		usage_error("--channel: %s has no line \"SECONDS BER\"", path);
	config->shared = true;
}

void parse_channel(const char *text, struct channel_config *config)
{
	const char *loss = value_of(text, "loss");
	const char *ber = value_of(text, "ber");
	const char *trace = value_of(text, "trace");
	const char *snr = value_of(text, "snr");

	if (loss) {
		config->kind = CHANNEL_LOSS;
		config->loss = parse_probability("loss", loss);
	} else if (ber) {
		config->kind = CHANNEL_BER;
		config->ber[0] = parse_probability("ber", ber);
	} else if (snr) {
		config->kind = CHANNEL_SNR;
		parse_snr_fields(snr, config);
	} else if (trace) {
		config->kind = CHANNEL_TRACE;
		read_trace(trace, config);
	} else if (!strncmp(text, "ge,", 3)) {
		config->kind = CHANNEL_GE;
		parse_ge(text + 3, config);
	} else if (strcmp(text, "ideal")) {
		usage_error("--channel: no channel '%s'; there are ideal, loss=P, ber=B, ge,..., trace=FILE, snr=DB[,fading=DB]",
			    text);
	}
}

void parse_fec(const char *text, struct channel_config *config)
{
	unsigned int n, k;
	char extra;

	if (sscanf(text, "%u,%u%c", &n, &k, &extra) != 2 || n > 255 || !k ||
	    k >= n)
		usage_error("--fec: '%s' is not N,K with 0 < K < N < 256 octets",
			    text);
	config->fec_n = n;
	config->fec_k = k;
}
