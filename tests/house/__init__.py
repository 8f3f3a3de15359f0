# SPDX-License-Identifier: GPL-2.0-only
"""The floor plan: who may use whom, and how large a file or folder may be."""
