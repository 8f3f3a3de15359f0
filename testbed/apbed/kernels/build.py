# SPDX-License-Identifier: GPL-2.0-only
"""Turns a source package and a recipe into a bootable lab kernel.

Principle: allnoconfig plus a short fragment gives a kernel with nothing but
what the lab uses, in minutes (Documentation/kbuild/kconfig.rst,
Documentation/virt/uml/user_mode_linux_howto_v2.rst of the kernel). The tree
is built in place and in relative paths, so that it can be renamed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from apbed.errors import ApbedError
from apbed.kernels import toolchain
from apbed.kernels.make import Report, run
from apbed.kernels.packages import Source
from apbed.kernels.recipe import Recipe
from apbed.kernels.toolchain import TARGETS
from apbed.processes import signals_as_interrupt

# Steps make prints for a kernel never built here before, as measured; the
# next build takes the count of the last one.
FIRST_STEPS = {"6.1": 1400, "6.12": 1500, "7.2": 1600}

# The same inputs give the same binary, wherever and whenever it is built.
REPRODUCIBLE = {
    "KBUILD_BUILD_USER": "apbed",
    "KBUILD_BUILD_HOST": "lab",
    "KBUILD_BUILD_TIMESTAMP": "1970-01-01",
}

# In a directory that is being built in: its tree has been configured, make may go on there.
CONFIGURED = "configured"

# Where a kernel tree has its own tests, and among them tdc.py.
SELFTESTS = "tools/testing/selftests"
TDC = f"{SELFTESTS}/tc-testing"
# What runs ours among them.
KSELFTEST = (
    *(TDC, f"{SELFTESTS}/kselftest", "scripts/subarch.include"),
    *(f"{SELFTESTS}/{name}" for name in ("Makefile", "lib.mk", "run_kselftest.sh")),
)

# What external modules and the tools that read a kernel need; the rest of a
# built tree goes.
KEPT = {
    *("Kbuild", "Makefile", ".config", "Module.symvers", "System.map", "vmlinux"),
    *("arch", "include", "scripts"),
}


@dataclass(frozen=True)
class BuildRecord:
    """kernel.json: what a cached kernel is and was made from."""

    schema: int
    version: str
    release: str
    debug: bool
    recipe: str  # digest of fragments and patches
    source: str  # version of the linux-source package
    compiler: str
    seconds: float
    steps: int
    checker: str = ""  # "kasan" or "kcsan", for QEMU
    stock: bool = False  # without the series of kernel/ackskip/patches


def _unpack(source: Source, directory: Path, log: Path, *members: str) -> Path:
    """The source tree of a linux-source package, or only `members` of it, in `directory`/tree."""
    archive = source.archive
    if archive.suffix == ".deb":
        run(["dpkg-deb", "-x", str(archive), "package"], log, cwd=directory)
        archive = next((directory / "package/usr/src").glob("linux-source-*.tar.xz"))
    tree = directory / "tree"
    tree.mkdir()
    unpack = ["tar", "-I", "xz -T0", "--strip-components=1", "--no-same-owner", "-xf", str(archive)]
    run([*unpack, "--wildcards", *members] if members else unpack, log, cwd=tree)
    shutil.rmtree(directory / "package", ignore_errors=True)
    return tree


def unpack_source(source: Source, directory: Path, log: Path) -> Path:
    """The pristine source, in `directory`/tree."""
    log.write_text("")
    with signals_as_interrupt():
        return _unpack(source, directory, log)


def unpack_selftests(source: Source, directory: Path, log: Path) -> None:
    """The kernel's kselftest with its tests of tc, in `directory`/tree/`SELFTESTS`."""
    log.write_text("")
    with signals_as_interrupt():
        _unpack(source, directory, log, *(f"linux-source-*/{member}" for member in KSELFTEST))


def unpack_hwsim(source: Source, directory: Path, log: Path) -> None:
    """mac80211_hwsim's source, in `directory`: newer lines have it in a folder of its own."""
    log.write_text("")
    with signals_as_interrupt():
        tree = _unpack(source, directory, log, "*/drivers/net/wireless/*mac80211_hwsim*")
        for path in tree.rglob("mac80211_hwsim*"):
            path.rename(directory / path.name)
        shutil.rmtree(tree)


def _configure(recipe: Recipe, tree: Path, log: Path) -> None:
    """Write the tree's .config; ApbedError naming the symbols Kconfig refused."""
    make = ["make", f"ARCH={recipe.arch}"]
    env = toolchain.environment(recipe.arch)
    run([*make, recipe.base], log, cwd=tree, env=env)
    dot_config = tree / ".config"
    with dot_config.open("a") as config:
        config.write(recipe.config())
    run([*make, "olddefconfig"], log, cwd=tree, env=env)
    lost = recipe.lost_symbols(dot_config.read_text())
    if lost:
        names = " + ".join(path.name for path in recipe.fragments)
        raise ApbedError(f"{names}: kernel {recipe.version} does not accept {', '.join(lost)}")


