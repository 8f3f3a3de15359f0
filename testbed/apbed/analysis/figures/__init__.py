# SPDX-License-Identifier: GPL-2.0-only
"""A paper's figures beside what runs measured: points, models, printed numbers and verdicts."""
