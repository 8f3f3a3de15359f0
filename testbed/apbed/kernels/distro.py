# SPDX-License-Identifier: GPL-2.0-only
"""Stock kernels: the distribution's own, unpatched, as its packages have them.

Principle: what must run on a kernel nobody has built for it is tried on one, with nothing
installed: image and headers are packages unpacked into the cache.
"""

from __future__ import annotations

import lzma
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from apbed.checkout import BUILD, REPOSITORY
from apbed.errors import ApbedError
from apbed.kernels import compiler, qemu
from apbed.kernels.cache import default_version, locked, whole
from apbed.kernels.packages import SUITES, Apt, cache_root, private_apt

IMAGE = "vmlinuz-"
MODULE_DEPENDS = re.compile(rb"\0depends=([^\0]*)\0")  # of the section .modinfo


@dataclass(frozen=True)
class DistroKernel:
    """A kernel as its packages have it: image, modules and headers below one root."""

    release: str  # uname -r
    packages: Path  # the root; the cache's also holds busybox
    image: Path | None = None  # another kernel, one that needs no module to mount its root

    @property
    def bootable(self) -> Path:
        """What the emulator starts."""
        beside_modules = self.modules.parent / "vmlinuz"  # where newer packages have it
        at_boot = self.packages / "boot" / f"{IMAGE}{self.release}"
        return self.image or (beside_modules if beside_modules.exists() else at_boot)

    @property
    def build_dir(self) -> Path:
        """A tree to build external modules in."""
        return self.packages / "usr/src" / f"linux-headers-{self.release}"

    @property
    def modules(self) -> Path:
        """The kernel's own modules."""
        lib = "lib" if (self.packages / "lib/modules" / self.release).exists() else "usr/lib"
        return self.packages / lib / "modules" / self.release / "kernel"

    def module_files(self) -> dict[str, Path]:
        """Its modules by name, as lsmod writes them."""
        found = (path for path in self.modules.rglob("*.ko*") if path.is_file())
        return {path.name.partition(".")[0].replace("-", "_"): path for path in found}

    def built_in(self) -> set[str]:
        """The names of what would be modules in another configuration."""
        listed = self.modules.parent / "modules.builtin"
        lines = listed.read_text().splitlines() if listed.exists() else []
        return {Path(line).stem.replace("-", "_") for line in lines}

    def with_dependencies(self, names: Iterable[str]) -> dict[str, Path]:
        """These modules and those they need, each after what it needs; none that is built in.

        ApbedError names one that the kernel does not have.
        """
        files, built_in = self.module_files(), self.built_in()
        found: dict[str, Path] = {}

        def follow(name: str) -> None:
            if name in found or name in built_in:
                return
            if name not in files:
                raise ApbedError(f"kernel {self.release} has no module {name}")
            for needed in depends(module_bytes(files[name])):
                follow(needed)
            found[name] = files[name]

        for name in names:
            follow(name)
        return found


def module_bytes(path: Path) -> bytes:
    """A module as insmod wants it; newer packages compress theirs with xz."""
    if path.suffix == ".ko":
        return path.read_bytes()
    if path.suffix == ".xz":
        return lzma.decompress(path.read_bytes())
    raise ApbedError(f"{path}: expected a module that is plain or compressed with xz")


def depends(module: bytes) -> list[str]:
    """The modules that this one needs, as modpost has written them into it."""
    match = MODULE_DEPENDS.search(module)
    return match[1].decode().split(",") if match and match[1] else []


def find(kernel: str | None = None) -> DistroKernel:
    """What fetch() has made of a line ("6.12"; None: the distribution's own), or a kernel by path.

    A path names the image in a boot directory, beside whose parent are the modules and headers:
    /boot/vmlinuz-RELEASE. ApbedError says what to do if there is none.
    """
    if kernel and is_path(kernel):
        return _at(Path(kernel))
    version = kernel or default_version()
    _check(version)
    for packages in sorted((cache_root() / "distro").glob("*/packages"), reverse=True):
        found = DistroKernel(packages.parent.name, packages)
        if found.release.startswith(f"{version}.") and found.build_dir.is_dir():
            return found
    words = f" --version {kernel}" if kernel else ""
    raise ApbedError(f"no stock kernel {version} yet; run `apbed distro fetch{words}`")


def is_path(kernel: str | None) -> bool:
    """Whether a kernel is given by the path of its image, not by its line."""
    return kernel is not None and "/" in kernel


