# SPDX-License-Identifier: GPL-2.0-only
"""Kernels that others have built, as apbed finds and starts them, and what a guest runs on."""
