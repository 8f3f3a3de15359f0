# SPDX-License-Identifier: GPL-2.0-only
"""Campaigns that are killed, and campaigns on other hosts."""
