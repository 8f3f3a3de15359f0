// SPDX-License-Identifier: GPL-2.0-only
/* Command line values: see options.h. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "core/phy/phy_rate.h"

static void complain(const char *format, va_list args)
{
	fputs("dcfmedium: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

void usage_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(format, args);
	va_end(args);
	exit(EXIT_USAGE);
}

void fatal(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(format, args);
	va_end(args);
	exit(EXIT_FAILURE);
}

void unknown_option(const char *command, const char *word)
{
	usage_error("%s: '%s' is no option, or lacks its value; see `dcfmedium %s --help`",
		    command, word, command);
}

uint64_t parse_number(const char *option, const char *text, uint64_t min,
		      uint64_t max)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 10);
	/* strtoull takes "-1" and " 1"; a number starts with a digit here. */
	if (!isdigit((unsigned char)*text) || *end || errno || value < min ||
	    value > max)
		usage_error("%s: '%s' is not a whole number from %llu to %llu",
			    option, text, (unsigned long long)min,
			    (unsigned long long)max);
	return value;
}

ns_t parse_seconds(const char *option, const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (!isdigit((unsigned char)*text) || *end || !isfinite(value) ||
	    value < 0.001 || value > 1000000)
		usage_error("%s: '%s' is not a number of seconds from 0.001 to 1000000",
			    option, text);
	return llround(value * NS_PER_S);
}

bool parse_switch(const char *option, const char *text)
{
	if (!strcmp(text, "on"))
		return true;
	if (strcmp(text, "off"))
		usage_error("%s: '%s' is neither 'on' nor 'off'", option, text);
	return false;
}

const struct phy_profile *parse_phy(const char *text)
{
	const struct phy_profile *phy = phy_find(text);

	if (!phy)
		usage_error("--phy: no profile '%s'; there are %s", text,
			    phy_names());
	return phy;
}

unsigned int parse_rate(const char *option, const char *text,
			const struct phy_profile *phy)
{
	char rates[128], *end;
	double mbps = strtod(text, &end);
	unsigned int rate = mbps > 0 && mbps < 1e4 ? lround(10 * mbps) : 0;

	phy_rate_list(phy, rates, sizeof(rates));
	if (!isdigit((unsigned char)*text) || *end || !phy_rate_of(phy, rate) ||
	    fabs(10 * mbps - rate) > 1e-6)
		usage_error("%s: '%s' is no rate of %s, which has %s Mb/s",
			    option, text, phy->name, rates);
	return rate;
}
