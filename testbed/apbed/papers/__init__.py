# SPDX-License-Identifier: GPL-2.0-only
"""Analytic models of the medium; each is solved without, and tested against, dcfmedium."""
