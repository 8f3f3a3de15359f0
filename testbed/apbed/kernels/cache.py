# SPDX-License-Identifier: GPL-2.0-only
"""Lab kernels: User-mode Linux built once and kept outside the tree.

Principle: a finished kernel appears in the cache by one rename, under a name
made of its inputs; a lock makes a second builder wait and then reuse it.
"""

from __future__ import annotations

import fcntl
import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from apbed.errors import ApbedError
from apbed.kernels import packages, toolchain
from apbed.kernels.build import (
    SELFTESTS,
    BuildRecord,
    build_kernel,
    prepare_tree,
    unpack_hwsim,
    unpack_selftests,
    unpack_source,
)
from apbed.kernels.recipe import Recipe


@dataclass(frozen=True)
class LabKernel:
    """One built lab kernel in the cache."""

    version: str  # kernel line: "6.1"
    release: str  # uname -r: "6.1.192-lab"
    debug: bool
    key: str
    linux: Path  # the bootable binary, or for QEMU a bzImage
    build_dir: Path  # tree for external modules
    hwsim: Path  # mac80211_hwsim.ko, which every lab kernel has
    source: str  # version of the distribution's source package
    seconds: float  # what the build took
    steps: int  # make's output lines, the next build's estimate
    stock: bool  # without the series of kernel/ackskip/patches
    checker: str = ""  # "kasan" or "kcsan": for QEMU, not for the lab


def cache_dir() -> Path:
    """Where the kernels are: ${XDG_CACHE_HOME:-~/.cache}/lasack/kernels."""
    return packages.cache_root() / "kernels"


def default_version() -> str:
    """The kernel line the distribution itself ships.

    Raises ApbedError on a release whose line is not supported.
    """
    release = packages.codename()
    if release not in packages.NATIVE:
        known = ", ".join(packages.VERSIONS)
        raise ApbedError(
            f"no default lab kernel for distribution release {release or '(unknown)'}: "
            f"name one of {known}"
        )
    return packages.NATIVE[release]


def _load(directory: Path) -> tuple[LabKernel, str] | None:
    """The kernel in a cache directory and its recipe's digest; None if it is not whole."""
    try:
        stored = json.loads((directory / "kernel.json").read_text())
        record = BuildRecord(**stored)
    except (OSError, ValueError, TypeError):
        return None
    linux, hwsim = directory / "linux", directory / "mac80211_hwsim.ko"
    if not (linux.exists() and (record.checker or hwsim.exists())):
        return None
    kernel = LabKernel(
        version=record.version,
        release=record.release,
        debug=record.debug,
        key=directory.name,
        linux=linux,
        build_dir=directory / "tree",
        hwsim=hwsim,
        source=record.source,
        seconds=record.seconds,
        steps=record.steps,
        stock=record.stock,
        checker=record.checker,
    )
    return kernel, record.recipe


def cached() -> list[LabKernel]:
    """Every finished kernel, current or not, by version."""
    loaded = (_load(path.parent) for path in cache_dir().glob("*/kernel.json"))
    kernels = [entry[0] for entry in loaded if entry]
    return sorted(
        kernels, key=lambda kernel: (kernel.version, kernel.debug, kernel.stock, kernel.source)
    )


def find(version: str | None = None, debug: bool = False, stock: bool = False) -> LabKernel | None:
    """The cached lab kernel of today's fragments and patches, or None."""
    return find_built(Recipe(version or default_version(), debug, stock=stock))


def find_built(recipe: Recipe) -> LabKernel | None:
    """The cached kernel of a recipe, or None.

    Among several source packages the one built last wins; none is looked up,
    so this needs no network.
    """
    matching = sorted(
        cache_dir().glob(f"{recipe.slug}-*/kernel.json"), key=lambda path: path.stat().st_mtime
    )
    for path in reversed(matching):
        loaded = _load(path.parent)
        if loaded and loaded[1] == recipe.digest():
            return loaded[0]
    return None


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold a lock of the cache; says so when another process has it."""
    path = cache_dir() / f"{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"apbed: waiting for the other build of {name}", file=sys.stderr, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def whole(final: Path, resume: bool = False) -> Iterator[Path]:
    """A directory to work in that becomes `final` on success and vanishes otherwise.

    What a killed process left there stays for `resume`. The caller holds a lock.
    """
    partial = final.with_name(final.name + ".partial")
    if not resume:
        shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(exist_ok=True)
    try:
        yield partial
        if final.exists():
            shutil.rmtree(final)
        partial.rename(final)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _remove_partial(slug: str, key: str) -> None:
    """Remove what killed builds of older recipes left; that of `key` may be gone on with."""
    for partial in cache_dir().glob(f"{slug}-[0-9]*.partial"):
        if partial.name != f"{key}.partial":
            shutil.rmtree(partial, ignore_errors=True)


def _locate(version: str) -> packages.Source:
    """The source package; one process at a time uses apt's private state."""
    with locked("packages"):
        return packages.locate(version)


