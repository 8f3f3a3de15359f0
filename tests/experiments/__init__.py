# SPDX-License-Identifier: GPL-2.0-only
"""Scenarios carried out in the lab, and what must come out of them."""
