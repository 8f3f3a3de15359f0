// SPDX-License-Identifier: GPL-2.0-only
/* Typed reading of libconfig's settings: see setting.h. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "setting.h"

#define KEY_MAX		128

/* "model.links", without the numbers of members that have no name. */
static void write_key(const config_setting_t *at, char key[KEY_MAX])
{
	const config_setting_t *parent = config_setting_parent(at);
	const char *name = config_setting_name(at);
	size_t length;

	*key = '\0';
	if (!parent)
		return;
	write_key(parent, key);
	length = strlen(key);
	if (name)
		snprintf(key + length, KEY_MAX - length, "%s%s", length ? "." : "",
			 name);
}

void setting_error(const config_setting_t *at, const char *format, ...)
{
	char key[KEY_MAX], message[512];
	va_list args;

	write_key(at, key);
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	if (!*key)	/* the whole file has no line */
		usage_error("%s: %s", config_setting_source_file(at), message);
	usage_error("%s:%u: %s: %s", config_setting_source_file(at),
		    config_setting_source_line(at), key, message);
}

double setting_number(const config_setting_t *at)
{
	double value;

	switch (config_setting_type(at)) {
	case CONFIG_TYPE_INT:
		return config_setting_get_int(at);
	case CONFIG_TYPE_INT64:
		return config_setting_get_int64(at);
	case CONFIG_TYPE_FLOAT:
		value = config_setting_get_float(at);
		if (isfinite(value))
			return value;
	}
	setting_error(at, "is not a number");
}

int setting_integer(const config_setting_t *at, int min, int max)
{
	double value = setting_number(at);

	if (value != floor(value) || value < min || value > max)
		setting_error(at, "%g is not a whole number from %d to %d", value,
			      min, max);
	return value;
}

int setting_count(const config_setting_t *at)
{
	if (!config_setting_is_list(at) && !config_setting_is_array(at))
		setting_error(at, "is not a list");
	return config_setting_length(at);
}

void setting_expect(const config_setting_t *at, int n, const char *what)
{
	if (setting_count(at) != n)
		setting_error(at, "has %d members instead of %d, %s",
			      config_setting_length(at), n, what);
}

const config_setting_t *setting_needed(const config_setting_t *of, const char *key)
{
	const config_setting_t *found;

	found = config_setting_get_member((config_setting_t *)of, key);
	if (!found)
		setting_error(of, "there is no %s", key);
	return found;
}

const char *setting_word(const config_setting_t *at)
{
	if (config_setting_type(at) != CONFIG_TYPE_STRING)
		setting_error(at, "is not a word in quotation marks");
	return config_setting_get_string(at);
}

void setting_only(const config_setting_t *of, const char *const *known)
{
	if (!config_setting_is_group(of))
		setting_error(of, "is not a group in braces");
	for (int i = 0; i < config_setting_length(of); i++) {
		const config_setting_t *member = config_setting_get_elem(of, i);
		const char *const *key = known;

		while (*key && strcmp(*key, config_setting_name(member)))
			key++;
		if (!*key)
			setting_error(member, "has no meaning here; remove it");
	}
}
