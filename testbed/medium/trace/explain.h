/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DCFMEDIUM_EXPLAIN_H
#define DCFMEDIUM_EXPLAIN_H

/* dcfmedium explain: a trace as text. Returns the exit code. */
int explain_command(int argc, char **argv);

#endif
