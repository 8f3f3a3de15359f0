# SPDX-License-Identifier: GPL-2.0-only
"""Debian's compilers for other processors, unpacked into the cache: nothing is installed.

Principle: gcc and its linker look for what is theirs beside the program itself, and --sysroot
names the rest (gcc(1), "Directory Options"), so a package works wherever it is unpacked. What the
machine has installed is not unpacked again.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from apbed.errors import ApbedError
from apbed.kernels.packages import Apt, cache_root, codename, private_apt

HOST_LIBRARIES = ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu")
# What the tools are linked with: to compile, and the libraries themselves.
HEADERS = ("libnl-3-dev", "libnl-genl-3-dev", "libncurses-dev")
SHARED = ("libnl-3-200", "libnl-genl-3-200", "libncursesw6", "libtinfo6")


@dataclass(frozen=True)
class Target:
    """A processor that modules and tools are compiled for."""

    arch: str  # as kbuild's ARCH
    debian: str  # as Debian names it
    triplet: str  # before its compiler's name
    released: bool = True  # whether Debian has libraries for it to link with
    emulator: str | None = None  # the program that boots its kernel
    emulator_package: str | None = None

    @property
    def root(self) -> Path:
        """Where its packages are unpacked."""
        return cache_root() / "cross" / self.arch

    def packages(self) -> list[str]:
        """Of the machine's own release and processor."""
        names = [f"gcc-{self.triplet}", f"libc6-dev-{self.debian}-cross", self.emulator_package]
        return [name for name in names if name]


TARGETS = {
    target.arch: target
    for target in (
        # Debian 10 was the last release for it. Headers are those of another processor.
        Target("mips", "mips", "mips-linux-gnu", False, "qemu-system-mips", "qemu-system-mips"),
        Target("arm", "armhf", "arm-linux-gnueabihf"),
        Target("arm64", "arm64", "aarch64-linux-gnu"),
    )
}


def unpack(target: Target, directory: Path) -> None:
    """Download the compiler and what it needs into `directory`, which becomes target.root."""
    own = Apt("this system")
    plan = own.run("apt-get", "install", "-s", "--no-install-recommends", *target.packages())
    own.unpack(re.findall(r"^Inst (\S+)", plan, re.MULTILINE), directory)
    if target.released:
        private_apt(codename(), target.debian).unpack([*HEADERS, *SHARED], directory)
    else:
        own.unpack(HEADERS, directory)


def environment(arch: str) -> dict[str, str]:
    """What a build for this processor adds to the environment; nothing for the machine's own."""
    if arch not in TARGETS:
        return {}
    target = TARGETS[arch]
    root = target.root
    if not root.exists():
        raise ApbedError(f"no compiler for {arch} yet; run `apbed kernel tree --arch {arch}`")
    libraries = ":".join(str(root / path) for path in HOST_LIBRARIES)
    return {
        "ARCH": arch,
        "CROSS_COMPILE": f"{target.triplet}-",
        "PATH": f"{root / 'usr/bin'}:{os.environ['PATH']}",
        "LD_LIBRARY_PATH": libraries,
        "CROSS_ROOT": str(root),
        "CROSS_LIBRARIES": target.triplet if target.released else "x86_64-linux-gnu",
    }


def emulator(target: Target) -> list[str]:
    """The program that boots a kernel for this processor, and where its firmware is."""
    name = target.emulator
    if not name:
        raise ApbedError(f"no machine is emulated for {target.arch}: its modules are compiled only")
    if system := shutil.which(name):
        return [system]
    return [str(target.root / "usr/bin" / name), "-L", str(target.root / "usr/share/qemu")]
