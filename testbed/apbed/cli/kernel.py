# SPDX-License-Identifier: GPL-2.0-only
"""`apbed kernel`: build, list and locate the lab kernels; patch any kernel's source."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from apbed.errors import ApbedError
from apbed.kernels import cache, patches
from apbed.kernels.packages import VERSIONS
from apbed.kernels.toolchain import TARGETS

EXAMPLES = """\
examples:
  apbed kernel build                             the distribution's own kernel line
  apbed kernel build --version 7.2 --debug       KASAN, UBSAN, lockdep and kmemleak
  apbed kernel build --stock                     without the ACK-skip series
  apbed kernel list --json
  apbed kernel patch ~/src/linux                 the series that fits this source tree
  make -C kernel ARCH=um KDIR="$(apbed kernel tree --version 6.12 --arch um)"
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `kernel` and its sub-commands to the command line."""
    top = subparsers.add_parser(
        "kernel",
        help="build, list and locate lab kernels",
        description="Lab kernels: User-mode Linux built from the distribution's source packages "
        "and kept in ${XDG_CACHE_HOME:-~/.cache}/lasack/kernels.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(dest="kernel_command", metavar="COMMAND", required=True)

    build = commands.add_parser("build", help="build a kernel, or find it in the cache")
    _add_choice(build, kinds=True)
    build.set_defaults(func=_build)

    listing = commands.add_parser("list", help="list the kernels in the cache")
    listing.add_argument("--json", action="store_true", help="print JSON")
    listing.set_defaults(func=_list)

    path = commands.add_parser("path", help="print where a built kernel is")
    _add_choice(path, kinds=True)
    path.set_defaults(func=_path)

    tree = commands.add_parser("tree", help="print where a source tree is to compile modules in")
    _add_choice(tree, kinds=False)
    archs = ("um", "x86_64", *TARGETS)
    tree.add_argument("--arch", choices=archs, default="um", help="default: um")
    tree.set_defaults(func=_tree)

    selftests = commands.add_parser("selftests", help="print where the kernel's own tests are")
    _add_choice(selftests, kinds=False)
    selftests.set_defaults(func=_selftests)

    hwsim = commands.add_parser("hwsim", help="print where the source of mac80211_hwsim is")
    _add_choice(hwsim, kinds=False)
    hwsim.set_defaults(func=_hwsim)

    source = commands.add_parser("source", help="unpack the distribution's source in DIR/tree")
    _add_choice(source, kinds=False)
    source.add_argument("directory", type=Path, metavar="DIR", help="where to make tree/")
    source.set_defaults(func=_source)

    patch = commands.add_parser(
        "patch",
        help="apply the ACK-skip series to a kernel source tree",
        description="Applies the ACK-skip series that fits the source tree to its files, all of it "
        "or nothing. Says for which kernel line it was made. To have commits, use git am instead.",
    )
    patch.add_argument("directory", type=Path, metavar="DIR", help="the top of a kernel source")
    patch.set_defaults(func=_patch)


def _add_choice(parser: argparse.ArgumentParser, kinds: bool) -> None:
    parser.add_argument(
        "--version", choices=VERSIONS, help="kernel line (default: the distribution's own)"
    )
    if kinds:
        parser.add_argument(
            "--debug", action="store_true", help="with KASAN, UBSAN, lockdep and kmemleak"
        )
        parser.add_argument(
            "--stock", action="store_true", help="without the ACK-skip series, to compare with"
        )


def _describe(kernel: cache.LabKernel) -> str:
    return f"{kernel.release} ({kernel.linux.parent})"


def _build(args: argparse.Namespace) -> int:
    print(_describe(cache.build(args.version, args.debug, args.stock)))
    return 0


def _list(args: argparse.Namespace) -> int:
    cached = cache.cached()
    if args.json:
        rows = [asdict(kernel) for kernel in cached]
        print(json.dumps({"schema": 1, "kernels": rows}, indent=1, default=str))
        return 0
    if not cached:
        print("no lab kernel yet: apbed kernel build")
    for kernel in cached:
        current = cache.find(kernel.version, kernel.debug, kernel.stock) == kernel
        note = "" if current else "  (not of today's configuration)"
        print(f"{kernel.release:<24} {kernel.source:<20} {kernel.linux.parent}{note}")
    return 0


def _path(args: argparse.Namespace) -> int:
    version = args.version or cache.default_version()
    kernel = cache.find(version, args.debug, args.stock)
    if not kernel:
        options = (" --debug" if args.debug else "") + (" --stock" if args.stock else "")
        raise ApbedError(f"not built yet: apbed kernel build --version {version}{options}")
    print(kernel.linux.parent)
    return 0


def _tree(args: argparse.Namespace) -> int:
    print(cache.module_tree(args.version, args.arch))
    return 0


def _selftests(args: argparse.Namespace) -> int:
    print(cache.selftests(args.version))
    return 0


def _hwsim(args: argparse.Namespace) -> int:
    print(cache.hwsim_source(args.version))
    return 0


def _source(args: argparse.Namespace) -> int:
    print(cache.unpack(args.version, args.directory))
    return 0


def _patch(args: argparse.Namespace) -> int:
    applied = patches.patch(args.directory)
    note = "" if applied.exact else ", a line it was not made for: compile and test it"
    print(
        f"{args.directory}: {len(applied.patches)} patches of the {applied.version} series "
        f"applied to {applied.release}{note}"
    )
    return 0
