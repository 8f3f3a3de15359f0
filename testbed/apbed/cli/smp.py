# SPDX-License-Identifier: GPL-2.0-only
"""`apbed smp`: kernels with several processors and a checker, in an emulated machine."""

from __future__ import annotations

import argparse

from apbed.errors import ApbedError
from apbed.kernels import smp

EXAMPLES = """\
examples:
  apbed smp build kasan
  make -C kernel KDIR="$(apbed smp tree kasan)"
  apbed smp boot --cpus 4 kcsan -- sh selftests/qdisc/smp.sh 120

The host's file system is the root, read-only; KVM is not used. Time is the host's.
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `smp` and its sub-commands."""
    top = subparsers.add_parser(
        "smp",
        help="kernels with several processors, KASAN or KCSAN, in QEMU",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(dest="smp_command", metavar="COMMAND", required=True)
    build = commands.add_parser("build", help="build a kernel, or find it in the cache")
    build.set_defaults(func=_build)
    tree = commands.add_parser("tree", help="print where its tree is, for make -C kernel KDIR=")
    tree.set_defaults(func=_tree)
    boot = commands.add_parser("boot", help="run one command in it, as root")
    boot.set_defaults(func=_boot)
    for command in (build, tree, boot):
        command.add_argument("checker", choices=smp.CHECKERS, help="the checker in the kernel")
    boot.add_argument("--cpus", type=int, default=4, metavar="N", help="processors (default: 4)")
    boot.add_argument(
        "--limit",
        type=float,
        default=3600.0,
        metavar="S",
        help="stop it after S processor seconds (default: 3600)",
    )
    boot.add_argument(
        "words", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="what to run, as root"
    )


def _build(args: argparse.Namespace) -> int:
    kernel = smp.build(args.checker)
    print(f"{kernel.release} ({kernel.linux.parent})")
    return 0


def _tree(args: argparse.Namespace) -> int:
    print(smp.find(args.checker).build_dir)
    return 0


def _boot(args: argparse.Namespace) -> int:
    command = args.words[1:] if args.words[:1] == ["--"] else args.words
    if not command:
        raise ApbedError("boot needs a command: apbed smp boot CHECKER -- COMMAND [ARG]...")
    if args.words[0].startswith("-") and args.words[0] != "--":
        raise ApbedError(f"put {args.words[0]} before the checker: apbed smp boot [OPTION] CHECKER")
    return smp.boot(args.checker, command, args.cpus, args.limit)
