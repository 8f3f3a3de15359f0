/* SPDX-License-Identifier: GPL-2.0-only */
/* The live table on a terminal. */
#ifndef LASACK_TOP_SCREEN_H
#define LASACK_TOP_SCREEN_H

#include "top.h"

/* Whether standard input and output are a terminal that a table can be drawn on. */
bool screen_usable(void);

/* After a first look. Runs until q or a signal; returns, or ends by that signal, with the terminal restored. */
void screen_run(struct top *top);

#endif