def _check(version: str) -> None:
    if version not in SUITES:
        lines = ", ".join(SUITES)
        raise ApbedError(f"unknown kernel {version}: choose one of {lines}, or give a path")


def _at(image: Path) -> DistroKernel:
    """The kernel an installed or unpacked image belongs to."""
    image = image.absolute()
    found = DistroKernel(image.name.removeprefix(IMAGE), image.parent.parent)
    if not image.name.startswith(IMAGE) or image.parent.name != "boot":
        raise ApbedError(f"{image}: expected an image named boot/{IMAGE}RELEASE")
    for path in (image, found.modules, found.build_dir):
        if not path.exists():
            raise ApbedError(f"{path} is missing: a kernel needs image, modules and headers")
    return found


def fetch(version: str | None = None) -> DistroKernel:
    """Download and unpack a stock kernel of a line and, if need be, QEMU."""
    _check(version or default_version())
    with locked("packages"):
        own = Apt("this system")
        qemu.fetch(own)
        apt = _apt_with(version) if version else own
        release = _depends(apt, "linux-image-amd64", r"linux-image-(\S+)")[0]
        final = cache_root() / "distro" / release
        if not final.exists():
            final.parent.mkdir(parents=True, exist_ok=True)
            with whole(final) as directory:
                headers = f"linux-headers-{release}"
                needed = _depends(apt, headers, r"(linux-(?:headers|kbuild|compiler)-\S+)")
                # Newer images are a package of links; what they are is in others.
                image = f"linux-image-{release}"
                parts = _dependencies(apt, image, r"(linux-(?:base|binary|modules)-\S+)")
                apt.unpack([image, *parts, headers, *needed], directory / "packages")
                own.unpack(["busybox-static"], directory / "packages")
                _relocate(directory / "packages/usr/src", final / "packages/usr/src", release)
        name = compiler.named(final / "packages/usr/src" / f"linux-headers-{release}")
        if name and not compiler.own(name):
            compiler.fetch(apt, name)
    return find(version)


def build_modules(kernel: DistroKernel, words: Sequence[str]) -> int:
    """Build our modules with the compiler that the kernel's headers name; make's exit status.

    `words` are more of make's, such as TESTS=y.
    """
    make = ["make", "-C", str(REPOSITORY / "kernel"), f"-j{os.cpu_count() or 1}"]
    make += [f"KDIR={kernel.build_dir}", "ARCH=x86_64", *words]
    name = compiler.named(kernel.build_dir)
    return compiler.run(name, [REPOSITORY, kernel.packages], make)


def built_modules(kernel: DistroKernel) -> Path:
    """Where our modules for it are, built anew if a source has changed; ApbedError if that fails.

    Whoever measures must not measure modules of an older tree.
    """
    if build_modules(kernel, ["--quiet"]):
        raise ApbedError(f"the modules do not build for {kernel.release}; see make's lines above")
    return BUILD / "modules" / f"{kernel.release}-x86_64"


def _apt_with(version: str) -> Apt:
    """The machine's own apt if its stock kernel is of this line, else the first suite with one."""
    own = Apt("this system")
    if _is_of(own, version):
        return own
    for suite in SUITES[version]:
        if _is_of(apt := private_apt(suite), version):
            return apt
    raise ApbedError(f"no suite offers a stock kernel {version}: {', '.join(SUITES[version])}")


def _is_of(apt: Apt, version: str) -> bool:
    return (apt.candidate("linux-image-amd64") or "").startswith(f"{version}.")


def _depends(apt: Apt, package: str, pattern: str) -> list[str]:
    """The dependencies of a package whose whole name matches; ApbedError if there is none."""
    found = _dependencies(apt, package, pattern)
    if not found:
        raise ApbedError(f"apt does not know what {package} depends on; run `apt-get update`")
    return found


def _dependencies(apt: Apt, package: str, pattern: str) -> list[str]:
    """The dependencies of a package whose whole name matches; the pattern's group of each."""
    lines = apt.run("apt-cache", "depends", package)
    return re.findall(rf"^ *Depends: {pattern}$", lines, re.MULTILINE)


def _relocate(here: Path, final: Path, release: str) -> None:
    """The headers name their other half by its installed path."""
    makefile = here / f"linux-headers-{release}" / "Makefile"
    makefile.write_text(makefile.read_text().replace("/usr/src", str(final)))
