// SPDX-License-Identifier: GPL-2.0-only
/* See finding.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "die.h"
#include "finding.h"

const char *state_word(enum state state)
{
	static const char *const words[] = {
		[STATE_OK] = "ok", [STATE_NOTE] = "note",
		[STATE_UNKNOWN] = "unknown", [STATE_PROBLEM] = "problem",
	};

	return words[state];
}

void find(struct findings *findings, const char *about, enum state state,
	  const char *said, ...)
{
	struct finding *finding;
	va_list args;

	findings->all = reallocarray(findings->all, findings->count + 1, sizeof(*finding));
	if (!findings->all)
		die("out of memory");
	finding = &findings->all[findings->count++];
	*finding = (struct finding){ .about = about, .state = state };
	va_start(args, said);
	if (vasprintf(&finding->said, said, args) < 0)
		die("out of memory");
	va_end(args);
}

void find_type(struct findings *findings, const char *command, ...)
{
	struct finding *finding = &findings->all[findings->count - 1];
	char *line, *both;
	va_list args;

	va_start(args, command);
	if (vasprintf(&line, command, args) < 0)
		die("out of memory");
	va_end(args);
	if (finding->type) {
		if (asprintf(&both, "%s\n%s", finding->type, line) < 0)
			die("out of memory");
		free(finding->type);
		free(line);
		line = both;
	}
	finding->type = line;
}

bool findings_have(const struct findings *findings, enum state state)
{
	for (size_t i = 0; i < findings->count; i++)
		if (findings->all[i].state == state)
			return true;
	return false;
}

void findings_clear(struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		free(findings->all[i].said);
		free(findings->all[i].type);
	}
	free(findings->all);
	memset(findings, 0, sizeof(*findings));
}
