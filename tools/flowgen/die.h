/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FLOWGEN_DIE_H
#define FLOWGEN_DIE_H

/* Prints "flowgen: ..." with the text of errno unless it is 0; exits 1. */
void die(int error, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

#endif
