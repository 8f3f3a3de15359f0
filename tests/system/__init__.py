# SPDX-License-Identifier: GPL-2.0-only
"""A whole Debian system in QEMU, on which an operator installs the packages."""
