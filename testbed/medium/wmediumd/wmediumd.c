// SPDX-License-Identifier: GPL-2.0-only
/* wmediumd's configuration file as options: see wmediumd.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "options.h"
#include "wmediumd.h"

/*
 * wmediumd does not deliver below a signal of -90 dBm (CCA_THRESHOLD), with a
 * noise of -91 dBm.
 */
#define HEARD_SNR_DB	1

/* Enough for each of the formats below. */
#define VALUE_MAX	128

static const char wmediumd_help[] =
"usage: dcfmedium wmediumd FILE\n"
"\n"
"Prints the options of `dcfmedium hwsim` that say what wmediumd's configuration\n"
"file FILE says. `dcfmedium hwsim` has an option that takes them at once.\n"
"\n"
"example:\n"
"  dcfmedium wmediumd diamond.cfg\n";

struct taker {
	wmediumd_take take;
	void *ctx;
};

static void give(const struct taker *taker, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void give(const struct taker *taker, const char *name, const char *format, ...)
{
	char text[VALUE_MAX], *value;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	value = strdup(text);
	if (!value)
		fatal("out of memory");
	taker->take(taker->ctx, name, value);
}

/* Whether anything of @from arrives at @to. */
static bool reaches(const struct wmediumd_radios *config, int from, int to)
{
	double value = config->value[from][to];

	return config->losses ? value < 1 : value >= HEARD_SNR_DB;
}

/* The stations hear each other if something arrives one way, or the other. */
static bool hidden(const struct wmediumd_radios *config, int a, int b)
{
	return config->apart[a][b] ||
	       (!reaches(config, a, b) && !reaches(config, b, a));
}

static void give_link(const struct wmediumd_radios *config, const struct taker *taker,
		      int from, int to, double rest)
{
	if (config->value[from][to] != rest)
		give(taker, "link", "iface%d:iface%d,%s=%.6g", from, to,
		     config->losses ? "loss" : "snr", config->value[from][to]);
}

void wmediumd_options(const char *path, wmediumd_take take, void *ctx)
{
	struct wmediumd_radios *config = malloc(sizeof(*config));
	const struct taker taker = { take, ctx };
	double rest;

	if (!config)
		fatal("out of memory");
	wmediumd_read(path, config);
	/* --channel has no loss of 1: then each pair is hidden, or has links. */
	rest = config->losses && config->rest == 1 ? 0 : config->rest;
	if (config->fading_db)
		give(&taker, "channel", "snr=%.6g,fading=%.6g", rest, config->fading_db);
	else
		give(&taker, "channel", "%s=%.6g", config->losses ? "loss" : "snr", rest);
	for (int i = 0; i < config->n; i++)
		give(&taker, "station", "%s,name=iface%d", config->addr[i], i);
	for (int a = 0; a < config->n; a++) {
		for (int b = a + 1; b < config->n; b++) {
			if (hidden(config, a, b)) {
				give(&taker, "hidden", "iface%d:iface%d", a, b);
				continue;
			}
			give_link(config, &taker, a, b, rest);
			give_link(config, &taker, b, a, rest);
		}
	}
	free(config);
}

static void print_option(void *ctx, const char *name, const char *value)
{
	(void)ctx;
	printf("--%s %s\n", name, value);
}

int wmediumd_command(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--help")) {
		fputs(wmediumd_help, stdout);
		return EXIT_SUCCESS;
	}
	if (argc != 2 || *argv[1] == '-')
		usage_error("wmediumd needs one FILE; see `dcfmedium wmediumd --help`");
	wmediumd_options(argv[1], print_option, NULL);
	return EXIT_SUCCESS;
}
