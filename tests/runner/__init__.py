# SPDX-License-Identifier: GPL-2.0-only
"""`make check`: every suite of the repository, run and summed."""
