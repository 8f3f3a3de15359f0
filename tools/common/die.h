/* SPDX-License-Identifier: GPL-2.0-only */
/* How a tool ends with an error: one line that begins with its name. */
#ifndef TOOLS_DIE_H
#define TOOLS_DIE_H

/* Exits 1, leaving the terminal as it was. */
void die(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

/* The command line is wrong: the line ends with "; see NAME --help". Exits 2. */
void misuse(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

/* die() calls RESTORE before it prints, so that the line is on the terminal's own screen. */
void die_after(void (*restore)(void));

#endif
