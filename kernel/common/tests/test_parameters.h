/* SPDX-License-Identifier: GPL-2.0-only */
/* Parameters of the long KUnit suites, see test_parameters.c. */
#ifndef LASACK_TESTS_TEST_PARAMETERS_H
#define LASACK_TESTS_TEST_PARAMETERS_H

extern char *test_device;
extern unsigned long test_packets;
extern unsigned int test_seed;

#endif
