/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What ackwrr knows of connections, for its KUnit suites. Each suite compiles the sources for
 * itself, because it looks at what they keep.
 */
#ifndef LASACK_ACKWRR_TESTS_CONNECTIONS_H
#define LASACK_ACKWRR_TESTS_CONNECTIONS_H

#include "ackwrr/ackwrr_activity.c"
#include "ackwrr/ackwrr_flow.c"
#include "ackwrr/ackwrr_flows.c"
#include "ackwrr/ackwrr_share.c"
#include "ackwrr/ackwrr_turn.c"
#include "common/exact_array.c"
#include "common/flow_table.c"
#include "common/tests/segments.h"

#endif
