// SPDX-License-Identifier: GPL-2.0-only
/* The end after an error: see die.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "die.h"

void die(int error, const char *format, ...)
{
	va_list args;

	fputs("flowgen: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	if (error)
		fprintf(stderr, ": %s", strerror(error));
	fputc('\n', stderr);
	exit(1);
}
