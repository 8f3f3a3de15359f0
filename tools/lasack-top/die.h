/* SPDX-License-Identifier: GPL-2.0-only */
/* The one way in which lasack-top ends with an error. */
#ifndef LASACK_TOP_DIE_H
#define LASACK_TOP_DIE_H

/* Prints "lasack-top: ..." and exits 1, leaving the terminal as it was. */
void die(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

/* die() calls RESTORE before it prints, so that the line is on the terminal's own screen. */
void die_after(void (*restore)(void));

#endif
