#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The programs of this folder that act on a queue discipline under load, with the modules
# loaded around them (KTAP). Not random_operations.py: it compares counts that it reads one
# after the other, which is right only where time stands still meanwhile, as in a lab kernel.
#
# Run as root in a kernel under test:
#	watched.sh

exec sh "$(dirname "$0")/../lib/watched.sh" 'qdisc/parents.py 3' 'qdisc/fuzz_netlink.py 2000' \
	qdisc/refusals.py qdisc/ack_queue.py qdisc/backpressure.py
