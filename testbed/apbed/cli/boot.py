# SPDX-License-Identifier: GPL-2.0-only
"""`apbed boot -- COMMAND`: run one command as root inside a lab kernel."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from apbed.errors import ApbedError
from apbed.kernels import lab
from apbed.kernels.watchdog import Watchdog

EXAMPLES = """\
examples:
  apbed boot -- uname -a
  apbed boot --debug -- sh selftests/qdisc/qdisc_churn.sh
  apbed boot --kernel 7.2 --out /tmp/x -- sh -c 'dmesg > /tmp/x/log'

The host's file system is the root, read-only; only --out is writable. Time is virtual.
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `apbed boot`."""
    parser = subparsers.add_parser(
        "boot",
        help="run one command inside a lab kernel",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--kernel", metavar="VERSION", help="kernel line, for example 6.1")
    parser.add_argument("--debug", action="store_true", help="the debug kernel (KASAN, lockdep...)")
    parser.add_argument("--stock", action="store_true", help="a kernel without the ACK-skip series")
    parser.add_argument("--out", type=Path, metavar="DIR", help="a directory the guest may write")
    parser.add_argument("--seed", type=int, metavar="K", help="seed of the guest's random numbers")
    parser.add_argument(
        "--limit",
        type=float,
        default=600.0,
        metavar="S",
        help="stop it after S processor seconds (default: 600)",
    )
    parser.add_argument(
        "words", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="what to run, as root"
    )
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Exit with the command's own status; 1 when the kernel ended without one."""
    command = args.words[1:] if args.words[:1] == ["--"] else args.words
    if not command:
        raise ApbedError("boot needs a command: apbed boot -- COMMAND [ARG]...")
    kernel = lab.kernel(args.kernel, args.debug, args.stock)
    with tempfile.TemporaryDirectory(prefix="apbed-boot-") as scratch:
        out: Path = args.out or Path(scratch)
        out.mkdir(parents=True, exist_ok=True)
        sys.stdout.flush()
        guest = lab.Guest(kernel, command, out, seed=args.seed)
        result = lab.boot(guest, Watchdog(limit_s=args.limit))
    if result.status is None:
        raise ApbedError(str(result.why))
    return result.status