def _source_tree(recipe: Recipe, source: Source, directory: Path, log: Path) -> Path:
    """An unpacked, patched and configured tree in `directory`/tree.

    One that a killed build left there serves: make records each command when it has succeeded,
    so it does again what was cut short.
    """
    report = Report(f"kernel {recipe.name}")
    if (directory / CONFIGURED).exists():
        report.phase("going on with what a killed build left")
        return directory / "tree"
    shutil.rmtree(directory)
    directory.mkdir()
    log.write_text("")
    report.phase(f"unpacking {source.archive.name} ({source.package_version})")
    tree = _unpack(source, directory, log)
    for patch in recipe.patches:
        run(["patch", "-p1", "-s", "-i", str(patch)], log, cwd=tree)
    report.phase("configuring")
    _configure(recipe, tree, log)
    (directory / CONFIGURED).touch()
    return tree


def build_kernel(
    recipe: Recipe, source: Source, directory: Path, log: Path, steps_before: int | None
) -> BuildRecord:
    """Build into a directory: linux, mac80211_hwsim.ko and tree/.

    It is empty, or holds what a killed build of the same recipe left.
    `steps_before` is the count of make's steps of an earlier build, for the
    time left. ApbedError names the log; nothing is left running then.
    """
    begin = time.monotonic()
    digest = recipe.digest()  # of the files as they are read, not as they are later
    resumed = (directory / CONFIGURED).exists()
    steps_expected = steps_before or FIRST_STEPS[recipe.version]
    with signals_as_interrupt():
        tree = _source_tree(recipe, source, directory, log)
        make = ["make", f"ARCH={recipe.arch}", f"-j{len(os.sched_getaffinity(0))}"]
        report = Report(f"kernel {recipe.name}")
        with report.counting("compiling", steps_expected) as count:
            run(make, log, cwd=tree, env=REPRODUCIBLE, on_line=count)
        (directory / CONFIGURED).unlink()
        image = "linux" if recipe.arch == "um" else "arch/x86/boot/bzImage"
        (tree / image).rename(directory / "linux")
        for module in tree.rglob("mac80211_hwsim.ko"):  # not every kernel for QEMU has radios
            module.rename(directory / "mac80211_hwsim.ko")
        _prune(tree, recipe.arch)
    version_line = subprocess.run(["gcc", "--version"], capture_output=True, text=True).stdout
    return BuildRecord(
        schema=1,
        version=recipe.version,
        release=(tree / "include/config/kernel.release").read_text().strip(),
        debug=recipe.debug,
        recipe=digest,
        source=source.package_version,
        compiler=version_line.splitlines()[0],
        seconds=round(time.monotonic() - begin, 1),
        steps=steps_expected if resumed else count.steps,
        stock=recipe.stock,
        checker=recipe.checker,
    )


def prepare_tree(recipe: Recipe, source: Source, directory: Path, log: Path) -> None:
    """Make `directory`/tree fit to compile external modules.

    Links a kernel, tree/vmlinux, only where an emulator can boot it. Without one the tree knows
    no exported symbols, so modpost can only warn about them.
    """
    bootable = recipe.arch in TARGETS and TARGETS[recipe.arch].emulator is not None
    with signals_as_interrupt():
        tree = _source_tree(recipe, source, directory, log)
        make = ["make", f"ARCH={recipe.arch}", f"-j{len(os.sched_getaffinity(0))}"]
        env = {**REPRODUCIBLE, **toolchain.environment(recipe.arch)}
        report = Report(f"kernel {recipe.name}")
        if bootable:
            with report.counting("compiling", FIRST_STEPS[recipe.version]) as count:
                run([*make, "vmlinux"], log, cwd=tree, env=env, on_line=count)
            # With no module of its own, a kernel's symbols are those of vmlinux.
            (tree / "vmlinux.symvers").rename(tree / "Module.symvers")
        report.phase("preparing to compile modules")
        run([*make, "modules_prepare"], log, cwd=tree, env=env)
        (tree / "Module.symvers").touch()
        (directory / CONFIGURED).unlink()
        _prune(tree, recipe.arch)


def _prune(tree: Path, arch: str) -> None:
    """Keep of a built tree what Debian's headers packages hold: about 70 MB of 1.6 GB."""
    objtool = tree / "tools/objtool/objtool"  # checks every object compiled for x86_64
    checker = objtool.read_bytes() if objtool.exists() else b""
    for entry in list(tree.iterdir()):
        if entry.name not in KEPT:
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    if checker:
        objtool.parent.mkdir(parents=True)
        objtool.write_bytes(checker)
        objtool.chmod(0o755)
    for other in (tree / "arch").iterdir():
        if other.is_dir() and other.name not in ("um", "x86", arch):
            shutil.rmtree(other)
    for path in (tree / "arch").rglob("*"):
        if path.suffix in (".o", ".a", ".c", ".S"):
            path.unlink()
