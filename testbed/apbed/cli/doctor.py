# SPDX-License-Identifier: GPL-2.0-only
"""`apbed doctor`: what the lab needs, what is missing, and how to get it.

Principle: try the thing itself where that is cheap (load a tc plugin, run a
program) instead of looking whether a file exists.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from apbed.checkout import BUILD, REPOSITORY
from apbed.errors import ApbedError
from apbed.kernels import cache, lab, packages
from apbed.kernels.watchdog import Watchdog

PYTHON_MODULES = ("matplotlib", "numpy", "rich", "scipy")
PROGRAMS = ("bin/dcfmedium", "bin/flowgen", "lib/seeded_random.so")
PLUGINS = ("lasack", "ackwrr", "inflight")
REGULATORY_DB = ("/lib/firmware/regulatory.db", "/usr/lib/firmware/regulatory.db")
# Free space a kernel build needs, and one that is there already (bytes).
BUILD_SPACE = 4 * 10**9
RUN_SPACE = 5 * 10**8
COMMAND_LIMIT_S = 30.0

EXAMPLES = """\
examples:
  apbed doctor            one line per thing; exit status 1 if the lab cannot run
  apbed doctor --json     the same for programs
"""


@dataclass(frozen=True)
class Finding:
    """One thing looked at. `fix` says how to get it when it is not `ok`."""

    name: str
    ok: bool
    detail: str
    fix: str = ""
    required: bool = True


def _packages() -> Finding:
    names = needed_packages()
    if not shutil.which("dpkg-query"):
        detail = "no dpkg here: cannot tell"
        return Finding("packages", True, detail, f"Debian's names: {' '.join(names)}", False)
    query = ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *names]
    listing = subprocess.run(query, capture_output=True, text=True).stdout
    installed = {line.split()[0] for line in listing.splitlines() if line.endswith(" installed")}
    missing = [name for name in names if name not in installed]
    if missing:
        return Finding("packages", False, f"missing: {' '.join(missing)}", "make setup")
    return Finding("packages", True, f"all {len(names)} installed")


def needed_packages(listing: Path = REPOSITORY / "scripts/packages") -> list[str]:
    """Debian package names from the list `make setup` installs."""
    words = (line.split() for line in listing.read_text().splitlines())
    return [line[0] for line in words if line and not line[0].startswith("#")]


def _python_modules() -> Finding:
    missing = [name for name in PYTHON_MODULES if not importlib.util.find_spec(name)]
    if missing:
        return Finding("python", False, f"missing: {' '.join(missing)}", "make setup")
    return Finding("python", True, " ".join(PYTHON_MODULES))


def _programs() -> Finding:
    missing = [name for name in PROGRAMS if not (BUILD / name).exists()]
    if missing:
        return Finding("programs", False, f"not built: {' '.join(missing)}", "make all")
    return Finding("programs", True, f"{len(PROGRAMS)} in build/")


def _plugins() -> Finding:
    """Whether this system's tc loads our plugins and calls them (asks for their help)."""
    if not shutil.which("tc"):
        return Finding("tc", False, "no tc", "make setup")
    refused = []
    for kind in PLUGINS:
        ask = ["tc", "qdisc", "add", "dev", "lo", "root", kind, "help"]
        said = subprocess.run(
            ask,
            capture_output=True,
            text=True,
            timeout=COMMAND_LIMIT_S,
            env={**os.environ, "TC_LIB_DIR": str(BUILD / "tc")},
        )
        if f"... {kind}" not in said.stdout + said.stderr:
            refused.append(kind)
    version = subprocess.run(["tc", "-V"], capture_output=True, text=True).stdout.strip()
    if refused:
        return Finding("tc", False, f"{version} does not load {' '.join(refused)}", "make tc")
    return Finding("tc", True, f"{version} loads {' '.join(PLUGINS)}")


def _modules(kernel: cache.LabKernel | None) -> Finding:
    if not kernel:
        return Finding("modules", False, "need a lab kernel first", "make all")
    directory = BUILD / "modules" / f"{kernel.release}-um"
    missing = [kind for kind in PLUGINS if not (directory / f"sch_{kind}.ko").exists()]
    if missing:
        detail = f"not built for {kernel.release}: {' '.join(missing)}"
        return Finding("modules", False, detail, "make modules")
    return Finding("modules", True, f"{' '.join(PLUGINS)} for {kernel.release}")


def _lab_kernels() -> Iterator[Finding]:
    """The default kernel is needed, the others are not."""
    default = cache.default_version()
    for version in packages.VERSIONS:
        for debug in (False, True):
            kernel = cache.find(version, debug)
            words = f"--version {version}" + (" --debug" if debug else "")
            needed = version == default and not debug
            yield Finding(
                f"kernel {version}" + (" debug" if debug else ""),
                kernel is not None,
                kernel.release if kernel else "not built",
                "make all" if needed else f".venv/bin/apbed kernel build {words}",
                required=needed,
            )


