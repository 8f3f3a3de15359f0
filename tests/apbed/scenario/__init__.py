# SPDX-License-Identifier: GPL-2.0-only
"""Scenario files: what they say, and one clear line for what they may not say."""
