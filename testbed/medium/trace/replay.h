/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DCFMEDIUM_REPLAY_H
#define DCFMEDIUM_REPLAY_H

/* dcfmedium replay: the MAC core on a recording. Returns the exit code. */
int replay_command(int argc, char **argv);

#endif
