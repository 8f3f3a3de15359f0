# SPDX-License-Identifier: GPL-2.0-only
"""Scenario files: what they may say, and the runs that they describe."""
