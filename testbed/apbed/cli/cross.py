# SPDX-License-Identifier: GPL-2.0-only
"""`apbed cross`: compilers and an emulated machine for other processors."""

from __future__ import annotations

import argparse
import os
import shutil

from apbed.errors import ApbedError
from apbed.kernels import cache, cross, toolchain
from apbed.kernels.packages import VERSIONS
from apbed.kernels.toolchain import TARGETS

EXAMPLES = """\
examples:
  apbed kernel tree --arch mips                  fetches compiler and kernel source, prepares both
  apbed cross run mips -- make -C kernel ARCH=mips KDIR="$(apbed kernel tree --arch mips)"
  apbed cross kunit mips                         the modules of `make cross`

`make cross` does all of it. Nothing is installed: compilers are unpacked into the cache.
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `cross` and its sub-commands."""
    top = subparsers.add_parser(
        "cross",
        help="compile for mips, arm and arm64; KUnit on big-endian MIPS in QEMU",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(dest="cross_command", metavar="COMMAND", required=True)
    run = commands.add_parser("run", help="run a command with the compiler for a processor")
    run.add_argument("arch", choices=("um", "x86_64", *TARGETS), help="processor, as kbuild's ARCH")
    run.add_argument("words", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="what to run")
    run.set_defaults(func=_run)
    kunit = commands.add_parser("kunit", help="run the KUnit suites in an emulated machine")
    emulated = [target.arch for target in TARGETS.values() if target.emulator]
    kunit.add_argument("arch", choices=emulated, help="processor, as kbuild's ARCH")
    kunit.add_argument("--version", choices=VERSIONS, help="kernel line (default: as Debian's)")
    kunit.add_argument(
        "--limit",
        type=float,
        default=1800.0,
        metavar="S",
        help="stop it after S processor seconds (default: 1800)",
    )
    kunit.set_defaults(func=_kunit)


def _run(args: argparse.Namespace) -> int:
    command = args.words[1:] if args.words[:1] == ["--"] else args.words
    if not command:
        raise ApbedError("run needs a command: apbed cross run ARCH -- COMMAND [ARG]...")
    environment = {**os.environ, **toolchain.environment(args.arch)}
    if not shutil.which(command[0], path=environment["PATH"]):
        raise ApbedError(f"{command[0]}: no such program")
    os.execvpe(command[0], command, environment)


def _kunit(args: argparse.Namespace) -> int:
    tree = cache.module_tree(args.version, args.arch)
    return cross.kunit(args.arch, tree, args.limit)
