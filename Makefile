# SPDX-License-Identifier: GPL-2.0-only
#
# The front door: `make demo` and `make check` install what they need first.

APBED	:= .venv/bin/apbed
LOCK_HEADER := sed -n '/^\#/!q;p' requirements.lock

.PHONY: all help setup lock
all: setup

help:			## say what each target does
	@sed -n 's/^\([a-z-]*\):.*##/  \1\t/p' $(MAKEFILE_LIST) | expand -t 16

setup:			## install packages and the Python environment, once
	@scripts/setup.sh
