/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHELL_WORD_H
#define SHELL_WORD_H

/*
 * A NAME from the kernel as one word of a shell: anybody who may make a device
 * chooses its name, root pastes what is printed here, and a terminal carries out
 * what is not printable. TEXT holds it all.
 */
struct word { char text[4 * 64 + 3]; };
struct word shell_word(const char *name);

#endif
