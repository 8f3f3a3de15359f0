/* SPDX-License-Identifier: GPL-2.0-only */
/* A traced function's arguments and the function itself had other names
 * before Linux 6.2.
 */
#ifndef LASACK_COMPAT_LINUX_FTRACE_H
#define LASACK_COMPAT_LINUX_FTRACE_H

#include_next <linux/ftrace.h>

#if defined(CONFIG_DYNAMIC_FTRACE_WITH_ARGS) && !defined(COMPAT_HAVE_FTRACE_REGS_ACCESSORS)
#define ftrace_regs_get_argument(fregs, n)	regs_get_kernel_argument(&(fregs)->regs, n)
#define ftrace_regs_set_instruction_pointer	ftrace_instruction_pointer_set
#endif

#endif
