# SPDX-License-Identifier: GPL-2.0-only
"""Measures, judges and draws what finished runs left on disk; it starts nothing."""
