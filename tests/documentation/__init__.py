# SPDX-License-Identifier: GPL-2.0-only
"""What the project's pages say, held against the project."""
