// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the long KUnit suites are to do, given to this module when it is loaded.
 *
 * Why a module of its own: up to Linux 6.2 a suite runs before the parameters of
 * its own module are parsed.
 */
#include <linux/module.h>
#include "common/tests/test_parameters.h"

char *test_device = "";
module_param_named(device, test_device, charp, 0444);
MODULE_PARM_DESC(device, "device whose root queue discipline is fuzzed");
EXPORT_SYMBOL_GPL(test_device);

unsigned long test_packets = 50000;
module_param_named(packets, test_packets, ulong, 0444);
MODULE_PARM_DESC(packets, "packets of a fuzzing or a flood");
EXPORT_SYMBOL_GPL(test_packets);

unsigned int test_seed = 1;
module_param_named(seed, test_seed, uint, 0444);
MODULE_PARM_DESC(seed, "of the random choices");
EXPORT_SYMBOL_GPL(test_seed);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Parameters of the long KUnit suites");
