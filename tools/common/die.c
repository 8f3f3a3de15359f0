// SPDX-License-Identifier: GPL-2.0-only
/* See die.h. Knows nothing of the rest, so that all of it may use this. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "die.h"

static void (*restore_terminal)(void);

void die_after(void (*restore)(void))
{
	restore_terminal = restore;
}

void die(const char *format, ...)
{
	va_list args;

	if (restore_terminal)
		restore_terminal();
	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

void misuse(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "; see %s --help\n", program_invocation_short_name);
	exit(2);
}
