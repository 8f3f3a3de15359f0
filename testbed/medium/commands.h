/* SPDX-License-Identifier: GPL-2.0-only */
/* The commands of dcfmedium; each parses its own options, returns the exit code. */
#ifndef DCFMEDIUM_COMMANDS_H
#define DCFMEDIUM_COMMANDS_H

int saturate_command(int argc, char **argv);
int hwsim_command(int argc, char **argv);
int replay_command(int argc, char **argv);
int explain_command(int argc, char **argv);

#endif
