# SPDX-License-Identifier: GPL-2.0-only
"""What goes into a lab kernel: fragments, patches and their hash.

Principle: a build is a function of its inputs, so a kernel is named by a hash
of them and one found under that name need not be built again.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from apbed.checkout import REPOSITORY
from apbed.errors import ApbedError
from apbed.kernels.packages import VERSIONS
from apbed.kernels.toolchain import TARGETS

FRAGMENTS = REPOSITORY / "testbed" / "kernel"
# What the lab itself needs, then the series under test.
PATCHES = (FRAGMENTS / "patches", REPOSITORY / "kernel" / "ackskip" / "patches")

# Raised when the way of building or the layout of a cached kernel changes.
SCHEMA = 1


@dataclass(frozen=True)
class Recipe:
    """Everything a kernel tree is made from, but the source package.

    Lab kernels are of arch "um"; "x86_64" is for trees to compile modules in, and so are
    those of toolchain.TARGETS, which go without the series.
    A `stock` one goes without the series under test, to compare with. One with a
    `checker` ("kasan", "kcsan") is for several processors in QEMU, of arch "x86_64".
    """

    version: str
    debug: bool = False
    arch: str = "um"
    stock: bool = False
    checker: str = ""

    def __post_init__(self) -> None:
        if self.version not in VERSIONS:
            raise ApbedError(
                f"unknown kernel version {self.version}: choose one of {', '.join(VERSIONS)}"
            )

    @property
    def name(self) -> str:
        """For people: "6.1", "6.1 debug", "6.1 stock", "6.1 x86_64" or "6.1 kasan"."""
        if self.checker:
            return f"{self.version} {self.checker}"
        kind = ("debug" if self.debug else "", "stock" if self.stock else "")
        words = (self.version, *kind, self.arch.replace("um", ""))
        return " ".join(word for word in words if word)

    @property
    def slug(self) -> str:
        """For file names: "6.1", "6.1-debug" or "6.1-x86_64"."""
        return self.name.replace(" ", "-")

    @property
    def fragments(self) -> list[Path]:
        """Kconfig fragments in the order they apply; a later line overrides."""
        if self.checker:
            return [FRAGMENTS / "smp.config", FRAGMENTS / f"{self.checker}.config"]
        if self.arch in TARGETS:
            return [FRAGMENTS / "cross.config", FRAGMENTS / f"{self.arch}.config"]
        names = ["lab.config" if self.arch == "um" else f"{self.arch}.config"]
        names += ["debug.config"] if self.debug else []
        return [FRAGMENTS / name for name in names]

    @property
    def base(self) -> str:
        """The configuration the fragments apply over: a make target."""
        return "defconfig" if self.arch == "x86_64" and not self.checker else "allnoconfig"

    @property
    def patches(self) -> list[Path]:
        """Patches of this kernel line, in the order they apply.

        The lab's own are for User-mode Linux: a kernel for QEMU goes without.
        """
        if self.arch in TARGETS:
            return []
        lab, series_under_test = PATCHES
        folders = [] if self.checker else [lab / self.version]
        if self.debug:
            folders.append(lab / f"{self.version}-debug")
        if not self.stock:
            folders.append(series_under_test / self.version)
        return [patch for folder in folders for patch in sorted(folder.glob("*.patch"))]

    def digest(self) -> str:
        """Hash of the recipe: 12 hex digits, the same wherever the tree lies."""
        content = hashlib.sha256(f"{SCHEMA} {self.name}".encode())
        for path in (*self.fragments, *self.patches):
            data = path.read_bytes()
            content.update(f"\0{path.name}\0{len(data)}\0".encode())
            content.update(data)
        return content.hexdigest()[:12]

    def config(self) -> str:
        """The fragments as one text, for .config."""
        return "".join(path.read_text() for path in self.fragments)

    def lost_symbols(self, dot_config: str) -> list[str]:
        """Lines of the fragments that Kconfig did not take over into `dot_config`."""
        wanted, got = _settings(self.config()), _settings(dot_config)
        return [
            f"{symbol}={value}" for symbol, value in wanted.items() if got.get(symbol, "n") != value
        ]


def _settings(text: str) -> dict[str, str]:
    """Symbol -> value of a Kconfig file; "is not set" reads as n."""
    pairs = re.findall(
        r"^(?:(CONFIG_\w+)=(.*)|# (CONFIG_\w+) is not set)$", text, flags=re.MULTILINE
    )
    return {name or unset: value if name else "n" for name, value, unset in pairs}
