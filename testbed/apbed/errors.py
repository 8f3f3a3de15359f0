# SPDX-License-Identifier: GPL-2.0-only
"""The one exception a user sees: a single line saying what is wrong and what to do."""


class ApbedError(Exception):
    """An expected failure. str(error) is one line; the command prints it and exits 1."""
