// SPDX-License-Identifier: GPL-2.0-only
/* See json_string.h. */
#include <stdbool.h>

#include "json_string.h"

static bool between(unsigned char c, unsigned char low, unsigned char high)
{
	return c >= low && c <= high;
}

/* Bytes of the character at C (RFC 3629, section 4), 0 if there is none. */
static int utf8_length(const unsigned char *c)
{
	int length = c[0] < 0x80 ? 1 : between(c[0], 0xc2, 0xdf) ? 2 :
		     between(c[0], 0xe0, 0xef) ? 3 : between(c[0], 0xf0, 0xf4) ? 4 : 0;
	unsigned char low = c[0] == 0xe0 ? 0xa0 : c[0] == 0xf0 ? 0x90 : 0x80;
	unsigned char high = c[0] == 0xed ? 0x9f : c[0] == 0xf4 ? 0x8f : 0xbf;

	for (int i = 1; i < length; i++) {
		if (!between(c[i], low, high))
			return 0;
		low = 0x80;
		high = 0xbf;
	}
	return length;
}

/* A device's name may have any byte but '/', ':' and white space. */
void json_string(FILE *out, const char *text)
{
	const unsigned char *c = (const unsigned char *)text;

	fputc('"', out);
	while (*c) {
		int length = utf8_length(c);

		if (!length)
			fputs("\\ufffd", out);
		else if (*c == '"' || *c == '\\')
			fprintf(out, "\\%c", *c);
		else if (*c < 0x20)
			fprintf(out, "\\u%04x", *c);
		else
			fwrite(c, length, 1, out);
		c += length ?: 1;
	}
	fputc('"', out);
}
