# SPDX-License-Identifier: GPL-2.0-only
"""Measures that take both ends of a flow, or the runs of several seeds."""
