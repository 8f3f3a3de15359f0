# SPDX-License-Identifier: GPL-2.0-only
"""Carries out a scenario's runs and writes their directories; it measures nothing."""
