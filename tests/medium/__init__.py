# SPDX-License-Identifier: GPL-2.0-only
"""dcfmedium from outside: its command line, its traces, and the lab above it."""