def build(version: str | None = None, debug: bool = False, stock: bool = False) -> LabKernel:
    """The lab kernel of this version, built now unless it is in the cache."""
    return build_recipe(Recipe(version or default_version(), debug, stock=stock))


def build_recipe(recipe: Recipe) -> LabKernel:
    """The kernel of a recipe, built now unless it is in the cache.

    Takes minutes the first time; raises ApbedError naming the log if it fails.
    """
    kernel = find_built(recipe)
    if kernel:
        return kernel
    with locked(recipe.slug):
        kernel = find_built(recipe)
        if kernel:
            return kernel
        source = _locate(recipe.version)
        key = f"{recipe.slug}-{source.package_version.replace('~', '_')}-{recipe.digest()}"
        _remove_partial(recipe.slug, key)
        alike = (recipe.version, recipe.debug, recipe.checker)
        before = [old.steps for old in cached() if (old.version, old.debug, old.checker) == alike]
        with whole(cache_dir() / key, resume=True) as directory:
            log = cache_dir() / f"{recipe.slug}.log"
            record = build_kernel(recipe, source, directory, log, before[-1] if before else None)
            (directory / "kernel.json").write_text(json.dumps(asdict(record), indent=1) + "\n")
    kernel = find_built(recipe)
    if not kernel:
        raise ApbedError(f"the kernel built in {cache_dir() / key} is incomplete; see {log}")
    return kernel


def module_tree(version: str | None = None, arch: str = "um") -> Path:
    """A tree to compile external modules in, prepared now unless it is in the cache.

    For "um" a cached lab kernel's own tree serves. Another tree has an empty
    Module.symvers: modules built in it compile, but are not fit to load. Only
    where toolchain.TARGETS names an emulator it has tree/vmlinux and its symbols.
    """
    if arch in toolchain.TARGETS:
        _fetch_compiler(toolchain.TARGETS[arch])
    recipe = Recipe(version or default_version(), arch=arch)
    kernel = find(recipe.version) if arch == "um" else None
    if kernel:
        return kernel.build_dir
    name = f"tree-{recipe.slug}-{recipe.digest()}"
    final = cache_dir() / name
    with locked(name):
        if not final.exists():
            source = _locate(recipe.version)
            with whole(final) as directory:
                prepare_tree(recipe, source, directory, cache_dir() / f"{name}.log")
    return final / "tree"


def _fetch_compiler(target: toolchain.Target) -> None:
    """Unpack the compiler for another processor, unless it is in the cache."""
    with locked("packages"):
        if not target.root.exists():
            target.root.parent.mkdir(parents=True, exist_ok=True)
            with whole(target.root) as directory:
                toolchain.unpack(target, directory)


def unpack(version: str | None, directory: Path) -> Path:
    """The distribution's pristine source of this version, in `directory`/tree."""
    source = _locate(version or default_version())
    directory = directory.resolve()
    directory.mkdir(parents=True, exist_ok=True)
    if (directory / "tree").exists():
        raise ApbedError(f"{directory / 'tree'} is there already")
    return unpack_source(source, directory, directory / "log")


def selftests(version: str | None = None) -> Path:
    """The kernel's kselftest, unpacked now unless it is in the cache; tdc.py is in tc-testing."""
    name = f"selftests-{version or default_version()}"
    final = cache_dir() / name
    with locked(name):
        if not final.exists():
            source = _locate(version or default_version())
            with whole(final) as directory:
                unpack_selftests(source, directory, cache_dir() / f"{name}.log")
    return final / "tree" / SELFTESTS


def hwsim_source(version: str | None = None) -> Path:
    """The directory with the source of a lab kernel's mac80211_hwsim, unpacked now unless cached.

    Raises ApbedError if there is no such lab kernel, or if the package it was built of is gone.
    """
    kernel = find(version)
    if kernel is None:
        raise ApbedError(f"no lab kernel {version or default_version()}; build it first")
    name = f"hwsim-{kernel.version}-{kernel.source.replace('~', '_')}"
    final = cache_dir() / name
    with locked(name):
        if not final.exists():
            kept = packages.kept(kernel.version, kernel.source)
            source = kept or _locate(kernel.version)
            if source.package_version != kernel.source:
                raise ApbedError(
                    f"{kernel.linux.parent} was built of {kernel.source}, and the distribution "
                    f"has {source.package_version} now; remove that directory and build it again"
                )
            with whole(final) as directory:
                unpack_hwsim(source, directory, cache_dir() / f"{name}.log")
    return final
