# SPDX-License-Identifier: GPL-2.0-only
"""Whether this machine can have a stock kernel at all; what is only not built yet is built."""

from __future__ import annotations

import platform
import shutil
import subprocess

SEARCH = ("apt-cache", "search", "--names-only", "^linux-image-amd64$")


def why_not() -> str | None:
    """The reason to skip what boots a stock kernel; None if there is none."""
    if platform.machine() != "x86_64":
        return "it boots an x86-64 kernel"
    if not shutil.which("apt-cache"):
        return "no apt, no distribution's kernel"
    if not subprocess.run(SEARCH, capture_output=True, text=True, check=False).stdout:
        return "no package linux-image-amd64"
    return None
