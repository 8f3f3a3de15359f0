# SPDX-License-Identifier: GPL-2.0-only
"""Finds, builds, patches and boots the kernels that runs and tests use."""
