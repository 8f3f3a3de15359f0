# SPDX-License-Identifier: GPL-2.0-only
"""Whether this kernel can skip ACKs: by the series of kernel/ackskip/patches, or the module."""

from __future__ import annotations

from pathlib import Path

SYSCTL = Path("/proc/sys/net/ipv4/tcp_ack_skip")


def why_not() -> str | None:
    """The reason to skip every test of it; None if there is none."""
    if SYSCTL.exists():
        return None
    return "this kernel has no tcp_ack_skip: neither the series nor the module"
