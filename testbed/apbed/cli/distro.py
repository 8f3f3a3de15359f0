# SPDX-License-Identifier: GPL-2.0-only
"""`apbed distro`: stock kernels, the distribution's own and newer ones, in an emulated machine."""

from __future__ import annotations

import argparse

from apbed.errors import ApbedError
from apbed.kernels import distro, shared_root
from apbed.kernels.packages import VERSIONS

EXAMPLES = """\
examples:
  apbed distro fetch
  apbed distro modules TESTS=y
  apbed distro boot -- uname -a
  apbed distro fetch --version 6.12
  vng --run "$(apbed distro image)" -- uname -a
  apbed distro boot --cpus 2 -- sh selftests/tcp/ackskip_guest.sh churn

The host's file system is the root, read-only; nothing is installed, KVM is not used.
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `distro` and its sub-commands."""
    top = subparsers.add_parser(
        "distro",
        help="run a command in the distribution's own kernel",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(dest="distro_command", metavar="COMMAND", required=True)
    fetch = commands.add_parser("fetch", help="unpack kernel, headers and QEMU into the cache")
    fetch.set_defaults(func=_fetch)
    tree = commands.add_parser("tree", help="print where its headers are, for make -C kernel KDIR=")
    tree.set_defaults(func=_tree)
    image = commands.add_parser("image", help="print where it is, for vng --run and the like")
    image.set_defaults(func=_image)
    modules = commands.add_parser("modules", help="build our modules for it")
    modules.add_argument("words", nargs="*", metavar="NAME=VALUE", help="for make, as TESTS=y")
    modules.set_defaults(func=_modules)
    boot = commands.add_parser("boot", help="run one command in it, as root")
    boot.add_argument(
        "--cpus",
        type=int,
        default=1,
        metavar="N",
        help="processors (default: 1); with 1, time is virtual; with more, it is the host's",
    )
    boot.add_argument(
        "--limit",
        type=float,
        default=600.0,
        metavar="S",
        help="stop it after S processor seconds (default: 600)",
    )
    boot.add_argument(
        "words", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="what to run, as root"
    )
    boot.set_defaults(func=_boot)
    for command in (fetch, tree, image, modules, boot):
        command.add_argument(
            "--version",
            choices=VERSIONS,
            help="kernel line (default: the distribution's own)",
        )


def _fetch(args: argparse.Namespace) -> int:
    kernel = distro.fetch(args.version)
    print(f"{kernel.release} ({kernel.packages.parent})")
    return 0


def _tree(args: argparse.Namespace) -> int:
    print(distro.find(args.version).build_dir)
    return 0


def _image(args: argparse.Namespace) -> int:
    print(distro.find(args.version).bootable)
    return 0


def _modules(args: argparse.Namespace) -> int:
    return distro.build_modules(distro.find(args.version), args.words)


def _boot(args: argparse.Namespace) -> int:
    command = args.words[1:] if args.words[:1] == ["--"] else args.words
    if not command:
        raise ApbedError("boot needs a command: apbed distro boot -- COMMAND [ARG]...")
    return shared_root.boot(distro.find(args.version), command, args.cpus, args.limit)
