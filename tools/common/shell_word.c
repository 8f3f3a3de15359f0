// SPDX-License-Identifier: GPL-2.0-only
/* See shell_word.h. */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "shell_word.h"

/* What is not printable becomes '?': it would be the terminal's command. */
struct word shell_word(const char *name)
{
	static const char plain[] = "._-@+%,";
	struct word word;
	char *to = word.text;
	bool quoted = !*name || *name == '-';

	for (const char *c = name; *c; c++)
		quoted |= !isalnum((unsigned char)*c) && !strchr(plain, *c);
	if (quoted)
		*to++ = '\'';
	for (const char *c = name; *c && to < word.text + sizeof(word.text) - 6; c++) {
		if (*c == '\'')
			to = stpcpy(to, "'\\''");
		else
			*to++ = isprint((unsigned char)*c) ? *c : '?';
	}
	if (quoted)
		*to++ = '\'';
	*to = '\0';
	return word;
}
