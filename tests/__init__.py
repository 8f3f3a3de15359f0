# SPDX-License-Identifier: GPL-2.0-only
"""The tests that run on the host; each folder is a room's."""
