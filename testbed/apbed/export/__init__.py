# SPDX-License-Identifier: GPL-2.0-only
"""Finished runs in the formats of other programs: flent, SQLite as OML has it, CSV."""
