# SPDX-License-Identifier: GPL-2.0-only
"""What the self-tests decide by themselves, on the host."""
