# SPDX-License-Identifier: GPL-2.0-only
"""Grids: real machines reached by ssh, checked, used for a run and put back as they were."""
