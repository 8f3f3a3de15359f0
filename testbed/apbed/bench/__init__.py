# SPDX-License-Identifier: GPL-2.0-only
"""What a packet costs in a queue discipline: cells, measuring, figures."""
