# SPDX-License-Identifier: GPL-2.0-only
"""The papers: their equations, and their figures beside runs."""
