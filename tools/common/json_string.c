// SPDX-License-Identifier: GPL-2.0-only
/* See json_string.h. */
#include "json_string.h"

/* A device's name may have any character but '/', ':' and white space. */
void json_string(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		unsigned char c = *text;

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20)
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}
