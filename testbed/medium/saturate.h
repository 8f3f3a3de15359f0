/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DCFMEDIUM_SATURATE_H
#define DCFMEDIUM_SATURATE_H

/*
 * dcfmedium saturate: the MAC core alone, stations that always send.
 * Returns the exit code.
 */
int saturate_command(int argc, char **argv);

#endif