def _boot(kernel: cache.LabKernel | None) -> Finding:
    """Whether User-mode Linux runs on this host at all: ptrace, memory, hostfs."""
    if not kernel:
        return Finding("boot", False, "need a lab kernel first", "make all")
    scratch = packages.cache_root() / "doctor"
    scratch.mkdir(parents=True, exist_ok=True)
    try:
        guest = lab.Guest(kernel, ["true"], scratch, console=scratch / "console")
        result = lab.boot(guest, Watchdog(limit_s=COMMAND_LIMIT_S))
    except ApbedError as error:
        return Finding("boot", False, str(error), "see the other lines")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if result.status != 0:
        detail = result.why or f"`true` failed in the guest: status {result.status}"
        return Finding("boot", False, detail, "the host must allow ptrace and executable memory")
    return Finding("boot", True, f"{kernel.release} boots in {result.wall_s:.1f} s")


def _executable_memory() -> Finding:
    """User-mode Linux maps its memory from a file there, executable (arch/um/os-Linux/mem.c)."""
    place = Path(os.environ.get("TMPDIR") or "/dev/shm")
    needed = lab.MEMORY_MB * 2**20
    try:
        status = os.statvfs(place)
    except OSError as error:
        return Finding("memory", False, f"{place}: {error.strerror}", "mount a tmpfs on /dev/shm")
    free = status.f_bavail * status.f_frsize
    if status.f_flag & os.ST_NOEXEC:
        fix = f"mount -o remount,exec {place}, or set TMPDIR to a place that allows it"
        return Finding("memory", False, f"{place} is mounted noexec", fix)
    detail = f"{place}: {free / 2**30:.1f} GiB free, a run takes {needed / 2**30:.2f}"
    return Finding("memory", free >= needed, detail, f"free space in {place}, or set TMPDIR")


def _disk(kernel: cache.LabKernel | None) -> Finding:
    root = packages.cache_root()
    root.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(root).free
    needed = RUN_SPACE if kernel else BUILD_SPACE
    detail = f"{root}: {free / 1e9:.1f} GB free, {needed / 1e9:.1f} needed"
    return Finding("disk", free >= needed, detail, "free some, or set XDG_CACHE_HOME")


def _regulatory_db() -> Finding:
    found = [path for path in REGULATORY_DB if Path(path).exists()]
    if not found:
        return Finding("regulatory.db", False, "missing", "apt-get install wireless-regdb")
    return Finding("regulatory.db", True, found[0])


def _seccomp() -> Finding:
    """7.2 kernels stop guest system calls with seccomp, twice as fast as with ptrace."""
    actions = Path("/proc/sys/kernel/seccomp/actions_avail")
    usable = actions.exists() and "trap" in actions.read_text().split()
    return Finding(
        "seccomp",
        usable,
        "usable by 7.2 lab kernels" if usable else "not usable",
        "none needed: 7.2 lab kernels then run with ptrace, slower",
        required=False,
    )


def _addresses() -> Finding:
    """Whether lab kernels can have fixed addresses, and so the same memory at each boot."""
    with lab.fixed_addresses() as fixed:
        detail = "fixed for lab kernels" if fixed else "random: personality(2) is refused here"
    fix = "none needed: the guest's limits of TCP and UDP are fixed; its memory still differs"
    return Finding("addresses", fixed, detail, fix, required=False)


def findings() -> Iterator[Finding]:
    """Look at everything, cheap things first."""
    yield _packages()
    yield _python_modules()
    yield _regulatory_db()
    yield _programs()
    yield _plugins()
    yield _executable_memory()
    yield _seccomp()
    yield _addresses()
    kernel = cache.find()
    yield _disk(kernel)
    yield from _lab_kernels()
    yield _modules(kernel)
    yield _boot(kernel)


def _mark(finding: Finding) -> str:
    if finding.ok:
        return "ok"
    return "NO" if finding.required else "-"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `doctor` to the command line."""
    parser = subparsers.add_parser(
        "doctor",
        help="say what is missing, and how to get it",
        description="Looks at everything the lab needs. Exit status: 0 if the lab can run, else 1.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Print every finding; 0 if the lab can run, 1 otherwise."""
    found = []
    for finding in findings():
        found.append(finding)
        if not args.json:
            hint = f"  [{finding.fix}]" if finding.fix and not finding.ok else ""
            print(f"{_mark(finding):<4}{finding.name:<18}{finding.detail}{hint}", flush=True)
    able = all(finding.ok for finding in found if finding.required)
    if args.json:
        rows = [asdict(finding) for finding in found]
        print(json.dumps({"schema": 1, "ok": able, "findings": rows}, indent=1))
    else:
        print("the lab can run" if able else "the lab cannot run yet")
    return 0 if able else 1
