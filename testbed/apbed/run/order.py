# SPDX-License-Identifier: GPL-2.0-only
"""What a machine is told to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Order:
    """One run: a Python script of the guest's, and the directory it reads and writes."""

    script: Path  # told of the directory
    run_dir: Path
    files: Sequence[Path]  # programs and modules that the script is told of
    seed: int
