# SPDX-License-Identifier: GPL-2.0-only
"""Runs the KUnit suites on another processor, in an emulated machine.

Principle: a mistake in the order of bytes shows only where that order is another. The machine has
the modules and one program that loads them (testbed/guest/module_init.c); KUnit runs a suite when
its module is loaded and writes the results to the kernel's log
(Documentation/dev-tools/kunit/run_manual.rst of the kernel), which is the console here.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

from apbed.checkout import BUILD, GUEST
from apbed.errors import ApbedError
from apbed.kernels import toolchain
from apbed.kernels.ram_disk import archive
from apbed.kernels.toolchain import TARGETS, Target
from apbed.kernels.watchdog import Watchdog, watch
from apbed.processes import signals_as_interrupt, stop_group

MEMORY_MB = 256
BOOT_WORDS = "console=ttyS0 loglevel=7 panic=-1"
# What the suites need, before them; then what nothing but loads.
FIRST = "common/tests/test_parameters.ko"
SHIPPED = ("inflight.ko", "sch_inflight.ko", "sch_lasack.ko", "sch_ackwrr.ko")
ENDED = "modules that do not load:"
LOADED = re.compile(r"^modules that do not load: 0$", re.MULTILINE)
FAILED = re.compile(r"^ *not ok \d", re.MULTILINE)
PASSED = re.compile(r"^ok \d", re.MULTILINE)
COMPLAINT = re.compile(r"WARNING: |BUG: |Oops|Unhandled kernel unaligned|Kernel panic|Call Trace:")


def kunit(arch: str, tree: Path, limit_s: float) -> int:
    """Load the modules built for the kernel of `tree` into it; 0 if every suite passed.

    Prints the guest's console, which is KTAP and what the kernel says beside it. `limit_s` is
    processor seconds. ApbedError if something is missing.
    """
    target = TARGETS[arch]
    kernel = tree / "vmlinux"
    release = (tree / "include/config/kernel.release").read_text().strip()
    modules = BUILD / "modules" / f"{release}-{arch}"
    emulator = toolchain.emulator(target)
    wanted = [FIRST, *_suites(modules), *SHIPPED]
    for path in (kernel, *(modules / name for name in wanted)):
        if not path.exists():
            raise ApbedError(f"{path} is missing: run `make cross TARGETS={arch}`")
    with signals_as_interrupt(), tempfile.TemporaryDirectory(prefix="apbed-cross-") as scratch:
        disk = _ram_disk(target, modules, wanted, Path(scratch))
        machine = ["-M", "malta", "-cpu", "24Kf", "-m", str(MEMORY_MB), "-no-reboot"]
        words = [*emulator, *machine, "-nographic", "-vga", "none", "-net", "none"]
        words += ["-kernel", str(kernel), "-initrd", str(disk), "-append", BOOT_WORDS]
        console = _run(words, toolchain.environment(arch), Path(scratch) / "console", limit_s)
    return _verdict(console, len(wanted) - 1 - len(SHIPPED))


def _suites(modules: Path) -> list[str]:
    found = sorted(modules.glob("**/tests/*_test.ko"))
    return [str(path.relative_to(modules)) for path in found]


def _ram_disk(target: Target, modules: Path, wanted: list[str], scratch: Path) -> Path:
    """The archive the machine starts from: /init, /order and the modules."""
    root = scratch / "root"
    (root / "dev").mkdir(parents=True)
    for name in wanted:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(modules / name, root / name)
    (root / "order").write_text("".join(f"/{name}\n" for name in wanted))
    compiler = [f"{target.triplet}-gcc", f"--sysroot={target.root}", "-static", "-O2", "-Wall"]
    done = subprocess.run(
        [*compiler, "-Werror", "-o", str(root / "init"), str(GUEST / "module_init.c")],
        env={**os.environ, **toolchain.environment(target.arch)},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise ApbedError(f"module_init.c does not compile: {done.stderr.strip().splitlines()[-1]}")
    return archive(root, scratch / "disk")


def _run(words: list[str], settings: dict[str, str], console: Path, limit_s: float) -> str:
    """The console of a machine, which is ended once its init has said all.

    The Malta board's own reset needs a driver, which a machine without devices has not.
    """
    said_all = threading.Event()

    def progress() -> int:
        if ENDED in console.read_text(errors="replace"):
            said_all.set()
        return console.stat().st_size

    with console.open("wb") as sink:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, **settings},
        )
        try:
            stopped = watch(process, Watchdog(limit_s, limit_s, cancel=said_all), progress)
        finally:
            stop_group(process)
    text = console.read_text(errors="replace").replace("\r", "")
    return text if said_all.is_set() else f"{text}not ok 1 the machine: {stopped or 'ended'}\n"


def _verdict(console: str, suites: int) -> int:
    print(console, end="", flush=True)
    passed = len(PASSED.findall(console))
    if complaint := COMPLAINT.search(console):
        print(f"not ok 1 the kernel complained: {complaint[0]}")
    if not LOADED.search(console):
        print("not ok 1 not every module was loaded")
    whole = LOADED.search(console) and not FAILED.search(console) and not COMPLAINT.search(console)
    print(f"# {passed} of {suites} suites passed")
    return 0 if whole and passed >= suites else 1
